import os
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dragoman.corpora import token_store
from dragoman.corpora.store_description import TokenStoreError
from dragoman.corpora.token_store import TokenStore
from dragoman.corpora.token_store_writer import TokenStoreWriter

SOURCES = [[5, 6, 7], [8], [9, 10, 11, 12]]
TARGETS = [[20], [21, 22], [23, 24, 25]]
FILES = ["source.tokens", "source.offsets", "target.tokens", "target.offsets"]


def write(directory: Path, *, vocab_size: int = 30, max_length: int = 9) -> None:
    with TokenStoreWriter(
        directory, vocab_size=vocab_size, fingerprint="ours", max_length=max_length
    ) as writer:
        writer.start_corpus("books", weight=2.0)
        writer.add(SOURCES[:1], TARGETS[:1])
        writer.add(SOURCES[1:2], TARGETS[1:2])
        writer.start_corpus("talks", weight=0.5)
        writer.add(SOURCES[2:], TARGETS[2:])


def write_pairs(directory: Path, sources: list[list[int]], targets: list[list[int]]) -> None:
    with TokenStoreWriter(directory, vocab_size=30, fingerprint="ours", max_length=9) as writer:
        writer.start_corpus("books", weight=1.0)
        writer.add(sources, targets)


@pytest.mark.parametrize(
    ("vocab_size", "bytes_per_token"), [(30, 2), (65_536, 2), (65_537, 4), (250_000, 4)]
)
def test_pairs_come_back_as_they_were_written(
    tmp_path: Path, vocab_size: int, bytes_per_token: int
) -> None:
    sources = [[1, vocab_size - 1], [3]]
    with TokenStoreWriter(
        tmp_path, vocab_size=vocab_size, fingerprint="ours", max_length=2
    ) as writer:
        writer.start_corpus("books", weight=1.0)
        writer.add(sources, [[], [2, 4]])
    store = TokenStore.open(tmp_path, fingerprint="ours")
    assert [store.sources[i].tolist() for i in range(len(store))] == sources
    assert [store.targets[i].tolist() for i in range(len(store))] == [[], [2, 4]]
    assert (tmp_path / "source.tokens").stat().st_size == 3 * bytes_per_token
    sizes = [(tmp_path / file.name).stat().st_size for file in store.description.files]
    assert store.description.num_bytes == sum(sizes) == (3 + 2) * bytes_per_token + 2 * 3 * 8
    store.verify()


def test_blocks_and_corpora_follow_each_other(tmp_path: Path) -> None:
    write(tmp_path)
    store = TokenStore.open(tmp_path, fingerprint="ours")
    assert [store.sources[i].tolist() for i in range(3)] == SOURCES
    assert [store.targets[i].tolist() for i in range(3)] == TARGETS
    ranges = [(corpus.name, corpus.start, corpus.stop, corpus.weight) for corpus in store.corpora]
    assert ranges == [("books", 0, 2, 2.0), ("talks", 2, 3, 0.5)]


def test_lengths_are_those_of_the_sentences(tmp_path: Path) -> None:
    write(tmp_path)
    source_lengths, target_lengths = TokenStore.open(tmp_path, fingerprint="ours").lengths()
    assert source_lengths.tolist() == [3, 1, 4]
    assert target_lengths.tolist() == [1, 2, 3]


def test_gathered_sentences_come_in_the_order_asked_for(tmp_path: Path) -> None:
    write(tmp_path)
    store = TokenStore.open(tmp_path, fingerprint="ours")
    tokens, lengths = store.sources.gather(np.array([2, 0, 2]))
    assert tokens.tolist() == SOURCES[2] + SOURCES[0] + SOURCES[2]
    assert lengths.tolist() == [4, 3, 4]


def test_sentences_are_views_of_the_memory_mapped_file(tmp_path: Path) -> None:
    write(tmp_path)
    sentence = TokenStore.open(tmp_path, fingerprint="ours").sources[0]
    owner: object = sentence
    while isinstance(owner, np.ndarray) and not isinstance(owner, np.memmap):
        owner = owner.base
    assert isinstance(owner, np.memmap)
    assert not sentence.flags.writeable


