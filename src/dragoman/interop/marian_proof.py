"""Compare a model with what Hugging Face's transformers computes from a Marian directory."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import Any

import torch
from torch.nn.utils.rnn import pad_sequence

from dragoman.interop.marian import read_weights, written_anew
from dragoman.interop.marian_config import MarianError
from dragoman.interop.proof import (
    LENGTH_LIMIT,
    Agreement,
    LoadedModel,
    Pair,
    compare,
    draw_texts,
    pick,
)
from dragoman.tokenizers.marian import MarianTokenizer
from dragoman.tokenizers.pair import TokenizerPair

POSITIONS = 512
"""Enough for all texts of a proof, whatever a model was trained for; they are computed."""


def prove_import(marian: Path, imported: Path) -> Agreement | None:
    """Translate sentences of random pieces with both, and let both score translations.

    Returns:
        The result, or None if transformers is not installed.

    Raises:
        MarianError: they differ, or transformers cannot load the original.
    """
    model = LoadedModel.load(imported)
    try:
        theirs = HuggingFaceCopy(marian, model.directory.description.forbidden_ids)
    except ModuleNotFoundError as error:
        if error.name != "transformers":
            raise
        return None
    agreement = compare(model, theirs)
    if not agreement.holds:
        raise MarianError(
            f"{marian}: what was read computes something else: {agreement.num_equal} of "
            f"{agreement.num_sentences} translations equal those of transformers, "
            f"log-probabilities differ by up to {agreement.largest_difference:.1e}; nothing was "
            "written"
        )
    return agreement


def _stores_positions(directory: Path) -> bool:
    """Tell whether the weights hold the table of positions, which then has a size."""
    return any("embed_positions" in name for name in read_weights(directory))


class HuggingFaceCopy:
    """A `Copy` that transformers runs, with the special tokens that its own files name."""

    def __init__(self, directory: Path, forbidden_ids: Sequence[int]) -> None:
        """Load it.

        Raises:
            ModuleNotFoundError: transformers is not installed.
            MarianError: transformers cannot load it, or it has too few positions for a proof.
        """
        import transformers

        transformers.utils.logging.disable_progress_bar()
        with _reasons_named(directory):
            config = transformers.MarianConfig.from_pretrained(directory, local_files_only=True)
            positions = config.max_position_embeddings
            if not _stores_positions(directory):
                config.max_position_embeddings = max(positions, POSITIONS)
            elif positions <= LENGTH_LIMIT:
                raise MarianError(
                    f"{directory}: its weights hold a table of {positions} positions, but the "
                    f"proof takes {LENGTH_LIMIT + 1}; {written_anew(directory)}"
                )
            self._model: Any = transformers.MarianMTModel.from_pretrained(
                directory, config=config, dtype=torch.float32, local_files_only=True
            ).eval()
        model, start = self._model.config, self._model.generation_config.decoder_start_token_id
        # Their own search settings, such as never repeating three tokens, are all dropped.
        self._greedy = transformers.GenerationConfig(
            decoder_start_token_id=model.pad_token_id if start is None else start,
            eos_token_id=model.eos_token_id,
            pad_token_id=model.pad_token_id,
            max_new_tokens=LENGTH_LIMIT,
            suppress_tokens=sorted(set(forbidden_ids)),
        )
        self._model.generation_config = self._greedy

    def translate(self, sources: Sequence[Sequence[int]]) -> list[list[int]]:
        """Search greedily, without the tokens that our search never produces either."""
        config = self._model.config
        rows = [torch.tensor([*source, config.eos_token_id]) for source in sources]
        with torch.inference_mode():
            output = self._model.generate(
                pad_sequence(rows, batch_first=True, padding_value=config.pad_token_id),
                attention_mask=pad_sequence(
                    [torch.ones_like(row) for row in rows], batch_first=True
                ),
                generation_config=self._greedy,
            )
        return [
            list(takewhile(lambda token: token != config.eos_token_id, row))
            for row in output[:, 1:].tolist()
        ]

    def score(self, pairs: Sequence[Pair]) -> list[list[float]]:
        """Score one pair at a time, so that nothing is padded."""
        config, start = self._model.config, self._greedy.decoder_start_token_id
        scores = []
        for source, target in pairs:
            with torch.inference_mode():
                logits = self._model(
                    input_ids=torch.tensor([[*source, config.eos_token_id]]),
                    decoder_input_ids=torch.tensor([[start, *target]]),
                ).logits
            log_probabilities = logits[0].log_softmax(dim=-1).numpy()
            scores.append(pick(log_probabilities, [*target, config.eos_token_id]))
        return scores


@contextmanager
def _reasons_named(directory: Path) -> Iterator[None]:
    """Name the directory that transformers cannot load: its errors are of many kinds."""
    try:
        yield
    except (ModuleNotFoundError, MarianError):
        raise
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise MarianError(f"{directory}: transformers cannot load it ({reason})") from error


def load_marian_tokenizer(directory: Path) -> Any:
    """Load a `MarianTokenizer`, which recommends a package that it then does not use.

    Raises:
        MarianError: transformers cannot load it.
    """
    import transformers

    with warnings.catch_warnings(), _reasons_named(directory):
        warnings.filterwarnings("ignore", "Recommended: pip install sacremoses", UserWarning)
        return transformers.MarianTokenizer.from_pretrained(directory, local_files_only=True)


def find_other_tokens(directory: Path, tokenizers: TokenizerPair) -> list[str]:
    """List the texts, of random pieces, that `MarianTokenizer` encodes or decodes differently.

    Texts that spell a special token, or look like a language token, are left out: for transformers
    they are such tokens, for us they are text.
    """
    theirs = load_marian_tokenizer(directory)
    source, target = tokenizers.source, tokenizers.target
    prefix = source.prefix if isinstance(source, MarianTokenizer) else None
    end = [theirs.eos_token_id]

    def is_text(text: str) -> bool:
        return not any(special in text for special in (">>", *theirs.all_special_tokens))

    def is_read_alike(text: str) -> bool:
        written = f"{prefix} {text}" if prefix and text else text
        return theirs(written)["input_ids"] == source.encode(text) + end

    def is_written_alike(text: str) -> bool:
        ids = target.encode(text)
        if theirs(text_target=text)["input_ids"] != ids + end:
            return False
        # The two write unknown tokens differently, but no translation has them.
        return theirs.unk_token_id in ids or theirs.decode(
            ids, clean_up_tokenization_spaces=False
        ) == target.decode(ids)

    return [
        *(text for text in draw_texts(source) if is_text(text) and not is_read_alike(text)),
        *(text for text in draw_texts(target) if is_text(text) and not is_written_alike(text)),
    ]
