"""Builds a learner's part with small sizes, and whatever the part is made of."""

import inspect
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from dragoman.checking.arguments import (
    ATTENTION,
    CONSTRUCTOR,
    DECODER,
    ENCODER,
    INSIDE,
    NotCheckableError,
    Roles,
    is_required,
    parameters_of,
    roles_of,
)
from dragoman.checking.calls import (
    accepted_convention,
    attention_convention,
    block_convention,
    takes,
)
from dragoman.checking.configurations import Maker, find_configurations, most_likely
from dragoman.checking.convention import REFUSED, USUAL, Convention
from dragoman.checking.parts import find_parts
from dragoman.checking.program import Program


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """What the parts are built with; all differ, so that none can pass for another."""

    d_model: int = 24
    heads: int = 3
    d_ff: int = 40
    source_vocab: int = 29
    target_vocab: int = 31
    length: int = 16
    layers: int = 2
    dropout: float = 0.0

    @property
    def head_width(self) -> int:
        """d_k and d_v in the paper."""
        return self.d_model // self.heads


SIZES = Sizes()

_LEAST_START = 0.25
"""Of the usual deviation of weights (Glorot and Bengio 2010): PyTorch's layers have 0.4 or more."""

_MODULES = {
    "attention": "MultiHeadAttention",
    "cross_attention": "MultiHeadAttention",
    "feed_forward": "FeedForward",
    "norm": "LayerNormalization",
    "encoder": "Encoder",
    "decoder": "Decoder",
    "source_positions": "PositionalEncoding",
    "target_positions": "PositionalEncoding",
    "projection": "ProjectionLayer",
}

_OF_ATTENTION = {
    "EncoderBlock": ENCODER,
    "DecoderBlock": DECODER,
    "Encoder": ENCODER,
    "Decoder": DECODER,
}
"""What contains attention, and how it is called."""

_BLOCK_OF = {"Encoder": "EncoderBlock", "Decoder": "DecoderBlock"}
"""What a stack is made of."""

_CONFIGURATIONS = ("config", "cfg", "conf", "configuration", "args", "hparams")
"""Names of an argument that holds all the settings."""

_WITHOUT_VOCABULARY = {
    *("FeedForward", "MultiHeadAttention", "ResidualConnection", "LayerNormalization"),
    *("EncoderBlock", "DecoderBlock"),
}


