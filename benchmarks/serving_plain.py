"""The plainest server for a model: one thread per client, and CTranslate2 called per sentence.

python benchmarks/serving_plain.py MODEL

This is how LibreTranslate translates a request of one sentence, without the rest of it: no limits,
no language detection, no sentence splitting. It answers `POST /translate`.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import ctranslate2

from dragoman.device import num_cpus
from dragoman.engines.ctranslate2_copy import COPY_NAME
from dragoman.model_directory import ModelDirectory

BEAM_SIZE = 4


def main() -> None:
    """Serve until killed."""
    path = Path(sys.argv[1])
    tokenizers = ModelDirectory(path).load_tokenizers()
    source, target = tokenizers.source, tokenizers.target
    ids = {piece: i for i, piece in enumerate(target.pieces(range(target.vocab_size)))}
    translator = ctranslate2.Translator(
        str(path / COPY_NAME), inter_threads=num_cpus(), intra_threads=1
    )

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # one packet per answer

        def do_POST(self) -> None:
            """Translate a sentence."""
            fields = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            pieces = source.pieces(source.encode(fields["q"]))
            (found,) = translator.translate_batch([pieces], beam_size=BEAM_SIZE)
            text = target.decode([ids[piece] for piece in found.hypotheses[0]])
            answer = json.dumps({"translatedText": text}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(f"page http://127.0.0.1:{server.server_port}/", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
