"""Hugging Face data sets: the same pairs, from the hub or from a directory."""

import json
import sys
from hashlib import sha256
from pathlib import Path

import pytest
from tests.corpora.texts import preparation, read

from dragoman.corpora.config import CorporaConfig, CorpusConfig
from dragoman.corpora.fingerprint import comparable, fingerprint_files
from dragoman.corpora.parallel_text import Pair, read_pairs
from dragoman.corpora.text_file import CorpusError

PAIRS = [("The cat sleeps.", "Il gatto dorme."), ("", "Vuoto."), ("A\nB", "C\u2028D")]
EXPECTED = [Pair(*pair, line) for line, pair in enumerate(PAIRS, start=1)]
TRANSLATIONS = [
    {"id": str(i), "translation": {"en": en, "it": it}} for i, (en, it) in enumerate(PAIRS)
]


def test_a_saved_data_set_of_translations_is_read(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    features = datasets.Features(
        {
            "id": datasets.Value("string"),
            "translation": datasets.Translation(languages=["en", "it"]),
        }
    )
    datasets.Dataset.from_list(TRANSLATIONS, features=features).save_to_disk(tmp_path / "saved")

    assert read(tmp_path / "saved") == EXPECTED


def test_a_saved_data_set_with_a_column_for_each_language_is_read(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    columns = {"it": [it for _, it in PAIRS], "en": [en for en, _ in PAIRS], "score": [1, 2, 3]}
    datasets.Dataset.from_dict(columns).save_to_disk(tmp_path)

    assert read(tmp_path) == EXPECTED


def test_a_directory_with_several_splits_asks_for_one(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    split = datasets.Dataset.from_list(TRANSLATIONS)
    datasets.DatasetDict(train=split, test=split).save_to_disk(tmp_path)

    with pytest.raises(CorpusError, match=f"name one, {tmp_path}/train or {tmp_path}/test"):
        read(tmp_path)
    assert read(tmp_path / "test") == EXPECTED


def test_a_data_set_without_the_languages_is_refused(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    datasets.Dataset.from_list([{"translation": {"de": "a", "en": "b"}}]).save_to_disk(tmp_path)

    with pytest.raises(CorpusError, match=r":1: a record needs en and it, .* has de, en"):
        read(tmp_path)


def test_records_without_a_pair_are_refused_one_by_one(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    records = [{"en": "A", "it": None}, {"en": "B", "it": "C"}, {"en": None, "it": "D"}]
    datasets.Dataset.from_list(records).save_to_disk(tmp_path)
    refused: list[CorpusError] = []

    pairs = read_pairs(
        CorpusConfig(path=str(tmp_path)), languages=("en", "it"), refuse=refused.append
    )

    assert list(pairs) == [Pair("B", "C", 2)]
    assert list(map(str, refused)) == [
        f'{tmp_path}:1: "it" is null, not a text',
        f'{tmp_path}:3: "en" is null, not a text',
    ]


def test_an_empty_data_set_is_refused(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    datasets.Dataset.from_dict({"en": [], "it": []}).save_to_disk(tmp_path)

    with pytest.raises(CorpusError, match="the data set is empty"):
        read(tmp_path)


def test_a_damaged_data_set_is_refused(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    datasets.Dataset.from_list(TRANSLATIONS).save_to_disk(tmp_path)
    next(tmp_path.glob("*.arrow")).write_bytes(b"damaged")

    with pytest.raises(CorpusError, match=f"{tmp_path}: the data set cannot be read"):
        read(tmp_path)


@pytest.mark.parametrize("state", ["", "[]", "{}", '{"_data_files": [3]}'])
def test_a_data_set_whose_state_is_something_else_is_refused(tmp_path: Path, state: str) -> None:
    datasets = pytest.importorskip("datasets")
    datasets.Dataset.from_list(TRANSLATIONS).save_to_disk(tmp_path)
    (tmp_path / "state.json").write_text(state)

    with pytest.raises(CorpusError, match=r"state\.json: missing or damaged; save the data set"):
        read(tmp_path)


@pytest.mark.parametrize("state", ["", "[]", "{}", '{"_data_files": [3]}'])
def test_a_data_set_whose_list_of_files_is_damaged_is_refused(tmp_path: Path, state: str) -> None:
    (tmp_path / "dataset_info.json").touch()
    (tmp_path / "state.json").write_text(state)
    corpora = CorporaConfig(train=(CorpusConfig(path=str(tmp_path)),))

    with pytest.raises(CorpusError, match=r"state\.json: missing or damaged; save the data set"):
        fingerprint_files(corpora)


def test_an_address_names_a_configuration_and_a_split(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    data = tmp_path / "books"
    for split, rows in {"train": TRANSLATIONS, "test": TRANSLATIONS[:1]}.items():
        file = data / "en-it" / f"{split}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (data / "README.md").write_text(
        "---\nconfigs:\n- config_name: en-it\n  data_files:\n"
        "  - {split: train, path: en-it/train.jsonl}\n  - {split: test, path: en-it/test.jsonl}\n"
        "- config_name: other\n  data_files: en-it/test.jsonl\n---\n",
        encoding="utf-8",
    )

    assert read(f"hf:{data}:en-it") == EXPECTED
    assert read(f"hf:{data}:en-it:test") == EXPECTED[:1]
    assert read(f"hf:{data}:other") == EXPECTED[:1]
    for address in (f"hf:{data}", f"hf:{data}:en-fr", f"hf:{data}:en-it:dev", f"hf:{data}/none"):
        with pytest.raises(CorpusError, match=f"{address}: the data set cannot be loaded: "):
            read(address)


def test_the_files_of_a_directory_are_those_that_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.setenv("BOOKS", str(tmp_path / "books"))
    train = tmp_path / "books" / "data" / "train.jsonl"
    train.parent.mkdir(parents=True)
    train.write_text('{"en": "A", "it": "B"}\n', encoding="utf-8")
    (tmp_path / "books" / "notes.txt").touch()
    corpora = CorporaConfig(train=(CorpusConfig(path="hf:$BOOKS"),))

    before = fingerprint_files(corpora)
    train.write_text('{"en": "A", "it": "C"}\n', encoding="utf-8")

    assert before == {"hf:$BOOKS/data/train.jsonl": sha256(b'{"en": "A", "it": "B"}\n').hexdigest()}
    assert fingerprint_files(corpora) != before
    assert comparable(before, {"dev.tsv": "1"}) == {}  # release 0.1.0 recorded none of these
    assert comparable(before, {"dev.tsv": "1", **before}) == before


def test_a_file_that_is_deleted_is_not_learnt_from_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    books = tmp_path / "books"
    books.mkdir()
    for name, (animal, animale) in {"a": ("cats", "gatti"), "b": ("dogs", "cani")}.items():
        rows = [{"en": f"{i} {animal} sleep", "it": f"{i} {animale} dormono"} for i in range(50)]
        (books / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    prepare = preparation(tmp_path / "data", f"hf:{books}").prepare

    both = prepare(lambda message: None, replace_other=True)
    (books / "b.jsonl").unlink()
    one = prepare(lambda message: None, replace_other=True)

    assert (len(both.summary.files), len(one.summary.files)) == (2, 1)


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"train.jsonl": '{"en": "A", "it": "B"}\n{"en": \n'}, "JSON parse error: .* in row 1"),
        ({"train.csv": "en,it\nA,B\nA,B,C\n"}, "Expected 2 fields in line 3, saw 3"),
        (
            {"train1.jsonl": '{"en": "A", "it": "B"}\n', "train2.jsonl": '{"de": "A"}\n'},
            "because column names don't match",
        ),
    ],
)
def test_a_data_set_of_damaged_files_is_refused_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], reason: str
) -> None:
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    data = tmp_path / "books"
    data.mkdir()
    for name, content in files.items():
        (data / name).write_text(content, encoding="utf-8")

    with pytest.raises(CorpusError, match=rf"^hf:{data}: .* cannot be loaded: .*{reason}"):
        read(f"hf:{data}")


def test_without_the_library_the_message_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    (tmp_path / "dataset_info.json").touch()

    for path in ("hf:Helsinki-NLP/opus_books:en-it", tmp_path):
        with pytest.raises(CorpusError, match=r'pip install --editable "\.\[huggingface\]"'):
            read(path)