class Workshop:
    """Builds parts from the classes that were found, by the names of their arguments."""

    def __init__(
        self, program: Program, classes: Mapping[str, str], named: Mapping[str, str]
    ) -> None:
        self.program = program
        self.found = find_parts(program.names, classes)
        self.named = named
        """Roles of arguments that the user has given."""

    def factory(self, part: str) -> Callable[..., Any]:
        """Return the class of a part, or the function that puts a whole model together."""
        if part == "Transformer" and "build_transformer" in self.found:
            return self.found["build_transformer"]
        if part not in self.found:
            raise NotCheckableError(f"needs {part}, which was not found")
        return self.found[part]

    @property
    def convention(self) -> Convention:
        """How masks are written here, as the learner's attention understands them.

        Raises:
            NotCheckableError: it understands none, so masks are of no use anywhere.
        """
        if self.known_convention is None:
            attention = self.found["MultiHeadAttention"].__name__
            takes_one = "mask" in takes(self.build("MultiHeadAttention"), ATTENTION)
            why = "has to obey them first" if takes_one else "takes none"
            raise NotCheckableError(f"masks: {attention} {why}")
        return self.known_convention

    @cached_property
    def known_convention(self) -> Convention | None:
        """The same, or None if there is none."""
        if "MultiHeadAttention" in self.found:
            return attention_convention(self.build("MultiHeadAttention"), _sentences())
        for part, roles in _OF_ATTENTION.items():
            with suppress(Exception):  # what fails here is reported where the part is examined
                if convention := block_convention(self.build(part), roles, _sentences()):
                    return convention
        return USUAL

    @cached_property
    def accepted_convention(self) -> Convention:
        """The same or, if there is none, one that the learner's attention takes and ignores."""
        if self.known_convention is not None:
            return self.known_convention
        return accepted_convention(self.build("MultiHeadAttention"), _sentences()) or USUAL

    def build(self, part: str, **changes: Any) -> Any:
        """Build a part in evaluation mode, always from the same random numbers.

        Linear layers that begin with next to nothing get usual weights. With zeros, or with the
        0.02 of BART at these small widths, what they compute would hardly change an output, and a
        right program would seem not to look at its input. So do other matrices that begin with
        zeros, as those of positions do. Attention or a feed-forward layer in which all are zeros
        keeps them: it never learns.

        Raises:
            NotCheckableError: the part, one that it needs, or the meaning of an argument is not
                known.
        """
        torch.default_generator.manual_seed(0)
        if part == "causal_mask":  # the function itself is examined, not its result
            return self.factory(part)
        built = self._build_with_vocabularies(part, replace(SIZES, **changes))
        if not isinstance(built, nn.Module):
            return built
        if torch.get_default_dtype() is torch.float32 and not _mixes_in_doubles(built):
            built.float()  # rounding in bfloat16 looks like mistakes
        for layer in built.modules():
            if isinstance(layer, nn.Linear) and _begins_small(layer.weight):
                nn.init.xavier_uniform_(layer.weight)
        matrices = [each for each in built.parameters() if _is_learnt_matrix(each)]
        empty = [matrix for matrix in matrices if not matrix.any()]
        if part not in _WITHOUT_VOCABULARY or len(empty) < len(matrices):
            for matrix in empty:
                nn.init.xavier_uniform_(matrix)
        return built.eval()

    def roles(self, part: str) -> dict[str, str | None]:
        """Tell what each argument of a part's constructor stands for."""
        known = INSIDE if part in _WITHOUT_VOCABULARY else CONSTRUCTOR
        return self._roles(self.factory(part), known)

    def is_told_its_sizes(self, part: str) -> bool:
        """Tell whether a part is given numbers for its sizes, a configuration, or what has them.

        Others read theirs from the program, as one whose settings are global variables.
        """
        no_sizes = {"dropout", "device", "padding_id", "start_id", "bias", None}
        parameters = parameters_of(self.factory(part)).items()
        is_told = not no_sizes.issuperset(self.roles(part).values())
        return is_told or any(self._configuration(*each) for each in parameters)

    def _roles(self, factory: Callable[..., Any], known: Roles) -> dict[str, str | None]:
        roles = roles_of(factory, known)
        return {name: self.named.get(name, role) for name, role in roles.items()}

    def _build_with_vocabularies(self, part: str, sizes: Sizes) -> Any:
        """Build a part with two vocabularies or, if both sides share a table, with a common one."""
        common = replace(sizes, source_vocab=sizes.target_vocab)
        try:
            built = self._build(part, sizes)
        except REFUSED:
            with suppress(*REFUSED):
                return self._build(part, common)
            raise
        return self._build(part, common) if _shares_a_table(built) else built

    def _build(self, part: str, sizes: Sizes) -> Any:
        return self.build_with(part, {}, sizes)

    def build_with(self, part: str, others: Mapping[str, Any], sizes: Sizes = SIZES) -> Any:
        """Build a part as its constructor leaves it, with other arguments beside the known ones."""
        factory = self.factory(part)
        return factory(**self._arguments(part, factory, self.roles(part), sizes), **others)

    def _arguments(
        self,
        part: str,
        factory: Callable[..., Any],
        roles: Mapping[str, str | None],
        sizes: Sizes,
    ) -> dict[str, Any]:
        """Make the arguments of a part or of its configuration."""
        arguments: dict[str, Any] = {}
        if block := self._block_of(part, roles):
            arguments = self._arguments(block, self.factory(block), self.roles(block), sizes)
        for name, role in roles.items():
            parameter = parameters_of(factory)[name]
            if configuration := self._configuration(name, parameter):
                fields = self._roles(configuration, CONSTRUCTOR)
                settings = self._arguments("Transformer", configuration, fields, sizes)
                arguments[name] = configuration(**settings)
            elif role is not None and not _is_free(role, parameter):
                arguments[name] = self._argument(part, name, role, roles, sizes)
            elif role is None and is_required(parameter):
                raise NotCheckableError(_not_known(name))
        return arguments

    def _block_of(self, part: str, roles: Mapping[str, str | None]) -> str | None:
        """Find the block that a stack passes its `**kwargs` to."""
        if part not in _BLOCK_OF:
            return None
        kinds = {parameter.kind for parameter in parameters_of(self.factory(part)).values()}
        hands_on = inspect.Parameter.VAR_KEYWORD in kinds and "d_model" not in roles.values()
        return _BLOCK_OF[part] if hands_on else None

    def _configuration(self, name: str, parameter: inspect.Parameter) -> Maker | None:
        """Find what makes an argument's configuration by its annotation or by its name."""
        annotated = str(getattr(parameter.annotation, "__name__", parameter.annotation))
        if annotated in self.program.names and annotated in self._configurations:
            return self._configurations[annotated]
        return most_likely(self._configurations.values()) if name in _CONFIGURATIONS else None

    @cached_property
    def _configurations(self) -> dict[str, Maker]:
        return find_configurations(self.program.names, self.program.module.__name__)

    def _argument(
        self, part: str, name: str, role: str, roles: Mapping[str, str | None], sizes: Sizes
    ) -> Any:
        """Make the value of one argument."""
        if role in _MODULES:
            return self._build(_MODULES[role], sizes)
        if role in ("source_embeddings", "target_embeddings"):
            return self._embeddings(role, sizes, alone="source_positions" in roles.values())
        if role == "layers":
            return self._layers(part, name, roles, sizes)
        if (size := size_of(role, sizes)) is not None:
            return size
        return {
            "dropout": sizes.dropout,
            "expansion": 2,
            "padding_id": 0,
            "start_id": 1,
            "bias": True,
            "device": torch.device("cpu"),
        }[role]

    def _layers(
        self, part: str, name: str, roles: Mapping[str, str | None], sizes: Sizes
    ) -> int | nn.Module:
        """Return a number of layers, one layer to be copied, or the layers, as the class wants."""
        block = _BLOCK_OF.get(part)
        has_sizes = "heads" in roles.values() or self._block_of(part, roles)
        if block is None or has_sizes:
            return sizes.layers
        if parameters_of(self.factory(part))[name].annotation is int:
            return sizes.layers
        if name == "layer":
            return self._build(block, sizes)
        if "layer" in roles:  # (layer, N)
            return sizes.layers
        return nn.ModuleList(self._build(block, sizes) for _ in range(sizes.layers))

    def _embeddings(self, role: str, sizes: Sizes, *, alone: bool) -> nn.Module:
        """Build embeddings for one side, with the positions if the model takes no others."""
        vocab = sizes.source_vocab if role == "source_embeddings" else sizes.target_vocab
        side = replace(sizes, target_vocab=vocab)
        embeddings: nn.Module = self._build("InputEmbeddings", side)
        if alone:
            return embeddings
        return nn.Sequential(embeddings, self._build("PositionalEncoding", sizes))


