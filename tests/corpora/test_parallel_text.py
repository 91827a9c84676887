"""Reading parallel text: every pair arrives, and what is no pair is named by file and line."""

import bz2
import gzip
import json
import os
import re
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from tests.corpora.texts import LANGUAGES, read, written

from dragoman.corpora.config import CorporaConfig, CorpusConfig
from dragoman.corpora.fingerprint import fingerprint_corpus
from dragoman.corpora.parallel_text import Pair, has_named_sides, read_pairs
from dragoman.corpora.text_file import CorpusError


def read_two(source: Path, target: Path) -> list[Pair]:
    corpus = CorpusConfig(source=str(source), target=str(target))
    return list(read_pairs(corpus, languages=LANGUAGES))


# What is read


def test_a_tsv_line_is_a_pair_with_its_line_number(tmp_path: Path) -> None:
    path = written(tmp_path / "a.tsv", b"cat\tgatto\ndog\tcane\n\tvuoto\n")

    assert read(path) == [("cat", "gatto", 1), ("dog", "cane", 2), ("", "vuoto", 3)]


def test_the_last_line_needs_no_line_feed(tmp_path: Path) -> None:
    assert len(read(written(tmp_path / "a.tsv", b"cat\tgatto\ndog\tcane"))) == 2


def test_byte_order_mark_and_carriage_returns_at_line_ends_are_left_out(tmp_path: Path) -> None:
    path = written(tmp_path / "a.tsv", b"\xef\xbb\xbfcat\tgatto\r\na\rb\tc\r\n")

    assert read(path) == [("cat", "gatto", 1), ("a\rb", "c", 2)]


def test_a_byte_order_mark_later_in_the_file_is_text(tmp_path: Path) -> None:
    path = written(tmp_path / "a.tsv", b"cat\tgatto\n\xef\xbb\xbfdog\tcane\n")

    assert read(path)[1].source == "\ufeffdog"


def test_empty_lines_at_the_end_are_no_pairs(tmp_path: Path) -> None:
    path = written(tmp_path / "a.tsv", b"cat\tgatto\r\n\r\n\n")

    assert read(path) == [("cat", "gatto", 1)]


def test_quotation_marks_are_text(tmp_path: Path) -> None:
    assert read(written(tmp_path / "a.tsv", b'"cat\tgatto"\n')) == [('"cat', 'gatto"', 1)]


def test_two_plain_files_are_read_in_parallel(tmp_path: Path) -> None:
    source = written(tmp_path / "a.en", b"cat\nred\tdog\n")
    target = written(tmp_path / "a.it", b"gatto\ncane rosso")

    assert read_two(source, target) == [("cat", "gatto", 1), ("red\tdog", "cane rosso", 2)]


@pytest.mark.parametrize(
    "record",
    [
        {"en": "cat", "it": "gatto", "fr": "chat"},
        {"id": 3, "translation": {"it": "gatto", "en": "cat"}},
        {"source": "cat", "target": "gatto"},
        {"EN": "cat", "It": "gatto"},
        {"EN": "CAT", "en": "cat", "it": "gatto"},
        {"en_US": "cat", "it-IT": "gatto", "fr_FR": "chat"},
        {"eng_Latn": "cat", "ita_Latn": "gatto"},
        {"en_length": 1, "source": "cat", "it_length": 2, "target": "gatto"},
    ],
)
def test_json_lines_name_their_sides_by_language_or_by_role(
    tmp_path: Path, record: dict[str, object]
) -> None:
    path = written(tmp_path / "a.jsonl", json.dumps(record).encode() + b"\n")

    assert read(path) == [("cat", "gatto", 1)]


