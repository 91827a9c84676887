"""An imported model directory translates as the original does, and the proof can fail."""

import json
import os
import sys
from collections.abc import Callable
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch.nn.utils.rnn import pad_sequence
from transformers import MarianMTModel, MarianTokenizer

from dragoman.decoding.config import SearchConfig
from dragoman.engines.pytorch import PyTorchEngine
from dragoman.interop import proof
from dragoman.interop.marian import convert_marian, load_marian
from dragoman.interop.marian_config import MarianError
from dragoman.interop.marian_proof import find_other_tokens, prove_import
from dragoman.model_directory import ModelDescription, ModelDirectory
from dragoman.tokenizers.tokenizer import LARGEST_FILE

EOS, UNK = 0, 1
SaveMarian = Callable[..., Any]


@pytest.fixture
def imported(
    save_marian: SaveMarian, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Any, Path]:
    """Import a model that likes to end, so that beams have something to choose from.

    It would also like the unknown token, which no translation has.
    """
    theirs = save_marian()
    theirs.final_logits_bias[0, [EOS, UNK]] = 4.0
    theirs.save_pretrained(tmp_path)
    convert_marian(tmp_path, tmp_path / "imported", languages=("en", "it"))
    monkeypatch.setattr(proof, "NUM_SENTENCES", 6)
    return theirs, tmp_path / "imported"


def test_the_model_directory_describes_the_model(imported: tuple[Any, Path]) -> None:
    directory = ModelDirectory(imported[1])

    description = directory.description
    assert (description.source_language, description.target_language) == ("en", "it")
    assert description.tokenizer.kind == "marian"
    assert description.training["imported_from"] == imported[1].parent.name
    assert description.special_ids == directory.load_tokenizers().target.special_ids
    assert sorted(path.name for path in imported[1].iterdir()) == [
        "model.safetensors",
        "model.toml",
        "tokenizer.source.marian",
        "tokenizer.target.marian",
    ]


def test_a_model_that_cannot_be_is_refused_in_a_sentence(
    save_marian: SaveMarian, tmp_path: Path
) -> None:
    """It has two vocabularies of different sizes, and one table of embeddings for both."""
    save_marian()
    pieces = json.loads((tmp_path / "vocab.json").read_bytes())
    more = json.dumps({**pieces, "one more": len(pieces)})
    (tmp_path / "target_vocab.json").write_text(more)
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"separate_vocabs": True}))

    with pytest.raises(MarianError, match="vocabularies differ"):
        convert_marian(tmp_path, tmp_path / "imported", languages=("en", "it"))


@pytest.mark.parametrize("said", [{}, {"separate_vocabs": False}])
def test_a_second_vocabulary_is_not_passed_over(
    save_marian: SaveMarian, tmp_path: Path, said: dict[str, bool]
) -> None:
    """The proof would hold, as transformers takes the first for both languages."""
    save_marian()
    (tmp_path / "target_vocab.json").write_bytes((tmp_path / "vocab.json").read_bytes())
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(said))

    with pytest.raises(MarianError, match=r'has a target_vocab\.json, .* "separate_vocabs": true'):
        convert_marian(tmp_path, tmp_path / "imported", languages=("en", "it"))


@pytest.mark.parametrize("name", ["config.json", "vocab.json", "source.spm", "model.safetensors"])
def test_a_pipe_is_not_waited_for_and_a_giant_is_not_read(
    save_marian: SaveMarian, tmp_path: Path, name: str
) -> None:
    save_marian()
    (tmp_path / name).unlink()
    os.mkfifo(tmp_path / name)
    with pytest.raises(MarianError, match=rf"{name}: .*not a file"):
        load_marian(tmp_path)

    with (tmp_path / "config.json.giant").open("wb") as file:
        file.truncate(LARGEST_FILE + 1)
    (tmp_path / "config.json.giant").replace(tmp_path / "config.json")
    with pytest.raises(MarianError, match=r"config\.json: cannot be read: more than 64 MiB"):
        load_marian(tmp_path)


