"""What a model is shown of a text, and that nothing of the rest is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.alternative import says

from dragoman.markup.text_reader import TextReader
from dragoman.terms.finder import TermFinder
from dragoman.text_cutter import TextCutter
from dragoman.tokenizers.config import TokenizerConfig
from dragoman.tokenizers.normalisation import visible
from dragoman.tokenizers.pair import TokenizerPair
from dragoman.tokenizers.training import train_tokenizers

PAIRS = [("The cat is on the table. 12, %s", "Il gatto è sul tavolo."), ("A dog!", "Un cane!")]
LIMIT = 60


@pytest.fixture(scope="module")
def tokenizers(tmp_path_factory: pytest.TempPathFactory) -> TokenizerPair:
    config = TokenizerConfig(vocab_size=310)
    return train_tokenizers(config, lambda: iter(PAIRS), tmp_path_factory.mktemp("t"))


def cutter(tokenizers: TokenizerPair, terms: TermFinder, *languages: str) -> TextCutter:
    source, target = languages or ("en", "it")
    reader = TextReader(source, target)
    return TextCutter(tokenizers, reader, max_length=LIMIT, terms=terms)


def shown(cutter: TextCutter, text: str) -> list[str]:
    (cut,) = cutter.cut([text])
    return [sentence.text for sentence in cut.sentences]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        (
            "\x07 The cat 🐱🐱 is on 1 table!  🎉\u200b ",
            ["The cat", "is on 1 table!"],
        ),
        (" 😀\n", []),
        ("12:30 %", []),
        ("%s (http://www.example.org/where)", []),
        ("Где это?", []),
        ("THE DOG IS %s! USB 🎉", ["The dog is %s!", "USB"]),
        ("WRONG VALUE %ID", ["WRONG VALUE %ID"]),
        (
            "A cat\u200b is\x07on the\0ta\xadble\ufeff, \u200ehere",
            ["A cat is on the table, here"],
        ),
        (
            "\u0645\u06cc\u200c\u062e cat \u0915\u094d\u200d",
            ["\u0645\u06cc\u200c\u062e cat \u0915\u094d\u200d"],
        ),
        ("", []),
    ],
)
def test_a_model_is_shown_what_has_words(
    tokenizers: TokenizerPair, text: str, sentences: list[str]
) -> None:
    of_english = cutter(tokenizers, TermFinder(languages=("en", "it")))
    assert shown(of_english, text) == sentences


@pytest.mark.parametrize("text", ["12 \U0001f600", "THE DOG IS HERE", "http://a.it/b"])
def test_a_model_is_shown_everything_where_nothing_is_protected(
    tokenizers: TokenizerPair, text: str
) -> None:
    assert shown(cutter(tokenizers, TermFinder(protects=False)), text) == [text]


@given(
    text=st.text(st.sampled_from("aA .,!(1%s\u0436\ufe0f\u20e3\u200d\u2640🐱🎉"))
    | st.lists(st.sampled_from(["THE CAT", "a dog.", "http://a.it/b", "%s", "🐱,"])).map(" ".join)
)
def test_nothing_is_lost_or_doubled_where_each_sentence_is_its_own_translation(
    tokenizers: TokenizerPair, text: str
) -> None:
    (cut,) = cutter(tokenizers, TermFinder(languages=("en", "it"))).cut([text])
    translation = cut.put_together(iter([[says(s.text)] for s in cut.sentences]))

    assert "".join(translation.text.split()) == "".join(text.split())
    assert translation.parts == translation.alternatives[0].parts
    assert "".join("".join(translation.parts).split()) == "".join(text.split())


def test_a_sentence_in_capitals_is_translated_to_capitals(tokenizers: TokenizerPair) -> None:
    of_english = cutter(tokenizers, TermFinder(languages=("en", "it")))
    (cut,) = of_english.cut(["THE DOG IS %s!"])

    translation = cut.put_together(iter([[says("Il cane è %s!")]]))

    assert translation.text == "IL CANE È %s!"
    assert translation.parts == ("THE DOG IS %s!",)
    assert translation.alternatives[0].parts == ("IL CANE È %s!",)
    for languages in (("en", "tr"), ("az-Latn", "en")):
        unchanged = cutter(tokenizers, TermFinder(languages=languages), *languages)
        assert shown(unchanged, "THE DOG IS %s!") == ["THE DOG IS %s!"]


def test_what_cannot_be_seen_is_still_in_the_source(tokenizers: TokenizerPair) -> None:
    text = "A do\xadg! \u200bA\x07cat."
    (cut,) = cutter(tokenizers, TermFinder(languages=("en", "it"))).cut([text])

    translation = cut.put_together(iter([[says("Un cane!")], [says("Un gatto.")]]))

    assert translation.text == "Un cane! \u200bUn gatto."
    assert translation.parts == ("A do\xadg!", "\u200bA\x07cat.")
    assert translation.alternatives[0].parts == ("Un cane!", "\u200bUn gatto.")


def test_a_sentence_in_capitals_is_measured_in_small_letters(tokenizers: TokenizerPair) -> None:
    text = "the cat is on the table " * 3
    encode = tokenizers.source.encode
    assert len(encode(text.upper())) > LIMIT >= len(encode(text))
    of_english = cutter(tokenizers, TermFinder(languages=("en", "it")))
    assert len(shown(of_english, text.upper())) == 1


def test_what_stays_as_it_is_has_one_translation(tokenizers: TokenizerPair) -> None:
    of_english = cutter(tokenizers, TermFinder(languages=("en", "it")))
    mixed, alone, blank = of_english.cut(["A dog! http://www.example.org/a", "12:30", " "])
    assert len(list(mixed.sentences)) == 1

    translation = mixed.put_together(iter([[says("Un cane!"), says("Cane!", -2.0)]]))
    unchanged = alone.put_together(iter([]))

    assert [each.text for each in translation.alternatives] == [
        "Un cane! http://www.example.org/a",
        "Cane! http://www.example.org/a",
    ]
    assert [each.text for each in unchanged.alternatives] == ["12:30"]
    (tagged,) = of_english.cut(["<b>12</b>"])
    assert [each.text for each in tagged.put_together(iter([])).alternatives] == ["<b>12</b>"]
    assert [each.text for each in blank.put_together(iter([])).alternatives] == [" "]
    assert (unchanged.score, unchanged.confidence, unchanged.faults) == (0.0, 1.0, ())


def test_long_text_of_terms_alone_is_not_cut(tokenizers: TokenizerPair) -> None:
    of_english = cutter(tokenizers, TermFinder(languages=("en", "it")))
    for text in ("экономическое развитие " * 20, "http://www.example.org/ab " * 12, "я" * 200):
        (cut,) = of_english.cut([text])
        translation = cut.put_together(iter([]))
        assert not list(cut.sentences)
        assert translation.text == text
        assert not translation.cut


@pytest.mark.parametrize(
    "text",
    [
        "the dog http://www.example.org/" + "ab" * 60 + " a cat",
        "http://www.example.org/" + "ab" * 60 + " the dog %s",
        "the dog, " * 6 + "http://www.example.org/ab?c= " + "the cat, " * 6,
        "the dog " * 5 + "{{ user.name | default: 'x, y, z' }}" + " the cat" * 5,
        "the dog %s " + "http://www.example.org/" + "ab" * 60 + " http://www.example.org/b the cat",
    ],
)
def test_a_long_sentence_is_not_cut_within_a_term(tokenizers: TokenizerPair, text: str) -> None:
    finder = TermFinder(languages=("en", "it"))
    (cut,) = cutter(tokenizers, finder).cut([text])
    (piece,) = cut.pieces
    assert all(len(sentence.ids) <= LIMIT for sentence in cut.sentences)
    kept = [text[term.start : term.end] for term in finder.find(text)]

    translation = cut.put_together(iter([[says("uno")] for _ in cut.sentences]))
    again = cut.put_together(iter([[says(s.text.strip())] for s in cut.sentences]))

    assert again.text == text
    assert "".join("".join(piece.parts).split()) == "".join(text.split())
    for term in kept:
        shown = any(term in sentence.text for sentence in cut.sentences)
        assert shown or term in translation.text


def test_a_long_sentence_keeps_what_is_around_it(tokenizers: TokenizerPair) -> None:
    text = "🐶 " + "the dog, " * 60 + "%s 🐶!"
    (cut,) = cutter(tokenizers, TermFinder(languages=("en", "it"))).cut([text])
    assert len(list(cut.sentences)) > 1

    translation = cut.put_together(iter([[says(s.text.strip())] for s in cut.sentences]))

    assert translation.text == text
    assert translation.cut
    assert translation.parts == translation.alternatives[0].parts
    assert (translation.parts[0][0], translation.parts[-1][-2:]) == ("🐶", "🐶!")


def test_what_could_not_be_read_in_front_of_a_long_word_leaves_no_space(
    tokenizers: TokenizerPair,
) -> None:
    """Alignments look for each part of a translation where the one before it ends."""
    word = "catdog" * 60
    (cut,) = cutter(tokenizers, TermFinder(languages=("en", "it"))).cut(["\ufffd" * 1000 + word])

    translation = cut.put_together(iter([[says(s.text.strip())] for s in cut.sentences]))

    assert translation.text == word
    assert "".join(translation.alternatives[0].parts) == word


@pytest.mark.parametrize(
    "text",
    ["The do\xadg, " * 60 + "a c\xada\xadt!", "\u200bTHE\7DOG, " * 60 + "A CAT \7🐶!"],
)
def test_the_parts_of_a_long_sentence_are_as_they_are_written(
    tokenizers: TokenizerPair, text: str
) -> None:
    (cut,) = cutter(tokenizers, TermFinder(languages=("en", "it"))).cut([text])
    (piece,) = cut.pieces
    assert len(piece.parts) == len(piece.sentences) > 1
    place = 0
    for part, sentence in zip(piece.parts, piece.sentences, strict=True):
        place = text.index(part, place) + len(part)
        assert visible(part).lower().split()[0] == sentence.text.lower().split()[0]
    assert place == len(text)


def test_what_was_drawn_for_one_sentence_is_joined_with_what_was_drawn_for_the_next(
    tokenizers: TokenizerPair,
) -> None:
    (cut,) = cutter(tokenizers, TermFinder()).cut(["A dog! The cat is on the table."])
    dogs = [says("Un cane!", -3.0), says("Un cane!", -3.0), says("Cane!", -1.0)]
    cats = [says("Il gatto.", -1.0), says("Gatto.", -2.0), says("Il gatto.", -1.0)]

    translation = cut.put_together(iter([dogs, cats]), drawn=True)

    assert [(each.text, each.score) for each in translation.alternatives] == [
        ("Cane! Il gatto.", -2.0),
        ("Un cane! Il gatto.", -4.0),
        ("Un cane! Gatto.", -5.0),
    ]
    assert len(cut.put_together(iter([dogs[:2], cats[:1] * 2]), drawn=True).alternatives) == 2
