"""Statistics of a corpus: every number can be counted by hand."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from dragoman.corpora.config import CleaningConfig, CorpusConfig
from dragoman.corpora.primer.corpus import generate
from dragoman.corpora.statistics import CorpusStatistics, measure, shared_sources
from dragoman.corpora.text_file import CorpusError


def measured(path: Path, text: str, languages: tuple[str, str] = ("en", "it")) -> CorpusStatistics:
    path.write_text(text, encoding="utf-8")
    corpus = CorpusConfig(path=str(path))
    return measure(corpus, languages=languages, config=CleaningConfig())


def test_characters_and_words_of_each_side_are_counted(tmp_path: Path) -> None:
    statistics = measured(tmp_path / "a.tsv", "a cat\tgattò\nthe red dog\til cane rosso\n")

    source, target = statistics.sides
    assert statistics.pairs == 2
    assert (source.language, source.characters, source.words) == ("en", 5 + 11, 2 + 3)
    assert (target.language, target.characters, target.words) == ("it", 5 + 13, 1 + 3)


def test_words_are_not_counted_where_there_are_no_spaces_between_them(tmp_path: Path) -> None:
    rows = ["the cat\t猫がいます。", "Python\tPython", "a dog\t犬 DVD がいます。"]
    english, japanese = measured(tmp_path / "a.tsv", "\n".join(rows), ("en", "ja")).sides
    mixed = measured(tmp_path / "b.tsv", "the cat\t猫\na dog\tun cane\n").sides[1]

    assert (english.words, english.word_percentiles) == (5, {50: 2, 90: 2, 99: 2, 100: 2})
    assert (japanese.words, japanese.word_percentiles) == (None, None)
    assert mixed.words == 3


def test_a_percentile_is_a_length_that_so_many_sentences_do_not_exceed(tmp_path: Path) -> None:
    rows = [f"{'a' * length}\t{'b' * length} c" for length in range(200, 0, -1)]
    source, target = measured(tmp_path / "a.tsv", "\n".join(rows)).sides

    assert source.character_percentiles == {50: 100, 90: 180, 99: 198, 100: 200}
    assert target.character_percentiles == {50: 102, 90: 182, 99: 200, 100: 202}
    assert source.word_percentiles == {50: 1, 90: 1, 99: 1, 100: 1}


def test_the_percentiles_of_three_sentences_are_among_their_lengths(tmp_path: Path) -> None:
    source, _ = measured(tmp_path / "a.tsv", "aa\tx\nbbbb\tx\nccccccc\tx\n").sides

    assert source.character_percentiles == {50: 4, 90: 7, 99: 7, 100: 7}


def test_suspicious_pairs_are_counted_with_their_first_lines(tmp_path: Path) -> None:
    rows = ["cat\tgatto", *["dog\t"] * 7, "cat\tgatto", "кошка\tgatto"]
    suspicious = measured(tmp_path / "a.tsv", "\n".join(rows)).suspicious

    assert list(suspicious) == ["empty", "wrong script", "duplicate"]
    assert (suspicious["empty"].count, suspicious["empty"].lines) == (7, [2, 3, 4, 5, 6])
    assert (suspicious["duplicate"].count, suspicious["duplicate"].lines) == (1, [9])


def test_what_a_spreadsheet_has_written_is_warned_of(tmp_path: Path) -> None:
    rows = ["EN\tit", *[f'"cat {n} ""ok"""\tgatto {n}' for n in range(3)], '"dog"\tcane']
    heading, quoted = measured(tmp_path / "a.tsv", "\n".join(rows)).warnings

    assert heading == "line 1 (EN, it) looks like a heading; remove it"
    assert quoted.startswith("4 of 5 texts in English (en) are in quotation marks")