def test_codes_with_regions_name_the_sides_of_json_lines_in_any_case(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", b'{"en-gb": "lorry", "pt_br": "caminh\\u00e3o"}\n')

    assert read(path, ("en_GB", "pt_BR")) == [("lorry", "caminhão", 1)]


def test_one_text_of_a_record_does_not_serve_two_languages(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", b'{"en-GB": "lorry", "it": "camion"}\n')

    with pytest.raises(CorpusError, match=r"needs en and en_GB, or source .* has en-GB, it$"):
        read(path, ("en", "en_GB"))


def test_compressed_files_are_read_by_their_ending(tmp_path: Path) -> None:
    text = b"".join(b"cat %d\tgatto %d\n" % (i, i) for i in range(5000))
    plain = read(written(tmp_path / "a.tsv", text))
    frames = [zstandard.compress(text[:30_001]), zstandard.compress(text[30_001:])]

    assert len(plain) == 5000
    assert read(written(tmp_path / "a.tsv.gz", gzip.compress(text))) == plain
    assert read(written(tmp_path / "a.tsv.zst", zstandard.compress(text))) == plain
    assert read(written(tmp_path / "b.tsv.zst", b"".join(frames))) == plain
    json_line = b'{"en": "cat", "it": "gatto"}\n'
    assert len(read(written(tmp_path / "a.jsonl.zst", zstandard.compress(json_line)))) == 1


def test_a_file_that_zstd_compressed_with_its_longest_window_is_read(tmp_path: Path) -> None:
    compressor = zstandard.ZstdCompressor(write_content_size=False).compressobj()
    frame = bytearray(compressor.compress(b"cat\tgatto\n") + compressor.flush())
    frame[5] = 31 - 10 << 3  # the window of zstd --long=31 (RFC 8878, section 3.1.1.1.2)

    assert read(written(tmp_path / "a.tsv.zst", bytes(frame))) == [("cat", "gatto", 1)]


def test_a_pipe_is_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(b"cat\tgatto\ndog\tcane\n",))
    writer.start()

    assert len(read(pipe)) == 2
    writer.join()


def test_the_first_pair_comes_before_the_last_line_is_read(tmp_path: Path) -> None:
    path = written(tmp_path / "a.tsv", b"cat\tgatto\n" * 100_000 + b"broken")

    first = next(read_pairs(CorpusConfig(path=str(path)), languages=LANGUAGES))

    assert first == ("cat", "gatto", 1)


@given(
    st.lists(
        st.tuples(
            *[st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\0"))] * 2
        ).filter(lambda sides: not sides[1].endswith("\r") and not sides[0].startswith("\ufeff")),
        min_size=1,
    ),
)
def test_any_text_survives_a_tsv_file(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]]
) -> None:
    path = tmp_path_factory.mktemp("tsv") / "a.tsv"
    path.write_bytes("".join(f"{source}\t{target}\n" for source, target in pairs).encode())

    assert [pair[:2] for pair in read(path)] == pairs


def test_an_empty_line_at_the_end_of_json_lines_is_no_record(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", b'{"en": "a", "it": "b"}\n\n')

    assert read(path) == [("a", "b", 1)]


@pytest.mark.parametrize("separator", list("\u2028\u2029\x85\x0b\x0c\x1c\x1d\x1e"))
def test_only_a_line_feed_ends_a_line(tmp_path: Path, separator: str) -> None:
    path = written(tmp_path / "a.tsv", f"a{separator}b\tc{separator}d\n".encode())

    assert read(path) == [(f"a{separator}b", f"c{separator}d", 1)]


def test_a_pair_may_begin_as_xml_does(tmp_path: Path) -> None:
    line = b'<?xml version="1.0"?>'
    path = written(tmp_path / "a.tsv", line + b"\t" + line + b"\n")

    assert read(path) == [(line.decode(), line.decode(), 1)]


def test_one_line_may_end_in_a_carriage_return(tmp_path: Path) -> None:
    assert read(written(tmp_path / "a.tsv", b"cat\tgatto\r")) == [("cat", "gatto", 1)]


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="there is no /proc")
def test_why_the_system_cannot_read_a_file_is_said() -> None:
    with pytest.raises(CorpusError, match=r"^/proc/self/mem: cannot be read: Input/output error$"):
        read(Path("/proc/self/mem"))


