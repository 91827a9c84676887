"""Lines are the same, whether they arrive in a stream or are read in blocks."""

import gzip
import io
import lzma
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from dragoman.bulk.plain_text import READ_AT_ONCE, PlainText, read_stream
from dragoman.corpora.text_file import CorpusError

TEXT = st.text(st.sampled_from("ab \n\r\u2028\u0085\x0b\ufeff\U0001f600"), max_size=40)


@given(contents=st.lists(TEXT, min_size=1, max_size=3), lines_per_block=st.integers(1, 5))
def test_blocks_have_the_lines_of_the_stream(
    contents: list[str], lines_per_block: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    directory = tmp_path_factory.mktemp("text")
    paths = tuple(directory / str(i) for i in range(len(contents)))
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content.encode())
    text = PlainText(paths, "text")

    blocks = text.cut(lines_per_block)

    in_blocks = [line for block in blocks for line in text.read(block)]
    streamed = [
        line
        for number, path in enumerate(paths, start=1)
        for chunk in read_stream(
            io.BytesIO(path.read_bytes()), str(path), last=number == len(paths)
        )
        for line in chunk
    ]
    assert in_blocks == streamed
    numbers = [(b.number, b.first_line, b.num_lines <= lines_per_block) for b in blocks]
    ends = [sum(b.num_lines for b in blocks[:i]) for i in range(len(blocks))]
    assert numbers == [(i, end, True) for i, end in enumerate(ends)]


def test_long_lines_make_short_blocks(tmp_path: Path) -> None:
    path = tmp_path / "long"
    path.write_text(("x" * 700_000 + "\n") * 5)

    blocks = PlainText((path,), "text").cut(1024)

    assert [block.num_lines for block in blocks] == [2, 2, 1]


@pytest.mark.parametrize(("length", "sizes"), [(250, [2**14, 4]), (1500, [2**22 // 1500 + 1] * 2)])
def test_a_large_block_has_room_for_lines_of_the_usual_length(
    length: int, sizes: list[int], tmp_path: Path
) -> None:
    path = tmp_path / "usual"
    path.write_text(("x" * (length - 1) + "\n") * sum(sizes))

    blocks = PlainText((path,), "text").cut(2**14)

    assert [block.num_lines for block in blocks] == sizes


def test_what_is_not_text_is_found_before_anything_is_translated(tmp_path: Path) -> None:
    path = tmp_path / "in.txt"
    path.write_bytes(b"a\n" * 2000 + b"\xff\n")

    with pytest.raises(CorpusError, match=r"in\.txt:2001: not UTF-8"):
        PlainText((path,), "text").cut(1024)


def zipped(content: bytes) -> bytes:
    """Put a file into an archive."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("in.txt", content)
    return archive.getvalue()


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32", "utf-32-be"])
def test_another_encoding_is_named(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "in.txt"
    path.write_bytes("\ufeffthe c\u00e4t\n".encode(encoding))

    name = encoding.upper()[:6]
    with pytest.raises(CorpusError, match=rf"in\.txt: {name} text; .* iconv -f {name} -t UTF-8"):
        PlainText((path,), "text").cut(1024)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_another_encoding_without_a_mark_is_not_taken_for_text(encoding: str) -> None:
    content = "the cat\n".encode(encoding)

    refusal = rf"standard input: {encoding.upper()[:6]} text; convert it to UTF-8"
    with pytest.raises(CorpusError, match=refusal):
        list(read_stream(io.BytesIO(content), "standard input"))


def test_a_nul_is_a_control_character_like_others() -> None:
    (chunk,) = read_stream(io.BytesIO(b"the\0 cat\n"), "standard input")

    assert [line.text for line in chunk] == ["the\0 cat"]


def test_lines_before_one_that_is_not_text_are_given() -> None:
    chunks = read_stream(io.BytesIO(b"one\ntwo\n\xff\nfour\n"), "standard input")

    assert [line.text for line in next(chunks)] == ["one", "two"]
    with pytest.raises(CorpusError, match=r"standard input:3: not UTF-8"):
        next(chunks)


@pytest.mark.parametrize(
    "compress",
    [gzip.compress, zstandard.ZstdCompressor().compress, lzma.compress, zipped],
    ids=["gzip", "zstandard", "xz", "zip"],
)
def test_a_compressed_file_is_to_be_unpacked_first(
    compress: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    path = tmp_path / "in.txt.gz"
    path.write_bytes(compress("".join(f"the cät {i}\n" for i in range(100)).encode()))

    with pytest.raises(CorpusError, match=r"in\.txt\.gz: a compressed file; unpack it first"):
        PlainText((path,), "text").cut(1024)
    with pytest.raises(CorpusError, match="standard input: a compressed file; unpack it first"):
        list(read_stream(io.BytesIO(path.read_bytes()), "standard input"))


class Endless(io.RawIOBase):
    """A device that gives letters for as long as somebody reads."""

    def __init__(self) -> None:
        self.num_reads = 0

    def read1(self, size: int) -> bytes:
        self.num_reads += 1
        assert self.num_reads < 10
        return b"x" * size


def test_a_line_without_end_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("dragoman.bulk.plain_text", "dragoman.corpora.text_file"):
        monkeypatch.setattr(f"{module}.MAX_LINE_BYTES", 3 * READ_AT_ONCE)

    with pytest.raises(CorpusError, match="standard input:1: a line of more than"):
        list(read_stream(Endless(), "standard input"))  # type: ignore[arg-type]
