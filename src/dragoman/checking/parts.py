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

    others: tuple[str, ...] = ()
    """Names that also other things have; they count where no class has one of its spellings."""

    is_function: bool = False


PARTS = (
    Part(
        name="InputEmbeddings",
        spellings=(
            *("inputembeddings", "inputembedding", "embeddings", "embedding", "tokenembedding"),
            *("tokenembeddings", "wordembedding", "wordembeddings", "embedder", "embeddinglayer"),
            *("tokenembed", "tokenemb", "tokemb", "embed"),
        ),
    ),
    Part(
        name="PositionalEncoding",
        spellings=(
            *("positionalencoding", "positionalencodings", "positionalencoder", "posencoding"),
            *("posenc", "posencoder", "posembedding", "posemb"),
            *("positionalembedding", "positionembedding", "positionencoding", "positions"),
            *("sinusoidalpositionalencoding", "sinusoidalpositionalembedding"),
            *("sinusoidalpositions", "sinusoidalencoding", "sinusoid", "sinusoids", "sinusoidalpe"),
        ),
    ),
    Part(
        name="LayerNormalization",
        spellings=("layernormalization", "layernormalisation", "layernorm", "norm"),
        others=("rmsnorm",),
    ),
    Part(
        name="FeedForward",
        spellings=(
            *("feedforward", "feedforwardblock", "feedforwardlayer", "feedforwardnetwork", "ffn"),
            *("positionwisefeedforward", "positionwisefeedforwardlayer", "positionwiseffn", "mlp"),
            *("positionwisefeedforwardnetwork", "poswiseffn", "poswisefeedforwardnet"),
            *("ff", "ffnn", "ffblock", "fflayer", "ffwd"),
            "feedfoward",  # as a well-known lecture spells it
        ),
    ),
    Part(
        name="MultiHeadAttention",
        spellings=(
            *("multiheadattention", "multiheadattentionblock", "multiheadedattention", "mha"),
            *("multiheadattentionlayer", "multiheadselfattention", "selfattention", "multihead"),
        ),
        others=("causalselfattention", "causalattention", "maskedselfattention", _ATTENTION),
    ),
    Part(
        name="ResidualConnection",
        spellings=(
            *("residualconnection", "sublayerconnection", "residualblock", "residual", "addnorm"),
            *("addandnorm", "skipconnection"),
        ),
    ),
    Part(
        name="EncoderBlock",
        spellings=(
            *("encoderblock", "encoderlayer", "transformerencoderlayer"),
            *("transformerencoderblock", "encblock", "enclayer"),
        ),
        others=("transformerblock", "block", "gptblock"),
    ),
    Part(name="Encoder", spellings=("encoder", "transformerencoder")),
    Part(
        name="DecoderBlock",
        spellings=(
            *("decoderblock", "decoderlayer", "transformerdecoderlayer", "transformerdecoderblock"),
            *("decblock", "declayer"),
        ),
    ),
    Part(name="Decoder", spellings=("decoder", "transformerdecoder")),
    Part(
        name="ProjectionLayer",
        spellings=(
            *("projectionlayer", "generator", "projection"),
            *("outputprojection", "outputlayer"),
        ),
    ),
    Part(
        name="causal_mask",
        spellings=(
            *("causalmask", "subsequentmask", "makecausalmask", "createcausalmask"),
            *("generatesquaresubsequentmask", "lookaheadmask", "createlookaheadmask"),
            *("getsubsequentmask", "nopeakmask", "targetmask"),
        ),
        is_function=True,
    ),
    Part(
        name="Transformer",
        spellings=(
            *("transformer", "encoderdecoder", "seq2seq", "transformermodel"),
            *("seq2seqtransformer", "translationmodel", "translator"),
        ),
        others=(*("gpt", "gptmodel", "gptlanguagemodel", "minigpt", "nanogpt"), "languagemodel"),
    ),
    Part(
        name="build_transformer",
        spellings=(
            *("buildtransformer", "makemodel", "buildmodel", "createtransformer"),
            *("maketransformer", "buildtransformermodel", "createmodel"),
        ),
        is_function=True,
    ),
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