# What is refused


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.tsv", b"cat\tgatto\ndog\n", "a.tsv:2: 1 column where 2 are expected"),
        ("a.tsv", b"cat\n", "a.tsv:1: 1 column where 2 are expected (source TAB target); add"),
        ("a.tsv", b"cat;gatto\n", "(source TAB target); if a semicolon stands between them, name"),
        (
            "a.tsv",
            b"cat\ndog\tcane\n",
            "a.tsv:1: 1 column where 2 are expected (source TAB target); ",
        ),
        ("a.tsv", b"\ncat\n", "a.tsv:1: an empty line; remove it"),
        ("a.tsv", b"cat\tgatto\n\n\ndog\tcane\n", "a.tsv:2: an empty line; remove it"),
        ("a.tsv", b"\n\n", "a.tsv: the file is empty"),
        ("a.tsv", b"cat\tgatto\t\n", "a.tsv:1: 3 columns where 2 are expected (source TAB target)"),
        ("a.tsv", b"", "a.tsv: the file is empty"),
        ("a.jsonl", b"", "a.jsonl: the file is empty"),
        ("a.tsv.gz", b"", "a.tsv.gz: the file is empty"),
        ("a.tsv.zst", b"", "a.tsv.zst: the file is empty"),
        ("a.tsv", b"a\tb\na\xff\tb\n", "a.tsv:2: not UTF-8 (byte 0xff at position 1)"),
        ("a.tsv", b"a\tb\nc\xc3", "a.tsv:2: not UTF-8 (byte 0xc3 at position 1)"),
        ("a.tsv", b"a\tb\0\n", "a.tsv:1: a NUL character"),
        ("a.jsonl", b'{"en": "a"\n', "a.jsonl:1: not a JSON record"),
        ("a.jsonl", b"[" * 100_000 + b"\n", "a.jsonl:1: not a JSON record"),
        ("a.jsonl", b"\n", "a.jsonl: the file is empty"),
        (
            "a.jsonl",
            b'{"en": "a", "it": "b"}\n\n{"en": "a", "it": "b"}\n',
            "a.jsonl:2: an empty line; remove it",
        ),
        ("a.jsonl", b'{"en": x}', "(expecting value at character 8); write one a line, as {"),
        ("a.tsv", b"cat;gatto\ndog;cane\n", "if a semicolon stands between them, name the file"),
        (
            "a.tsv",
            b"cat,gatto\ndog,cane\n",
            "if a comma stands between them, name the file .csv; if there",
        ),
        ("a.tsv", b"A cat, a dog\nA cow\n", "after it; if there are two plain files"),
        ("a.tsv", b'cat\t"gatto\nrosso"\n', "a.tsv:2: 1 column where 2 are expected (source TAB"),
        (
            "a.tsv",
            b'cat\t"gatto\nrosso"\n',
            "; if a spreadsheet wrote it, name the file .csv",
        ),
        ("a.tsv", b'cat\tgatto\nA 5" pipe\n', "a quoted cell continues here; otherwise add the"),
        ("a.tsv", b"cat ||| gatto\ndog ||| cane\n", "after it; put a tab for |||"),
        ("a.tsv", b"PK\x03\x04\n", "as with unzip, or save it as text"),
        ("a.jsonl", b'["a", "b"]\n', "a.jsonl:1: a list stands where a record is expected"),
        (
            "a.jsonl",
            b'{"en": "a", "it": "b"}\n{"en": "a", "de": "b"}\n',
            "a.jsonl:2: a record needs en and it, or source and target, and this one has en, de",
        ),
        ("a.jsonl", b'{"en": "a", "it": null}\n', 'a.jsonl:1: "it" is null, not a text'),
        ("a.jsonl", b'{"translation": [1]}\n', "source and target, and this one has translation"),
        (
            "a.jsonl",
            b'{"source": "a", "translation": "b"}\n',
            "a.jsonl:1: a record needs en and it, or source and target, and this one has source, t",
        ),
        ("a.tsv.gz", b"not gzip\n", "a.tsv.gz: it is not compressed, or damaged; if it is"),
        ("a.tsv.zst", b"not zstd\n", "a.tsv.zst: it is not compressed, or damaged; if it is"),
    ],
)
def test_what_is_no_pair_is_named_by_file_and_line(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    path = written(tmp_path / name, content)

    with pytest.raises(CorpusError, match=re.escape(message)) as caught:
        read(path)

    assert "\n" not in str(caught.value)


def test_one_of_two_plain_files_is_told_how_both_are_read(tmp_path: Path) -> None:
    path = written(tmp_path / "b.en", b"cat\n\ndog\nmouse\nbird\nfish\tpesce\n")

    with pytest.raises(
        CorpusError, match=r'b\.en:1: 1 column .* \(source = "b\.en", target = "b\.it"'
    ):
        read(path)


@pytest.mark.parametrize(("name", "compress"), [("gz", gzip.compress), ("zst", zstandard.compress)])
def test_a_compressed_file_that_is_cut_short_is_refused(
    tmp_path: Path, name: str, compress: object
) -> None:
    assert callable(compress)
    whole = compress(b"".join(b"cat %d\tgatto\n" % (i * 7919 % 10_007) for i in range(20_000)))
    path = tmp_path / f"a.tsv.{name}"

    for size in (5, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(CorpusError, match=r"file is cut short( after line [1-9]\d*)?; copy"):
            read(path)


def test_a_compressed_file_with_something_else_after_it_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "a.tsv.gz", gzip.compress(b"cat\tgatto\n") + b"something else")

    with pytest.raises(
        CorpusError, match=r"the compressed file is damaged after line 1 \(.*; copy"
    ):
        read(path)


@pytest.mark.parametrize(
    ("sources", "targets", "counts"),
    [
        (b"a\nb\nc\nd\n", b"a\nb\n", ("4 lines", "2;")),
        (b"a\n", b"a\nb\nc\n", ("1 line", "3;")),
        (b"", b"a\n", ("0 lines", "1;")),
        (b"a\n", b"", ("1 line", "0;")),
    ],
)
def test_two_files_of_different_lengths_are_refused_with_both_counts(
    tmp_path: Path, sources: bytes, targets: bytes, counts: tuple[str, str]
) -> None:
    source, target = written(tmp_path / "a.en", sources), written(tmp_path / "a.it", targets)

    message = f"{source} has {counts[0]} and {target} has {counts[1]}"
    with pytest.raises(CorpusError, match=re.escape(message)):
        read_two(source, target)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"nowhere\.tsv: there is no such file"):
        read(tmp_path / "nowhere.tsv")


