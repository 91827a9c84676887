"""The files beside the ONNX graphs: all that is needed to run them, and how to do it."""

from dataclasses import asdict
from typing import Any

from dragoman.interop.onnx_graphs import (
    DECODER_INPUTS,
    DECODER_NAME,
    DECODER_OUTPUTS,
    ENCODER_INPUTS,
    ENCODER_NAME,
    ENCODER_OUTPUTS,
    TOKENS,
    Axes,
)
from dragoman.interop.proof import LoadedModel
from dragoman.model_directory import WEIGHTS_OF_ORIGIN
from dragoman.tokenizers.sentencepiece import SentencePieceTokenizer

_README = """\
# {source} to {target}, in ONNX

Made by `dragoman export`, which has compared it with the model that it was made from.
`encoder.onnx` reads a text once, `decoder.onnx` writes its translation token by token, and
`config.json` describes inputs and outputs and has all the numbers that are needed.

- A batch of texts is padded on the right with `special_ids.pad`.
- Before a text is cut into tokens, bring it into Unicode's form NFC, with single spaces between its
  words; its tokens end with `special_ids.eos`. The model has learnt sentences of up to
  `max_source_length` tokens.
- A translation begins with `special_ids.bos`. Pass the `keys` and `values` that the decoder returns
  back in as `past_keys` and `past_values`; each step then needs only the newest token.
- `forbidden_ids` are never chosen.
- No sequence has more than `num_positions` tokens.

## Example

This is greedy search, for one text. It needs {packages}.

```python
import json
import unicodedata

import numpy as np
import onnxruntime
{tokenizers}

with open("config.json", encoding="utf-8") as file:
    config = json.load(file)
encoder = onnxruntime.InferenceSession("encoder.onnx")
decoder = onnxruntime.InferenceSession("decoder.onnx")
bos, eos = config["special_ids"]["bos"], config["special_ids"]["eos"]


def translate(text):
    text = " ".join(unicodedata.normalize("NFC", text).split())
    source = np.array([[*source_tokenizer.encode(text), eos]])
    source_keys, source_values = encoder.run(None, {{"source": source}})
    shape = config["num_layers"], 1, config["num_heads"], 0, config["d_k"]
    keys = values = np.zeros(shape, np.float32)
    longest = config["max_length_ratio"] * (source.size - 1) + config["max_length_extra"]
    tokens = [bos]
    while tokens[-1] != eos and len(tokens) <= longest:
        inputs = {{
            "tokens": np.array([tokens[-1:]]),
            "source": source,
            "source_keys": source_keys,
            "source_values": source_values,
            "past_keys": keys,
            "past_values": values,
        }}
        log_probabilities, keys, values = decoder.run(None, inputs)
        log_probabilities[..., config["forbidden_ids"]] = -np.inf
        tokens.append(int(log_probabilities[0, -1].argmax()))
    return target_tokenizer.decode([token for token in tokens[1:] if token != eos])


if __name__ == "__main__":
    print(translate(input()))
```
"""

_BY_SENTENCEPIECE = """\
import sentencepiece

source_tokenizer = sentencepiece.SentencePieceProcessor(model_file="{source}")
target_tokenizer = sentencepiece.SentencePieceProcessor(model_file="{target}")"""

_BY_DRAGOMAN = """\
from pathlib import Path

from dragoman.tokenizers.pair import TokenizerPair

tokenizers = TokenizerPair.load(Path(), "{kind}")
source_tokenizer, target_tokenizer = tokenizers.source, tokenizers.target"""


def describe(model: LoadedModel, *, num_positions: int, quantization: str) -> dict[str, Any]:
    """Write down the numbers, for `config.json`."""
    description = model.directory.description
    config, search = description.model, model.directory.search
    return {
        WEIGHTS_OF_ORIGIN: description.weights_sha256,
        "source_language": description.source_language,
        "target_language": description.target_language,
        "quantization": quantization,
        "tokenizer": description.tokenizer.kind,
        "special_ids": asdict(description.special_ids),
        "forbidden_ids": sorted(set(description.forbidden_ids)),
        "max_source_length": description.max_length,
        "max_length_ratio": search.max_length_ratio,
        "max_length_extra": search.max_length_extra,
        "num_positions": num_positions,
        "num_layers": config.num_decoder_layers,
        "num_heads": config.num_heads,
        "d_k": config.d_k,
        ENCODER_NAME: {"inputs": _types(ENCODER_INPUTS), "outputs": _types(ENCODER_OUTPUTS)},
        DECODER_NAME: {"inputs": _types(DECODER_INPUTS), "outputs": _types(DECODER_OUTPUTS)},
    }


def explain(model: LoadedModel) -> str:
    """Write the README; its example runs as it stands, in the directory."""
    description = model.directory.description
    if isinstance(model.tokenizers.source, SentencePieceTokenizer):
        joint = model.tokenizers.joint
        tokenizers = _BY_SENTENCEPIECE.format(
            source="tokenizer.model" if joint else "tokenizer.source.model",
            target="tokenizer.model" if joint else "tokenizer.target.model",
        )
        packages = "numpy, onnxruntime and sentencepiece"
    else:
        tokenizers = _BY_DRAGOMAN.format(kind=description.tokenizer.kind)
        packages = "numpy, onnxruntime and dragoman, for its tokenizers, but no PyTorch"
    return _README.format(
        source=description.source_language,
        target=description.target_language,
        packages=packages,
        tokenizers=tokenizers,
    )


def _types(tensors: Axes) -> dict[str, str]:
    """Write types and axes for people to read."""
    return {
        name: f"{'int64' if name in TOKENS else 'float32'}[{', '.join(axes)}]"
        for name, axes in tensors.items()
    }
