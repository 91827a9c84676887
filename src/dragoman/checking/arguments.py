"""What an argument of a learner's constructor or method stands for, judged by its name."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dragoman.checking.spelling import closest, plain


class NotCheckableError(Exception):
    """Something cannot be examined; the message says why."""


CONSTRUCTOR = {
    role: tuple(spellings.split())
    for role, spellings in {
        "d_model": (
            "dmodel embdim embeddim embeddingdim embedsize embsize embeddingsize modeldim dim "
            "dimension dimensionsize d size features nembd hiddensize hiddendim hiddim hidden "
            "numfeatures embeddingdimension dembed dwordvec dimmodel normalizedshape normshape "
            "modelsize numhiddens dhid ninp ndim"
        ),
        "source_vocab": (
            "srcvocab srcvocabsize sourcevocab sourcevocabsize encvocsize inputdim "
            "encodervocabsize inputvocabsize nsrcvocab"
        ),
        "target_vocab": (
            "tgtvocab tgtvocabsize targetvocab targetvocabsize trgvocab outputdim trgvocabsize "
            "decvocsize decodervocabsize ntrgvocab"
        ),
        "vocab": "vocab vocabsize nvocab numtokens ntokens vocabularysize v numembeddings",
        "heads": "h heads numheads nheads nhead numberofheads numattentionheads",
        "head_width": "dk dv headdim dhead dkey dvalue headsize",
        "length": (
            "seqlen maxlen maxlength seqlength maxseqlen maxseqlength seq maxsequencelength "
            "srcseqlen tgtseqlen blocksize contextsize contextlength sequencelength maxposition "
            "maxpositions trgseqlen nposition npositions nctx maxpositionembeddings"
        ),
        "d_ff": (
            "dff ffdim dimff ffnhidden pfdim dhidden innerdim ffndim dinner dimfeedforward "
            "ffhidden ffsize hiddenff feedforwarddim ffhiddendim intermediatesize dfeedforward "
            "dffn dimffn ffnnumhiddens mlpdim nhid dmlp"
        ),
        "expansion": "forwardexpansion expansion expansionfactor ffmultiplier mlpratio",
        "dropout": (
            "dropout dropprob drop p dropoutrate dropoutp pdrop pdropout dropoutprob rate "
            "attndropout hiddendropout hiddendropoutprob"
        ),
        "layers": (
            "layers n nlayers numlayers numblocks depth nx blocks numencoderlayers "
            "numdecoderlayers nblocks layer numhiddenlayers"
        ),
        "padding_id": (
            "padidx srcpadidx trgpadidx tgtpadidx paddingidx padid padtokenid pad paddingid srcpad "
            "tgtpad trgpad padtoken"
        ),
        "start_id": "trgsosidx tgtsosidx sosid bosid sosidx",
        "bias": "bias usebias",
        "device": "device",
        "cross_attention": (
            "crossattentionblock crossattention crossattn srcattn encattn encoderattention "
            "encdecattention srcattention"
        ),
        "attention": (
            "selfattentionblock selfattention selfattn attention attn attentionblock "
            "multiheadattention mha"
        ),
        "feed_forward": "feedforwardblock feedforward ff ffn mlp positionwisefeedforward",
        "norm": "norm layernorm",
        "encoder": "encoder",
        "decoder": "decoder",
        "source_embeddings": "srcembed srcembedding sourceembeddings srcembeddings",
        "target_embeddings": "tgtembed tgtembedding targetembeddings tgtembeddings trgembed",
        "source_positions": "srcpos sourcepositions srcposition",
        "target_positions": "tgtpos targetpositions tgtposition trgpos",
        "projection": "projectionlayer generator projection proj outputprojection",
    }.items()
}
"""Roles of constructors' arguments, and their spellings in lower case without underscores."""

INSIDE = {
    **CONSTRUCTOR,
    "d_model": (
        *(*CONSTRUCTOR["d_model"], "inputdim", "outputdim", "din", "dout", "infeatures"),
        *("outfeatures", "ffnnuminput", "ffnnuminputs", "ffnnumoutputs"),
    ),
}
"""The same for a part that has no vocabulary: what goes in and what comes out are vectors."""

_MODULES = {
    *("cross_attention", "attention", "feed_forward", "norm", "encoder", "decoder", "projection"),
}
_STARRED = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
"""The kinds of `*args` and `**kwargs`."""

_OF_NUMBERS = ("d_", "dim", "num")
"""Prefixes of names that are not a module's, whatever else they resemble."""

_MASKS = {
    "source_mask": (
        *("smask", "emask", "encdecmask", "encoderdecodermask", "encdecattnmask", "decencmask"),
        *("decencattnmask", "decencattentionmask", "encdecattentionmask", "encselfattnmask"),
        *("encslfattnmask", "encoderselfattentionmask", "encoderselfattnmask"),
    ),
    "target_mask": ("tmask", "dmask", "combinedmask", "nopeakmask"),
}
"""Spellings whose side `_SIDES` cannot tell."""

_SIDES = {
    "source_mask": ("src", "source", "mem", "cross", "enc", "pad", "context", "ctx"),
    "target_mask": ("tgt", "trg", "target", "self", "slf", "causal", "look", "dec", "future"),
}
"""Prefixes of the part of a mask's name that tells whose words it hides."""