@pytest.mark.parametrize(
    "look_at", [has_named_sides, fingerprint_corpus, partial(read_pairs, languages=LANGUAGES)]
)
def test_a_place_where_the_system_does_not_look_is_named(look_at: Callable[..., object]) -> None:
    """As a file in a directory that is closed, but to root none is."""
    corpus = CorpusConfig(path="a" * 300)

    with pytest.raises(CorpusError, match=r"^a+: cannot be read: File name too long$"):
        look_at(corpus)


def test_a_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=f"; name the files in it, .* write hf:{tmp_path}$"):
        read(tmp_path)
    with pytest.raises(CorpusError, match="a directory stands where a file is expected"):
        read_two(tmp_path, tmp_path)


def test_a_line_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dragoman.corpora.text_file.MAX_LINE_BYTES", 100)
    assert len(read(written(tmp_path / "a.tsv", b"a\t" + b"b" * 97 + b"\n"))) == 1

    with pytest.raises(CorpusError, match=r"a\.tsv:1: a line of more than 100 bytes"):
        read(written(tmp_path / "a.tsv", b"a\t" + b"b" * 99 + b"\n"))


@given(
    content=st.binary(max_size=200) | st.binary(max_size=60).map(zstandard.compress),
    name=st.sampled_from(
        [
            "a.tsv",
            "a.jsonl",
            "a.tsv.gz",
            "a.jsonl.zst",
            "a",
            "a.csv",
            "a.csv.zst",
            "a.tmx",
            "a.po",
            "a.xlf",
        ]
    ),
)
def test_random_bytes_are_read_or_refused_and_never_crash(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, name: str
) -> None:
    path = written(tmp_path_factory.mktemp("random") / name, content)

    try:
        outcome: object = read(path)
    except CorpusError as error:
        outcome = str(error).startswith(str(path))

    assert outcome


