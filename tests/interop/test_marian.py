"""Imported Marian models compute what Hugging Face's do; what cannot be imported is refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from torch import Tensor

from dragoman.alignment.words import word_weights, words_of_tokens
from dragoman.interop.marian import load_marian
from dragoman.interop.marian_config import MarianError
from dragoman.model.masks import padding_mask

EOS, UNK = 0, 1
SaveMarian = Callable[..., Any]


def sentences(lengths: list[int], pad: int, *, begin: int | None = None) -> Tensor:
    """Draw rows of tokens of these lengths, padded on the right."""
    rows = torch.full((len(lengths), max(lengths)), pad)
    for row, length in zip(rows, lengths, strict=True):
        row[:length] = torch.randint(2, pad - 1, (length,))
        row[length - 1] = EOS
        if begin is not None:
            row[0] = begin
    return rows


def edit_config(directory: Path, **changes: Any) -> None:
    path = directory / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"activation_function": "relu"},
        {"activation_function": "gelu"},
        {"d_model": 16, "encoder_attention_heads": 2, "decoder_attention_heads": 2},
        {"share_encoder_decoder_embeddings": False},
        {"share_encoder_decoder_embeddings": False, "tie_word_embeddings": False},
    ],
    ids=str,
)
def test_logits_equal_those_of_hugging_face(
    save_marian: SaveMarian, tmp_path: Path, changes: dict[str, Any]
) -> None:
    theirs = save_marian(**changes)
    pad = theirs.config.pad_token_id
    source = sentences([9, 2, 5], pad)
    target = sentences([4, 7, 3], pad, begin=pad)
    target_mask = padding_mask(target, pad).flatten(1)

    with torch.no_grad():
        expected = theirs(
            input_ids=source,
            attention_mask=source != pad,
            decoder_input_ids=target,
            decoder_attention_mask=target_mask,
        ).logits
        actual = load_marian(tmp_path).transformer(source, target)

    torch.testing.assert_close(actual[target_mask], expected[target_mask], atol=1e-5, rtol=0)


def test_token_by_token_the_logits_equal_those_of_hugging_face(
    save_marian: SaveMarian, tmp_path: Path
) -> None:
    theirs = save_marian()
    pad = theirs.config.pad_token_id
    source = sentences([4, 7], pad)
    target = torch.randint(2, pad - 1, (2, 6))
    target[:, 0] = pad

    with torch.no_grad():
        expected = theirs(source, attention_mask=source != pad, decoder_input_ids=target).logits
        ours = load_marian(tmp_path).transformer
        state = ours.start(source)
        for position in range(6):
            logits, state = ours.step(target[:, [position]], state)
            torch.testing.assert_close(logits[:, 0], expected[:, position], atol=1e-5, rtol=0)


def test_the_settings_are_read(save_marian: SaveMarian, tmp_path: Path) -> None:
    save_marian(dropout=0.2, attention_dropout=0.3, activation_dropout=0.4)

    config = load_marian(tmp_path).transformer.config

    assert (config.num_encoder_layers, config.num_decoder_layers) == (2, 3)
    assert (config.d_model, config.d_ff, config.num_heads) == (12, 20, 3)
    assert config.dropout == 0.2
    assert config.attention_dropout == 0.3
    assert config.feed_forward_dropout == 0.4
    assert config.activation == "silu"
    assert config.positional_encoding == "marian"
    assert config.norm == "after"
    assert config.tied_embeddings == "all"
    assert config.projection_bias


def test_decoding_begins_with_padding(save_marian: SaveMarian, tmp_path: Path) -> None:
    pad = save_marian().config.pad_token_id

    ids = load_marian(tmp_path).tokenizers.target.special_ids

    assert (ids.bos, ids.pad, ids.eos, ids.unk) == (pad, pad, EOS, UNK)


def test_a_language_token_is_put_before_the_source(save_marian: SaveMarian, tmp_path: Path) -> None:
    save_marian()

    pair = load_marian(tmp_path, language_token=">>ita<<").tokenizers

    assert pair.source.pieces(pair.source.encode("the cat"))[0] == ">>ita<<"
    assert ">>ita<<" not in pair.target.pieces(pair.target.encode("il gatto"))
    words = words_of_tokens("the cat", pair.source)
    assert words[0] == -1
    assert sorted(set(words[1:])) == [0, 1]
    assert len(words) == len(pair.source.encode("the cat"))
    assert words_of_tokens(" ", pair.source) == pair.source.encode(" ") == []
    looks_at_the_token = np.eye(1, len(words), dtype=np.float32)
    assert word_weights(looks_at_the_token, words, [0]).tolist() == [[0.0, 0.0]]
    with pytest.raises(MarianError, match="unknown language token >>deu<<; the model has >>ita<<"):
        load_marian(tmp_path, language_token=">>deu<<")


def test_separate_vocabularies_are_read(save_marian: SaveMarian, tmp_path: Path) -> None:
    save_marian(share_encoder_decoder_embeddings=False)
    vocabulary = json.loads((tmp_path / "vocab.json").read_text())
    pieces = list(vocabulary)
    pieces[5], pieces[6] = pieces[6], pieces[5]
    target = {piece: i for i, piece in enumerate(pieces)}
    (tmp_path / "target_vocab.json").write_text(json.dumps(target))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"separate_vocabs": True}))

    tokenizers = load_marian(tmp_path).tokenizers

    assert tokenizers.source.pieces([5, 6]) == tokenizers.target.pieces([6, 5])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"normalize_before": True}, "normalize_before is True, not False"),
        ({"normalize_embedding": True}, "normalize_embedding is True, not False"),
        ({"add_final_layer_norm": True}, "add_final_layer_norm is True, not False"),
        ({"static_position_embeddings": False}, "static_position_embeddings is False, not True"),
        ({"scale_embedding": False}, "scale_embedding is False, not True"),
        ({"decoder_ffn_dim": 24}, "encoder_ffn_dim is 20, but decoder_ffn_dim 24"),
        ({"decoder_attention_heads": 2}, "encoder_attention_heads is 3, but .* 2"),
        ({"activation_function": "tanh"}, "activation_function is 'tanh', not relu, gelu"),
        ({"model_type": "bart"}, "model_type is 'bart', not 'marian'"),
        ({"d_model": 9}, "config.json: d_model=9 is odd"),
    ],
)
def test_what_our_model_lacks_is_refused(
    save_marian: SaveMarian, tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    save_marian()
    edit_config(tmp_path, **changes)

    with pytest.raises(MarianError, match=message):
        load_marian(tmp_path)


def leave_out(directory: Path, *settings: str) -> None:
    path = directory / "config.json"
    table = json.loads(path.read_text())
    path.write_text(json.dumps({key: table[key] for key in table if key not in settings}))


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("scale_embedding", "scale_embedding is False, not True"),
        ("model_type", "model_type is None, not 'marian'"),
        ("d_model", "config.json: 'd_model' is missing"),
        ("encoder_layers", "config.json: 'encoder_layers' is missing"),
    ],
)
def test_a_missing_setting_that_has_no_counterpart_here_is_refused(
    save_marian: SaveMarian, tmp_path: Path, setting: str, message: str
) -> None:
    save_marian()
    leave_out(tmp_path, setting)

    with pytest.raises(MarianError, match=message):
        load_marian(tmp_path)


def test_other_missing_settings_are_those_of_hugging_face(
    save_marian: SaveMarian, tmp_path: Path
) -> None:
    save_marian(dropout=0.3, attention_dropout=0.3, activation_dropout=0.3)
    rates = ("dropout", "attention_dropout", "activation_dropout")
    leave_out(tmp_path, *rates, "tie_word_embeddings", "share_encoder_decoder_embeddings")
    usual = transformers.MarianConfig()

    config = load_marian(tmp_path).transformer.config

    assert (config.dropout, config.attention_dropout, config.feed_forward_dropout) == tuple(
        getattr(usual, rate) for rate in rates
    )
    assert usual.tie_word_embeddings
    assert usual.share_encoder_decoder_embeddings
    assert config.tied_embeddings == "all"


def test_all_obstacles_are_named_at_once(save_marian: SaveMarian, tmp_path: Path) -> None:
    save_marian()
    edit_config(tmp_path, normalize_before=True, scale_embedding=False)

    with pytest.raises(MarianError, match=r"normalize_before is True.*; scale_embedding is False"):
        load_marian(tmp_path)


def test_the_same_weights_in_other_files_beside_them_do_not_matter(
    save_marian: SaveMarian, tmp_path: Path
) -> None:
    save_marian()
    for name in ("pytorch_model.bin", "model.safetensors.index.json"):
        (tmp_path / name).write_bytes(b"never read")

    assert load_marian(tmp_path)


@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_a_shared_table_is_read_under_each_of_its_names(
    save_marian: SaveMarian, tmp_path: Path, stack: str
) -> None:
    save_marian()
    weights = load_file(tmp_path / "model.safetensors")
    table = weights.pop("model.shared.weight")
    weights[f"model.{stack}.embed_tokens.weight"] = table
    save_file(weights, tmp_path / "model.safetensors")

    transformer = load_marian(tmp_path).transformer

    assert torch.equal(transformer.projection.linear.weight, table)


@pytest.mark.parametrize("zipped", [True, False])  # as in PyTorch before 1.6
def test_weights_that_are_pickled_are_the_same(
    save_marian: SaveMarian, tmp_path: Path, zipped: bool
) -> None:
    model = save_marian()
    expected = load_marian(tmp_path).transformer.state_dict()
    (tmp_path / "model.safetensors").unlink()
    path = tmp_path / "pytorch_model.bin"
    weights = model.state_dict()
    table = weights["model.shared.weight"]
    weights["model.shared.weight"] = table.T.contiguous().T  # as what was transposed is saved
    torch.save(weights, path, _use_new_zipfile_serialization=zipped)

    found = load_marian(tmp_path).transformer.state_dict()

    assert found.keys() == expected.keys()
    assert all(torch.equal(found[name], expected[name]) for name in expected)


@pytest.mark.parametrize(
    "content",
    [
        [],
        {"final_logits_bias": "0"},
        {1: torch.zeros(1)},
        {"x": torch.zeros(1).expand(10**15)},
        {"x": torch.empty(10**15, device="meta")},
    ],
)
def test_what_is_pickled_must_be_weights(
    save_marian: SaveMarian, tmp_path: Path, content: object
) -> None:
    save_marian()
    (tmp_path / "model.safetensors").unlink()
    torch.save(content, tmp_path / "pytorch_model.bin")

    with pytest.raises(MarianError, match=r"pytorch_model\.bin: not a table of weights"):
        load_marian(tmp_path)


def test_what_is_pickled_is_not_compressed(save_marian: SaveMarian, tmp_path: Path) -> None:
    weights = save_marian().state_dict()
    (tmp_path / "model.safetensors").unlink()
    torch.save(weights, tmp_path / "saved")
    with (
        ZipFile(tmp_path / "saved") as saved,
        ZipFile(tmp_path / "pytorch_model.bin", "w", ZIP_DEFLATED) as packed,
    ):
        for name in saved.namelist():
            packed.writestr(name, saved.read(name))

    with pytest.raises(MarianError, match="not weights as PyTorch saves them: it is compressed"):
        load_marian(tmp_path)


def test_weights_are_in_a_format_that_models_have(save_marian: SaveMarian, tmp_path: Path) -> None:
    save_marian()
    weights = load_file(tmp_path / "model.safetensors")
    name = "model.encoder.layers.0.fc1.weight"
    weights[name] = weights[name].to(torch.float8_e4m3fn)
    save_file(weights, tmp_path / "model.safetensors")

    with pytest.raises(MarianError, match=rf"{name} has numbers in torch\.float8_e4m3fn"):
        load_marian(tmp_path)


@pytest.mark.parametrize("name", ["config.json", "vocab.json", "source.spm", "model.safetensors"])
@pytest.mark.parametrize("content", [None, b"", b"[]", b"\xff\x00nonsense"])
def test_missing_and_damaged_files_are_named(
    save_marian: SaveMarian, tmp_path: Path, name: str, content: bytes | None
) -> None:
    save_marian()
    (tmp_path / name).unlink()
    if content is not None:
        (tmp_path / name).write_bytes(content)

    named = "SentencePiece" if name == "source.spm" and content is not None else name
    with pytest.raises(MarianError, match=named):
        load_marian(tmp_path)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("model.decoder.layers.1.encoder_attn.k_proj.bias", "the weight .* is missing"),
        ("model.shared.weight", "the weight model.shared.weight is missing"),
    ],
)
def test_a_missing_weight_is_named(
    save_marian: SaveMarian, tmp_path: Path, name: str, message: str
) -> None:
    save_marian()
    weights = load_file(tmp_path / "model.safetensors")
    del weights[name]
    save_file(weights, tmp_path / "model.safetensors")

    with pytest.raises(MarianError, match=message):
        load_marian(tmp_path)


@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_a_weight_that_nothing_reads_is_refused(
    save_marian: SaveMarian, tmp_path: Path, stack: str
) -> None:
    save_marian()
    edit_config(tmp_path, **{f"{stack}_layers": 1})

    with pytest.raises(MarianError, match=rf"no place for the weight model\.{stack}\.layers\.1\."):
        load_marian(tmp_path)


def test_weights_in_several_files_are_to_be_joined(save_marian: SaveMarian, tmp_path: Path) -> None:
    model = save_marian()
    (tmp_path / "model.safetensors").unlink()
    model.save_pretrained(tmp_path, max_shard_size="10KB")

    with pytest.raises(MarianError, match="its weights are in several files; let transformers"):
        load_marian(tmp_path)


def test_a_file_that_is_not_there_is_named_once(save_marian: SaveMarian, tmp_path: Path) -> None:
    save_marian()
    (tmp_path / "vocab.json").unlink()

    with pytest.raises(MarianError, match=r"^[^:]*vocab\.json: cannot be read: No such file[^:]*$"):
        load_marian(tmp_path)


def test_a_weight_of_another_shape_is_refused(save_marian: SaveMarian, tmp_path: Path) -> None:
    save_marian()
    edit_config(tmp_path, encoder_ffn_dim=24, decoder_ffn_dim=24)

    with pytest.raises(MarianError, match=r"widen.weight should be \(24, 12\), but is \(20, 12\)"):
        load_marian(tmp_path)


def test_a_giant_is_refused_before_it_takes_memory(save_marian: SaveMarian, tmp_path: Path) -> None:
    save_marian()
    edit_config(tmp_path, encoder_ffn_dim=200_000, decoder_ffn_dim=200_000)

    with pytest.raises(MarianError, match=r"at least \d{8} parameters, but its weights are fewer"):
        load_marian(tmp_path)


def test_a_giant_of_one_layer_under_many_names_is_refused_too(
    save_marian: SaveMarian, tmp_path: Path
) -> None:
    weights = save_marian().state_dict()
    for name, weight in list(weights.items()):
        for layer in range(1, 99):
            weights[name.replace(".layers.0.", f".layers.{layer}.")] = weight
    (tmp_path / "model.safetensors").unlink()
    torch.save(weights, tmp_path / "pytorch_model.bin")
    edit_config(tmp_path, encoder_layers=99, decoder_layers=99)

    with pytest.raises(MarianError, match=r"at least \d{6} parameters, but its weights are fewer"):
        load_marian(tmp_path)


def test_tables_that_should_be_one_and_differ_are_refused(
    save_marian: SaveMarian, tmp_path: Path
) -> None:
    save_marian()
    weights = load_file(tmp_path / "model.safetensors")
    weights["lm_head.weight"] = weights["model.shared.weight"] + 1
    save_file(weights, tmp_path / "model.safetensors")

    with pytest.raises(MarianError, match="are one table, but they differ"):
        load_marian(tmp_path)


def test_a_vocabulary_with_other_special_tokens_is_refused(
    save_marian: SaveMarian, tmp_path: Path
) -> None:
    save_marian()
    edit_config(tmp_path, eos_token_id=3)

    with pytest.raises(MarianError, match="<pad>, <unk> and </s> are"):
        load_marian(tmp_path)