_BARE_MASKS = ("mask", "attnmask", "attentionmask")
_ENCODER_MASKS = ("selfmask", "selfattnmask", "selfattentionmask", "slfmask", "slfattnmask")
_SOURCE_STATES = ("x", "src", "source", "input", "inputs", "enc", "hidden", "inp", "embeddings")
_TARGET_STATES = ("x", "tgt", "trg", "target", "y", "dec", "decinput", "decoderinput", "out")
_MEMORY = (
    *("memory", "encoderoutput", "encoutput", "encout", "enc", "encsrc", "encoderout", "context"),
    *("encoderoutputs", "encodedsource", "encoutputs", "m", "eoutputs"),
)

_QUERIES = ("q", "query", "queries", "xq", "inputq")
ATTENTION = {
    "query": (*_QUERIES, "x", "input", "inputs", "hidden"),
    "key": ("k", "key", "keys", "xk", "inputk"),
    "value": ("v", "value", "values", "xv", "inputv"),
    "mask": (*_BARE_MASKS, "attmask", "srcmask", "m"),
}
ENCODER = {
    "states": _SOURCE_STATES,
    "mask": (*_BARE_MASKS, *_ENCODER_MASKS, *_MASKS["source_mask"]),
}
DECODER = {"memory": _MEMORY, "states": _TARGET_STATES, **_MASKS}
MODEL = {
    "source": ("src", "source", "x", "input", "encoderinput", "srctokens", "sourceids", "encinput"),
    "target": ("tgt", "trg", "target", "y", "decoderinput", "tgttokens", "targetids", "decinput"),
    **_MASKS,
}
DECODE = {"memory": _MEMORY, "target": (*MODEL["target"], "x"), **_MASKS}
RESIDUAL = {"states": ("x", "input", "inputs"), "sublayer": ("sublayer", "fn", "layer", "module")}

Roles = Mapping[str, tuple[str, ...]]


def roles_of(function: Callable[..., Any], roles: Roles) -> dict[str, str | None]:
    """Return the role of each argument that can be given by name; None if none is known."""
    parameters = parameters_of(function)
    names = [name for name, parameter in parameters.items() if parameter.kind not in _STARRED]
    told = [name for name in names if not _says_whether_to_mask(name, parameters[name])]
    found = {name: role_of(name, roles, among=told) if name in told else None for name in names}
    meant = "memory" if roles is DECODER else "states" if roles is ENCODER else None
    if meant is None or meant in found.values():
        return found
    return {
        name: meant if role is None and is_of_attention(name) else role
        for name, role in found.items()
    }


def _says_whether_to_mask(name: str, parameter: inspect.Parameter) -> bool:
    return "mask" in plain(name) and isinstance(parameter.default, bool)


def is_of_attention(name: str) -> bool:
    """Tell whether a block's argument is one of its attention: queries, keys or values."""
    return plain(name) in (*_QUERIES, *ATTENTION["key"], *ATTENTION["value"])


def parameters_of(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    """Read the signature, or raise an error that there is none."""
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        raise NotCheckableError("it has no signature that can be read") from None


def is_required(parameter: inspect.Parameter) -> bool:
    """Tell whether an argument has to be given."""
    return parameter.default is parameter.empty and parameter.kind not in _STARRED


def role_of(name: str, roles: Roles, *, among: Sequence[str] = ()) -> str | None:
    """Find the role of a name by its spelling among others, then by a spelling that is close."""
    word = plain(name)
    others = {plain(other) for other in among} - {word}
    is_width = word.startswith(("hidden", "dhid")) and "drop" not in word
    if is_width and "d_ff" in roles and others & {*roles["d_model"]}:
        return "d_ff"  # (d_model, hidden): the width inside
    if word in roles.get("feed_forward", ()) and _stands_among_numbers(others, roles):
        return "d_ff"  # (d_model, heads, ff): a block of numbers makes its own network
    for role, spellings in roles.items():
        if word in spellings:
            return role
    if word.startswith("pad") and "padding_id" in roles:
        return "padding_id"  # pad_value is no d_value
    if "mask" in word:
        return _mask_role(name, roles, among=among)
    known = {
        spelling: role
        for role, spellings in roles.items()
        for spelling in spellings
        if role not in _MODULES or not name.lower().startswith(_OF_NUMBERS)
    }
    close = closest(word, known)
    return known[close] if close and len(word) > SHORTEST_TO_CORRECT else None


def _stands_among_numbers(others: set[str], roles: Roles) -> bool:
    """Tell whether the model's width is given, and no attention that is already made."""
    is_made = any("att" in other or other in roles["attention"] for other in others)
    return bool(others & {*roles["d_model"]}) and not is_made


def _mask_role(name: str, roles: Roles, *, among: Sequence[str]) -> str | None:
    """Find whose mask it is by the parts of its name; one of the wrong side would blame right code.

    An attention has no sides, and its only mask is its mask. A mask of padded keys alone has a
    shape of its own, and is none of these.
    """
    if roles is ATTENTION:
        is_only_one = ["mask" in plain(other) for other in among].count(True) == 1
        return "mask" if is_only_one else None
    if plain(name) in _BARE_MASKS:  # of a decoder: the target's, if the other one is the source's
        others = [other for other in among if "mask" in plain(other) and other != name]
        whose = [role_of(other, roles) for other in others]
        return "target_mask" if whose == ["source_mask"] else None
    pieces = name.lower().split("_")
    sides = [
        side
        for side, beginnings in _SIDES.items()
        if any(piece.startswith(beginnings) for piece in pieces)
    ]
    if "keypadding" in plain(name) or len(sides) != 1:
        return None
    of_the_source = "mask" if roles is ENCODER else "source_mask"
    role = of_the_source if sides == ["source_mask"] else sides[0]
    return role if role in roles else None


SHORTEST_TO_CORRECT = 4
"""Only names with more letters may be misspelt; shorter ones resemble too many others."""