@pytest.mark.parametrize(
    ("sources", "is_warned_of"),
    [
        (['"A cat, a dog."', '"No, no."', '"Yes, yes."', *["A fish."] * 5], True),
        (
            [
                '"A cat, a dog."',
                '"No, no."',
                '"Yes, yes."',
                "Oh, a dog.",
                "Well, no.",
                *["A fish."] * 5,
            ],
            False,
        ),
        (['"A cat."', '"A dog."', '"A bird."', '"A fish."'], True),
        (['"A cat."', '"A dog."', '"A bird."', *["A fish."] * 5], False),
        (['"Go ""on"""', '"Go ""off"""', '"A ""b"""', *["A fish."] * 9], True),
        (['"Go ""on"""', '"Go ""off"""', '"A ""b"""', 'He said "no".', *["A fish."] * 9], False),
    ],
)
def test_cells_are_told_from_quotations(
    tmp_path: Path, sources: list[str], is_warned_of: bool
) -> None:
    rows = [f"{source}\t{number}" for number, source in enumerate(sources)]

    warnings = measured(tmp_path / "a.tsv", "\n".join(rows)).warnings

    assert bool(warnings) == is_warned_of


def test_quotation_marks_that_csv_leaves_are_text(tmp_path: Path) -> None:
    cells = ('"Yes, it is"', '"Sì, lo è"')
    rows = "".join(f"{cells[0]}\t{cells[1]}\n" for _ in range(5))
    quoted = "".join("{},{}\n".format(*(f'""{cell}""' for cell in cells)) for _ in range(5))

    assert len(measured(tmp_path / "a.tsv", rows).warnings) == 2
    assert measured(tmp_path / "a.csv", quoted).warnings == ()


@pytest.mark.parametrize(
    "names",
    [
        *(
            "English\tItalian",
            "it\ten",
            "English\tItaliano",
            "EN-US\tIT-IT",
            "English (UK) \tit_IT",
            "inglese\titaliano",
            "Englisch\tItalienisch",
        ),
        *(" source \tTarget", "Source text\tTarget text", "Source (en)\tTarget (it)"),
        *("source_en\ttarget_it", "Termine\tTraduzione", "Quelle\tZiel"),
        *("English term\tItalian term", "EN Term\tIT Term", "Source term (EN)\tTarget term (IT)"),
    ],
)
def test_a_heading_may_have_names_or_roles(tmp_path: Path, names: str) -> None:
    (warning,) = measured(tmp_path / "a.tsv", f"{names}\nA cat.\tUn gatto.\n").warnings

    assert "looks like a heading" in warning


def test_a_heading_may_stand_below_what_tells_excel_the_separator(tmp_path: Path) -> None:
    (warning,) = measured(tmp_path / "a.csv", "sep=;\nen;it\nA cat.;Un gatto.\n").warnings

    assert warning == "line 2 (en, it) looks like a heading; remove it"


def test_a_heading_may_stand_below_a_title_and_an_empty_row(tmp_path: Path) -> None:
    rows = "Glossary 2024;\n;\nEN;IT\nA cat.;Un gatto.\n"
    (warning,) = measured(tmp_path / "a.csv", rows).warnings

    assert warning == "line 3 (EN, IT) looks like a heading; remove it"


def test_quotation_marks_and_words_of_a_text_are_not_warned_of(tmp_path: Path) -> None:
    rows = [
        "A cat\tUn gatto",
        "A dog\tUn cane",
        '"Yes," he said, "it is."\t"Sì"',
        "en\tit",
        '"a ""b"""\tc',
    ]

    assert measured(tmp_path / "a.tsv", "\n".join(rows)).warnings == ()


@pytest.mark.parametrize("pair", ["English\tinglese", "Italian\titaliano", "it\til", "Source\tit"])
def test_a_language_on_one_side_is_no_heading(tmp_path: Path, pair: str) -> None:
    assert measured(tmp_path / "a.tsv", f"{pair}\nA cat.\tUn gatto.\n").warnings == ()


