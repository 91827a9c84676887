"""How terms are written in tokens."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from dragoman.decoding.phrase import Spelling
from dragoman.terms.finder import TermFinder
from dragoman.terms.phrases import Speller
from dragoman.terms.protected import find_protected
from dragoman.terms.term import Term
from dragoman.tokenizers.config import TokenizerConfig
from dragoman.tokenizers.tokenizer import Tokenizer
from dragoman.tokenizers.training import train_tokenizers
from dragoman.tokenizers.words import WordTokenizer

SENTENCES = [
    ("The cat has 12 files at 3 o'clock.", "Il gatto ha 12 file (alle 3)."),
    ("Open {name} or %s!", "Apri {name} o %s!"),
    ("a\u732b", "a\u732b"),
]


@pytest.fixture(scope="module", params=["bpe", "unigram"])
def tokenizer(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Tokenizer:
    config = TokenizerConfig(kind=request.param, vocab_size=320)
    directory = tmp_path_factory.mktemp("tokenizer")
    return train_tokenizers(config, lambda: iter(SENTENCES), directory).target


@pytest.mark.parametrize("text", ["12", "%s", "{name}", "http://è.it/?a=1", "a@b.it", "%(x)s"])
def test_every_spelling_decodes_to_the_term(tokenizer: Tokenizer, text: str) -> None:
    (term,) = find_protected(text)
    phrase = Speller(tokenizer, TermFinder()).spell(term, text)
    before = tokenizer.encode("a (")
    for spelling in phrase.spellings:
        assert tokenizer.decode(spelling.tokens) == text
    decoded = {tokenizer.decode([*before, *spelling.tokens]) for spelling in phrase.spellings}
    assert decoded == {f"a ( {text}", f"a ({text}"}


@pytest.mark.parametrize(("text", "known"), [("12", True), ("%s", True), ("\u00b1", False)])
def test_characters_that_are_spelt_in_bytes_are_not_known(
    tokenizer: Tokenizer, text: str, known: bool
) -> None:
    (term,) = find_protected(text)
    assert Speller(tokenizer, TermFinder()).knows(term) is known


def test_what_would_continue_a_number_may_not_follow_it(tokenizer: Tokenizer) -> None:
    (term,) = find_protected("12")
    phrase = Speller(tokenizer, TermFinder()).spell(term, "12")
    (behind,) = [spelling for spelling in phrase.spellings if spelling.not_after]
    for token, piece in enumerate(tokenizer.pieces(range(tokenizer.vocab_size))):
        digit = tokenizer.decode([*tokenizer.encode("12"), token]).startswith("121")
        assert not digit or token in phrase.not_before, piece
        if piece.endswith("2"):
            assert token in behind.not_after
    (opening,) = tokenizer.encode("a (")[-1:]
    assert opening not in behind.not_after
    (full_stop,) = tokenizer.encode("a.")[-1:]
    assert full_stop not in phrase.not_before
    assert full_stop in behind.not_after  # before it may stand a digit, as in 3.12


def test_a_number_may_stand_between_words_without_spaces(tokenizer: Tokenizer) -> None:
    (term,) = find_protected("12")
    phrase = Speller(tokenizer, TermFinder()).spell(term, "12")
    (behind,) = [spelling for spelling in phrase.spellings if spelling.not_after]
    (character,) = tokenizer.encode("a\u732b")[len(tokenizer.encode("a")) :]
    assert character not in phrase.not_before
    assert character not in behind.not_after


def test_what_is_glued_in_the_source_may_be_glued_in_the_translation(
    tokenizer: Tokenizer,
) -> None:
    (term,) = find_protected("file%(kind)ss")
    phrase = Speller(tokenizer, TermFinder()).spell(term, "file%(kind)ss")
    assert not phrase.not_before
    not_after = {token for spelling in phrase.spellings for token in spelling.not_after}
    assert all(tokenizer.decode([token]).endswith("%") for token in not_after)  # as in %%(kind)s


def test_an_address_that_is_glued_to_a_word_may_be_so_in_the_translation(
    tokenizer: Tokenizer,
) -> None:
    letter = tokenizer.encode("a")[-1]
    for source, may in (("ahttp://e.it/b", True), ("http://e.it/b", False)):
        (term,) = find_protected(source)
        phrase = Speller(tokenizer, TermFinder()).spell(term, source)
        (behind,) = [each for each in phrase.spellings if each != phrase.spellings[0]]
        assert (letter not in behind.not_after) == may


def test_letters_may_touch_what_is_in_brackets(tokenizer: Tokenizer) -> None:
    (term,) = find_protected("{name}")
    letter = tokenizer.encode("(a")[-1]
    phrase = Speller(tokenizer, TermFinder()).spell(term, "{name}")
    assert letter not in phrase.not_before
    assert not any(letter in spelling.not_after for spelling in phrase.spellings)


def test_a_term_that_shares_a_token_with_a_bracket_before_it_is_spelt_without_the_bracket(
    tmp_path: Path,
) -> None:
    texts = [*SENTENCES, *[("(%s)", "(%s)")] * 50]
    tokenizer = train_tokenizers(
        TokenizerConfig(kind="bpe", vocab_size=310), lambda: iter(texts), tmp_path
    ).target
    bracket = tokenizer.encode("(")
    assert tokenizer.encode("(%s")[: len(bracket)] != bracket

    (term,) = find_protected("%s")
    alone, behind = Speller(tokenizer, TermFinder()).spell(term, "%s").spellings
    start = tokenizer.encode("a-")

    assert tokenizer.decode([*start, *alone.tokens]) == "a- %s"
    assert tokenizer.decode([*start, *behind.tokens]) == "a-%s"


def test_no_writing_of_a_term_is_continued(tokenizer: Tokenizer) -> None:
    term = Term(kind="glossary", start=0, end=1, writings=("C#", "gatto"))
    letter, full_stop = tokenizer.encode("(a")[-1], tokenizer.encode("a.")[-1]
    not_before = Speller(tokenizer, TermFinder()).spell(term, "x").not_before
    assert letter in not_before
    assert full_stop not in not_before


def test_half_of_a_character_may_be_that_of_a_letter(tokenizer: Tokenizer) -> None:
    (term,) = find_protected("12")
    first_byte = tokenizer.encode("(\u00df")[-2]
    assert tokenizer.decode([first_byte]) == "\ufffd"
    assert first_byte in Speller(tokenizer, TermFinder()).spell(term, "12").not_before


def test_a_code_may_not_follow_a_full_stop_before_which_a_digit_may_stand(
    tokenizer: Tokenizer,
) -> None:
    (term,) = find_protected("AB-0009")
    phrase = Speller(tokenizer, TermFinder()).spell(term, "AB-0009")
    (behind,) = [each for each in phrase.spellings if each != phrase.spellings[0]]
    (full_stop,) = tokenizer.encode("a.")[-1:]
    assert full_stop in behind.not_after


class Glued(WordTokenizer):
    """Pieces that touch each other; the last ones are cut off first."""

    def encode(self, text: str) -> list[int]:
        pieces = self.pieces(range(self.vocab_size))
        found = re.findall("|".join(map(re.escape, reversed(pieces))), text)
        return [pieces.index(piece) for piece in found]

    def decode(self, ids: Sequence[int]) -> str:
        return "".join(self.pieces(ids))


def test_a_token_of_a_sign_and_a_digit_may_not_follow_a_number() -> None:
    tokenizer = Glued(["a", "12", ".", ".5"])
    (term,) = find_protected("12")
    phrase = Speller(tokenizer, TermFinder()).spell(term, "12")
    (full_stop,), (half,) = tokenizer.encode("."), tokenizer.encode(".5")

    assert half in phrase.not_before
    assert full_stop not in phrase.not_before


def test_a_token_of_a_letter_and_a_full_stop_ends_a_sentence() -> None:
    tokenizer = Glued(["a", "cat", ".5", "e."])
    term = Term(kind="glossary", start=0, end=3, writings=("cat",))
    phrase = Speller(tokenizer, TermFinder()).spell(term, "cat")

    assert phrase.only_behind == set(tokenizer.encode("e."))


def test_whole_words_have_one_spelling() -> None:
    words = WordTokenizer(["il", "gatto", "12"])
    (term,) = find_protected("12")
    phrase = Speller(words, TermFinder()).spell(term, "12")
    assert phrase.spellings == (Spelling(tuple(words.encode("12"))),)
    assert not phrase.not_before


@pytest.mark.parametrize(
    ("source", "written", "may_come_after_an_end"),
    [
        ("The cat has files.", "cat", False),
        ("It rains. The cat has files.", "cat", True),
        ("3 cats!", "cat", False),
        ("The a.k.a. cat", "a.k.a. cat", False),
    ],
)
def test_a_word_of_a_glossary_is_not_appended_to_a_sentence_that_is_over(
    tokenizer: Tokenizer, source: str, written: str, may_come_after_an_end: bool
) -> None:
    start = source.index(written)
    end = start + len(written)
    term = Term(kind="glossary", start=start, end=end, writings=("gatto",))
    phrase = Speller(tokenizer, TermFinder()).spell(term, source)
    for mark in ".!":
        (end,) = tokenizer.encode(f"a{mark}")[-1:]
        assert (end in phrase.only_behind) != may_come_after_an_end


def test_what_is_protected_may_follow_an_abbreviation(tokenizer: Tokenizer) -> None:
    (term,) = find_protected("number 12")
    (full_stop,) = tokenizer.encode("a.")[-1:]
    phrase = Speller(tokenizer, TermFinder()).spell(term, "number 12")
    assert full_stop not in phrase.only_behind
    assert not all(full_stop in spelling.not_after for spelling in phrase.spellings)  # a space


@pytest.mark.parametrize(
    "text", ["12", "%s", "{name}", "http://e.it/a", "a@b.it", "__x__", "%name%", "$x", "%1"]
)
def test_what_a_search_must_produce_is_found_in_what_it_produces(
    tokenizer: Tokenizer, text: str
) -> None:
    (term,) = find_protected(text)
    phrase = Speller(tokenizer, TermFinder()).spell(term, text)
    letter = tokenizer.encode("a (")
    others = [
        token
        for token in range(tokenizer.vocab_size)
        if tokenizer.decode([*letter, token])[3:].isprintable()
        and tokenizer.decode([*letter, token])[3:].isascii()
    ]

    for spelling in phrase.spellings:
        for token in others:
            before = tokenizer.decode([*letter, token, *spelling.tokens])
            after = tokenizer.decode([*letter, *spelling.tokens, token])
            if token not in spelling.not_after:
                assert term.key in {found.key for found in find_protected(before)}, before
            if token not in phrase.not_before:
                assert term.key in {found.key for found in find_protected(after)}, after


@pytest.mark.parametrize("language", ["tr", "eu", "tr_TR"])
def test_a_share_in_turkish_may_be_written_behind_its_percent_sign(
    tokenizer: Tokenizer, language: str
) -> None:
    finder = TermFinder(languages=("en", language))
    (term,) = finder.find_protected("50% of it")
    (percent,) = tokenizer.encode("(%")[len(tokenizer.encode("(")) :]

    for speller, may in (
        (Speller(tokenizer, finder), True),
        (Speller(tokenizer, TermFinder()), False),
    ):
        (behind,) = [s for s in speller.spell(term, "50% of it").spellings if s.not_after]
        assert (percent not in behind.not_after) == may
