"""Word alignments of sentence pairs and of translations."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from shlex import quote

import torch
from torch.nn.utils.rnn import pad_sequence

from dragoman.alignment.cross_attention import read_cross_attention
from dragoman.alignment.links import AlignmentError, Links
from dragoman.alignment.words import (
    Weights,
    first_words,
    link_words,
    word_weights,
    words_of_tokens,
)
from dragoman.device import without_settings_of_caller
from dragoman.engines.grouping import group_by_length
from dragoman.model_directory import DESCRIPTION_NAME, ModelDirectory
from dragoman.translation import Translation

TOKENS_PER_BATCH = 2048


class Aligner:
    """Aligns the words of translations by a model's attention while it computes them.

    The model computes a given translation, all positions at once, whoever made it: this model with
    any engine, another model, or a person. PyTorch is needed.

    Args:
        model: A model directory, or its path.

    Raises:
        DragomanError: the model cannot be used.
    """

    def __init__(self, model: str | Path | ModelDirectory) -> None:
        self.directory = model if isinstance(model, ModelDirectory) else ModelDirectory(model)
        self._tokenizers = self.directory.load_tokenizers()
        self._transformer = self.directory.load_transformer()

    @without_settings_of_caller(torch.device("cpu"))
    def attention(self, pairs: Sequence[tuple[str, str]]) -> list[Weights]:
        """Read how target words look at source words in every layer and head.

        Args:
            pairs: Sentences and their translations.

        Returns:
            For each pair, an array of shape (layers, heads, target words, source words). An empty
            text has no words.
        """
        sources = self._tokenizers.source.encode_batch([source for source, _ in pairs])
        targets = self._tokenizers.target.encode_batch([target for _, target in pairs])
        lengths = [max(map(len, both)) for both in zip(sources, targets, strict=True)]
        config = self.directory.description.model
        shape = (config.num_decoder_layers, config.num_heads)
        empty = torch.zeros(*shape, 0, 0).numpy()
        found = [empty for _ in pairs]
        for batch in group_by_length(lengths, TOKENS_PER_BATCH):
            weights = self._attend([sources[i] for i in batch], [targets[i] for i in batch])
            for i, of_pair in zip(batch, weights, strict=True):
                if sources[i] and targets[i]:
                    of_source = words_of_tokens(pairs[i][0], self._tokenizers.source)
                    of_target = words_of_tokens(pairs[i][1], self._tokenizers.target)
                    found[i] = word_weights(of_pair, of_source, of_target)
        return found

    def align(self, pairs: Sequence[tuple[str, str]]) -> list[Links]:
        """Align sentence pairs by the attention that `dragoman align` has chosen.

        Raises:
            AlignmentError: as `check`.
        """
        layer, head = self.check()
        return [
            link_words(weights[layer].mean(axis=0) if head is None else weights[layer, head])
            for weights in self.attention(pairs)
        ]

    def align_translations(self, translations: Sequence[Translation]) -> list[Links]:
        """Align each text with its best translation, one sentence at a time.

        Raises:
            AlignmentError: as `check`.
        """
        pairs = [
            list(zip(each.parts, each.alternatives[0].parts, strict=True)) for each in translations
        ]
        aligned = iter(self.align([pair for of_text in pairs for pair in of_text]))
        return [
            _shift(each, [next(aligned) for _ in of_text])
            for each, of_text in zip(translations, pairs, strict=True)
        ]

    def check(self) -> tuple[int, int | None]:
        """Return the layer and head, counted from 0, that `align` uses.

        Raises:
            AlignmentError: none was chosen yet, or the model does not have it.
        """
        path = self.directory.path
        chosen, config = self.directory.description.alignment, self.directory.description.model
        if chosen is None:
            raise AlignmentError(
                f"{path}: it is not known yet which attention of this model aligns words; "
                f'"dragoman align {quote(str(path))}" finds it'
            )
        if chosen.layer > config.num_decoder_layers or (chosen.head or 1) > config.num_heads:
            raise AlignmentError(
                f"{path / DESCRIPTION_NAME}: the model has no layer {chosen.layer} with head "
                f'{chosen.head} to align by; "dragoman align {quote(str(path))}" chooses another'
            )
        return chosen.layer - 1, None if chosen.head is None else chosen.head - 1

    def _attend(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> Iterator[Weights]:
        """Yield the weights of each pair, without its BOS, EOS and padding."""
        special = self.directory.description.special_ids

        def pad(rows: list[list[int]]) -> torch.Tensor:
            tensors = [torch.tensor(row) for row in rows]
            return pad_sequence(tensors, batch_first=True, padding_value=special.pad)

        weights = read_cross_attention(
            self._transformer,
            pad([[*source, special.eos] for source in sources]),
            pad([[special.bos, *target] for target in targets]),
        )
        for of_pair, source, target in zip(weights, sources, targets, strict=True):
            yield of_pair[..., : len(target), : len(source)].numpy()


def _shift(translation: Translation, links_of_parts: Sequence[Links]) -> Links:
    """Count words from the beginning of the text instead of the sentence."""
    sources = first_words(translation.source, translation.parts)
    targets = first_words(translation.text, translation.alternatives[0].parts)
    return frozenset(
        (source + i, target + j)
        for source, target, links in zip(sources, targets, links_of_parts, strict=True)
        for i, j in links
    )
