"""Which class is which part of figure 1."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from torch import nn

from dragoman.checking.arguments import CONSTRUCTOR, role_of
from dragoman.checking.spelling import plain
from dragoman.checking.words import is_of_torch, words_in_class

_ATTENTION = "attention"
"""A name that attention of one head has as well, and that of recurrent networks."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part of the Transformer, and the names that people give it."""

    name: str
    spellings: tuple[str, ...]
    """In lower case, without underscores."""

    others: tuple[str, ...]
    """Names that also other things have; they count where no class has one of its spellings."""

    is_function: bool


_SPELLINGS = {
    "InputEmbeddings": """
        inputembeddings inputembedding embeddings embedding tokenembedding tokenembeddings
        wordembedding wordembeddings embedder embeddinglayer tokenembed tokenemb tokemb embed
    """,
    "PositionalEncoding": """
        positionalencoding positionalencodings positionalencoder posencoding posenc posencoder
        posembedding posemb positionalembedding positionembedding positionencoding positions
        sinusoidalpositionalencoding sinusoidalpositionalembedding sinusoidalpositions
        sinusoidalencoding sinusoid sinusoids sinusoidalpe
    """,
    "LayerNormalization": "layernormalization layernormalisation layernorm norm",
    # The last is how a well-known lecture spells it.
    "FeedForward": """
        feedforward feedforwardblock feedforwardlayer feedforwardnetwork ffn
        positionwisefeedforward positionwisefeedforwardlayer positionwiseffn mlp
        positionwisefeedforwardnetwork poswiseffn poswisefeedforwardnet ff ffnn ffblock fflayer
        ffwd feedfoward
    """,
    "MultiHeadAttention": """
        multiheadattention multiheadattentionblock multiheadedattention mha
        multiheadattentionlayer multiheadselfattention selfattention multihead
    """,
    "ResidualConnection": """
        residualconnection sublayerconnection residualblock residual addnorm addandnorm
        skipconnection
    """,
    "EncoderBlock": """
        encoderblock encoderlayer transformerencoderlayer transformerencoderblock encblock enclayer
    """,
    "Encoder": "encoder transformerencoder",
    "DecoderBlock": """
        decoderblock decoderlayer transformerdecoderlayer transformerdecoderblock decblock declayer
    """,
    "Decoder": "decoder transformerdecoder",
    "ProjectionLayer": "projectionlayer generator projection outputprojection outputlayer",
    "causal_mask": """
        causalmask subsequentmask makecausalmask createcausalmask generatesquaresubsequentmask
        lookaheadmask createlookaheadmask getsubsequentmask nopeakmask targetmask
    """,
    "Transformer": """
        transformer encoderdecoder seq2seq transformermodel seq2seqtransformer translationmodel
        translator
    """,
    "build_transformer": """
        buildtransformer makemodel buildmodel createtransformer maketransformer
        buildtransformermodel createmodel
    """,
}

_OTHERS = {
    "LayerNormalization": "rmsnorm",
    "MultiHeadAttention": f"causalselfattention causalattention maskedselfattention {_ATTENTION}",
    "EncoderBlock": "transformerblock block gptblock",
    "Transformer": "gpt gptmodel gptlanguagemodel minigpt nanogpt languagemodel",
}

PARTS = tuple(
    Part(
        name=name,
        spellings=tuple(spellings.split()),
        others=tuple(_OTHERS.get(name, "").split()),
        is_function=name in ("causal_mask", "build_transformer"),
    )
    for name, spellings in _SPELLINGS.items()
)

PART_NAMES = tuple(part.name for part in PARTS)


def find_parts(
    names: Mapping[str, Any], chosen: Mapping[str, str]
) -> dict[str, Callable[..., Any]]:
    """Find the parts among the names that a program has defined.

    Args:
        names: All of the program's names.
        chosen: For parts, named as in `PARTS`, the names that the user says they have.
    """
    found = {}
    for part in PARTS:
        if part.name in chosen:
            value = names.get(chosen[part.name])
            if value is not None and (part.is_function or inspect.isclass(value)):
                found[part.name] = value
            continue
        for spellings in (part.others, part.spellings):
            for name, value in names.items():
                is_theirs = _is_theirs(value, is_function=part.is_function)
                if is_theirs and plain(name) in spellings and _has_its_heads(name, value):
                    found[part.name] = value
    return found


def unknown_classes(
    names: Mapping[str, Any], found: Mapping[str, Callable[..., Any]]
) -> tuple[str, ...]:
    """List the modules of a program that are no part by their names."""
    known = [*found.values()]
    return tuple(
        name
        for name, value in names.items()
        if _is_theirs(value, is_function=False) and value not in known
    )


def looked_for(name: str) -> str:
    """List the first few names by which a part would have been found."""
    return next(", ".join(part.spellings[:4]) for part in PARTS if part.name == name)


def _has_its_heads(name: str, value: Any) -> bool:
    """Tell whether the code of a class that is called just attention has a number of heads."""
    if plain(name) != _ATTENTION:
        return True
    words = {*words_in_class(value), *inspect.signature(value.__init__).parameters}
    return any("head" in word.lower() and role_of(word, CONSTRUCTOR) == "heads" for word in words)


def _is_theirs(value: Any, *, is_function: bool) -> bool:
    """Tell whether a learner wrote something; an import from PyTorch is PyTorch's."""
    if is_of_torch(value):
        return False
    if is_function:
        return inspect.isfunction(value)
    return inspect.isclass(value) and issubclass(value, nn.Module)
