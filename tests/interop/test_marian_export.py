"""What transformers loads computes what our model does, or it is not written."""

import json
import os
import resource
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.torch import load_file

from dragoman.cli import main
from dragoman.decoding.config import SearchConfig
from dragoman.engines.pytorch import PyTorchEngine
from dragoman.interop import marian, marian_export, residual_stream
from dragoman.interop import marian_proof as proving
from dragoman.interop.export import ExportError, count_positions
from dragoman.interop.marian import convert_marian
from dragoman.interop.marian_config import FIXED
from dragoman.interop.marian_export import export_marian
from dragoman.interop.staging import OutputError
from dragoman.interop.weight_names import marian_block_names
from dragoman.model_directory import ModelDirectory, update_description
from dragoman.tokenizers.normalisation import normalise
from dragoman.tokenizers.tokenizer import SpecialIds

transformers = pytest.importorskip("transformers")

SPECIAL = SpecialIds()
TEXTS = ["The cat sees the dog.", "Where is a table?", "dog", "Ça, c'est un œuf… 猫!"]
Save = Callable[..., ModelDirectory]

ARCHITECTURES: list[dict[str, Any]] = [
    {"positional_encoding": "interleaved", "tied_embeddings": "all", "activation": "relu"},
    {"positional_encoding": "marian", "tied_embeddings": "none", "activation": "gelu"},
    {"tied_embeddings": "target", "activation": "silu", "tokenizer": "separate"},
    {"tied_embeddings": "all", "projection_bias": False, "num_heads": 4},
]


@pytest.mark.parametrize("changes", ARCHITECTURES, ids=str)
def test_every_model_that_marian_can_hold_is_exported_exactly(
    save: Save, changes: dict[str, Any]
) -> None:
    directory = save(norm="after", **changes)

    proof = export_marian(directory.path)

    assert proof.in_single_precision.num_equal == proof.in_single_precision.num_sentences >= 10
    assert proof.in_single_precision.largest_difference < 5e-5
    assert proof.num_equal == proof.in_single_precision.num_equal


def test_a_model_of_short_sentences_has_the_positions_that_its_proof_takes(save: Save) -> None:
    directory = save(norm="after", end=-99.0, max_length=10)  # its translations do not end

    proof = export_marian(directory.path)

    assert proof.num_equal == proof.in_single_precision.num_sentences


def test_the_files_alone_translate_as_the_model_does(save: Save) -> None:
    directory = save(norm="after", end=1.0)
    with torch.no_grad():
        # A model that would like best to say what no translation has.
        transformer = directory.load_transformer()
        assert transformer.projection.linear.bias is not None
        transformer.projection.linear.bias[[SPECIAL.pad, SPECIAL.bos, SPECIAL.unk]] = 20.0
    marian_export.export_marian(directory.path)
    exported = directory.path / "marian"
    weights = load_file(exported / "model.safetensors")
    weights["final_logits_bias"][0, [SPECIAL.pad, SPECIAL.bos, SPECIAL.unk]] = 20.0
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(exported, local_files_only=True)
    model.final_logits_bias = weights["final_logits_bias"]
    tokenizer = transformers.AutoTokenizer.from_pretrained(exported, local_files_only=True)
    tokenizers = directory.load_tokenizers()
    greedy = SearchConfig(beam_size=1, max_length_ratio=0.0, max_length_extra=30)

    generated = model.generate(
        **tokenizer(TEXTS, return_tensors="pt", padding=True),
        num_beams=1,
        length_penalty=1.0,
        max_length=31,
    )

    found = PyTorchEngine(transformer, SPECIAL).search(
        tokenizers.source.encode_batch(TEXTS), greedy
    )
    expected = [tokenizers.target.decode(hypotheses[0].ids) for hypotheses in found]
    assert tokenizer.batch_decode(generated, skip_special_tokens=True) == expected
    assert any(expected)