def test_there_is_no_sentence_beyond_the_last(tmp_path: Path) -> None:
    write(tmp_path)
    store = TokenStore.open(tmp_path, fingerprint="ours")
    for index in (-1, 3):
        with pytest.raises(IndexError):
            store.sources[index]


def test_pairs_with_a_side_that_is_too_long_are_counted_by_corpus(tmp_path: Path) -> None:
    write(tmp_path, max_length=3)
    with TokenStoreWriter(tmp_path, vocab_size=9, fingerprint="ours", max_length=3) as writer:
        writer.start_corpus("books", weight=1.0)
        writer.add([[1] * 3, [2] * 4, [3]], [[4], [5], [6] * 3])
        writer.start_corpus("talks", weight=1.0)
        writer.add([[7]], [[1] * 4])
        writer.add([[8]], [[2] * 5])
    store = TokenStore.open(tmp_path, fingerprint="ours")
    assert [store.sources[i].tolist() for i in range(len(store))] == [[1, 1, 1], [3]]
    assert [corpus.too_long for corpus in store.corpora] == [1, 2]
    assert (store.corpora[1].start, store.corpora[1].stop) == (2, 2)


@pytest.mark.parametrize("name", [*FILES, "store.json"])
def test_a_store_that_lost_a_file_is_refused(tmp_path: Path, name: str) -> None:
    write(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(TokenStoreError, match=r"0 bytes instead of|no complete token store"):
        TokenStore.open(tmp_path, fingerprint="ours")


@pytest.mark.parametrize("name", FILES)
def test_a_truncated_file_is_refused_by_name(tmp_path: Path, name: str) -> None:
    write(tmp_path)
    data = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(data[:-1])
    with pytest.raises(TokenStoreError, match=f"{name}: has {len(data) - 1} bytes") as refused:
        TokenStore.open(tmp_path, fingerprint="ours")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", FILES)
def test_verifying_finds_one_changed_bit(tmp_path: Path, name: str) -> None:
    write(tmp_path)
    data = bytearray((tmp_path / name).read_bytes())
    data[-1] ^= 1
    (tmp_path / name).write_bytes(data)
    store = TokenStore.open(tmp_path, fingerprint="ours")
    with pytest.raises(TokenStoreError, match=f"{name}: changed"):
        store.verify()


def test_a_store_made_from_something_else_is_refused(tmp_path: Path) -> None:
    write(tmp_path)
    with pytest.raises(TokenStoreError, match="made from other corpora"):
        TokenStore.open(tmp_path, fingerprint="theirs")


@pytest.mark.parametrize(
    "text", ["", "[]", "{", "\ufeff{}", '{"format_version": 1}', '{"format_version": 1, "new": 2}']
)
def test_a_damaged_description_is_refused(tmp_path: Path, text: str) -> None:
    write(tmp_path)
    (tmp_path / "store.json").write_text(text, encoding="utf-8")
    with pytest.raises(TokenStoreError, match=r"store\.json: damaged"):
        TokenStore.open(tmp_path, fingerprint="ours")


@pytest.mark.parametrize(
    ("written", "changed"),
    [
        ('"pairs": 3', '"pairs": 4'),
        ('"name": "target.offsets"', '"name": "target.tokens"'),
        ('"dtype": "<u2"', '"dtype": "text"'),
        ('"dtype": "<i8"', '"dtype": "<u4"'),
    ],
)
def test_a_description_that_contradicts_itself_is_refused(
    tmp_path: Path, written: str, changed: str
) -> None:
    write(tmp_path)
    path = tmp_path / "store.json"
    text = path.read_text(encoding="utf-8")
    assert written in text
    path.write_text(text.replace(written, changed), encoding="utf-8")
    with pytest.raises(TokenStoreError, match=r"store\.json: damaged"):
        TokenStore.open(tmp_path, fingerprint="ours")


def test_a_store_of_a_later_format_is_refused(tmp_path: Path) -> None:
    write(tmp_path)
    path = tmp_path / "store.json"
    path.write_text(path.read_text(encoding="utf-8").replace('version": 1', 'version": 7'))
    with pytest.raises(TokenStoreError, match="format version 7"):
        TokenStore.open(tmp_path, fingerprint="ours")


def test_writing_that_fails_leaves_the_store_that_was_there(tmp_path: Path) -> None:
    write(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def fail() -> None:
        with TokenStoreWriter(tmp_path, vocab_size=9, fingerprint="new", max_length=3) as writer:
            writer.start_corpus("books", weight=1.0)
            writer.add([[1]], [[2]])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_full_disk_leaves_no_temporary_files(tmp_path: Path) -> None:
    def write_pair_by_pair() -> None:  # so that something is in a buffer when there is no room
        with TokenStoreWriter(tmp_path, vocab_size=9, fingerprint="ours", max_length=9) as writer:
            writer.start_corpus("books", weight=1.0)
            for _ in range(5000):
                writer.add([[1] * 9], [[2] * 9])

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
    try:
        with pytest.raises(OSError, match="too large"):
            write_pair_by_pair()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    assert list(tmp_path.iterdir()) == []


def test_a_store_is_incomplete_until_its_last_file_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path)

    def crash(path: Path, target: Path) -> Path:
        raise OSError("power is gone")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", crash)
        with pytest.raises(OSError, match="power is gone"):
            write(tmp_path, vocab_size=31)
    with pytest.raises(TokenStoreError, match="no complete token store"):
        TokenStore.open(tmp_path, fingerprint="ours")


def test_a_store_without_a_pair_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TokenStoreError, match="no sentence pair is left"):
        write_pairs(tmp_path, [[1] * 10], [[3]])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("token", [-1, 30, 65_536])
