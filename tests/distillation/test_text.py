"""Only good translations are taught, and all that is left out is counted."""

import json
from pathlib import Path
from typing import Any

import pytest

from dragoman.corpora.text_file import CorpusError
from dragoman.distillation.text import write_pairs

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
