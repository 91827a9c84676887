"""Learn vocabularies from the training text."""

import io
import math
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any

import sentencepiece

from dragoman.tokenizers.config import TokenizerConfig
from dragoman.tokenizers.normalisation import normalise
from dragoman.tokenizers.pair import TokenizerPair
from dragoman.tokenizers.sentencepiece import SentencePieceTokenizer
from dragoman.tokenizers.tokenizer import (
    BOS_ID,
    EOS_ID,
    PAD_ID,
    SPECIAL_PIECES,
    UNK_ID,
    Tokenizer,
    TokenizerError,
)
from dragoman.tokenizers.words import WordTokenizer, split_words

Pairs = Callable[[], Iterable[tuple[str, str]]]
Texts = Callable[[], Iterable[str]]

MAX_CHARACTERS = 30_000_000
"""A vocabulary is learnt from at most about this much text, in pairs spread evenly over all of it:
SentencePiece takes some 20 bytes of memory for each character."""

LARGEST_WORD_LIST = 30_000
"""Most words of a list, specials included, if the recipe does not say."""

_SMALLEST, _LARGEST = 500, 32_000
_NUM_THREADS = 8  # part of the result: the trainer adds its sums in the order of the threads
_LONGEST_LINE = 1000  # characters; the trainer is slow on longer lines, or passes over them
_FORGET_TSV_PATH = b"\x1a\x02\x32\x00"  # ModelProto.normalizer_spec.normalization_rule_tsv = ""


def train_tokenizers(config: TokenizerConfig, pairs: Pairs, directory: Path) -> TokenizerPair:
    """Learn the vocabularies of a model, and save them in its directory.

    The same text and settings give the same files, byte for byte.

    Args:
        config: What to learn.
        pairs: Gives, at each call, a new iterator over the (source, target) pairs of the training
            text; it is called several times. Evaluation text does not belong there.
        directory: Where the files are written; it is created if missing.

    Raises:
        TokenizerError: there is no text, or `vocab_size` cannot hold its characters.
    """
    source_characters = target_characters = 0
    for source, target in pairs():
        source_characters += len(source.strip())
        target_characters += len(target.strip())
    characters = source_characters + target_characters

    def sampled() -> Iterator[tuple[str, str]]:
        return islice(pairs(), None, None, learnt_from_one_in(characters))

    if config.joint:
        tokenizer = _train(config, lambda: chain.from_iterable(sampled()), characters)
        pair = TokenizerPair(tokenizer, tokenizer)
    else:
        pair = TokenizerPair(
            _train(config, lambda: (source for source, _ in sampled()), source_characters),
            _train(config, lambda: (target for _, target in sampled()), target_characters),
        )
    pair.save(directory)
    return pair


def learnt_from_one_in(characters: int) -> int:
    """Compute the n for learning from one pair in n, where all have this many characters."""
    return max(1, math.ceil(characters / MAX_CHARACTERS))


def automatic_vocab_size(characters: int) -> int:
    """Choose a subword vocabulary for an amount of text: 40 times its cube root.

    The size grows with the text, but more slowly, between 500 and 32000. A corpus of
    Multi30k's size (29 000 pairs of 12 words, 3.8 million characters on both sides together) gets
    6241 entries, 117 000 pairs of 20 words get 12157, a million such pairs 24857 and ten million
    32000. Published systems take 1000 to 10000 entries for 30 000 pairs, 4000 to 16000 for half a
    million, 8000 to 32000 for a million, and 32000 or more for several million.

    Characters are counted, not words, because not every script puts spaces between its words.

    >>> [automatic_vocab_size(n) for n in (5_000, 3_800_000, 28_080_000, 240_000_000)]
    [683, 6241, 12157, 24857]
    """
    return min(max(int(40 * math.cbrt(characters)), _SMALLEST), _LARGEST)