def test_embeddings_that_were_filled_up_are_told_from_their_vocabulary(
    save_marian: SaveMarian, tmp_path: Path
) -> None:
    save_marian()
    pieces = json.loads((tmp_path / "vocab.json").read_text())
    *most, last = pieces
    shorter = {piece: pieces[piece] for piece in most if piece != ">>ita<<"}
    shorter[last] = len(shorter)
    (tmp_path / "vocab.json").write_text(json.dumps(shorter))
    config = json.loads((tmp_path / "config.json").read_text())
    changed = dict.fromkeys(("pad_token_id", "decoder_start_token_id"), shorter[last])
    (tmp_path / "config.json").write_text(json.dumps({**config, **changed}))
    (tmp_path / "generation_config.json").unlink()
    rows = len(pieces)

    with pytest.raises(
        MarianError, match=f"embeddings of {rows} tokens, but its vocabulary has {rows - 1}"
    ):
        convert_marian(tmp_path, tmp_path / "imported", languages=("en", "it"))


@pytest.mark.parametrize("token", ["ita", ">>ita<<"])
def test_the_language_token_names_the_target(
    save_marian: SaveMarian, tmp_path: Path, token: str
) -> None:
    save_marian()
    languages = {"source_lang": "en", "target_lang": "ROMANCE"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(languages))

    convert_marian(tmp_path, tmp_path / "imported", language_token=token)

    description = ModelDirectory(tmp_path / "imported").description
    assert (description.source_language, description.target_language) == ("en", "it")
    with pytest.raises(MarianError, match="unknown language token >>▁the<<; the model has >>ita"):
        load_marian(tmp_path, language_token="▁the")


def test_the_language_token_may_name_a_region(save_marian: SaveMarian, tmp_path: Path) -> None:
    save_marian()
    vocabulary = (tmp_path / "vocab.json").read_text().replace(">>ita<<", ">>por_BR<<")
    (tmp_path / "vocab.json").write_text(vocabulary)
    (tmp_path / "tokenizer_config.json").write_text('{"source_lang": "en"}')

    convert_marian(tmp_path, tmp_path / "imported", language_token=">>por_BR<<")

    assert ModelDirectory(tmp_path / "imported").description.languages == ("en", "pt-BR")


@pytest.mark.parametrize("file", ["vocab.json", "target_vocab.json"])
def test_special_tokens_that_differ_between_the_languages_are_refused(
    save_marian: SaveMarian, tmp_path: Path, file: str
) -> None:
    save_marian(share_encoder_decoder_embeddings=False)
    vocabulary = json.loads((tmp_path / "vocab.json").read_text())
    (tmp_path / "target_vocab.json").write_text(json.dumps(vocabulary))
    (tmp_path / "tokenizer_config.json").write_text('{"separate_vocabs": true}')
    other = list(vocabulary)[5]
    exchanged = {"</s>": vocabulary[other], other: vocabulary["</s>"]}
    (tmp_path / file).write_text(json.dumps(vocabulary | exchanged))

    with pytest.raises(MarianError, match=r"in a vocabulary, but .* in config.json or in the oth"):
        convert_marian(tmp_path, tmp_path / "imported", languages=("en", "it"))


def test_a_model_of_few_positions_is_proved_too(save_marian: SaveMarian, tmp_path: Path) -> None:
    save_marian(max_position_embeddings=24)
    convert_marian(tmp_path, tmp_path / "imported", languages=("en", "it"))

    agreement = prove_import(tmp_path, tmp_path / "imported")

    assert agreement is not None
    assert agreement.holds


