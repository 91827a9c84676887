"""Public corpora: fetched whole or not at all, from a server that fails in every way."""

import errno
import http.client
import http.server
import io
import json
import resource
import ssl
import threading
import tomllib
import urllib.error
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from dragoman.corpora.config import CorpusConfig
from dragoman.corpora.languages import parse_languages
from dragoman.corpora.opus import download, servers
from dragoman.corpora.opus.corpus import DownloadedCorpus
from dragoman.corpora.opus.corpus import get as get_corpus
from dragoman.corpora.parallel_text import read_pairs
from dragoman.corpora.text_file import CorpusError
from dragoman.durable import checksum
from dragoman.errors import UsageError

PATH = "/OPUS-Books/v1/moses/en-it.txt.zip"
TEXTS = {
    "Books.en-it.en": b"".join(b"Sentence %d.\n" % (n * 7919 % 10_007) for n in range(3000)),
    "Books.en-it.it": b"".join(b"Frase %d.\n" % (n * 7919 % 10_007) for n in range(3000)),
    "Books.en-it.ids": b"not wanted\n",
    "LICENSE": b"Public domain.\n",
    "README": b"Read me.\n",
}


def zipped(texts: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in texts.items():
            archive.writestr(name, text)
    return buffer.getvalue()


@dataclass
class Server:
    """What the server has, how it behaves, and what it was asked."""

    address: str = ""
    files: dict[str, bytes] = field(default_factory=lambda: {PATH: zipped(TEXTS)})
    corpora: list[dict[str, Any]] = field(default_factory=list)
    entity_tag: str = '"one"'
    understands_ranges: bool = True
    cuts: list[int] = field(default_factory=list)
    """Bytes after which each of the next answers is cut."""

    failures: list[int] = field(default_factory=list)
    """Status of each of the next answers."""

    requests: list[str] = field(default_factory=list)
    ranges: list[str | None] = field(default_factory=list)

    def release(self, name: str, version: str, latest: bool = True) -> dict[str, Any]:
        url = f"{self.address}/OPUS-{name}/{version}/moses/en-it.txt.zip"
        entry = {"corpus": name, "version": version, "url": url, "size": 3219}
        return entry | {"source": "en", "target": "it", "latest": str(latest)}


class Handler(http.server.BaseHTTPRequestHandler):
    state: Server

    def do_GET(self) -> None:
        self.state.requests.append(self.path)
        url = urlsplit(self.path)
        if self.state.failures:
            self.send_error(self.state.failures.pop(0))
        elif url.path == "/api/":
            self.answer(200, self.query({k: v[0] for k, v in parse_qs(url.query).items()}))
        elif url.path in self.state.files:
            self.send_file(self.state.files[url.path])
        else:
            self.send_error(404)

    def query(self, query: dict[str, str]) -> bytes:
        assert query.pop("preprocessing") == "moses"
        if query.get("version") == "latest":
            query |= {"latest": "True"}
            del query["version"]
        found = [entry for entry in self.state.corpora if entry | query == entry]
        return json.dumps({"corpora": found}).encode()

    def send_file(self, content: bytes) -> None:
        asked = self.headers.get("Range")
        self.state.ranges.append(asked)
        start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked else 0
        cut = self.state.cuts.pop(0) if self.state.cuts else len(content)
        if not self.state.understands_ranges:
            self.answer(200, content, cut=cut)
        elif not asked or self.headers["If-Range"] != self.state.entity_tag:
            self.answer(200, content, {"ETag": self.state.entity_tag}, cut=cut)
        elif start >= len(content):
            self.send_error(416)
        else:
            content_range = {"Content-Range": f"bytes {start}-{len(content) - 1}/{len(content)}"}
            self.answer(206, content[start:], content_range, cut=cut)

    def answer(
        self,
        status: int,
        content: bytes,
        headers: dict[str, str] | None = None,
        *,
        cut: int | None = None,
    ) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content[:cut])

    def log_message(self, *arguments: object) -> None:
        pass


