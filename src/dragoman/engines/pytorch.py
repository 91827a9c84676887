"""Running a model with PyTorch, on a CPU or a GPU."""

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from jaxtyping import Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from dragoman.decoding.config import SearchConfig
from dragoman.decoding.hypothesis import EMPTY, Hypothesis
from dragoman.decoding.phrase import Phrase
from dragoman.decoding.problem import SearchProblem
from dragoman.decoding.search import search
from dragoman.engines.grouping import group_by_length
from dragoman.model.transformer import Transformer
from dragoman.tokenizers.tokenizer import SpecialIds

TOKENS_PER_BATCH = {"cpu": 2**13, "cuda": 2**16}
"""Source tokens decoded together, padding and the beam's copies included."""


class PyTorchEngine:
    """Searches with a `Transformer`."""

    def __init__(
        self,
        transformer: Transformer,
        special_ids: SpecialIds,
        *,
        device: torch.device | None = None,
        dtype: torch.dtype | None = None,
        forbidden_ids: Sequence[int] | None = None,
        tokens_per_batch: int | None = None,
    ) -> None:
        """Prepare a model to search with; the model itself is left as it is.

        Args:
            transformer: The model. Where device or dtype ask for a change, a copy is made.
            special_ids: Those of its tokenizers.
            device: Where to compute; if not given, where the model is.
            dtype: Of the weights and of all that is computed but probabilities; if not given,
                that of the model.
            forbidden_ids: Tokens that are never produced; if not given padding, beginning and
                unknown. A vocabulary of whole words may need the unknown one.
            tokens_per_batch: More are faster and need more memory; if not given, the device
                decides.
        """
        weight = next(transformer.parameters())
        self.device = device or weight.device
        dtype = dtype or weight.dtype
        if (self.device, dtype) != (weight.device, weight.dtype):
            transformer = copy.deepcopy(transformer).to(self.device, dtype)
        self._transformer = transformer
        self._special_ids = special_ids
        self._forbidden = (
            (special_ids.pad, special_ids.bos, special_ids.unk)
            if forbidden_ids is None
            else tuple(forbidden_ids)
        )
        default = TOKENS_PER_BATCH.get(self.device.type, TOKENS_PER_BATCH["cpu"])
        self._tokens_per_batch = tokens_per_batch or default

    @property
    def name(self) -> str:
        """What computes, for reports."""
        return f"PyTorch {torch.__version__} on {self.device}"

    @property
    def knows_phrases(self) -> bool:
        """Whether it can be required to produce phrases."""
        return True

    def search(
        self,
        sources: Sequence[Sequence[int]],
        config: SearchConfig,
        required: Sequence[Sequence[Phrase]] | None = None,
    ) -> list[list[Hypothesis]]:
        """Translate sentences, given as tokens without EOS; the results keep their order.

        Sentences of similar length share a batch, the longest first, so that what does not fit
        into memory fails at once.
        """
        results: list[list[Hypothesis]] = [[EMPTY] for _ in sources]
        rows_per_sentence = config.n_best if config.samples else config.beam_size
        budget = self._tokens_per_batch // rows_per_sentence
        with torch.inference_mode(), _evaluating(self._transformer):
            for batch in group_by_length([len(source) for source in sources], budget):
                of_batch = None if required is None else [required[i] for i in batch]
                found = self._search_batch([sources[i] for i in batch], config, of_batch)
                for i, hypotheses in zip(batch, found, strict=True):
                    results[i] = hypotheses
        return results

    def _search_batch(
        self,
        sources: Sequence[Sequence[int]],
        config: SearchConfig,
        required: Sequence[Sequence[Phrase]] | None,
    ) -> list[list[Hypothesis]]:
        """Translate sentences that fit into one batch."""
        problem = SearchProblem(
            step=self._transformer.step,
            state=self._transformer.start(self._pad(sources)),
            sources=sources,
            bos=self._special_ids.bos,
            eos=self._special_ids.eos,
            forbidden=self._forbidden,
            device=self.device,
        )
        return search(problem, config, required)

    def _pad(self, sources: Sequence[Sequence[int]]) -> Int[Tensor, "batch source"]:
        """End each source with EOS and fill it up to the longest."""
        rows = [torch.tensor([*source, self._special_ids.eos]) for source in sources]
        padded = pad_sequence(rows, batch_first=True, padding_value=self._special_ids.pad)
        return padded.to(self.device)


@contextmanager
def _evaluating(model: nn.Module) -> Iterator[None]:
    """Switch dropout off, and on again if it was."""
    training = model.training
    if training:
        model.eval()
    try:
        yield
    finally:
        if training:
            model.train()