def test_a_stored_table_of_too_few_positions_for_the_proof_is_told_in_a_sentence(
    save_marian: SaveMarian, tmp_path: Path
) -> None:
    """Files by old releases of transformers hold the table."""
    theirs = save_marian(max_position_embeddings=40)
    weights = load_file(tmp_path / "model.safetensors")
    for stack in ("encoder", "decoder"):
        table = getattr(theirs.model, stack).embed_positions.weight
        weights[f"model.{stack}.embed_positions.weight"] = table.detach().clone()
    save_file(weights, tmp_path / "model.safetensors", metadata={"format": "pt"})
    convert_marian(tmp_path, tmp_path / "imported", languages=("en", "it"))

    with pytest.raises(MarianError, match="40 positions, but the proof takes 41; let transformers"):
        prove_import(tmp_path, tmp_path / "imported")

    for kind in (MarianMTModel, MarianTokenizer):
        kind.from_pretrained(tmp_path).save_pretrained(tmp_path / "new")
    agreement = prove_import(tmp_path / "new", tmp_path / "imported")
    assert agreement is not None
    assert agreement.holds


def test_what_transformers_cannot_load_is_told_in_a_sentence(
    imported: tuple[Any, Path], tmp_path: Path
) -> None:
    (tmp_path / "generation_config.json").write_text("[]")

    with pytest.raises(MarianError, match=f"{tmp_path}: transformers cannot load it \\("):
        prove_import(tmp_path, imported[1])


@pytest.mark.parametrize(
    ("positions", "said", "expected"), [(64, None, 63), (1024, None, 512), (1024, 101, 100)]
)
def test_the_longest_text_is_that_of_the_model(
    save_marian: SaveMarian, tmp_path: Path, positions: int, said: int | None, expected: int
) -> None:
    save_marian(max_position_embeddings=positions)
    limit = {} if said is None else {"model_max_length": said}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(limit))

    convert_marian(tmp_path, tmp_path / "imported", languages=("en", "it"))

    assert ModelDirectory(tmp_path / "imported").description.max_length == expected


def test_a_model_whose_files_name_no_longest_text_has_the_usual_one(
    save_marian: SaveMarian, tmp_path: Path
) -> None:
    save_marian()
    path = tmp_path / "config.json"
    config = json.loads(path.read_text())
    del config["max_position_embeddings"]
    path.write_text(json.dumps(config))

    assert load_marian(tmp_path).max_length == ModelDescription.max_length


def test_a_model_whose_translations_begin_with_their_end_can_end(
    save_marian: SaveMarian, tmp_path: Path
) -> None:
    theirs = save_marian(decoder_start_token_id=EOS)
    theirs.final_logits_bias[0, EOS] = 20.0
    theirs.save_pretrained(tmp_path)
    convert_marian(tmp_path, tmp_path / "imported", languages=("en", "it"))

    directory = ModelDirectory(tmp_path / "imported")
    engine = PyTorchEngine(
        directory.load_transformer(),
        directory.description.special_ids,
        forbidden_ids=directory.description.forbidden_ids,
    )

    (((found, *_),)) = engine.search([[5, 6, 7]], SearchConfig(beam_size=1))
    assert found.finished


@pytest.mark.parametrize(
    ("in_config", "said", "expected"),
    [
        (None, {"decoder_start_token_id": EOS}, EOS),
        (5, {"decoder_start_token_id": EOS}, EOS),
        (None, {}, None),
    ],
)
def test_what_translations_begin_with_may_stand_in_another_file(
    save_marian: SaveMarian,
    tmp_path: Path,
    in_config: int | None,
    said: dict[str, int],
    expected: int | None,
) -> None:
    theirs = save_marian()
    for name, change in (
        ("config.json", {"decoder_start_token_id": in_config}),
        ("generation_config.json", {"decoder_start_token_id": None} | said),
    ):
        path = tmp_path / name
        path.write_text(json.dumps(json.loads(path.read_text()) | change))

    convert_marian(tmp_path, tmp_path / "imported", languages=("en", "it"))

    begins_with = ModelDirectory(tmp_path / "imported").description.special_ids.bos
    assert begins_with == (theirs.config.pad_token_id if expected is None else expected)


