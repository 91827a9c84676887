"""Word alignments of sentence pairs and of translations."""

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence

from dragoman.alignment.choice import command_to_align
from dragoman.alignment.links import Alignment, AlignmentError
from dragoman.alignment.words import (
    Weights,
    join_words,
    link_words,
    of_head,
    word_weights,
    words_of_tokens,
)
from dragoman.batched import batched
from dragoman.device import without_settings_of_caller
from dragoman.engines.grouping import group_by_length
from dragoman.model.watched_attention import watched_attention
from dragoman.model_directory import DESCRIPTION_NAME, AlignmentDescription, ModelDirectory
from dragoman.translation import Translation
from dragoman.translator import check_process
from dragoman.words import cut_words

TOKENS_PER_BATCH = 2048

PAIRS_AT_ONCE = 1024
"""The weights of all heads are kept for so many pairs, not for a whole text: those of 25 words take
120 kB with a `base` model."""

LONGEST_TEXT = 4
"""How many times as long as the longest sentence that the model has seen a text to be aligned may
be: the cost is quadratic, and what a model is not shown may have any length. A line with tags is
often longer than one sentence."""


class Aligner:
    """Aligns the words of translations by a model's attention while it computes them.

    The model computes a given translation, all positions at once, whoever made it: this model with
    any engine, another model, or a person. PyTorch is needed. Forked processes cannot share it, as
    they cannot share a `Translator`.

    Args:
        model: A model directory, or its path.

    Raises:
        DragomanError: the model cannot be used.
    """

    def __init__(self, model: str | Path | ModelDirectory) -> None:
        self.directory = model if isinstance(model, ModelDirectory) else ModelDirectory(model)
        self._tokenizers = self.directory.load_tokenizers()
        self._transformer = self.directory.load_transformer()
        self._process = os.getpid()

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Belong to the process that it was sent to, which unlike a fork lacks no threads."""
        vars(self).update(state, _process=os.getpid())

    def attention(self, pairs: Iterable[tuple[str, str]]) -> Iterator[Weights]:
        """Read how target words look at source words in every layer and head.

        Args:
            pairs: Sentences and their translations.

        Yields:
            For each pair, an array of shape (layers, heads, target words, source words). An empty
            text has no words.

        Raises:
            ProcessError: this process was forked from the one that loaded the model.
        """
        check_process(self._process)
        for some in batched(pairs, PAIRS_AT_ONCE):
            yield from self._attention(some)

    @without_settings_of_caller(torch.device("cpu"))
    def _attention(self, pairs: Sequence[tuple[str, str]]) -> list[Weights]:
        sources = self._tokenizers.source.encode_batch([source for source, _ in pairs])
        targets = self._tokenizers.target.encode_batch([target for _, target in pairs])
        lengths = [max(map(len, both)) for both in zip(sources, targets, strict=True)]
        config = self.directory.description.model
        shape = (config.num_decoder_layers, config.num_heads)
        empty = np.zeros((*shape, 0, 0), dtype=np.float32)
        found = [empty for _ in pairs]
        for batch in group_by_length(lengths, TOKENS_PER_BATCH):
            weights = self._attend([sources[i] for i in batch], [targets[i] for i in batch])
            for i, of_pair in zip(batch, weights, strict=True):
                if sources[i] and targets[i]:
                    of_source = words_of_tokens(pairs[i][0], self._tokenizers.source)
                    of_target = words_of_tokens(pairs[i][1], self._tokenizers.target)
                    found[i] = word_weights(of_pair, of_source, of_target)
        return found

    def words(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[list[str], list[str]]]:
        """Cut sentences and their translations into the words that are aligned."""
        return [
            (
                cut_words(source, self._tokenizers.source),
                cut_words(target, self._tokenizers.target),
            )
            for source, target in pairs
        ]

    def align(self, pairs: Sequence[tuple[str, str]]) -> list[Alignment]:
        """Align sentence pairs by the attention that `dragoman align` has chosen.

        A pair that is far too long for the model, `LONGEST_TEXT`, has no links.

        Raises:
            AlignmentError: as `check`.
            ProcessError: as `attention`.
        """
        chosen = self.check()
        are_aligned = [self._can_align(*pair) for pair in pairs]
        attention = self.attention(compress(pairs, are_aligned))
        links = (link_words(of_head(each, chosen.layer, chosen.head)) for each in attention)
        return [
            Alignment(
                source_words=tuple(source),
                target_words=tuple(target),
                links=next(links) if is_aligned else frozenset(),
                complete=is_aligned,
            )
            for (source, target), is_aligned in zip(self.words(pairs), are_aligned, strict=True)
        ]

    def align_translations(self, translations: Sequence[Translation]) -> list[Alignment]:
        """Align each text with its best translation, one sentence at a time.

        Raises:
            AlignmentError: as `check`.
        """
        pairs = [
            list(zip(each.parts, each.alternatives[0].parts, strict=True)) for each in translations
        ]
        aligned = iter(self.align([pair for of_text in pairs for pair in of_text]))
        return [
            _join(each, [next(aligned) for _ in of_text])
            for each, of_text in zip(translations, pairs, strict=True)
        ]

    def check(self) -> AlignmentDescription:
        """Return the choice of the layer and head that `align` uses.

        Raises:
            AlignmentError: none was chosen yet, or the model does not have it.
        """
        path = self.directory.path
        description = self.directory.description
        chosen, config = description.alignment, description.model
        command = command_to_align(description.languages, quote(str(path)))
        if chosen is None:
            raise AlignmentError(
                f"{path}: it is not known yet which attention of this model aligns words; "
                f'"{command}" finds it'
            )
        if chosen.layer > config.num_decoder_layers or (chosen.head or 1) > config.num_heads:
            head = f" with head {chosen.head}" if chosen.head else ""
            raise AlignmentError(
                f"{path / DESCRIPTION_NAME}: the model has no layer {chosen.layer}{head} to align "
                f'by; "{command}" chooses another'
            )
        return chosen

    def _can_align(self, source: str, target: str) -> bool:
        """Tell whether a pair is short enough."""
        ids = self._tokenizers.source.encode(source), self._tokenizers.target.encode(target)
        return max(map(len, ids)) <= LONGEST_TEXT * self.directory.description.max_length

    def _attend(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> Iterator[Weights]:
        """Yield what the target tokens of each pair look at, without its BOS, EOS and padding.

        A position looks at what it needs to choose the token after it.
        """
        special = self.directory.description.special_ids

        def pad(rows: list[list[int]]) -> torch.Tensor:
            tensors = [torch.tensor(row) for row in rows]
            return pad_sequence(tensors, batch_first=True, padding_value=special.pad)

        blocks = self._transformer.decoder.blocks
        with watched_attention(blocks, "cross_attention") as layers, torch.inference_mode():
            self._transformer.states(
                pad([[*source, special.eos] for source in sources]),
                pad([[special.bos, *target] for target in targets]),
            )
        weights = torch.stack(layers, dim=1)  # batch layers heads target source
        for of_pair, source, target in zip(weights, sources, targets, strict=True):
            yield of_pair[..., : len(target), : len(source)].numpy()


def _join(translation: Translation, of_parts: Sequence[Alignment]) -> Alignment:
    """Count words from the beginning of the text instead of the sentence."""
    source_words, sources = join_words(
        translation.source, translation.parts, [part.source_words for part in of_parts]
    )
    target_words, targets = join_words(
        translation.text,
        translation.alternatives[0].parts,
        [part.target_words for part in of_parts],
    )
    links = frozenset(
        (source + i, target + j)
        for source, target, part in zip(sources, targets, of_parts, strict=True)
        for i, j in part.links
    )
    return Alignment(
        source_words=tuple(source_words),
        target_words=tuple(target_words),
        links=links,
        complete=all(part.complete for part in of_parts),
    )