def size_of(role: str, sizes: Sizes) -> int | None:
    """Return the size that an argument of this role gets; None if it stands for none."""
    return {
        "d_model": sizes.d_model,
        "source_vocab": sizes.source_vocab,
        "target_vocab": sizes.target_vocab,
        "vocab": sizes.target_vocab,
        "heads": sizes.heads,
        "head_width": sizes.head_width,
        "length": sizes.length,
        "d_ff": sizes.d_ff,
        "layers": sizes.layers,
    }.get(role)


def _sentences() -> Tensor:
    """Draw vectors to try masks with: (batch, length, d_model)."""
    return torch.randn(2, 6, SIZES.d_model, generator=torch.Generator().manual_seed(2))


def _not_known(name: str) -> str:
    """Say which argument's role is not known."""
    if name in _CONFIGURATIONS:
        return f"its argument `{name}` is a configuration, and which it is is not known"
    return (
        f"what its argument `{name}` stands for is not known; --argument {name}=MEANING would say "
        "so, MEANING being d_model, d_ff, vocab, heads, layers, length, dropout or another"
    )


def _is_free(role: str, parameter: inspect.Parameter) -> bool:
    """Tell whether an argument is better left at its default, as an optional part is.

    What is a word, or true or false, by default is no size, whatever its name resembles.
    """
    is_no_size = isinstance(parameter.default, bool | str)
    return is_no_size or (role in _MODULES and not is_required(parameter))


def _begins_small(weight: Tensor) -> bool:
    """Tell whether a matrix begins with much less than is usual; a lazy one has no size yet."""
    if is_lazy(weight):
        return False
    usual = (2 / sum(weight.shape)) ** 0.5
    return weight.std(correction=0).item() < _LEAST_START * usual


def _mixes_in_doubles(built: nn.Module) -> bool:
    """Tell whether some numbers are doubles, as a table of NumPy's, at which layers would stop."""
    dtypes = {each.dtype for each in (*built.parameters(), *built.buffers())}
    return {torch.float32, torch.float64} <= dtypes


def _shares_a_table(built: Any) -> bool:
    """Tell whether embeddings have the table of others, of which there are more or fewer."""
    layers = built.modules() if isinstance(built, nn.Module) else ()
    return any(
        isinstance(layer, nn.Embedding) and layer.weight.size(0) != layer.num_embeddings
        for layer in layers
    )


def _is_learnt_matrix(parameter: nn.Parameter) -> bool:
    """Tell whether a parameter is learnt and has rows and columns; a lazy one has none yet."""
    if is_lazy(parameter) or not parameter.requires_grad:
        return False
    return sum(size > 1 for size in parameter.shape) > 1
