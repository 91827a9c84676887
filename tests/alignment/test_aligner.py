"""Pairs and translations are aligned by the head that the description names."""

import pickle
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.visualisation.small_model import save_small_model

from dragoman.alignment import aligner as aligner_module
from dragoman.alignment.aligner import LONGEST_TEXT, Aligner
from dragoman.alignment.choice import AlignedText, measure
from dragoman.alignment.links import AlignmentError
from dragoman.alignment.words import link_words
from dragoman.model_directory import AlignmentDescription, ModelDirectory, update_description
from dragoman.tokenizers.tokenizer import BOS_ID, EOS_ID
from dragoman.translation import Translation
from dragoman.translator import Translator
from dragoman.visualisation.attention_maps import read_attention

CHOSEN = AlignmentDescription(layer=3, head=2, agreement=0.7, text="some", pairs=9)
PAIRS = [("the black cat sees", "a dog"), ("", ""), ("dog .", "the cat because"), ("a", "")]


@pytest.fixture
def model(tmp_path: Path) -> ModelDirectory:
    directory = save_small_model(tmp_path)
    update_description(tmp_path, alignment=CHOSEN)
    return directory


def test_the_attention_of_a_batch_is_that_of_each_pair(model: ModelDirectory) -> None:
    # Each word is a token here, so words have the weights of their tokens.
    encode = model.load_tokenizers().source.encode

    aligner = Aligner(model.path)
    with torch.device("meta"), torch.autocast("cpu", torch.bfloat16):  # of the caller
        found = list(aligner.attention(PAIRS))

    for (source, target), weights in zip(PAIRS, found, strict=True):
        if not target:
            assert weights.shape == (3, 3, 0, 0)
            continue
        maps = read_attention(
            model.load_transformer(), [*encode(source), EOS_ID], [BOS_ID, *encode(target)]
        )
        expected = np.stack([each.numpy() for each in maps.cross])[..., :-1, :-1]
        np.testing.assert_allclose(weights, expected, atol=1e-6)


def test_pairs_are_aligned_by_the_head_that_was_chosen(model: ModelDirectory) -> None:
    aligner = Aligner(model.path)
    weights = list(aligner.attention(PAIRS))

    aligned = aligner.align(PAIRS)

    assert [each.links for each in aligned] == [link_words(each[2, 1]) for each in weights]
    for pair, each in zip(PAIRS, aligned, strict=True):
        assert [" ".join(each.source_words), " ".join(each.target_words)] == list(pair)
    update_description(model.path, alignment=replace(CHOSEN, layer=1, head=None))
    assert [each.links for each in Aligner(model.path).align(PAIRS)] == [
        link_words(each[0].mean(axis=0)) for each in weights
    ]


