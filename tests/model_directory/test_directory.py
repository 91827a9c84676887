"""A model directory: what goes in comes out, and nothing else is let in."""

import hashlib
import json
import os
import re
import struct
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from dragoman.model.config import TransformerConfig
from dragoman.model.transformer import Transformer
from dragoman.model_directory import (
    ModelDescription,
    ModelDirectory,
    ModelError,
    TokenizerDescription,
    save_model,
    update_description,
)
from dragoman.model_directory.directory import commit_of
from dragoman.tokenizers.config import TokenizerConfig
from dragoman.tokenizers.pair import TokenizerPair
from dragoman.tokenizers.tokenizer import SpecialIds
from dragoman.tokenizers.words import WordTokenizer

SOURCE = torch.tensor([[4, 6, 5, 3], [5, 3, 0, 0]])
TARGET = torch.tensor([[2, 5, 4], [2, 6, 6]])


def tokenizers(joint: bool = True) -> TokenizerPair:
    source = WordTokenizer(["cat", "table", "the"])
    return TokenizerPair(source, source if joint else WordTokenizer(["gatto", "il"]))


def build(pair: TokenizerPair) -> tuple[ModelDescription, Transformer]:
    config = TransformerConfig(
        d_model=6,
        d_ff=10,
        num_heads=3,
        num_encoder_layers=1,
        num_decoder_layers=2,
        tied_embeddings="all" if pair.joint else "target",
    )
    description = ModelDescription(
        source_language="en",
        target_language="it",
        model=config,
        tokenizer=TokenizerDescription.of(pair, TokenizerConfig(kind="words", joint=pair.joint)),
        special_ids=SpecialIds(),
        search={"beam_size": 2},
        training={"updates": 7, "recipe": {"seed": 3}, "scores": {"test": {}}},
    )
    return description, Transformer(
        config,
        source_vocab_size=pair.source.vocab_size,
        target_vocab_size=pair.target.vocab_size,
        padding_id=0,
    ).eval()


def save(path: Path, *, joint: bool = True) -> Transformer:
    pair = tokenizers(joint)
    description, transformer = build(pair)
    save_model(path, description, pair, dict(transformer.named_parameters()))
    return transformer


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "mödel with spaces"
    save(path)
    return path


@pytest.mark.parametrize("joint", [True, False])
def test_a_saved_model_computes_the_same_when_it_is_loaded(tmp_path: Path, joint: bool) -> None:
    transformer = save(tmp_path, joint=joint)

    loaded = ModelDirectory(tmp_path).load_transformer()

    target = TARGET.clamp(max=5)
    assert torch.equal(loaded(SOURCE, target), transformer(SOURCE, target))
    tables = [loaded.source_embeddings.table.weight, loaded.target_embeddings.table.weight]
    assert (tables[0] is tables[1]) == joint
    assert loaded.projection.linear.weight is loaded.target_embeddings.table.weight
    assert not loaded.training


def test_a_model_that_a_caller_loads_in_inference_mode_can_be_trained_afterwards(
    saved: Path,
) -> None:
    with torch.inference_mode():
        model = ModelDirectory(saved).load_transformer()

    model.requires_grad_()(SOURCE, TARGET.clamp(max=5)).sum().backward()

    assert all(parameter.grad is not None for parameter in model.parameters())


def test_loading_draws_no_random_number(saved: Path) -> None:
    before = torch.get_rng_state()

    ModelDirectory(saved).load_transformer()

    assert torch.equal(torch.get_rng_state(), before)


def test_the_description_and_the_tokenizers_come_back(saved: Path) -> None:
    directory = ModelDirectory(saved)

    expected, _ = build(tokenizers())
    description = directory.description
    assert description.model == expected.model
    assert description.tokenizer == expected.tokenizer
    assert description.special_ids == expected.special_ids
    assert description.search == expected.search
    assert description.training == expected.training
    assert description.software["torch"] == torch.__version__
    assert directory.load_tokenizers().source.encode("the cat") == [6, 4]