@pytest.mark.parametrize("projection_bias", [True, False])
def test_what_is_imported_again_is_described_as_before(
    save: Save, tmp_path: Path, projection_bias: bool
) -> None:
    settings = {"projection_bias": projection_bias, "positional_encoding": "marian"}
    rates = {"dropout": 0.2, "attention_dropout": 0.3, "feed_forward_dropout": 0.4}
    directory = save(norm="after", max_length=70, **settings, **rates)
    export_marian(directory.path)

    convert_marian(directory.path / "marian", tmp_path / "again")

    before, after = directory.description, ModelDirectory(tmp_path / "again").description
    assert after.model == before.model
    assert after.languages == before.languages
    assert after.special_ids == before.special_ids
    assert after.max_length == before.max_length


def test_the_search_settings_are_passed_on(save: Save) -> None:
    directory = save(norm="after", max_length=70)
    update_description(
        directory.path, search={"beam_size": 3, "length_penalty": 0.7, "max_length_extra": 25}
    )
    export_marian(directory.path)

    theirs = transformers.GenerationConfig.from_pretrained(directory.path / "marian")

    longest = ModelDirectory(directory.path).search.max_length(70)
    assert (theirs.num_beams, theirs.length_penalty) == (3, 0.7)
    assert theirs.max_length == longest + 1  # they count the token that a translation begins with


def test_the_longest_source_has_a_position_for_its_end(save: Save) -> None:
    """Though its translation, of at most half as many tokens and six, needs fewer."""
    assert count_positions(save(max_length=100)) == 100 + 1


def test_the_files_have_the_positions_that_their_own_search_takes(save: Save) -> None:
    directory = save(norm="after", end=-99.0, max_length=10)  # its translations do not end
    export_marian(directory.path)
    model = transformers.MarianMTModel.from_pretrained(directory.path / "marian")

    (generated,) = model.generate(torch.tensor([[5, 6, SPECIAL.eos]]))

    assert len(generated) == model.generation_config.max_length


@pytest.fixture
def marian_tokenizer(save: Save) -> tuple[Any, Any]:
    directory = save(norm="after")
    export_marian(directory.path)
    theirs = proving.load_marian_tokenizer(directory.path / "marian")
    return directory.load_tokenizers().source, theirs


def test_text_in_normal_form_has_the_same_tokens(marian_tokenizer: tuple[Any, Any]) -> None:
    ours, theirs = marian_tokenizer
    alphabet = st.one_of(st.sampled_from("the cat's àè…\u0300\u00a0\t▁<>pad/s"), st.characters())

    @settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.text(alphabet, max_size=30))
    def check(text: str) -> None:
        normal = normalise(text)
        if ">>" in normal or "▁" in normal or any(s in normal for s in theirs.all_special_tokens):
            return
        assert theirs(normal)["input_ids"] == [*ours.encode(text), SPECIAL.eos]

    check()


def test_what_the_page_on_formats_names_is_cut_otherwise(
    marian_tokenizer: tuple[Any, Any],
) -> None:
    ours, theirs = marian_tokenizer

    for text in ("caffe\u0300", "a\u00a0cat", "the tag <s>", ">>it<< a cat", "a▁cat"):
        assert theirs(text)["input_ids"] != [*ours.encode(text), SPECIAL.eos]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"norm": "before"},
            "as the norm is before each sublayer, not after it; take -",
        ),
        ({"norm": "after", "layer_norm": "scalar"}, "its layer norm is of the kind 'scalar'"),
        ({"norm": "after", "layer_norm_epsilon": 1e-6}, "layer_norm_epsilon is 1e-06, not 1e-05"),
        ({"norm": "after", "positional_encoding": "tensor2tensor"}, "is 'tensor2tensor', which"),
        ({"norm": "after", "positional_encoding": "rotary"}, "so no position is added"),
        ({"norm": "after", "tokenizer": "words"}, "its tokenizer has whole words"),
    ],
)
def test_what_marian_cannot_hold_is_refused(
    save: Save, changes: dict[str, Any], message: str
) -> None:
    directory = save(**changes)

    with pytest.raises(ExportError, match=message):
        export_marian(directory.path)

    assert not (directory.path / "marian").exists()