def test_an_id_outside_the_vocabulary_is_refused_and_never_wraps(
    tmp_path: Path, token: int
) -> None:
    with pytest.raises(ValueError, match="outside the vocabulary of 30"):
        write_pairs(tmp_path, [[1]], [[token]])


def test_sides_of_unequal_length_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="shorter"):
        write_pairs(tmp_path, [[1], [2]], [[3]])


READ_ALL = """
import sys
from pathlib import Path
import numpy as np
from dragoman.corpora.token_store import TokenStore

def own_bytes():
    fields = dict(line.split(":") for line in open("/proc/self/status"))
    return int(fields["RssAnon"].split()[0]) << 10

store = TokenStore.open(Path(sys.argv[1]), fingerprint="ours")
store.sources.gather(np.arange(500))
before, most, total = own_bytes(), 0, 0
for start in range(0, len(store), 500):
    for side in (store.sources, store.targets):
        total += int(side.gather(np.arange(start, start + 500))[1].sum())
    most = max(most, own_bytes())
print(total, most - before)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the memory of a process")
def test_a_process_that_reads_all_of_a_store_keeps_none_of_it(tmp_path: Path) -> None:
    sentence = list(range(250))
    with TokenStoreWriter(tmp_path, vocab_size=300, fingerprint="ours", max_length=250) as writer:
        writer.start_corpus("books", weight=1.0)
        for _ in range(5):
            writer.add([sentence] * 1000, [sentence] * 1000)

    done = subprocess.run(
        [sys.executable, "-c", READ_ALL, str(tmp_path)], capture_output=True, text=True, check=True
    )

    tokens, grown = map(int, done.stdout.split())
    assert tokens == 2 * 5000 * 250
    assert grown < 2 * tokens / 4  # two bytes a token: the store is 5 MB


def test_lengths_are_the_same_in_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path)
    monkeypatch.setattr(token_store, "_BLOCK", 2)

    source_lengths, target_lengths = TokenStore.open(tmp_path, fingerprint="ours").lengths()

    assert (source_lengths.tolist(), target_lengths.tolist()) == ([3, 1, 4], [1, 2, 3])


def test_each_file_is_on_the_disk_before_the_description_says_that_the_store_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed: list[tuple[str, int]] = []
    fsync = os.fsync

    def remember(descriptor: int) -> None:
        name = Path(f"/proc/self/fd/{descriptor}").readlink().name
        flushed.append((name, sum((tmp_path / each).exists() for each in FILES)))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", remember)
    write(tmp_path)

    described = next(i for i, (name, _) in enumerate(flushed) if "store.json" in name)
    assert flushed[:described] == [
        *((f"{name}.tmp", 0) for name in FILES),
        (tmp_path.name, 0),  # an earlier description is gone before there are other files
        (tmp_path.name, 4),
    ]