def use(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setenv(servers.API_VARIABLE, f"{address}/api/")
    monkeypatch.setenv(servers.STORAGE_VARIABLE, address)
    monkeypatch.setattr(download, "FIRST_PAUSE", 0.0)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    state = Server()
    handler = type("BoundHandler", (Handler,), {"state": state})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        state.address = f"http://127.0.0.1:{running.server_port}"
        use(monkeypatch, state.address)
        state.corpora = [
            state.release("Books", "v0", latest=False),
            state.release("Books", "v1"),
            state.release("TED2020", "v1"),
        ]
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield state
        running.shutdown()
        thread.join()


def get(directory: Path, address: str = "opus:Books", languages: str = "en-it") -> DownloadedCorpus:
    return get_corpus(address, parse_languages(languages), directory)


def assert_complete(directory: Path) -> None:
    names = {"Books.en-it.en", "Books.en-it.it", "LICENSE", "README", "corpus.toml"}
    assert {path.name for path in directory.iterdir()} == names
    for name in names - {"corpus.toml"}:
        assert (directory / name).read_bytes() == TEXTS[name]
    assert [path.name for path in directory.parent.iterdir()] == [directory.name]


def test_the_latest_version_is_fetched_and_recorded(server: Server, tmp_path: Path) -> None:
    corpus = get(tmp_path / "books")

    assert_complete(tmp_path / "books")
    assert corpus.is_new
    assert corpus.licence == "Public domain.\n"
    record = tomllib.loads((tmp_path / "books" / "corpus.toml").read_text())
    assert (record["name"], record["version"], record["pairs"]) == ("Books", "v1", 3000)
    assert record["url"] == server.address + PATH
    assert record["bytes"] == len(server.files[PATH])
    archive = tmp_path / "archive"
    archive.write_bytes(server.files[PATH])
    assert record["sha256"] == checksum(archive)


def test_what_is_fetched_reads_as_parallel_text(server: Server, tmp_path: Path) -> None:
    corpus = get(tmp_path / "books", languages="it-en")
    source, target = corpus.provenance.paths_of(("it", "en"), corpus.directory)
    files = CorpusConfig(source=str(source), target=str(target))
    directory = CorpusConfig(path=str(tmp_path / "books"))

    pairs = list(read_pairs(files, languages=("it", "en")))

    assert pairs[1] == ("Frase 7919.", "Sentence 7919.", 2)
    assert len(pairs) == 3000
    assert list(read_pairs(directory, languages=("it", "en"))) == pairs
    for languages in (("en", "it"), ("en_GB", "IT")):
        assert next(read_pairs(directory, languages=languages)) == ("Sentence 0.", "Frase 0.", 1)
    for languages, missing in ((("en", "fr"), "fr"), (("fr", "en"), "fr"), (("it_IT", "it"), "it")):
        with pytest.raises(CorpusError, match=f"books: a corpus in en and it, not in {missing}$"):
            read_pairs(directory, languages=languages)


def test_a_version_that_is_given_is_not_looked_up(server: Server, tmp_path: Path) -> None:
    get(tmp_path / "books", "opus:Books/v1")

    assert server.requests == [PATH]


def test_a_complete_corpus_is_not_fetched_again(server: Server, tmp_path: Path) -> None:
    get(tmp_path / "books")
    server.requests.clear()

    again = get(tmp_path / "books", languages="it-en")

    assert not again.is_new
    assert server.requests == []


def test_the_directory_is_named_after_the_corpus(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    get_corpus("opus:Books", ("it", "en"))

    assert_complete(tmp_path / "Books.en-it")


def test_an_empty_directory_that_one_is_in_is_filled(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "books").mkdir()
    monkeypatch.chdir(tmp_path / "books")

    get(Path())

    assert_complete(tmp_path / "books")
    assert Path("corpus.toml").exists()


def test_a_directory_that_was_filled_in_part_is_filled_by_another_call(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    books, replace = tmp_path / "books", Path.replace
    books.mkdir()

    def interrupted(file: Path, target: Path) -> Path:
        if target == books / "corpus.toml":
            raise KeyboardInterrupt
        return replace(file, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            get(books)
    assert (books / "Books.en-it.it").exists()

    get(books)

    assert_complete(books)


def test_a_transfer_that_is_cut_goes_on_where_it_stopped(server: Server, tmp_path: Path) -> None:
    server.cuts = [5000, 3000]

    get(tmp_path / "books")

    assert_complete(tmp_path / "books")
    assert server.ranges == [None, "bytes=5000-", "bytes=8000-"]


def test_a_network_that_goes_away_is_not_taken_for_a_full_disk(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, errors = http.client.HTTPResponse.read, [OSError(errno.ENETDOWN, "Network is down")]

    def read_or_fail(response: http.client.HTTPResponse, *size: int) -> bytes:
        if size and errors:
            raise errors.pop()
        return read(response, *size)

    monkeypatch.setattr(http.client.HTTPResponse, "read", read_or_fail)

    get(tmp_path / "books")

    assert not errors
    assert_complete(tmp_path / "books")


def test_another_call_goes_on_where_the_first_gave_up(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "ATTEMPTS", 1)
    server.cuts = [5000]
    with pytest.raises(CorpusError, match=r"the transfer keeps failing .* run the command again"):
        get(tmp_path / "books")
    assert not (tmp_path / "books").exists()

    get(tmp_path / "books")

    assert_complete(tmp_path / "books")
    assert server.ranges == [None, "bytes=5000-"]


@pytest.mark.parametrize("is_interrupted", [False, True])
def test_a_part_of_an_older_file_is_not_continued(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_interrupted: bool
) -> None:
    working = tmp_path / "books.part"
    working.mkdir()
    (working / "Books.en-it-v1.zip.part").write_bytes(b"x" * 5000)
    (working / "Books.en-it-v1.zip.part.version").write_text('"older"')
    if is_interrupted:  # between what is noted of the new file and its first byte
        opened = Path.open

        def interrupted(file: Path, *arguments: Any, **more: Any) -> Any:
            if file.suffix == ".part":
                raise KeyboardInterrupt
            return opened(file, *arguments, **more)

        with monkeypatch.context() as patch:
            patch.setattr(Path, "open", interrupted)
            with pytest.raises(KeyboardInterrupt):
                get(tmp_path / "books")

    corpus = get(tmp_path / "books")

    assert_complete(tmp_path / "books")
    assert corpus.provenance.bytes == len(server.files[PATH])  # bytes before a zip do not spoil it


def test_a_part_of_unknown_origin_is_not_continued(server: Server, tmp_path: Path) -> None:
    working = tmp_path / "books.part"
    working.mkdir()
    (working / "Books.en-it-v1.zip.part").write_bytes(b"x" * 5000)

    get(tmp_path / "books")

    assert_complete(tmp_path / "books")
    assert server.ranges == [None]


def test_a_part_that_is_complete_already_is_fetched_again(server: Server, tmp_path: Path) -> None:
    working = tmp_path / "books.part"
    working.mkdir()
    (working / "Books.en-it-v1.zip.part").write_bytes(server.files[PATH])
    (working / "Books.en-it-v1.zip.part.version").write_text('"one"')

    get(tmp_path / "books")

    assert_complete(tmp_path / "books")


def test_a_server_without_ranges_starts_again(server: Server, tmp_path: Path) -> None:
    server.understands_ranges = False
    server.cuts = [5000]

    get(tmp_path / "books")

    assert_complete(tmp_path / "books")
    assert server.ranges == [None, None]


def test_a_server_in_trouble_is_asked_again(server: Server, tmp_path: Path) -> None:
    server.failures = [503, 429]

    get(tmp_path / "books", "opus:Books/v1")

    assert_complete(tmp_path / "books")
    assert len(server.requests) == 3


def test_a_server_in_lasting_trouble_is_given_up(server: Server, tmp_path: Path) -> None:
    server.failures = [500] * 9

    with pytest.raises(CorpusError, match="the server answers 500 "):
        get(tmp_path / "books", "opus:Books/v1")

    assert len(server.requests) == download.ATTEMPTS


@pytest.mark.parametrize(
    ("address", "languages", "message"),
    [
        ("opus:Bookz", "en-it", "no corpus Bookz for en-it; did you mean Books?"),
        ("opus:Zzz", "en-it", "no corpus Zzz for en-it; it has Books, TED2020"),
        ("opus:Books", "en-tlh", "no corpus for en-tlh; check the language codes"),
        ("opus:Books/v9", "it-en", "OPUS has Books for en-it as v0, v1 only"),
        ("opus:Zzz/v1", "en-it", "no corpus Zzz for en-it; it has Books, TED2020"),
    ],
)
def test_an_unknown_corpus_is_answered_with_what_there_is(
    server: Server, tmp_path: Path, address: str, languages: str, message: str
) -> None:
    with pytest.raises(CorpusError, match=message.replace("?", r"\?")):
        get(tmp_path / "books", address, languages)

    assert list(tmp_path.iterdir()) == []
    assert len(server.requests) <= 3


def test_a_missing_file_is_named_when_the_api_is_silent(server: Server, tmp_path: Path) -> None:
    server.failures = [404, 500]

    with pytest.raises(CorpusError, match=f"{PATH}: the server has no such file"):
        get(tmp_path / "books", "opus:Books/v1")


@pytest.mark.parametrize("answer", [b"<html>", b"[]", b'{"corpora": [1]}', b"\xff"])
def test_an_api_that_answers_something_else_is_named(
    server: Server, tmp_path: Path, answer: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Handler, "query", lambda *_: answer)

    with pytest.raises(CorpusError, match=r"/api/.*: the answer is not "):
        get(tmp_path / "books")


def test_no_network_is_said_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, "http://127.0.0.1:9")

    for address in ("opus:Books", "opus:Books/v1"):
        with pytest.raises(CorpusError, match=r"127\.0\.0\.1:9 cannot be reached .*https_proxy"):
            get_corpus(address, ("en", "it"), tmp_path / "x")


def test_a_python_without_certificates_is_told_so_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As that of python.org is on macOS, until its own command is run."""
    attempts = []

    def distrust(request: object, **options: object) -> None:
        attempts.append(request)
        raise urllib.error.URLError(
            ssl.SSLCertVerificationError(1, "unable to get local issuer certificate")
        )

    use(monkeypatch, "https://127.0.0.1:9")
    monkeypatch.setattr("urllib.request.urlopen", distrust)

    with pytest.raises(CorpusError, match=r"^127\.0\.0\.1:9 cannot be trusted .*SSL_CERT_FILE$"):
        get(tmp_path / "books", "opus:Books/v1")
    assert len(attempts) == 1


def test_only_http_addresses_are_fetched(server: Server, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    server.corpora[1]["url"] = secret.as_uri()

    with pytest.raises(CorpusError, match="only http and https addresses are fetched"):
        get(tmp_path / "books")


def test_a_changed_file_is_noticed(server: Server, tmp_path: Path) -> None:
    get(tmp_path / "books")
    (tmp_path / "books" / "Books.en-it.it").write_bytes(TEXTS["Books.en-it.it"] + b"x")

    with pytest.raises(CorpusError, match=r"Books\.en-it\.it: not the file whose SHA-256"):
        get(tmp_path / "books")


@pytest.mark.parametrize("record", ["name = 3", "= broken", 'name = "Books"'])
def test_a_damaged_record_is_named(server: Server, tmp_path: Path, record: str) -> None:
    get(tmp_path / "books")
    (tmp_path / "books" / "corpus.toml").write_text(record)

    with pytest.raises(CorpusError, match=r"books/corpus\.toml: "):
        get(tmp_path / "books")


@pytest.mark.parametrize(
    ("address", "languages"), [("opus:Books/v2", "en-it"), ("opus:TED2020", "en-it")]
)
def test_another_corpus_is_not_taken_for_the_one_asked_for(
    server: Server, tmp_path: Path, address: str, languages: str
) -> None:
    get(tmp_path / "books")

    with pytest.raises(CorpusError, match="books: holds Books v1 en-it; choose another"):
        get(tmp_path / "books", address, languages)


def test_a_directory_with_something_else_is_left_alone(server: Server, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").touch()

    with pytest.raises(CorpusError, match="exists and is not a downloaded corpus"):
        get(tmp_path)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({"Books.en-it.en": b"a\n", "other": b""}, "no Books.en-it.it in it, only Books.en-it.en"),
        ({"Books.en-it.en": b"a\nb", "Books.en-it.it": b"a\n"}, "has 2 lines and .* has 1 line"),
        (
            {"Books.en-it.en": b"\n" * 2_000_000, "Books.en-it.it": b"\n"},
            "Books.en-it.en would inflate to 2000000 bytes",
        ),
    ],
)
def test_an_archive_of_something_else_is_refused(
    server: Server, tmp_path: Path, texts: dict[str, bytes], message: str
) -> None:
    server.files[PATH] = zipped(texts)

    with pytest.raises(CorpusError, match=message):
        get(tmp_path / "books")

    assert not (tmp_path / "books").exists()


def test_a_damaged_archive_is_fetched_again_by_the_next_call(
    server: Server, tmp_path: Path
) -> None:
    whole = server.files[PATH]
    for damaged in (whole[: len(whole) // 2], whole.replace(whole[4000:4010], b"0123456789")):
        server.files[PATH] = damaged
        with pytest.raises(CorpusError, match="a damaged archive"):
            get(tmp_path / "books")
        assert not (tmp_path / "books").exists()

    server.files[PATH] = whole
    get(tmp_path / "books")

    assert_complete(tmp_path / "books")


def test_an_archive_writes_nothing_but_the_files_that_it_should_have(
    server: Server, tmp_path: Path
) -> None:
    server.files[PATH] = zipped({"../escaped": b"x", "/escaped": b"x", **TEXTS})

    get(tmp_path / "books")

    assert_complete(tmp_path / "books")


def test_a_full_disk_is_said_before_anything_is_unpacked(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = SimpleNamespace(free=99)
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage)

    with pytest.raises(CorpusError, match="bytes and the disk has 99; make room"):
        get(tmp_path / "books")

    assert not (tmp_path / "books").exists()


def test_a_disk_that_fills_up_is_said_and_leaves_no_half_corpus(
    server: Server, tmp_path: Path
) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    for limit in (2000, len(server.files[PATH]) + 1000):  # in the archive, in a text
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
        try:
            with pytest.raises(CorpusError, match=r"cannot be written.*File too large"):
                get(tmp_path / "books")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert not (tmp_path / "books").exists()

    get(tmp_path / "books")

    assert_complete(tmp_path / "books")


@pytest.mark.parametrize("address", ["Books", "opus:", "opus:../x", "opus:a/b", "opus:Books/v1/x"])
def test_an_address_names_a_corpus_of_opus(address: str) -> None:
    with pytest.raises(CorpusError, match="write it as opus:NAME or opus:NAME/VERSION"):
        servers.parse(address)


def test_an_address_may_name_a_version() -> None:
    assert servers.parse("opus:OpenSubtitles") == ("OpenSubtitles", None)
    assert servers.parse("opus:wikimedia/v2023-04-12") == ("wikimedia", "v2023-04-12")
    assert servers.parse("opus:ELRC-CORDIS_News/v1.1") == ("ELRC-CORDIS_News", "v1.1")


@pytest.mark.parametrize("languages", ["en", "en-it-fr", "en_it", "../-it", ""])
def test_languages_are_two_codes(languages: str) -> None:
    with pytest.raises(UsageError, match="write two language codes"):
        parse_languages(languages)


@pytest.mark.parametrize("languages", ["en-en", "pt_BR-pt_br"])
def test_languages_are_two_different_ones(languages: str) -> None:
    with pytest.raises(UsageError, match=f"{languages}: source and target are the same language"):
        parse_languages(languages)


def test_a_language_may_have_a_region() -> None:
    assert parse_languages("pt_BR-zh_cn") == ("pt_BR", "zh_cn")


def test_a_code_of_three_letters_may_be_a_name_as_well() -> None:
    assert parse_languages("en-lao") == ("en", "lao")


def test_a_mirror_is_named_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(servers.STORAGE_VARIABLE, "https://mirror.example/")

    expected = "https://mirror.example/OPUS-Books/v1/moses/en-it.txt.zip"
    assert servers.find("Books", "v1", ("it", "en")).url == expected