def test_an_aligner_can_be_sent_to_another_process(
    model: ModelDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    aligner = Aligner(model.path)
    aligned, sent = aligner.align(PAIRS), pickle.dumps(aligner)
    monkeypatch.setattr("os.getpid", lambda: 0)

    assert pickle.loads(sent).align(PAIRS) == aligned


def test_the_weights_of_all_heads_are_kept_for_few_pairs_at_a_time(
    model: ModelDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    aligner, pairs = Aligner(model.path), [("a dog " * 20, "the cat " * 20)] * 12
    text = AlignedText(name="few words", pairs=tuple(pairs), gold=None)
    whole, once = list(aligner.attention(pairs)), aligner.align(pairs)
    monkeypatch.setattr(aligner_module, "PAIRS_AT_ONCE", 2)

    tracemalloc.start()
    aligned, measured = aligner.align(pairs), measure(aligner.attention(pairs), text)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert (aligned, measured) == (once, measure(whole, text))
    assert most < sum(weights.nbytes for weights in whole)


def test_the_words_of_several_sentences_are_counted_through(model: ModelDirectory) -> None:
    texts = ["The cat sees.  A dog.\tThe table.", "", " a black dog ", "\u3000"]
    translations = list(Translator(model.path, engine="pytorch", device="cpu").translate(texts))
    aligner = Aligner(model.path)

    aligned = aligner.align_translations(translations)

    for translation, found in zip(translations, aligned, strict=True):
        source_end = target_end = 0
        expected = set()
        parts = zip(translation.parts, translation.alternatives[0].parts, strict=True)
        for source, target in parts:
            (of_part,) = aligner.align([(source, target)])
            expected |= {(source_end + i, target_end + j) for i, j in of_part.links}
            source_end += len(source.split())
            target_end += len(target.split())
        assert found.links == expected
        assert list(found.source_words) == translation.source.split()
        assert list(found.target_words) == translation.text.split()
        assert len(found.source_words) == source_end
        assert len(found.target_words) == target_end
    assert len(translations[0].parts) == 3
    assert [bool(each.links) for each in aligned] == [True, False, True, False]


def test_alignments_of_sentences_without_a_space_between_them_share_a_word(
    model: ModelDirectory,
) -> None:
    (plain,) = Translator(model.path, engine="pytorch", device="cpu").translate(["a cat."])
    best = replace(plain.alternatives[0], text="x y z", parts=("x", "y z"))
    glued = Translation(source="a.b", alternatives=(best,), parts=("a.", "b"), cut=False)

    (found,) = Aligner(model.path).align_translations([glued])

    assert found.links == {(0, 0), (0, 1), (0, 2)}
    assert (found.source_words, found.target_words) == (("a.b",), ("x", "y", "z"))


def test_a_part_that_is_far_too_long_for_the_model_has_no_links(model: ModelDirectory) -> None:
    (plain,) = Translator(model.path, engine="pytorch", device="cpu").translate(["a cat."])
    most = " ".join(["dog"] * LONGEST_TEXT * model.description.max_length)
    parts = (most, f"{most} dog", most, "cat")
    translated = ("x", "x", f"{most} x", "y")
    best = replace(plain.alternatives[0], text=" ".join(translated), parts=translated)
    text = Translation(source=" ".join(parts), alternatives=(best,), parts=parts, cut=False)
    whole = replace(
        text, source="cat", parts=("cat",), alternatives=(replace(best, text="y", parts=("y",)),)
    )

    found, other = Aligner(model.path).align_translations([text, whole])

    length = len(most.split())
    last = (3 * length + 1, length + 3)
    assert {target for _, target in found.links} == {0, last[1]}
    assert last in found.links
    assert (found.complete, other.complete) == (False, True)
    assert " ".join(found.source_words) == text.source


def test_a_model_must_know_by_which_attention(tmp_path: Path) -> None:
    save_small_model(tmp_path)

    with pytest.raises(
        AlignmentError, match=r'not known yet.*"dragoman align .*" finds it'
    ) as told:
        Aligner(tmp_path).align(PAIRS)
    assert f'"dragoman align {tmp_path}"' in str(told.value)


def test_a_model_of_languages_that_are_not_embedded_is_to_be_aligned_with_text(
    tmp_path: Path,
) -> None:
    save_small_model(tmp_path)
    description = tmp_path / "model.toml"
    written = description.read_text(encoding="utf-8")
    for languages, needed in ((("en", "it"), ""), (("it", "en"), ""), (("en", "de"), " PAIRS")):
        source, target = languages
        other = written.replace('source_language = "en"', f'source_language = "{source}"')
        other = other.replace('target_language = "it"', f'target_language = "{target}"')
        description.write_text(other, encoding="utf-8")

        with pytest.raises(AlignmentError, match=f'"dragoman align {tmp_path}{needed}" finds it'):
            Aligner(tmp_path).check()


@pytest.mark.parametrize("wrong", [{"layer": 4}, {"head": 4}])
def test_a_head_that_the_model_does_not_have_is_refused(
    wrong: dict[str, int], model: ModelDirectory
) -> None:
    update_description(model.path, alignment=replace(CHOSEN, **wrong))  # type: ignore[arg-type]

    with pytest.raises(AlignmentError, match="the model has no layer"):
        Aligner(model.path).check()


def test_the_command_that_is_named_can_be_pasted_into_a_shell(tmp_path: Path) -> None:
    model = save_small_model(tmp_path / "my model")

    with pytest.raises(AlignmentError, match=f"\"dragoman align '{model.path}'\" finds it"):
        Aligner(model.path).check()