@pytest.mark.parametrize("code", ["", "a/b", None])
def test_languages_that_are_none_are_asked_for(
    save_marian: SaveMarian, tmp_path: Path, code: str | None
) -> None:
    save_marian()
    table = {"source_lang": code, "target_lang": "it"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(table))

    with pytest.raises(MarianError, match="nothing says which languages it translates; name them"):
        convert_marian(tmp_path, tmp_path / "imported")


@pytest.mark.parametrize("beam_size", [1, 4])
def test_search_finds_what_generate_finds(imported: tuple[Any, Path], beam_size: int) -> None:
    theirs, directory = imported
    model = ModelDirectory(directory)
    special = model.description.special_ids
    sources = [torch.randint(2, special.pad - 1, (n,)).tolist() for n in (1, 4, 7)]
    search = SearchConfig(
        beam_size=beam_size, length_penalty=0.0, max_length_ratio=0.0, max_length_extra=30
    )
    rows = [torch.tensor([*source, EOS]) for source in sources]

    found = PyTorchEngine(model.load_transformer(), special).search(sources, search)
    expected = theirs.generate(
        pad_sequence(rows, batch_first=True, padding_value=special.pad),
        attention_mask=pad_sequence([torch.ones_like(row) for row in rows], batch_first=True),
        num_beams=beam_size,
        length_penalty=0.0,
        do_sample=False,
        max_length=None,
        max_new_tokens=30,
        suppress_tokens=[special.unk, special.pad],
    )

    for hypotheses, row in zip(found, expected[:, 1:].tolist(), strict=True):
        assert list(hypotheses[0].ids) == list(takewhile(lambda token: token != EOS, row))


def test_the_proof_holds(imported: tuple[Any, Path], tmp_path: Path) -> None:
    agreement = prove_import(tmp_path, imported[1])

    assert agreement is not None
    assert agreement.num_equal == agreement.num_sentences > 4
    assert agreement.largest_difference < 1e-5
    assert agreement.holds


def test_a_model_saved_in_half_precision_is_proved_in_single_precision(
    save_marian: SaveMarian, tmp_path: Path
) -> None:
    save_marian().half().save_pretrained(tmp_path)
    convert_marian(tmp_path, tmp_path / "imported", languages=("en", "it"))

    agreement = prove_import(tmp_path, tmp_path / "imported")

    assert agreement is not None
    assert agreement.largest_difference < 1e-5


def test_the_proof_fails_if_the_original_is_another_model(
    imported: tuple[Any, Path], tmp_path: Path
) -> None:
    theirs, directory = imported
    with torch.no_grad():
        theirs.model.decoder.layers[2].fc2.bias[3] += 0.5
    theirs.save_pretrained(tmp_path)

    with pytest.raises(MarianError, match="what was read computes something else"):
        prove_import(tmp_path, directory)


def test_a_target_that_is_cut_otherwise_is_found(save_marian: SaveMarian, tmp_path: Path) -> None:
    save_marian()
    convert_marian(tmp_path, tmp_path / "imported", languages=("en", "it"))
    tokenizers = ModelDirectory(tmp_path / "imported").load_tokenizers()
    assert find_other_tokens(tmp_path, tokenizers) == []

    (tmp_path / "target.spm").write_bytes((tmp_path / "source.spm").read_bytes())

    assert find_other_tokens(tmp_path, tokenizers)


def test_without_transformers_nothing_is_proved(
    imported: tuple[Any, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)

    assert prove_import(tmp_path, imported[1]) is None


def test_the_languages_are_those_of_the_tokenizer(save_marian: SaveMarian, tmp_path: Path) -> None:
    save_marian()
    languages = {"source_lang": "eng", "target_lang": "ita"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(languages))

    convert_marian(tmp_path, tmp_path / "imported")

    description = ModelDirectory(tmp_path / "imported").description
    assert (description.source_language, description.target_language) == ("eng", "ita")