def test_a_model_names_the_commit_of_a_clone_that_made_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "module.py"
    file.write_text("")
    (tmp_path / "untracked.py").write_text("")
    for name in filter(re.compile("GIT_").match, list(os.environ)):
        monkeypatch.delenv(name)  # of a hook that runs the tests
    assert commit_of(file) == {}

    def git(*arguments: str) -> str:
        who = ("-c", "user.name=A", "-c", "user.email=a@example.com")
        command = ["git", "-C", str(tmp_path), *who, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    git("init", "-q")
    git("add", "module.py")
    git("commit", "-qm", "one")
    commit = git("rev-parse", "HEAD")
    assert commit_of(file) == {"commit": commit}
    file.write_text("changed")
    assert commit_of(file) == {"commit": f"{commit}-dirty"}
    assert commit_of(tmp_path / "untracked.py") == {}
    monkeypatch.setenv("PATH", "")
    assert commit_of(file) == {}


def test_a_directory_holds_nothing_but_the_model(saved: Path) -> None:
    names = {path.name for path in saved.iterdir()}

    assert names == {"model.safetensors", "model.toml", "tokenizer.words"}


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o007, 0o660)])
def test_whoever_may_read_the_users_files_may_read_all_of_a_model(
    tmp_path: Path, umask: int, mode: int
) -> None:
    before = os.umask(umask)
    try:
        save(tmp_path)
    finally:
        os.umask(before)

    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {mode}


def test_the_new_names_of_a_model_are_flushed_to_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed: dict[int, list[str]] = {}
    fsync = os.fsync

    def remember(descriptor: int) -> None:
        flushed[os.fstat(descriptor).st_ino] = sorted(path.name for path in tmp_path.iterdir())
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", remember)
    save(tmp_path)

    names = sorted(path.name for path in tmp_path.iterdir())
    assert {path.stat().st_ino for path in tmp_path.iterdir()} < set(flushed)
    assert flushed[tmp_path.stat().st_ino] == names


def test_a_model_replaces_an_earlier_one_and_leaves_other_files(saved: Path) -> None:
    for name in ("README.md", "tokenizer_notes.txt", "tokenizer.mine.model"):
        (saved / name).write_text("about")
    (saved / "tokenizer.marian").write_text("of the earlier model")
    (saved / ".saving").mkdir()
    (saved / ".saving" / "model.safetensors").write_text("left by an interruption")

    save(saved, joint=False)

    assert {path.name for path in saved.iterdir()} == {
        "README.md",
        "model.safetensors",
        "model.toml",
        "tokenizer.mine.model",
        "tokenizer.source.words",
        "tokenizer.target.words",
        "tokenizer_notes.txt",
    }
    ModelDirectory(saved).load_transformer()
    assert not ModelDirectory(saved).load_tokenizers().joint


def test_weights_that_could_not_be_read_again_leave_the_earlier_model_as_it_is(saved: Path) -> None:
    pair = tokenizers()
    description, transformer = build(pair)
    before = {path.name: path.read_bytes() for path in saved.iterdir()}

    # In a `state_dict` a shared table occurs once for each module that has it.
    with pytest.raises(ModelError, match=r"projection\.linear\.weight is unexpected"):
        save_model(saved, description, pair, transformer.state_dict())

    assert {path.name: path.read_bytes() for path in saved.iterdir()} == before


def test_weights_in_double_precision_are_written_in_single_precision(saved: Path) -> None:
    pair = tokenizers()
    description, transformer = build(pair)
    logits = transformer(SOURCE, TARGET)

    save_model(str(saved), description, pair, dict(transformer.double().named_parameters()))

    assert torch.equal(ModelDirectory(saved).load_transformer()(SOURCE, TARGET), logits)


def test_a_description_keeps_what_is_not_changed_and_the_software_that_it_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = tokenizers(True)
    description, transformer = build(pair)
    named = replace(description, software={"threads": "2"})
    save_model(tmp_path, named, pair, dict(transformer.named_parameters()))
    before = ModelDirectory(tmp_path).description

    update_description(tmp_path, max_length=7)

    after = ModelDirectory(tmp_path).description
    assert after == replace(before, max_length=7)
    assert after.software == before.software
    assert after.software.keys() > {"dragoman", "torch"}
    assert after.software["threads"] == "2"

    # The clone goes on to another commit while the process still runs what it has read.
    monkeypatch.setattr("dragoman.model_directory.directory.commit_of", lambda _: {"commit": "x"})
    assert save_model(tmp_path, named, pair, dict(transformer.named_parameters())) == before


