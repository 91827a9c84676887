"""Calls a whole model that reads one sequence, as GPT does, and no source and target."""

import dis
import inspect
import re
from collections.abc import Iterator
from itertools import pairwise

from torch import Tensor, nn

from dragoman.checking.arguments import MODEL, NotCheckableError, is_required, parameters_of
from dragoman.checking.calls import call_by_name
from dragoman.checking.construction import SIZES
from dragoman.checking.convention import REFUSED
from dragoman.checking.spelling import plain
from dragoman.checking.words import is_of_torch, words_in_class

_OF_DECODERS = ("gpt", "decoder", "causal", "llama")
"""What occurs in the name of a model that may not see what it has to predict."""

_OF_MASKS = re.compile(r"tril|triu|causal|subsequent", re.IGNORECASE)
"""What occurs in the code of a language model that is no masked one, as BERT."""

_LABELS = ("targets", "labels", "target", "y")
"""What an optional argument is called that a loss is computed from."""


_OF_SEVERAL = ("batch", "data", "sample", "example")
"""What an argument is called that may hold the source and the target, and whatever else."""


def reads_one_sequence(model: nn.Module) -> bool:
    """Tell whether a model needs nothing but words, and takes no target of a translation."""
    targets = {plain(name) for name in parameters_of(model.forward)} & {*MODEL["target"]}
    required = _required(model)
    return len(required) == 1 and (plain(required[0]) in targets or not targets - {*_LABELS})


def name_of_pair(model: nn.Module) -> str | None:
    """Return the name of the only argument of a model that takes it apart into two, if it does."""
    required = _required(model)
    code = getattr(inspect.unwrap(type(model).forward), "__code__", None)
    steps = pairwise(dis.get_instructions(code)) if code else ()
    pairs = {one.argval for one, two in steps if (two.opname, two.arg) == ("UNPACK_SEQUENCE", 2)}
    return required[0] if len(required) == 1 and required[0] in pairs else None


def predict(model: nn.Module, words: Tensor) -> Tensor:
    """Call such a model; some give all predictions only if they get labels for a loss.

    Returns:
        Logits: (batch, length, vocabulary).

    Raises:
        NotCheckableError: it gives something else, as a class for a whole sentence, or takes a
            batch that is more than words.
    """
    (name,) = _required(model)
    labels = {label: words for label in parameters_of(model.forward) if plain(label) in _LABELS}
    for given in ({name: words}, {**labels, name: words}):
        try:
            output = call_by_name(model, given)
        except (*REFUSED, AttributeError):
            if plain(name) not in _OF_SEVERAL:
                raise
            raise NotCheckableError(f"what `{name}` of its forward holds is not known") from None
        if output.shape == (*words.shape, SIZES.target_vocab):
            return output
    raise NotCheckableError(
        "its forward takes no source and target, and does not predict the vocabulary for each "
        "word; only encoder-decoders and models that do are examined"
    )


def is_a_decoder(model: nn.Module) -> bool:
    """Tell whether a model is called what may not see the words that it has to predict.

    A language model may also predict words that are masked; then nothing in it is causal.
    """
    name = plain(type(model).__name__).replace("encoderdecoder", "")
    named = any(word in name for word in _OF_DECODERS)
    return named or ("languagemodel" in name and any(map(_OF_MASKS.search, _words(model))))


def _words(model: nn.Module) -> Iterator[str]:
    """Iterate over the code of a model and its parts, those of PyTorch left out."""
    for kind in {type(part) for part in model.modules()}:
        if not is_of_torch(kind):
            yield from words_in_class(kind)


def _required(model: nn.Module) -> list[str]:
    return [name for name, each in parameters_of(model.forward).items() if is_required(each)]
