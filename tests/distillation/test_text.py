"""Only good translations are taught, and all that is left out is counted."""

import json
import math
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.visualisation.small_model import save_small_model

from dragoman.corpora.config import CleaningConfig, CorporaConfig, CorpusConfig
from dragoman.corpora.text_file import CorpusError
from dragoman.distillation import text as text_module
from dragoman.distillation.text import write_pairs, write_sources

GOOD = {"text": "Un gatto.", "finished": True, "faults": []}


def write(path: Path, *changes: dict[str, Any] | list[dict[str, Any]]) -> Path:
    """Write what `dragoman translate --json` says of some lines: of one translation, or of each."""
    records = []
    for change in changes:
        alternatives = [GOOD | each for each in (change if isinstance(change, list) else [change])]
        source = alternatives[0].pop("source", "A cat.")
        records.append(json.dumps({"source": source, "alternatives": alternatives}))
    path.write_text("".join(f"{record}\n" for record in records), encoding="utf-8")
    return path


def test_faults_are_left_out_and_counted_by_the_first(tmp_path: Path) -> None:
    translations = write(
        tmp_path / "translations.jsonl",
        {},
        {"faults": ["repeats itself", "is far too long"]},
        {"faults": ["is empty"], "text": ""},
        {"finished": False},
        {"faults": ["repeats itself"], "finished": False},
        {"source": "Two  cats.", "text": "Due\u00a0gatti.\u2028"},
    )

    kept, left_out = write_pairs(translations, [(tmp_path / "pairs.tsv", 10)])

    assert kept == 2
    assert left_out == {
        "the translation repeats itself": 2,
        "the translation is empty": 1,
        "the translation stopped at the length limit": 1,
    }
    pairs = (tmp_path / "pairs.tsv").read_text(encoding="utf-8")
    assert pairs == "A cat.\tUn gatto.\nTwo cats.\tDue gatti.\n"


def test_each_good_translation_of_a_source_is_a_pair(tmp_path: Path) -> None:
    several: list[dict[str, Any]] = [
        {},
        {"text": "Una gatta."},
        {"text": "gatto gatto gatto", "faults": ["loops"]},
    ]
    translations = write(tmp_path / "translations.jsonl", several, {"source": "Two cats."})

    kept, left_out = write_pairs(translations, [(tmp_path / "pairs.tsv", 10)])

    assert (kept, left_out) == (3, {"the translation loops": 1})
    pairs = (tmp_path / "pairs.tsv").read_text(encoding="utf-8")
    assert pairs == "A cat.\tUn gatto.\nA cat.\tUna gatta.\nTwo cats.\tUn gatto.\n"


def test_the_translations_of_each_corpus_have_a_file(tmp_path: Path) -> None:
    faulty = {"source": "Two cats.", "faults": ["is empty"]}
    translations = write(
        tmp_path / "translations.jsonl",
        {},
        faulty,
        [{"source": "Three cats."}, {"text": "Gatti."}],
        {"source": "Four cats."},
    )
    first, second = tmp_path / "1.tsv", tmp_path / "2.tsv"

    kept, left_out = write_pairs(translations, [(first, 2), (second, 2)])

    assert (kept, left_out.total()) == (4, 1)
    assert first.read_text(encoding="utf-8") == "A cat.\tUn gatto.\n"
    assert second.read_text(encoding="utf-8").splitlines() == [
        "Three cats.\tUn gatto.",
        "Three cats.\tGatti.",
        "Four cats.\tUn gatto.",
    ]


def test_a_line_that_was_set_aside_is_counted(tmp_path: Path) -> None:
    path = write(tmp_path / "translations.jsonl", {})
    rejected = json.dumps({"line": 2, "source": "A", "text": "", "rejected": "it fails"})
    path.write_text(f"{path.read_text(encoding='utf-8')}{rejected}\n", encoding="utf-8")

    _, left_out = write_pairs(path, [(tmp_path / "pairs.tsv", 10)])

    assert left_out == {"it could not be translated": 1}


def test_a_teacher_without_one_good_translation_teaches_nobody(tmp_path: Path) -> None:
    translations = write(tmp_path / "translations.jsonl", {"faults": ["is empty"]})

    with pytest.raises(CorpusError, match=r"every translation for pairs\.tsv has a fault"):
        write_pairs(translations, [(tmp_path / "pairs.tsv", 10)])

    assert not (tmp_path / "pairs.tsv").exists()


class Taught(NamedTuple):
    """What is made of lines of pairs for a teacher."""

    sources: list[str]
    counts: list[int]
    said: list[str]


