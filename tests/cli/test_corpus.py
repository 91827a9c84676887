"""`dragoman corpus`: what it prints, writes and refuses."""

import hashlib
import io
import json
import os
import threading
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from cyclopts import CycloptsError

from dragoman.cli import main
from dragoman.cli.corpus import app
from dragoman.corpora.config import CorpusConfig
from dragoman.corpora.opus.servers import STORAGE_VARIABLE
from dragoman.corpora.parallel_text import read_pairs
from dragoman.corpora.primer.corpus import generate
from dragoman.corpora.primer.spelling import words
from dragoman.corpora.text_file import CorpusError
from dragoman.errors import UsageError


def run(*tokens: str | Path) -> None:
    app([str(token) for token in tokens], exit_on_error=False, result_action="return_value")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "train.tsv"
    path.write_text("The cat.\tIl gatto.\nThe cat.\tIl gatto.\nA dog.\t\nA cow.\tUna mucca.\n")
    return path


# check


def test_check_says_sizes_and_suspicious_lines(
    corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("check", corpus)

    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[0][:5] == [f"{corpus}:", "4", "pairs,", "languages", "en-it"]
    assert lines[0][5:] == ["(change", "with", "--languages)"]
    assert ["en", "28", "8", "6", "8", "8", "8"] in lines
    assert ["it", "28", "6", "9", "10", "10", "10"] in lines
    assert ["duplicate", "1", "line", "2"] in lines
    assert ["empty", "1", "line", "3"] in lines


def test_check_lists_all_that_someone_should_look_at(
    tmp_path: Path,
) -> None:
    pairs = [f"{pair.source}\t{pair.target}" for pair in generate(40, seed=1)]
    swapped = "Il cane nero dorme sotto il tavolo.\tThe black dog is sleeping under the table."
    path, listing = tmp_path / "all.tsv", tmp_path / "listing.tsv"
    path.write_text("\n".join([*pairs, *pairs, swapped, "no pair", "A \x07 b.\tA.", ""]))

    run("check", path, "-o", listing)

    rows = [row.split("\t") for row in listing.read_text().splitlines()]
    duplicates = [[str(path), str(41 + i), "duplicate", *pairs[i].split("\t")] for i in range(40)]
    others = [row for row in rows if row not in duplicates]
    assert len(rows) == len(duplicates) + len(others)
    assert {len(row) for row in rows} == {5}
    assert sorted(row[1:3] for row in others if row[1]) == [
        ["81", "wrong way round"],
        ["83", "control characters"],
    ]
    ((corpus, _, refusal, *texts),) = [row for row in others if not row[1]]
    assert (corpus, *texts) == (str(path), "", "")
    assert "all.tsv:82: 1 column" in refusal


def test_check_does_not_write_over_what_it_reads(
    corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = corpus.read_bytes()
    with pytest.raises(UsageError, match="it is read already"):
        run("check", corpus, "-o", corpus)
    monkeypatch.setenv("CORPORA", str(corpus.parent))
    with pytest.raises(UsageError, match="it is read already"):
        run("check", f"$CORPORA/{corpus.name}", "-o", corpus)
    assert corpus.read_bytes() == before


def test_check_does_not_write_over_a_file_of_a_directory_that_it_reads(tmp_path: Path) -> None:
    (tmp_path / "dataset_info.json").write_text("{}")
    (tmp_path / "state.json").write_text('{"_data_files": [{"filename": "data.arrow"}]}')
    with pytest.raises(UsageError, match=r"data\.arrow: it is read already"):
        run("check", tmp_path, "-o", tmp_path / "data.arrow")


def test_check_keeps_the_columns_of_long_lines_apart(
    corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus.write_text("a" * 3_000_000 + "\tb\nc\td\n")

    run("check", corpus)

    assert ["en", "3,000,001", "2", "1", *["3,000,000"] * 3] in [
        line.split() for line in capsys.readouterr().out.splitlines()
    ]


def test_check_warns_of_a_heading(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus.write_text("en\tit\n" + corpus.read_text())

    run("check", corpus)

    assert "\n  warning: line 1 (en, it) looks like a heading; remove it\n" in (
        capsys.readouterr().out
    )


def test_check_says_what_files_share(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other, apart = tmp_path / "test.tsv", tmp_path / "apart.tsv"
    other.write_text("the cat\tla gatta\n")
    apart.write_text("A hen.\tUna gallina.\n")

    run("check", corpus, other, apart)

    said = capsys.readouterr().out
    assert said.endswith(f"\n{corpus} and {other} share 1 source sentence\n")
    assert said.count(" share ") == 1
    run("check", other, apart)
    assert capsys.readouterr().out.endswith("\nno two of them share a source sentence\n")


def test_check_reads_a_corpus_in_two_files(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, target = tmp_path / "test.en", tmp_path / "test.it"
    source.write_text("A cow.\nA cat.\n")
    target.write_text("Una mucca.\nUn gatto.\n")

    run("check", corpus, "--source", source, "--target", target)

    printed = capsys.readouterr().out
    assert "\ntest: 2 pairs" in printed
    assert f"{corpus} and test share 1 source sentence\n" in printed


def test_check_prints_one_json_object(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "test.jsonl"
    other.write_text('{"de": "Kuh.", "en": "A cow."}\n')
    corpus.write_text("Kuh\tA cow\nHund\tA dog\n")

    run("check", corpus, other, "--languages", "de-en", "--json")

    answer = json.loads(capsys.readouterr().out)
    first, second = answer["corpora"]
    assert (first["corpus"], first["pairs"], second["pairs"]) == (str(corpus), 2, 1)
    assert first["sides"][0]["language"] == "de"
    assert first["sides"][0]["character_percentiles"] == {"50": 3, "90": 4, "99": 4, "100": 4}
    assert answer["overlaps"] == [{"corpora": [str(corpus), str(other)], "sources": 1}]


def test_check_goes_on_behind_lines_that_hold_no_pair(
    corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for num_more, has_more in ((3, False), (6, True)):
        corpus.write_text("cat\tgatto\nbroken\n\ncat\tgatto\n" + "a\tb\tc\n" * num_more)

        assert main(["corpus", "check", str(corpus)]) == 1

        said = capsys.readouterr().out
        assert "train.tsv: 2 pairs" in said
        assert "  1 pair (50.0%) that the default cleaning leaves out\n" in said
        assert f"  {2 + num_more} lines without a pair; training refuses the file:\n" in said
        assert f"    {corpus}:2: 1 column where 2 are expected (source TAB target)" in said
        assert f"    {corpus}:3: an empty line; remove it\n" in said
        assert f"    {corpus}:7: 3 columns" in said
        assert f"{corpus}:8: " not in said
        assert said.endswith("\n    …\n\n") == has_more


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("a.jsonl", '{"en": "cat", "it": "gatto"}\n{"en": "dog"}\n[\n', 2),
        ("a.csv", "cat,gatto\ndog\nbird,uccello,merlo\n", 2),
    ],
)
def test_check_goes_on_in_other_forms_of_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: str, line: int
) -> None:
    (tmp_path / name).write_text(content)
    (tmp_path / "whole.tsv").write_text("cat\tgatto\n")
    files = [str(tmp_path / each) for each in (name, "whole.tsv")]

    assert main(["corpus", "check", *files, "--json"]) == 1

    answer, _ = json.loads(capsys.readouterr().out)["corpora"]
    assert (answer["pairs"], answer["num_refused"]) == (1, 2)
    assert answer["refused"][0].startswith(f"{tmp_path / name}:{line}: ")


def test_check_ends_where_nobody_reads_on_but_not_before_its_list_is_whole(
    corpus: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def print_to_nobody(*_: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr("dragoman.cli.corpus._print_statistics", print_to_nobody)
    listing = tmp_path / "listing.tsv"
    run("check", corpus, corpus, "-o", listing)
    assert listing.read_text().count("\n") == 4
    with pytest.raises(BrokenPipeError):
        run("check", corpus, tmp_path / "missing.tsv")
    assert not capsys.readouterr().err  # the next file was not looked for


def test_check_describes_the_files_that_it_can_read_beside_those_that_it_cannot(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    latin, missing = tmp_path / "latin.tsv", tmp_path / "missing.tsv"
    latin.write_bytes("caffè\tcoffee\n".encode("latin-1"))

    assert main(["corpus", "check", str(latin), str(corpus), str(missing)]) == 1

    said = capsys.readouterr()
    assert said.out.startswith(f"{corpus}: 4 pairs")
    assert [line.partition("; ")[0] for line in said.err.splitlines()] == [
        f"dragoman: {latin}:1: not UTF-8 (byte 0xe8 at position 4)",
        f"dragoman: {missing}: there is no such file",
    ]

    listing, folder = tmp_path / "listing.tsv", tmp_path / "folder"
    folder.mkdir()
    assert main(["corpus", "check", str(folder), str(corpus), "-o", str(listing)]) == 1

    said = capsys.readouterr()
    assert said.out.startswith(f"{corpus}: 4 pairs")
    assert said.err.startswith(f"dragoman: {folder}: a directory stands where a file or")
    assert listing.read_text().startswith(f"{corpus}\t3\tempty\tA dog.")

    listing.unlink()
    assert main(["corpus", "check", str(latin), str(missing), "-o", str(listing), "--json"]) == 1

    said = capsys.readouterr()
    assert (said.out, said.err.count("dragoman: "), listing.exists()) == ("", 2, False)


def test_check_names_the_file_and_line_of_a_corpus_without_a_pair(corpus: Path) -> None:
    corpus.write_text("a\tb\tc\nbroken\n")

    with pytest.raises(CorpusError, match=r"train\.tsv:1: 3 columns"):
        run("check", corpus)


@pytest.mark.parametrize(
    "tokens",
    [
        ["check", "a.tsv", "--languages", "english"],
        ["check", "a.tsv", "--languages", "english-italian"],
        ["check", "a.tsv", "--languages", "en-EN"],
        ["get", "opus:Books"],
        ["get", "Books", "en-it"],
        ["get", "opus:Books", "en"],
        ["primer", "--pairs", "0", "-o", "a.tsv"],
        ["primer", "--pairs", "3"],
        ["primer", "--pairs", "3", "-o", "a.tsv", "--split", "dev"],
    ],
)
def test_wrong_use_is_refused_before_any_work(
    tokens: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)

    with pytest.raises(CycloptsError):
        run(*tokens)

    assert "Error" in "".join(capsys.readouterr())
    assert list(tmp_path.iterdir()) == []


# get


def test_get_downloads_says_the_licence_and_check_reads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = tmp_path / "served" / "OPUS-Toy" / "v2" / "moses" / "en-it.txt.zip"
    archive.parent.mkdir(parents=True)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as zipped:
        zipped.writestr("Toy.en-it.en", "The cat.\nA dog.\n")
        zipped.writestr("Toy.en-it.it", "Il gatto.\nUn cane.\n")
        zipped.writestr("LICENSE", "Free \x1b[31mfor all.\n")
    archive.write_bytes(buffer.getvalue())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(SimpleHTTPRequestHandler, "log_message", lambda *_: None)
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path / "served"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        monkeypatch.setenv(STORAGE_VARIABLE, f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        run("get", "opus:Toy/v2", "it-en", "-o", "toy")
        server.shutdown()
        thread.join()
    first = capsys.readouterr().out
    run("get", "opus:Toy/v2", "it-en", "-o", "toy")
    second = capsys.readouterr().out
    run("check", "toy")
    checked = capsys.readouterr().out
    run("get", "opus:Toy/v2", "it-en", "-o", "toy", "--json")
    told = json.loads(capsys.readouterr().out)

    for said in ("toy: Toy v2, downloaded", "2 pairs", "Free [31mfor all."):
        assert said in first
    assert "toy: Toy v2, was complete, nothing was downloaded" in second
    assert "toy: 2 pairs" in checked
    assert (told["directory"], told["is_new"], told["licence"]) == ("toy", False, "LICENSE")
    assert told["sha256"] == hashlib.sha256(buffer.getvalue()).hexdigest()


# primer


def test_primer_writes_pairs_and_their_alignments(tmp_path: Path) -> None:
    text, alignments = tmp_path / "a.tsv", tmp_path / "a.align"

    run("primer", "--pairs", "30", "-o", text, "--alignments", alignments, "--split", "test")

    pairs = list(read_pairs(CorpusConfig(path=str(text)), languages=("en", "it")))
    links = alignments.read_text().splitlines()
    assert len(pairs) == len(links) == 30
    for pair, line in zip(pairs, links, strict=True):
        for link in line.split():
            source, target = map(int, link.split("-"))
            assert source < len(words(pair.source))
            assert target < len(words(pair.target))
    assert all(links)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.align", "a.tsv"]


def test_primer_writes_other_pairs_for_another_seed_or_split(tmp_path: Path) -> None:
    def written(*options: str) -> bytes:
        run("primer", "--pairs", "20", "-o", tmp_path / "a.tsv", *options)
        return (tmp_path / "a.tsv").read_bytes()

    test = written("--split", "test")

    assert written("--split", "test") == test
    assert written("--split", "test", "--seed", "5") != test
    assert written("--split", "validation") != test
    assert written() != test


def test_primer_writes_into_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()))
    reader.start()

    run("primer", "--pairs", "5", "-o", pipe)

    reader.join()
    assert received[0].count(b"\n") == 5
    assert pipe.is_fifo()
