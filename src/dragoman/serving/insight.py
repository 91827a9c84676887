"""What can be seen of a model besides its translations."""

from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from dragoman.device import compute_in_one_thread
from dragoman.model_directory import WEIGHTS_NAME, ModelDirectory
from dragoman.serving.refusal import RefusalError
from dragoman.tokenizers.pair import TokenizerPair
from dragoman.tokenizers.tokenizer import Tokenizer
from dragoman.translation import Translation

if TYPE_CHECKING:
    from dragoman.alignment.aligner import Aligner
    from dragoman.alignment.links import Alignment
    from dragoman.model.transformer import Transformer
    from dragoman.visualisation.trace import Trace

MOST_TOKENS = 64
"""Of a sentence to explain: attention takes the square of this, times layers and heads."""


class Insight:
    """Looks into a model with the code of `dragoman explain` and `dragoman align`.

    That takes PyTorch and the weights, whichever engine translates. Both are loaded when they are
    first needed, and stay loaded. All questions must come from the same thread.
    """

    def __init__(self, path: Path) -> None:
        """Prepare to look into a model directory; nothing is loaded yet."""
        self._directory = _KeptDirectory(path)

    @property
    def explains(self) -> bool:
        """Whether it can show how a sentence is translated."""
        return self._hindrance is None and not self._directory.search.samples

    @property
    def aligns(self) -> bool:
        """Whether it can tell which word became which."""
        return self._hindrance is None and self._directory.description.alignment is not None

    def explain(self, text: str) -> tuple["Trace", list[str]]:
        """Translate a sentence as the model's description says, and keep everything computed.

        Returns:
            What was computed, and why the server may translate the text differently.

        Raises:
            RefusalError: the model cannot be looked into, or the sentence is blank or too long.
        """
        self._check()
        from dragoman.visualisation.shown_sentence import ExplainError, shown_sentence
        from dragoman.visualisation.trace import trace_translation

        shown, notes = shown_sentence(self._directory, text)
        _check_length(shown, self._directory.load_tokenizers().source, MOST_TOKENS)
        try:
            return trace_translation(self._directory, shown, self._directory.search), notes
        except ExplainError as error:
            raise RefusalError(400, str(error)) from None

    def align(self, text: str, translation: str) -> "Alignment":
        """Align the words of a sentence with those of its translation, whoever made it.

        Raises:
            RefusalError: the model cannot align, or one of them is too long for it.
        """
        aligner, most = self._get_aligner(), self._directory.description.max_length
        tokenizers = self._directory.load_tokenizers()
        _check_length(text, tokenizers.source, most)
        _check_length(translation, tokenizers.target, most)
        (alignment,) = aligner.align([(text, translation)])
        return alignment

    def align_translation(self, translation: Translation) -> "Alignment":
        """Align a text with its best translation, counting words through all sentences.

        Raises:
            RefusalError: the model cannot align.
        """
        (alignment,) = self._get_aligner().align_translations([translation])
        return alignment

    @property
    def _hindrance(self) -> str | None:
        """Say why the model cannot be looked into, if it cannot."""
        if find_spec("torch") is None:
            return "this server cannot look inside its models: PyTorch is not installed there"
        if not (self._directory.path / WEIGHTS_NAME).exists():
            return "this server cannot look inside this model: it has a copy without its weights"
        if self._directory.description.ensemble_of is not None:
            return "this server cannot look inside this model: it is an ensemble of several"
        return None

    def _check(self) -> None:
        if hindrance := self._hindrance:
            raise RefusalError(400, hindrance)

    def _get_aligner(self) -> "Aligner":
        self._check()
        from dragoman.alignment.choice import command_to_align
        from dragoman.alignment.links import AlignmentError

        try:
            self._aligner.check()
        except AlignmentError:
            command = command_to_align(self._directory.description.languages, "MODEL")
            raise RefusalError(
                400,
                "it is not known which attention of this model aligns words; where the server "
                f'runs, "{command}" finds it',
            ) from None
        return self._aligner

    @cached_property
    def _aligner(self) -> "Aligner":
        from dragoman.alignment.aligner import Aligner

        return Aligner(self._directory)


class _KeptDirectory(ModelDirectory):
    """A model directory that is read once."""

    def load_tokenizers(self) -> TokenizerPair:
        return self._tokenizers

    def load_transformer(self, device: str = "cpu") -> "Transformer":
        return self._transformer.to(device)

    @cached_property
    def _tokenizers(self) -> TokenizerPair:
        return super().load_tokenizers()

    @cached_property
    def _transformer(self) -> "Transformer":
        compute_in_one_thread()  # the others are needed for translating
        return super().load_transformer()


def _check_length(text: str, tokenizer: Tokenizer, most: int) -> None:
    num_tokens = len(tokenizer.encode(text))
    if num_tokens > most:
        raise RefusalError(
            413, f"the sentence has {num_tokens} tokens, and at most {most} are taken here"
        )