def test_an_activation_of_somebody_s_own_is_refused(
    save: Save, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = save(norm="after", activation="silu")
    monkeypatch.delitem(marian_export._ACTIVATION_NAMES, "silu")

    with pytest.raises(ExportError, match="as its activation is 'silu'; take --to onnx"):
        export_marian(directory.path)


def forget_a_norm(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = tuple(name for name in residual_stream._BY_ROW if name != "norm.gain")
    monkeypatch.setattr(residual_stream, "_BY_ROW", rows)


def leave_embeddings_unscaled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marian_export, "FIXED", {**FIXED, "scale_embedding": False})


def take_any_epsilon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marian_export, "LAYER_NORM_EPSILON", 0.1)


def begin_with_padding(monkeypatch: pytest.MonkeyPatch) -> None:
    change_result(monkeypatch, "_generation_config", {"decoder_start_token_id": SPECIAL.pad})


def take_another_activation(monkeypatch: pytest.MonkeyPatch) -> None:
    change_result(monkeypatch, "_config", {"activation_function": "gelu"})


def change_result(monkeypatch: pytest.MonkeyPatch, name: str, change: dict[str, Any]) -> None:
    right = getattr(marian_export, name)
    monkeypatch.setattr(marian_export, name, lambda model: {**right(model), **change})