# Paths and settings


def test_a_variable_in_a_path_is_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path / "a.tsv", b"cat\tgatto\n")
    monkeypatch.setenv("CORPORA", str(tmp_path))

    assert len(read(Path("$CORPORA/a.tsv"))) == 1
    assert len(read(Path("${CORPORA}/a.tsv"))) == 1


@pytest.mark.parametrize("name", ["cost$5.tsv", "a$.tsv", "$è.tsv", "${}.tsv"])
def test_a_dollar_sign_that_names_no_variable_is_a_dollar_sign(tmp_path: Path, name: str) -> None:
    assert len(read(written(tmp_path / name, b"cat\tgatto\n"))) == 1


def test_the_home_directory_is_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path / "a.tsv", b"cat\tgatto\n")
    monkeypatch.setenv("HOME", str(tmp_path))

    assert len(read(Path("~/a.tsv"))) == 1


def test_a_home_directory_that_is_not_there_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path / "~old.tsv", b"cat\tgatto\n")
    monkeypatch.chdir(tmp_path)

    with pytest.raises(CorpusError, match=r"^~old\.tsv: there is no such home .* \./~old\.tsv for"):
        read(Path("~old.tsv"))
    assert len(read("./~old.tsv")) == 1


def test_an_undefined_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOWHERE", raising=False)

    with pytest.raises(CorpusError, match="the environment variable NOWHERE is not defined"):
        read(Path("$NOWHERE/a.tsv"))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "a corpus is either path, or source and target"),
        ({"source": "a"}, "target is missing: two plain files are a corpus"),
        ({"target": "a"}, "source is missing: two plain files are a corpus"),
        ({"path": "a", "source": "b", "target": "c"}, "a corpus is either path, or"),
        ({"path": "a", "source": "b"}, "a corpus is either path, or source and target"),
    ],
)
def test_a_corpus_is_a_path_or_two_files(settings: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CorpusConfig(**settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("weight", [0.0, -1.0, float("inf"), float("nan")])
def test_a_weight_is_a_finite_number_above_zero(weight: float) -> None:
    with pytest.raises(ValueError, match=f"weight = {weight} should be"):
        CorpusConfig(path="a.tsv", weight=weight)


@pytest.mark.parametrize("part", ["validation", "test"])
def test_only_training_text_is_weighted(part: str) -> None:
    train, weighted = CorpusConfig(path="a.tsv"), CorpusConfig(path="b.tsv", weight=2.0)

    parts: dict[str, Any] = {"train": (train,), part: (weighted,)}

    with pytest.raises(ValueError, match=r"weight = 2\.0 of b: that is for training text"):
        CorporaConfig(**parts)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_utf_16_is_named(encoding: str, tmp_path: Path) -> None:
    mark = b"\xfe\xff" if encoding == "utf-16-be" else b""
    path = written(tmp_path / "pairs.tsv", mark + "perché\twhy\n".encode(encoding))

    with pytest.raises(CorpusError, match=r"pairs\.tsv: UTF-16 text; convert it to UTF-8"):
        read(path)


@pytest.mark.parametrize(
    ("name", "way"),
    [
        *((name, "save the sheet as CSV UTF-8") for name in ("a.xlsx", "a.XLS", "a.ods")),
        *(
            (name, "write the spoken text into two plain files")
            for name in ("film.srt", "film.VTT")
        ),
        ("de.POT.gz", "a template has no translations; name the .po file of a language"),
        ("memory.sdltm", "export the translation memory as TMX (.tmx)"),
        *((name, "export the termbase as TBX (.tbx), or as CSV") for name in ("a.sdltb", "a.mtf")),
        ("a.parquet", "put it into a directory of its own and write hf: before the name of that"),
        ("pairs.json", "write each record on a line of its own (.jsonl), as jq -c '.[]' does"),
        *((name, "save the pairs as TSV") for name in ("a.xml", "a.docx", "a.pdf.zst")),
    ],
)
def test_other_formats_are_named(name: str, way: str) -> None:
    with pytest.raises(CorpusError, match=f"{name}: .* files are not read; {re.escape(way)}"):
        read(Path(name))


@pytest.mark.parametrize(
    ("name", "way"),
    [
        *((name, "unpack it, or compress") for name in ("pairs.tsv.xz", "pairs.tsv.BZ2")),
        *(
            (name, "unpack it and name the file in it; a corpus of OPUS has two plain files")
            for name in ("en-it.txt.zip", "a.tar.gz", "a.tgz")
        ),
    ],
)
def test_other_compressions_are_named(name: str, way: str) -> None:
    with pytest.raises(CorpusError, match=f"{name}: .* files are not read; {way}"):
        read(Path(name))


def test_endings_may_be_in_capitals(tmp_path: Path) -> None:
    record = b'{"en": "cat", "it": "gatto"}\n'

    assert read(written(tmp_path / "a.NDJSON", record)) == [("cat", "gatto", 1)]
    assert read(written(tmp_path / "a.JSONL.GZ", gzip.compress(record))) == [("cat", "gatto", 1)]
    packed = zstandard.compress(b"cat\tgatto\n")
    assert read(written(tmp_path / "A.TSV.ZST", packed)) == [("cat", "gatto", 1)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (gzip.compress(b"cat\tgatto\n"), "a compressed file; unpack it first, as with gunzip"),
        (bz2.compress(b"cat\tgatto\n"), "a compressed file; unpack it first, as with bunzip2"),
        (b'<?xml version="1.0"?>\n<tmx>\n', "XML, which is not read line by line; save the text"),
        (b"cat\tgatto\rdog\tcane\r", "its lines end in carriage returns alone; convert it"),
    ],
    ids=["gzip", "bzip2", "xml", "carriage returns"],  # a gzip header holds the time of day
)
def test_what_a_file_is_instead_shows_in_its_beginning(
    content: bytes, message: str, tmp_path: Path
) -> None:
    path = written(tmp_path / "a.tsv", content)

    with pytest.raises(CorpusError, match=f"^{path}: {message}"):
        read(path)


def test_there_is_something_to_train_on() -> None:
    with pytest.raises(ValueError, match="train"):
        CorporaConfig(train=())


@pytest.mark.parametrize(
    ("corpus", "name"),
    [
        (CorpusConfig(path="/data/train.tsv.zst"), "train"),
        (CorpusConfig(path="train.ndjson.gz"), "train"),
        (CorpusConfig(path="memory.tmx.gz"), "memory"),
        (CorpusConfig(path="sheet.csv"), "sheet"),
        (CorpusConfig(path="de.po.gz"), "de"),
        (CorpusConfig(path="manual.sdlxliff"), "manual"),
        (CorpusConfig(path="hf:Helsinki-NLP/opus_books:en-it"), "opus_books:en-it"),
        (CorpusConfig(source="x/Books.en-it.en", target="x/Books.en-it.it"), "Books.en-it"),
        (CorpusConfig(source="x/train.en.gz", target="x/train.it.gz"), "train"),
        (CorpusConfig(source="train.en", target="train.es"), "train"),
        (CorpusConfig(source="it/train.txt", target="is/train.txt"), "train.txt"),
        (CorpusConfig(source="english.txt", target="italian.txt"), "english.txt"),
        (CorpusConfig(source="da.txt", target="de.txt"), "da.txt"),
    ],
)
def test_a_corpus_has_a_short_name(corpus: CorpusConfig, name: str) -> None:
    assert corpus.name == name