def taught(
    folder: Path,
    *corpora: list[str],
    monolingual: str | None = None,
    evaluation: str = "",
    **cleaning: Any,
) -> Taught:
    """Choose sources for a teacher of a few words, that has seen at most 12 of them at once."""
    teacher = save_small_model(folder / "teacher")
    train = []
    for number, sources in enumerate(corpora):
        path = folder / f"{number}.tsv"
        path.write_text("".join(f"{source}\t{i}\n" for i, source in enumerate(sources)))
        train.append(CorpusConfig(path=str(path)))
    said: list[str] = []
    config = CleaningConfig(max_length_ratio=math.inf, **cleaning)
    alone = folder / "alone.txt"
    if monolingual is not None:
        alone.write_text(monolingual, encoding="utf-8")
    judged = folder / "judged.tsv"
    judged.write_text(evaluation or "because because\t-\n")
    path = folder / "sources.txt"
    counts = write_sources(
        path,
        teacher,
        train,
        [] if monolingual is None else [alone],
        corpora=CorporaConfig(
            train=(CorpusConfig(path="distilled.tsv"),),
            validation=(CorpusConfig(path=str(judged)),),
            overlap="drop",
        ),
        cleaning=config,
        say=said.append,
    )
    assert not path.with_name("sources.txt.pairs").exists()
    return Taught(path.read_text().splitlines(), counts, said)


def test_a_teacher_translates_each_source_once_that_is_not_longer_than_what_it_has_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_module, "ENCODED_AT_ONCE", 2)
    longest = "the " * 11 + "cat"

    sources, counts, said = taught(
        tmp_path,
        ["a cat", "a dog", "a cat", longest, f"{longest} sees", f"the {longest}", "a dog"],
        ["a dog", "a table", f"{longest} because"],
    )

    assert sources == ["a cat", "a dog", longest, "a table"]
    assert counts == [3, 1]
    assert said[-2:] == [
        "3 repeated sources left out",
        "3 sources with more than 12 tokens left out",
    ]


def test_a_source_that_may_repeat_is_translated_each_time(tmp_path: Path) -> None:
    sources, counts, said = taught(tmp_path, ["a cat", "a dog", "a cat"], drop_duplicates=False)

    assert (sources, counts) == (["a cat", "a dog", "a cat"], [3])
    assert not any("left out" in message for message in said)


def test_of_text_without_translations_each_new_sentence_is_translated_once(
    tmp_path: Path,
) -> None:
    text = (
        "A cat. A dog sees the table.\n\na cat\nThe \u00adtable\u2028sees.\nThe Dog sees the cat!\n"
        "A dog.\nc\u00c3\u00a0t\n\u043a\u043e\u0442 \u0438 \u043f\u0451\u0441\n" + "a " * 13
    )

    sources, counts, said = taught(
        tmp_path, ["a cat", "A dog."], monolingual=text, evaluation="the dog sees the cat\t-\n"
    )

    assert sources == ["a cat", "A dog.", "A cat.", "A dog sees the table.", "The table sees."]
    assert counts == [2, 3]
    assert said[-3:] == [
        f"{tmp_path / 'alone.txt'}: 9 sentences read, 6 kept (1 encoded twice; 1 wrong script; "
        "1 evaluation sentence left out)",
        "2 repeated sources left out",
        "1 source with more than 12 tokens left out",
    ]


def test_text_without_translations_is_enough(tmp_path: Path) -> None:
    assert taught(tmp_path, monolingual="a cat\na dog\n").sources == ["a cat", "a dog"]


def test_text_in_another_language_is_noticed(tmp_path: Path) -> None:
    text = "Il gatto dorme sul tavolo e il cane guarda fuori dalla finestra.\n" * 40

    warning = taught(tmp_path, monolingual=f"a cat\n{text}", drop_duplicates=False).said[1]

    assert warning == (
        f"warning: {tmp_path / 'alone.txt'}: the source should be English (en) and seems to be "
        "Italian (it)"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"alone\.txt: 0 sentences read, 0 kept; name another text"),
        ("\n \n", r"alone\.txt: 0 sentences read, 0 kept; name another text"),
        ("a" * 2000, r"alone\.txt: 1 sentence read, 0 kept \(1 too long\); name another text"),
        ("a cat", r"alone\.txt: .* all its sources repeat others or have more tokens"),
        ("a cat\tun gatto\n", r"alone\.txt: it has pairs, so name it without --monolingual"),
    ],
)
def test_text_without_translations_of_which_nothing_can_be_used_is_named(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(CorpusError, match=message):
        taught(tmp_path, ["a cat"], monolingual=text)


def test_a_corpus_of_which_no_source_is_left_is_named(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"^1: .* all its sources repeat others or have more tok"):
        taught(tmp_path, ["a cat", "a dog"], ["a dog", "the " * 13])


def test_a_teacher_without_one_good_translation_of_a_corpus_does_not_teach_that(
    tmp_path: Path,
) -> None:
    translations = write(tmp_path / "translations.jsonl", {}, {"faults": ["is empty"]})

    with pytest.raises(CorpusError, match=r"every translation for 2\.tsv has a fault"):
        write_pairs(translations, [(tmp_path / "1.tsv", 1), (tmp_path / "2.tsv", 1)])


def test_a_first_line_that_is_indented_is_no_pair(tmp_path: Path) -> None:
    assert taught(tmp_path, monolingual="\ta cat\t\na dog\n").sources == ["a cat", "a dog"]