@pytest.mark.parametrize(
    "mistake",
    [
        forget_a_norm,
        leave_embeddings_unscaled,
        take_any_epsilon,
        begin_with_padding,
        take_another_activation,
    ],
)
def test_an_export_that_computes_something_else_is_not_written(
    save: Save, mistake: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    epsilon = 0.1 if mistake is take_any_epsilon else 1e-5
    directory = save(norm="after", layer_norm_epsilon=epsilon)
    before = sorted(directory.path.iterdir())
    mistake(monkeypatch)

    with pytest.raises(ExportError, match=r"something else: .* nothing was written|again, bos is"):
        export_marian(directory.path)

    assert sorted(directory.path.iterdir()) == before


def test_log_probabilities_that_differ_by_more_than_the_page_on_formats_allows_are_noticed(
    save: Save, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = save(norm="after")
    right = proving.HuggingFaceCopy.score

    def shifted(self: proving.HuggingFaceCopy, pairs: Any) -> list[list[float]]:
        return [[value + 2e-4 for value in values] for values in right(self, pairs)]

    monkeypatch.setattr(proving.HuggingFaceCopy, "score", shifted)

    with pytest.raises(ExportError, match=r"20 of 20 .* differ by up to 2\.0e-04; nothing was"):
        export_marian(directory.path)


def test_a_tokenizer_that_cuts_otherwise_is_noticed(
    save: Save, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = save(norm="after")
    right = marian_export._vocabulary

    def backwards(tokenizer: Any) -> dict[str, int]:
        special, text = list(right(tokenizer))[:4], list(right(tokenizer))[4:]
        return {piece: i for i, piece in enumerate([*special, *text[::-1]])}

    monkeypatch.setattr(marian_export, "_vocabulary", backwards)

    with pytest.raises(ExportError, match=r"MarianTokenizer cuts .* into other tokens"):
        export_marian(directory.path)


def test_special_ids_that_are_read_back_otherwise_are_noticed(
    save: Save, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = save(norm="after")
    right = marian._special_ids
    monkeypatch.setattr(
        marian, "_special_ids", lambda *files: replace(right(*files), bos=SPECIAL.pad)
    )

    with pytest.raises(ExportError, match="imported again, bos is different"):
        export_marian(directory.path)


def test_weights_that_are_read_back_otherwise_are_noticed(
    save: Save, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = save(norm="after")
    names = marian_block_names

    def exchanged(config: Any) -> dict[str, str]:
        one, other = (
            f"decoder.blocks.0.{kind}_attention.query_projection.bias" for kind in ("self", "cross")
        )
        return {**names(config), one: names(config)[other], other: names(config)[one]}

    monkeypatch.setattr("dragoman.interop.marian.marian_block_names", exchanged)

    with pytest.raises(ExportError, match=r"imported again, decoder\.blocks\.0\.\w+_attention"):
        export_marian(directory.path)


def test_an_earlier_export_is_replaced_and_nothing_else_is(save: Save, tmp_path: Path) -> None:
    directory = save(norm="after")
    output = tmp_path / "shipped"
    output.mkdir()
    export_marian(directory.path, output)
    (output / "vocab.json").touch()  # the same content

    export_marian(directory.path, output)

    weights = output / "model.safetensors"
    written = weights.read_bytes()
    weights.write_bytes(b"trained further")
    with pytest.raises(OutputError, match="it is not an export"):
        export_marian(directory.path, output)
    assert weights.read_bytes() == b"trained further"
    weights.write_bytes(written)
    config = json.loads((output / "config.json").read_text())
    del config["dragoman_weights_sha256"]  # as if somebody else had made it
    (output / "config.json").write_text(json.dumps(config))
    for place in (output, directory.path, directory.path / "model.toml"):
        with pytest.raises(OutputError, match="it is not an export"):
            export_marian(directory.path, place)


def test_a_full_disk_is_told_in_a_sentence_and_nothing_is_written(save: Save) -> None:
    directory = save(norm="after", d_ff=2000)
    before = sorted(directory.path.iterdir())

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
    try:
        with pytest.raises(OSError, match=r"model\.safetensors cannot be written: .*/marian'$"):
            export_marian(directory.path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    assert sorted(directory.path.iterdir()) == before


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o007, 0o660)])
def test_whoever_may_read_the_users_files_may_read_all_of_an_export(
    save: Save, umask: int, mode: int
) -> None:
    directory = save(norm="after")
    before = os.umask(umask)
    try:
        export_marian(directory.path)
    finally:
        os.umask(before)

    assert {path.stat().st_mode & 0o777 for path in (directory.path / "marian").iterdir()} == {mode}


def test_the_files_say_what_readers_ask_for(save: Save) -> None:
    directory = save(norm="after")
    export_marian(directory.path)
    exported = directory.path / "marian"

    tokenizer = transformers.AutoTokenizer.from_pretrained(exported, local_files_only=True)

    ids = (tokenizer.pad_token_id, tokenizer.unk_token_id, tokenizer.eos_token_id)
    assert ids == (SPECIAL.pad, SPECIAL.unk, SPECIAL.eos)
    assert tokenizer.convert_tokens_to_ids(tokenizer.bos_token) == SPECIAL.bos
    with safe_open(exported / "model.safetensors", "pt") as weights:
        assert weights.metadata() == {"format": "pt"}  # without it, some refuse to read


def test_the_command_says_what_was_proved(save: Save, capsys: pytest.CaptureFixture[str]) -> None:
    directory = save(norm="after")

    assert main(["export", str(directory.path), "--to", "marian"]) == 0

    proved, again, wrote = capsys.readouterr().out.splitlines()
    assert proved.startswith("proved in float32: 20 of 20 translations by transformers equal those")
    assert again == "imported again, all weights are the same; texts are cut into the same tokens"
    assert wrote == f"wrote {directory.path / 'marian'}"


def test_without_transformers_nothing_is_written(
    save: Save, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = save(norm="after")
    before = sorted(directory.path.iterdir())
    monkeypatch.setitem(sys.modules, "transformers", None)

    assert main(["export", str(directory.path), "--to", "marian"]) == 1

    message = 'this command needs transformers: pip install --editable ".[marian]" where Dragoman '
    message += "was cloned installs it"
    assert capsys.readouterr().err == f"dragoman: {message}\n"
    assert sorted(directory.path.iterdir()) == before


def test_marian_has_no_rounded_weights(save: Save, capsys: pytest.CaptureFixture[str]) -> None:
    directory = save(norm="after")

    assert main(["export", str(directory.path), "--to", "marian", "--quantization", "int8"]) == 2

    assert "marian has no 8-bit weights; leave it out" in capsys.readouterr().err