def _train(config: TokenizerConfig, texts: Texts, characters: int) -> Tokenizer:
    """Learn one vocabulary from texts of this many characters altogether."""
    if characters == 0:
        raise TokenizerError("there is no text to learn a vocabulary from")
    if config.kind == "words":
        return _list_words(config, texts)
    return _learn_subwords(config, texts, characters)


def _list_words(config: TokenizerConfig, texts: Texts) -> WordTokenizer:
    """Keep the most frequent words; equally frequent ones stand in alphabetical order."""
    counts = Counter(
        chain.from_iterable(split_words(text, lowercase=config.lowercase) for text in texts())
    )
    frequent = [word for word, count in counts.items() if count >= config.min_frequency]
    frequent.sort(key=lambda word: (-counts[word], word))
    room = (config.vocab_size or LARGEST_WORD_LIST) - len(SPECIAL_PIECES)
    return WordTokenizer(frequent[:room], lowercase=config.lowercase)


def _learn_subwords(config: TokenizerConfig, texts: Texts, characters: int) -> Tokenizer:
    """Learn subwords, and make room for the characters of the text if no size was chosen."""
    size = config.vocab_size or automatic_vocab_size(characters)
    try:
        return _fit(config, texts, size)
    except RuntimeError as error:
        too_small = re.search(r"required_chars\. \d+ vs (\d+)", str(error))
        if too_small is None:
            reason = str(error).partition("\n")[0]
            raise TokenizerError(f"SentencePiece cannot learn from this text: {reason}") from error
        smallest = int(too_small[1])
    if config.vocab_size is not None:
        raise TokenizerError(
            f"vocab_size={size} is too small: the characters of this text need {smallest} entries"
        )
    return _fit(config, texts, size + smallest)


def _fit(config: TokenizerConfig, texts: Texts, vocab_size: int) -> SentencePieceTokenizer:
    """Run SentencePiece's trainer; text that supports fewer entries gets fewer."""
    model = io.BytesIO()
    with _normalisation(lowercase=config.lowercase) as normalisation:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=_lines(texts()),
            model_writer=model,
            model_type=config.kind,
            vocab_size=vocab_size,
            hard_vocab_limit=False,
            byte_fallback=config.byte_fallback,
            pad_id=PAD_ID,
            unk_id=UNK_ID,
            bos_id=BOS_ID,
            eos_id=EOS_ID,
            num_threads=_NUM_THREADS,
            minloglevel=2,
            **normalisation,
        )
    trained = sentencepiece.SentencePieceProcessor()
    # A later field wins: the path of a temporary file would make each model differ.
    trained.LoadFromSerializedProto(model.getvalue() + _FORGET_TSV_PATH)
    return SentencePieceTokenizer(trained.serialized_model_proto())


def _lines(texts: Iterable[str]) -> Iterator[str]:
    """Normalise, and cut long texts."""
    for text in texts:
        line = normalise(text)
        for start in range(0, len(line), _LONGEST_LINE):
            yield line[start : start + _LONGEST_LINE]


@contextmanager
def _normalisation(*, lowercase: bool) -> Iterator[dict[str, Any]]:
    """Choose what SentencePiece itself does to each character.

    Case folding is a rule inside the model file, so that every reader of the file applies it. All
    other normalisation is ours.
    """
    if not lowercase:
        yield {"normalization_rule_name": "identity"}
        return
    with tempfile.TemporaryDirectory() as directory:
        rules = Path(directory) / "lowercase.tsv"
        rules.write_text(_lowercase_rules(), encoding="utf-8")
        yield {"normalization_rule_name": "", "normalization_rule_tsv": str(rules)}


def _lowercase_rules() -> str:
    """List every character that has a lower case, in hexadecimal as SentencePiece reads it."""
    characters = (chr(point) for point in range(sys.maxunicode + 1))
    return "".join(
        f"{ord(upper):X}\t{' '.join(f'{ord(lower):X}' for lower in upper.lower())}\n"
        for upper in characters
        if upper.lower() != upper
    )
