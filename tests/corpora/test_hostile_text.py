"""Text that was damaged or made up: each pair is counted or a sentence says why not."""

import gzip
import os
import re
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

import dragoman
from dragoman.corpora.cleaning import CleaningReport, clean
from dragoman.corpora.config import CleaningConfig, CorpusConfig
from dragoman.corpora.parallel_text import Pair, read_pairs
from dragoman.corpora.text_file import CorpusError

LANGUAGES = ("en", "it")
MOST_MEMORY = 2 * 2**30  # bytes; the code of libraries, which may be as much, does not count

GOOD_SIDES = [b"cat", "perché".encode(), b"", b" ", b"a\rb", "\u2028x".encode(), b"x" * 900]
BAD_SIDES = [b"\xff", b"\xc3", b"\0", b"\xed\xa0\x80", b"\xef\xbb\xbf"]
RECORDS = [
    b'{"en": "a", "it": "b"}',
    b'{"source": "a", "target": ""}',
    b'{"en": "\\ud800", "it": "b"}',
]
BAD_RECORDS = [b"{", b"", b"[1]", b'{"en": 1, "it": "b"}', b'{"en": "a"}', b"NaN", b"1" * 5000]

sides = st.sampled_from(GOOD_SIDES * 4 + BAD_SIDES)
records = st.sampled_from(RECORDS * 5 + BAD_RECORDS)
plain_lines = st.lists(sides, max_size=12)
LINES = {
    "a.tsv": st.lists(st.tuples(sides, sides).map(b"\t".join) | sides, max_size=12),
    "a.jsonl": st.lists(records, max_size=12),
    "two": plain_lines,
}
COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": lambda content: gzip.compress(content, mtime=0),
    ".zst": zstandard.compress,
}


@st.composite
def files(draw: st.DrawFn, lines: st.SearchStrategy[list[bytes]], ending: str) -> bytes:
    """Compress lines; cut the file or flip a bit of it, or leave it whole."""
    content = COMPRESS[ending](b"\n".join(draw(lines)) + draw(st.sampled_from([b"", b"\n"])))
    damage = draw(st.sampled_from(["none", "none", "cut", "flip"]))
    if damage != "none" and content:
        place = draw(st.integers(0, len(content) - 1))
        if damage == "cut":
            return content[:place]
        flipped = content[place] ^ 1 << draw(st.integers(0, 7))
        return content[:place] + bytes([flipped]) + content[place + 1 :]
    return content


@pytest.mark.parametrize("ending", COMPRESS)
@pytest.mark.parametrize("form", LINES)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_what_is_read_of_any_file_is_counted_and_the_rest_is_refused(
    tmp_path_factory: pytest.TempPathFactory, form: str, ending: str, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("text")
    names = [f"a.en{ending}", f"a.it{ending}"] if form == "two" else [f"{form}{ending}"]
    paths = [folder / name for name in names]
    for path in paths:
        path.write_bytes(data.draw(files(LINES[form], ending)))
    corpus = (
        CorpusConfig(source=str(paths[0]), target=str(paths[1]))
        if form == "two"
        else CorpusConfig(path=str(paths[0]))
    )
    report = CleaningReport()
    read: list[Pair] = []

    def notice() -> Iterator[Pair]:
        for pair in read_pairs(corpus, languages=LANGUAGES):
            read.append(pair)
            yield pair

    refusal = None
    try:
        kept = list(clean(notice(), CleaningConfig(), report, languages=LANGUAGES))
    except CorpusError as error:
        refusal = str(error)

    assert [pair.line for pair in read] == list(range(1, len(read) + 1))
    if refusal is not None:
        assert refusal.startswith(tuple(map(str, paths)))
        assert "\n" not in refusal
        return
    assert report.read == len(read)
    assert report.read == len(kept) + sum(report.dropped.values())
    if not ending:
        contents = [path.read_bytes() for path in paths]
        if form != "two":  # empty lines at the end are no pairs
            contents = [content.rstrip(b"\n") for content in contents]
        assert {text.count(b"\n") + (text[-1:] != b"\n") for text in contents} == {len(read)}


RECIPE = """
source_language = "en"
target_language = "it"
corpora = {{ train = [{{ path = "{corpus}" }}] }}
training = {{ device = "cpu" }}
"""


@pytest.mark.parametrize(
    ("command", "corpus"),
    [
        ("train recipe.toml", "pipe"),
        ("corpus check /dev/zero", "/dev/zero"),
        ("corpus check --source /dev/zero --target /dev/zero", "/dev/zero"),
    ],
)
def test_a_corpus_that_never_ends_is_refused(tmp_path: Path, command: str, corpus: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "recipe.toml").write_text(RECIPE.format(corpus=corpus))

    done = subprocess.run(
        [sys.executable, "-m", "dragoman", *command.split()],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(dragoman.__file__ or "").parents[1])},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY,) * 2),
    )

    assert done.returncode == 1
    assert re.match(f"dragoman: {corpus}:(1:)? a (pipe or a device|line of more)", done.stderr)