def test_a_model_is_unfinished_from_the_beginning_of_its_training_to_the_end(saved: Path) -> None:
    states = [ModelDirectory(saved).is_unfinished]  # a copy that was given away
    for name in ("journal.jsonl", "finished"):
        (saved / name).touch()
        states.append(ModelDirectory(saved).is_unfinished)

    assert states == [False, True, False]


def test_a_description_gets_its_name_last(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    rename = Path.replace

    def remember(path: Path, place: Path) -> Path:
        order.append(place.name)
        return rename(path, place)

    monkeypatch.setattr(Path, "replace", remember)
    save(saved)

    assert order[-1] == "model.toml"


def use(path: Path) -> None:
    directory = ModelDirectory(path)
    directory.load_tokenizers()
    directory.load_transformer()


def edit(pattern: str, replacement: str) -> Callable[[Path], None]:
    """Change a line of the description."""

    def change(path: Path) -> None:
        file = path / "model.toml"
        text, count = re.subn(pattern, replacement, file.read_text(), count=1, flags=re.MULTILINE)
        assert count == 1
        file.write_text(text)

    return change


def write(name: str, content: bytes) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        (path / name).write_bytes(content)

    return change


def sign(path: Path) -> None:
    """Give the description the checksum of the weights, as an attacker would."""
    digest = hashlib.sha256((path / "model.safetensors").read_bytes()).hexdigest()
    edit(r'^weights_sha256 = ".*"', f'weights_sha256 = "{digest}"')(path)


def change_last_byte(path: Path) -> None:
    """Change a weight, and nothing else."""
    file = path / "model.safetensors"
    *before, last = file.read_bytes()
    file.write_bytes(bytes([*before, last ^ 1]))


def reweigh(change: Callable[[dict[str, torch.Tensor]], object]) -> Callable[[Path], None]:
    """Change the weights, and the checksum with them."""

    def apply(path: Path) -> None:
        weights = load_file(path / "model.safetensors")
        change(weights)
        save_file(weights, path / "model.safetensors")
        sign(path)

    return apply


def forge(content: bytes) -> Callable[[Path], None]:
    def apply(path: Path) -> None:
        (path / "model.safetensors").write_bytes(content)
        sign(path)

    return apply


def with_header(header: object, data: bytes = b"") -> bytes:
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def twice(name: str) -> bytes:
    """Name a tensor twice, with different places."""
    entry = '"%s":{"dtype":"F32","shape":[1],"data_offsets":[%d,%d]}'
    text = ("{" + ",".join(entry % (name, start, start + 4) for start in (0, 4)) + "}").encode()
    return struct.pack("<Q", len(text)) + text + bytes(8)


OVERLAP = {
    "a": {"dtype": "F32", "shape": [3], "data_offsets": [0, 12]},
    "b": {"dtype": "F32", "shape": [2], "data_offsets": [8, 16]},
}
HOLE = {
    "a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]},
    "b": {"dtype": "F32", "shape": [1], "data_offsets": [12, 16]},
}
NEGATIVE = {"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}}
BIAS = "decoder.norm.bias"
HUGE = 10**9


def transpose(weights: dict[str, torch.Tensor]) -> None:
    name = "encoder.blocks.0.feed_forward.widen.weight"
    weights[name] = weights[name].T.contiguous()


def poison(weights: dict[str, torch.Tensor]) -> None:
    weights[BIAS][2] = torch.nan


@pytest.mark.parametrize(
    ("tamper", "message"),
    [
        # The description.
        (lambda path: (path / "model.toml").unlink(), "there is no model here"),
        (write("model.toml", b"a = "), "model.toml: not a TOML file"),
        (write("model.toml", b"\xff\xfe"), "model.toml: not a TOML file"),
        (write("model.toml", b"a = " + b"[" * 100_000), "model.toml: not a TOML file"),
        (write("model.toml", b"#" * 2**21), "far too large"),
        (edit(r"^format_version = 1", "format_version = true"), "is not the number of a format"),
        (write("model.toml", b""), "is not the number of a format; copy the model again"),
        (edit(r"^format_version = 1", "format_version = 0"), "= 0 is not the number of a format"),
        (edit(r"^source_language = .*", ""), "source_language is missing"),
        (edit(r"^d_model = 6", "d_modle = 6"), "unknown key model.d_modle; did you mean"),
        (edit(r"^d_model = 6", 'd_model = "6"'), "model.d_model = '6' should be a whole number"),
        (edit(r"^dropout = 0.1", "dropout = nan"), "dropout=nan is not in"),
        (edit(r"^\[search\]", "[searching]"), "unknown key searching"),
        (edit(r"^format_version", 'weights = "../../etc/passwd"\nformat_version'), "unknown key"),
        # An architecture that is not that of the weights.
        (edit(r"^d_model = 6", f"d_model = {6 * HUGE}"), "d_model=6000000000 is not between"),
        (edit(r"^d_ff = 10", f"d_ff = {HUGE}"), "d_ff=1000000000 is not between"),
        (edit(r"^num_encoder_layers = 1", f"num_encoder_layers = {HUGE}"), "is not between"),
        (edit(r"^d_ff = 10", "d_ff = 200000"), "need at least"),
        (edit(r"^d_model = 6", "d_model = 30000"), "need at least"),
        (edit(r"^num_encoder_layers = 1", "num_encoder_layers = 1000"), "need at least"),
        (edit(r"^max_length = 512", "max_length = -1"), "max_length=-1 is not between 1 and"),
        (edit(r"^updates = 7", 'updates = "7"'), "training does not hold what"),
        (edit(r"^num_encoder_layers = 1", "num_encoder_layers = 2"), "blocks.1.* is missing"),
        (edit(r"^num_decoder_layers = 2", "num_decoder_layers = 1"), "blocks.1.* is unexpected"),
        (edit(r"^source_vocab_size = 7", "source_vocab_size = -1"), "tokenizer is not the one"),
        # The tokenizers.
        (lambda path: (path / "tokenizer.words").unlink(), "it has neither tokenizer.words nor"),
        (lambda path: WordTokenizer(["dog"]).save(path / "tokenizer.words"), "is not the one"),
        (edit(r"^joint = true", "joint = false"), "it does not describe the tokenizers"),
        (edit(r"^eos = 3", "eos = 4"), "it does not describe the tokenizers"),
        # The weights.
        (lambda path: (path / "model.safetensors").unlink(), "safetensors: it is missing; copy"),
        (change_last_byte, "not the weights that model.toml describes"),
        (forge(b"junk"), "not a safetensors file"),
        (forge(b"\x80\x04cos\nsystem\n"), "not a safetensors file"),
        (forge(struct.pack("<Q", 2**63) + b"{}"), "not a safetensors file"),
        (forge(struct.pack("<Q", 4) + b"\xff\xff\xff\xff"), "not a safetensors file"),
        (forge(with_header({"a": {"dtype": "F32", "shape": [HUGE, HUGE], "data_offsets": [0, 4]}})),
         "not a safetensors file"),
        (forge(struct.pack("<Q", 2 * 10**8) + b"{" + b" " * 1000), "not a safetensors file"),
        (forge(struct.pack("<Q", 3) + b"{]}"), "not a safetensors file"),
        (forge(twice("a")), "not a safetensors file"),
        (forge(with_header(OVERLAP, bytes(16))), "not a safetensors file"),
        (forge(with_header(HOLE, bytes(16))), "not a safetensors file"),
        (forge(with_header(NEGATIVE, bytes(4))), "not a safetensors file"),
        (reweigh(lambda weights: weights.pop(BIAS)), f"{BIAS} is missing"),
        (reweigh(lambda weights: weights.update(more=torch.ones(2))), "more is unexpected"),
        (reweigh(transpose), r"has shape \[6, 10\] instead of \[10, 6\]"),
        (reweigh(lambda weights: weights.update({BIAS: torch.ones(0)})),
         rf"{BIAS} has shape \[0\] instead of \[6\]"),
        (reweigh(lambda weights: weights.update({BIAS: torch.tensor(1.0)})),
         rf"{BIAS} has shape \[\] instead of \[6\]"),
        (reweigh(lambda weights: weights.update({BIAS: torch.ones(6, dtype=torch.int32)})),
         f"{BIAS} has type I32"),
        (reweigh(poison), f"{BIAS} holds values that are not numbers"),
    ],
)  # fmt: skip
def test_a_model_that_was_tampered_with_is_refused(
    saved: Path, tamper: Callable[[Path], None], message: str
) -> None:
    use(saved)  # it is good before

    tamper(saved)

    with pytest.raises(ModelError, match=message) as caught:
        use(saved)
    assert str(saved) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_newer_format_is_refused_with_the_release_that_reads_it(saved: Path) -> None:
    edit(r"^format_version = 1", "format_version = 8")(saved)
    edit(r'^dragoman = ".*"', 'dragoman = "9.1"')(saved)
    edit(r"^d_model", "width")(saved)

    with pytest.raises(ModelError, match=r"written by dragoman 9\.1, format 8; .* up to format 1"):
        ModelDirectory(saved)


@pytest.mark.parametrize("software", ["", "software = 9\n", "[software]\ndragoman = 9\n"])
def test_a_newer_format_that_names_no_release_is_refused_with_what_to_do(
    tmp_path: Path, software: str
) -> None:
    (tmp_path / "model.toml").write_text(f"format_version = 2\n{software}")

    with pytest.raises(ModelError, match=r"format 2; this release, .*: install a newer one$"):
        ModelDirectory(tmp_path)


def test_a_directory_whose_training_has_no_model_yet_says_how_to_go_on(tmp_path: Path) -> None:
    (tmp_path / "journal.jsonl").touch()

    with pytest.raises(ModelError, match="not written a model yet; wait, or if it"):
        ModelDirectory(tmp_path)


def test_a_directory_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"nowhere: there is no .* there is no such directory"):
        ModelDirectory(tmp_path / "nowhere")


def test_what_is_there_instead_of_a_model_is_told(saved: Path, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")

    with pytest.raises(ModelError, match=r"no model\.toml; dragoman import marian makes one of"):
        ModelDirectory(tmp_path)
    with pytest.raises(ModelError, match="safetensors: a file, where the directory of a model"):
        ModelDirectory(saved / "model.safetensors")


def test_a_description_that_an_editor_has_given_a_byte_order_mark_is_read(saved: Path) -> None:
    path = saved / "model.toml"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())

    assert ModelDirectory(saved).description.languages == ("en", "it")


@pytest.mark.parametrize(
    "training",
    [
        "updates = '7'",
        "corpora = 5",
        "corpora = [5]",
        "corpora = [{ name = 'a', read = 1 }]",
        "corpora = [{ name = 'a', read = 1, kept = '1' }]",
        "corpora = [{ name = 1, read = 1, kept = 1 }]",
        "sha256 = { 'a.tsv' = 5 }",
        "models = [{ model = 'a', share = '1', weights_sha256 = 'b', training = {} }]",
        "models = [{ model = 'a', share = 1, weights_sha256 = 5, training = {} }]",
        "models = [{ model = 'a', share = 1, weights_sha256 = 'b', training = { corpora = 5 }}]",
        "models = [{ model = 'a', share = 1, weights_sha256 = 'b', training = 5 }]",
        "models = ['a']",
        "sha256 = 'a'",
        "scores.test.BLEU = { score = '40', signature = 'nrefs:1' }",
        "scores.test.BLEU = { score = 40.1, signature = 1 }",
        "scores.test.BLEU = 40.1",
    ],
)
def test_a_record_of_training_that_no_run_writes_is_refused(tmp_path: Path, training: str) -> None:
    (tmp_path / "model.toml").write_text(f"format_version = 1\n[training]\n{training}\n")

    with pytest.raises(ModelError, match="training does not hold what a training run writes"):
        ModelDirectory(tmp_path)


@pytest.mark.parametrize("section", ["search", "training", "software"])
def test_a_section_that_is_none_is_named(tmp_path: Path, section: str) -> None:
    (tmp_path / "model.toml").write_text(f"format_version = 1\n{section} = 5\n")

    with pytest.raises(ModelError, match=f"{section} should be a section"):
        ModelDirectory(tmp_path)


@pytest.mark.parametrize("lowercase", [True, False])
def test_words_are_described_without_bytes_and_with_their_case(lowercase: bool) -> None:
    config = TokenizerConfig(kind="words", lowercase=lowercase, byte_fallback=True)

    described = TokenizerDescription.of(tokenizers(), config)

    assert (described.lowercase, described.byte_fallback) == (lowercase, False)


def test_weights_in_half_precision_are_read_in_single_precision(saved: Path) -> None:
    def halve(weights: dict[str, torch.Tensor]) -> None:
        weights.update({name: tensor.bfloat16() for name, tensor in weights.items()})

    reweigh(halve)(saved)

    for parameter in ModelDirectory(saved).load_transformer().parameters():
        assert parameter.dtype == torch.float32