@pytest.mark.parametrize(
    ("is_swapped", "share"),
    [
        (lambda number: number < 500, 25),  # in one piece
        (lambda number: number < 1000, 50),
        (lambda number: number % 2 == 0, 50),
        (lambda number: number % 10 == 0, 10),
    ],
)
def test_pairs_that_are_the_wrong_way_round_are_warned_of(
    tmp_path: Path, is_swapped: Callable[[int], bool], share: int
) -> None:
    pairs = [(pair.source, pair.target) for pair in generate(2000, seed=1)]
    rows = [
        "\t".join(reversed(pair) if is_swapped(number) else pair)
        for number, pair in enumerate(pairs)
    ]

    (warning,) = measured(tmp_path / "a.tsv", "\n".join(rows)).warnings

    found = re.fullmatch(
        r"some (\d+) % of the pairs seem to be the wrong way round, "
        r"from Italian \(it\) to English \(en\); dragoman corpus check -o FILE lists them",
        warning,
    )
    assert found is not None
    assert abs(int(found[1]) - share) < 8


def test_short_pairs_that_are_the_wrong_way_round_show_by_their_sides(tmp_path: Path) -> None:
    pairs = [pair for pair in generate(2000, seed=1) if len(pair.source) < 25]
    rows = [f"{pair.source}\t{pair.target}" for pair in pairs]
    rows[600:] = [f"{pair.target}\t{pair.source}" for pair in pairs[600:]]

    source, target = measured(tmp_path / "a.tsv", "\n".join(rows)).warnings

    assert re.fullmatch(
        r"the source should be English \(en\) and some \d\d % of it seem to be Italian \(it\)",
        source,
    )
    assert target.endswith("of it seem to be English (en)")


def test_a_side_in_another_language_is_warned_of(tmp_path: Path) -> None:
    pairs = list(generate(200, seed=1))
    swapped = "".join(f"{pair.target}\t{pair.source}\n" for pair in pairs)
    as_said = "".join(f"{pair.source}\t{pair.target}\n" for pair in pairs)
    of_few_words = "Il gatto\tThe cat\n"

    source, target = measured(tmp_path / "a.tsv", swapped).warnings

    assert source == "the source should be English (en) and seems to be Italian (it)"
    assert target == "the target should be Italian (it) and seems to be English (en)"
    assert measured(tmp_path / "a.tsv", as_said).warnings == ()
    assert measured(tmp_path / "a.tsv", of_few_words).warnings == ()
    assert measured(tmp_path / "a.tsv", as_said, languages=("pt_BR", "sk")).warnings == (
        "the source should be Portuguese (BR) (pt_BR) and seems to be English (en)",
    )


def test_files_share_the_sources_that_look_the_same(tmp_path: Path) -> None:
    train = measured(tmp_path / "train.tsv", "The cat.\tx\nthe cat\ty\nA dog.\tz\n…\tw\n")
    test = measured(tmp_path / "test.tsv", "THE CAT!\tq\nA cow.\tz\n...\tw\n")

    assert shared_sources(train, test) == shared_sources(test, train) == 1


def test_many_sentences_are_compared(tmp_path: Path) -> None:
    many = "".join(f"{number}\tx\n" for number in range(10_000))
    one = measured(tmp_path / "one.tsv", many)
    other = measured(tmp_path / "other.tsv", "".join(f"{n}\ty\n" for n in range(9_990, 12_000)))

    assert shared_sources(one, other) == 10
    assert len(one.source_hashes) == 10_000


def test_a_corpus_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="the file is empty"):
        measured(tmp_path / "a.tsv", "")


def test_quotation_marks_of_records_are_text(tmp_path: Path) -> None:
    rows = [json.dumps({"en": f'"Yes, {n}"', "it": f'"Sì, {n}"'}) for n in range(5)]

    assert measured(tmp_path / "a.jsonl", "\n".join(rows)).warnings == ()
