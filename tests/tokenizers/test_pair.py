"""The tokenizers of a model directory."""

import subprocess
import sys
from pathlib import Path
from typing import Literal

import pytest

from dragoman.tokenizers.config import TokenizerConfig
from dragoman.tokenizers.pair import TokenizerPair
from dragoman.tokenizers.tokenizer import TokenizerError
from dragoman.tokenizers.training import train_tokenizers
from dragoman.tokenizers.words import WordTokenizer


@pytest.mark.parametrize(
    ("kind", "joint", "files"),
    [
        ("unigram", True, {"tokenizer.model"}),
        ("bpe", False, {"tokenizer.source.model", "tokenizer.target.model"}),
        ("words", True, {"tokenizer.words"}),
        ("words", False, {"tokenizer.source.words", "tokenizer.target.words"}),
    ],
)
def test_a_pair_comes_back_from_its_directory(
    corpus: list[tuple[str, str]],
    tmp_path: Path,
    kind: Literal["unigram", "bpe", "words"],
    joint: bool,
    files: set[str],
) -> None:
    pair = train_tokenizers(TokenizerConfig(kind=kind, joint=joint), lambda: corpus, tmp_path)

    loaded = TokenizerPair.load(tmp_path, kind)

    assert {path.name for path in tmp_path.iterdir()} == files
    assert loaded.joint is pair.joint is joint
    assert loaded.source.fingerprint == pair.source.fingerprint
    assert loaded.target.fingerprint == pair.target.fingerprint
    assert loaded.target.encode(corpus[5][1]) == pair.target.encode(corpus[5][1])


def test_saving_removes_the_files_of_an_earlier_pair(tmp_path: Path) -> None:
    english, italian = WordTokenizer(["cat"]), WordTokenizer(["gatto", "."])
    TokenizerPair(english, english).save(tmp_path)

    TokenizerPair(english, italian).save(tmp_path)

    assert TokenizerPair.load(tmp_path, "words").target.vocab_size == 6


def test_an_ambiguous_directory_is_refused(tmp_path: Path) -> None:
    words = WordTokenizer(["cat"])
    TokenizerPair(words, words).save(tmp_path)
    words.save(tmp_path / "tokenizer.source.words")

    with pytest.raises(TokenizerError, match=r"tokenizer\.words stands beside"):
        TokenizerPair.load(tmp_path, "words")


def test_a_missing_half_is_named(tmp_path: Path) -> None:
    WordTokenizer(["cat"]).save(tmp_path / "tokenizer.source.words")

    with pytest.raises(TokenizerError, match=r"tokenizer\.target\.words: cannot be read"):
        TokenizerPair.load(tmp_path, "words")


def test_tokenizers_do_not_need_torch() -> None:
    program = (
        "import sys, dragoman.tokenizers.pair, dragoman.tokenizers.training;"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
