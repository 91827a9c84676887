"""The copy for CTranslate2: it computes the same, or it is not written."""

import json
import math
import os
import random
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
import pytest

from dragoman.cli import main
from dragoman.cli.translation_options import TranslationOptions
from dragoman.decoding.config import SearchConfig
from dragoman.decoding.hypothesis import EMPTY
from dragoman.engines import ctranslate2 as engine_module
from dragoman.engines.ctranslate2 import CTranslate2Engine
from dragoman.engines.ctranslate2_copy import COPY_NAME
from dragoman.engines.protocol import EngineError
from dragoman.engines.pytorch import PyTorchEngine
from dragoman.engines.selection import EngineSettings, describe_choice
from dragoman.engines.vocabulary_map import VOCABULARY_MAP_NAME, mixes_up
from dragoman.errors import UsageError
from dragoman.interop import ctranslate2 as exporting
from dragoman.interop.ctranslate2 import FEWEST_POSITIONS, export_ctranslate2
from dragoman.interop.export import ExportError, Proof, compare_rounded
from dragoman.interop.proof import Agreement, EngineCopy, LoadedModel, Pair, compare
from dragoman.model.positional_encoding import sinusoids
from dragoman.model_directory import ModelDirectory, ModelError, update_description
from dragoman.shortlist.shortlist import Shortlist
from dragoman.tokenizers.tokenizer import SpecialIds
from dragoman.translator import Translator

SPECIAL = SpecialIds()
TEXTS = [
    "The cat sees the dog.",
    "",
    "Where is a table?",
    "dog",
    "The table is under the cat. " * 3,
]
LIST = '{"dragoman_num_positions": 9, "dragoman_sha256": ["model.bin"]}'
Save = Callable[..., ModelDirectory]


def engines(
    directory: ModelDirectory, shortlist: Shortlist | None = None
) -> tuple[CTranslate2Engine, PyTorchEngine]:
    """Load both; the copy is in single precision."""
    export_ctranslate2(directory.path, quantization="float32")
    return (
        CTranslate2Engine(directory, directory.load_tokenizers(), shortlist=shortlist),
        PyTorchEngine(
            directory.load_transformer(),
            SPECIAL,
            forbidden_ids=directory.description.forbidden_ids,
            shortlist=shortlist,
        ),
    )


def call_for_few(directory: ModelDirectory) -> Shortlist:
    """Let each source token call for four tokens, and every sentence for two and its end."""
    description = directory.description.tokenizer
    draw = np.random.default_rng(1)
    called_for = draw.integers(4, description.target_vocab_size, (description.source_vocab_size, 4))
    return Shortlist(
        frequent=np.array([SPECIAL.eos, 8, 9], dtype=np.int32),
        translations=called_for.astype(np.int32),
    )


ARCHITECTURES: list[dict[str, Any]] = [
    {"norm": "before", "activation": "relu", "positional_encoding": "interleaved"},
    {"norm": "after", "activation": "silu", "positional_encoding": "marian"},
    {"norm": "before", "activation": "gelu", "positional_encoding": "tensor2tensor"},
    {"norm": "before", "positional_encoding": "rotary"},
    {"norm": "after", "positional_encoding": "rotary", "num_heads": 4},
    {"norm": "after", "layer_norm_epsilon": 0.1, "num_heads": 4},
    {"tied_embeddings": "target", "projection_bias": False, "tokenizer": "separate"},
    {"tied_embeddings": "all", "tokenizer": "words"},
]


@pytest.mark.parametrize("changes", ARCHITECTURES)
def test_every_architecture_is_copied_exactly(save: Save, changes: dict[str, Any]) -> None:
    directory = save(**changes)

    proof = export_ctranslate2(directory.path, quantization="float32")

    assert proof.in_single_precision.num_sentences >= 10
    assert proof.in_single_precision.holds
    assert proof.in_single_precision.largest_difference < 5e-5
    assert proof.num_equal == proof.in_single_precision.num_equal


@pytest.mark.parametrize(
    "config",
    [
        SearchConfig(beam_size=1, max_length_extra=40),
        SearchConfig(beam_size=4, n_best=3, max_length_extra=40),
        SearchConfig(beam_size=4, n_best=4, patience=1, max_length_extra=40),
        SearchConfig(beam_size=3, length_penalty=0.0, max_length_extra=40),
        SearchConfig(beam_size=3, length_penalty=1.0, max_length_extra=40),
        SearchConfig(
            beam_size=400, n_best=3, max_length_ratio=0.0, max_length_extra=3
        ),  # than the tokens
    ],
)
def test_both_engines_find_the_same(save: Save, config: SearchConfig) -> None:
    directory = save(end=1.2)
    ct2, pytorch = engines(directory)
    sources = directory.load_tokenizers().source.encode_batch(TEXTS)

    found, expected = ct2.search(sources, config), pytorch.search(sources, config)

    assert found[1] == [EMPTY]
    for ours, theirs in zip(found, expected, strict=True):
        assert [h.ids for h in ours] == [h.ids for h in theirs]
        assert [h.finished for h in ours] == [h.finished for h in theirs]
        assert [h.score for h in ours] == pytest.approx([h.score for h in theirs], abs=1e-4)
        assert [h.log_probability for h in ours] == pytest.approx(
            [h.log_probability for h in theirs], abs=1e-4
        )
    assert any(h.ids for hypotheses in found for h in hypotheses)


def test_both_engines_choose_among_all_that_have_ended(save: Save) -> None:
    """With this penalty, the most probable ones are often not the best."""
    ct2, pytorch = engines(save(end=1.0))
    draw = random.Random(5)
    sources = [[draw.randrange(4, 200) for _ in range(draw.randint(1, 12))] for _ in range(40)]
    config = SearchConfig(beam_size=2, patience=3, length_penalty=2.0, max_length_extra=10)

    found, expected = ct2.search(sources, config), pytorch.search(sources, config)

    assert [best.ids for best, *_ in found] == [best.ids for best, *_ in expected]


@pytest.mark.parametrize("prefix", [(), (50,)])
def test_a_beam_wider_than_the_vocabulary_finds_each_once(
    save: Save, prefix: tuple[int, ...]
) -> None:
    """Also the end, which is less probable than all that the beam has places for."""
    ct2, pytorch = engines(save(end=-20.0))
    config = SearchConfig(beam_size=400, n_best=3, max_length_ratio=0.0, max_length_extra=1)

    (found,), (expected,) = (
        engine.search([[5, 6]], config, prefixes=[prefix]) for engine in (ct2, pytorch)
    )

    assert [h.ids for h in found] == [h.ids for h in expected]
    assert found[0].ids == prefix


def test_what_is_forbidden_is_not_written_however_probable_it_is(save: Save) -> None:
    ct2, pytorch = engines(save(end=1.2, forbidden=9.0))
    sources = [[5, 6], [7, 8, 9], [10]]

    greedy, several = (
        ct2.search(sources, SearchConfig(beam_size=beam_size, n_best=beam_size))
        for beam_size in (1, 3)
    )

    assert not {SPECIAL.pad, SPECIAL.bos, SPECIAL.unk} & {
        token for found in several for hypothesis in found for token in hypothesis.ids
    }
    expected = pytorch.search(sources, SearchConfig(beam_size=1))
    assert [found[0].ids for found in greedy] == [found[0].ids for found in expected]
    assert any(found[0].ids for found in greedy)


def test_a_source_is_read_to_its_end(save: Save) -> None:
    """By itself, CTranslate2 leaves out in silence what comes after 1024 tokens."""
    ct2, pytorch = engines(save())
    sources = [[5] * 1024 + [60] * 200]
    config = SearchConfig(beam_size=1, max_length_ratio=0.0, max_length_extra=3)

    ((found,),), ((expected,),) = (engine.search(sources, config) for engine in (ct2, pytorch))

    assert found.ids == expected.ids
    assert found.log_probability == pytest.approx(expected.log_probability, abs=1e-3)


@pytest.mark.parametrize("tokens_per_batch", [30, 1024])
def test_in_single_precision_a_translation_does_not_depend_on_its_company(
    save: Save, tokens_per_batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_module, "TOKENS_PER_BATCH", tokens_per_batch)
    directory = save()
    ct2, _ = engines(directory)
    sources = directory.load_tokenizers().source.encode_batch(
        [f"{'the ' * i}{text}" for text in TEXTS for i in range(5)]
    )
    config = SearchConfig(beam_size=3, n_best=2, max_length_ratio=1.0, max_length_extra=2)

    def search(order: list[int]) -> dict[int, list[tuple[int, ...]]]:
        found = ct2.search([sources[i] for i in order], config)
        return {i: [h.ids for h in each] for i, each in zip(order, found, strict=True)}

    numbers = list(range(len(sources)))
    together = search(numbers)

    assert search(numbers[::-1]) == together
    assert search(numbers[::3]) == {i: together[i] for i in numbers[::3]}
    assert {i: search([i])[i] for i in numbers} == together


@pytest.mark.parametrize(
    "config",
    [
        SearchConfig(beam_size=1, max_length_extra=10),
        SearchConfig(beam_size=4, n_best=3, max_length_extra=10),
        SearchConfig(beam_size=4, n_best=4, patience=1, max_length_extra=10),
        SearchConfig(beam_size=400, n_best=3, max_length_ratio=0.0, max_length_extra=3),
        SearchConfig(beam_size=99, n_best=99, max_length_ratio=0.0, max_length_extra=1),  # all
    ],
)
@pytest.mark.parametrize("tokenizer", ["joint", "separate", "words"])
def test_both_engines_find_the_same_on_short_lists(
    save: Save, tokenizer: str, config: SearchConfig
) -> None:
    directory = save(tokenizer=tokenizer)
    few = call_for_few(directory)
    ct2, pytorch = engines(directory, few)
    sources = directory.load_tokenizers().source.encode_batch(TEXTS)

    found, expected = ct2.search(sources, config), pytorch.search(sources, config)

    for source, ours, theirs in zip(sources, found, expected, strict=True):
        assert [h.ids for h in ours] == [h.ids for h in theirs]
        assert [h.score for h in ours] == pytest.approx([h.score for h in theirs], abs=1e-3)
        assert all(set(h.ids) <= {SPECIAL.unk, *few.tokens(source)} for h in ours)
    everything = CTranslate2Engine(directory, directory.load_tokenizers()).search(sources, config)
    assert [[h.ids for h in of] for of in everything] != [[h.ids for h in of] for of in found]


def test_on_its_short_list_a_sentence_is_translated_the_same_to_the_bit_in_any_company(
    save: Save,
) -> None:
    """Others have other lists, which CTranslate2 would merge."""
    directory = save(end=1.2)
    ct2, _ = engines(directory, call_for_few(directory))
    sources = directory.load_tokenizers().source.encode_batch(TEXTS)
    config = SearchConfig(beam_size=3, n_best=2, max_length_extra=10)

    together = ct2.search(sources, config)

    assert ct2.search(sources[::-1], config) == together[::-1]
    assert [ct2.search([source], config)[0] for source in sources] == together


def test_earlier_short_lists_do_not_matter_to_what_begins_with_a_prefix(save: Save) -> None:
    """CTranslate2 remembers where tokens stood on the lists of other sentences."""
    directory = save(end=1.2)
    tokenizers, few = directory.load_tokenizers(), call_for_few(directory)
    export_ctranslate2(directory.path, quantization="float32")
    ct2 = CTranslate2Engine(directory, tokenizers, threads=1, shortlist=few)
    whole = CTranslate2Engine(directory, tokenizers, threads=1)
    draw = random.Random(2)
    config = SearchConfig(beam_size=2, max_length_extra=10)

    for _ in range(50):
        source, *others = ([draw.randrange(4, 200) for _ in range(5)] for _ in range(6))
        prefix = [draw.randrange(4, 200) for _ in range(3)]
        ct2.search(others, config)
        found = ct2.search([source], config, prefixes=[prefix])
        assert found == whole.search([source], config, prefixes=[prefix])


def test_short_lists_are_refused_where_they_would_be_mixed_up(save: Save) -> None:
    """In many imported vocabularies padding comes last, and begins translations."""
    directory = save()
    tokenizers, few = directory.load_tokenizers(), call_for_few(directory)
    export_ctranslate2(directory.path)
    marian = SpecialIds(eos=0, unk=1, pad=299, bos=299)
    vars(directory.description)["special_ids"] = marian
    settings = EngineSettings(shortlist=True, device="cpu")

    assert mixes_up(marian)
    assert not mixes_up(SPECIAL)
    assert not mixes_up(SpecialIds(eos=0, unk=1, pad=299, bos=0))
    assert mixes_up(SpecialIds(eos=0, unk=2, pad=299, bos=0))
    with pytest.raises(EngineError, match="does not begin with its special tokens; take engine"):
        CTranslate2Engine(directory, tokenizers, shortlist=few)
    assert describe_choice(directory, SearchConfig(), settings).startswith("pytorch")
    CTranslate2Engine(directory, tokenizers)


def test_a_copy_is_left_as_it_is_where_short_lists_are_used(save: Save) -> None:
    directory = save()
    export_ctranslate2(directory.path)
    copy = directory.path / COPY_NAME
    (copy / VOCABULARY_MAP_NAME).write_text("somebody's own")
    before = {file.name: file.read_bytes() for file in copy.iterdir()}

    CTranslate2Engine(directory, directory.load_tokenizers(), shortlist=call_for_few(directory))

    assert {file.name: file.read_bytes() for file in copy.iterdir()} == before


def test_short_lists_do_not_forbid_what_is_asked_for(save: Save) -> None:
    """What begins with a prefix, and ways to go on, are looked for in the whole vocabulary."""
    directory = save(end=1.2)
    few = call_for_few(directory)
    ct2, _ = engines(directory, few)
    whole = CTranslate2Engine(directory, directory.load_tokenizers())
    (source,) = directory.load_tokenizers().source.encode_batch(["Where is a table?"])
    listed = set(few.tokens(source))
    prefix = [i for i in range(4, 200) if i not in listed][:3]
    config = SearchConfig(beam_size=3, n_best=3, max_length_extra=10)

    found, expected = (
        engine.search([source], config, prefixes=[prefix]) for engine in (ct2, whole)
    )

    assert found == expected
    assert not {i for h in found[0] for i in h.ids[3:]} <= listed
    for begun in ([], prefix):
        ways = ct2.continue_in_ways(source, begun, config, count=5)
        assert ways == whole.continue_in_ways(source, begun, config, count=5)
        assert not {h.ids[len(begun)] for h in ways} <= listed
    assert ct2.log_probabilities([source], [prefix]) == whole.log_probabilities([source], [prefix])


@pytest.mark.parametrize("beam_size", [1, 3])
def test_both_engines_continue_a_prefix_alike(save: Save, beam_size: int) -> None:
    directory = save(end=1.2)
    ct2, pytorch = engines(directory)
    sources = directory.load_tokenizers().source.encode_batch([text for text in TEXTS if text])
    prefixes = [(), (40,), (50, 51, 52, 53), (45, 46)]
    config = SearchConfig(beam_size=beam_size, max_length_extra=10)

    found = ct2.search(sources, config, prefixes=prefixes)
    expected = pytorch.search(sources, config, prefixes=prefixes)

    for prefix, (ours, *_), (theirs, *_) in zip(prefixes, found, expected, strict=True):
        assert ours.ids == theirs.ids
        assert ours.ids[: len(prefix)] == prefix
        assert ours.score == pytest.approx(theirs.score, abs=1e-4)


@pytest.mark.parametrize(("beam_size", "n_best"), [(2, 2), (4, 1)])
def test_both_engines_may_end_right_behind_a_prefix(
    save: Save, beam_size: int, n_best: int
) -> None:
    """CTranslate2 does so by itself only if no token is more probable than the end."""
    directory = save(end=2.5)
    ct2, pytorch = engines(directory)
    size = directory.description.tokenizer.target_vocab_size
    draw = random.Random(5)

    def some(least: int, most: int) -> list[int]:
        return [draw.randrange(4, size) for _ in range(draw.randint(least, most))]

    sources = [some(1, 12) for _ in range(60)]
    prefixes = [some(2, 2) for _ in sources]
    config = SearchConfig(
        beam_size=beam_size, n_best=n_best, max_length_ratio=0.5, max_length_extra=6
    )

    found = ct2.search(sources, config, prefixes=prefixes)
    expected = pytorch.search(sources, config, prefixes=prefixes)

    assert any(len(best.ids) == 2 for best, *_ in expected)
    assert [best.ids for best, *_ in found] == [best.ids for best, *_ in expected]
    assert all(len({each.ids for each in of_one}) == len(of_one) for of_one in found)


def test_both_engines_go_on_in_the_same_ways(save: Save) -> None:
    directory = save(end=1.2)
    ct2, pytorch = engines(directory)
    (source,) = directory.load_tokenizers().source.encode_batch(TEXTS[:1])
    config = SearchConfig(beam_size=1, max_length_extra=10)
    for prefix in ([], [50, 51]):
        found = ct2.continue_in_ways(source, prefix, config, count=4)
        expected = pytorch.continue_in_ways(source, prefix, config, count=4)
        assert [h.ids for h in found] == [h.ids for h in expected]
        assert [h.score for h in found] == pytest.approx([h.score for h in expected], abs=1e-4)
    assert ct2.continue_in_ways([], [50], config, count=4) == [EMPTY]
    everywhere = [each.continue_in_ways(source, [50], config, count=400) for each in (ct2, pytorch)]
    all_found, all_expected = (sorted(way.ids for way in ways) for ways in everywhere)
    assert all_found == all_expected  # as there are no more tokens


def test_both_engines_go_on_for_as_long_where_the_prefix_decides_how_long(save: Save) -> None:
    ct2, pytorch = engines(save(end=-50.0))
    source, prefix = [5], [50, 51, 52, 53]
    config = SearchConfig(beam_size=1, max_length_ratio=1.0, max_length_extra=3)

    found = ct2.continue_in_ways(source, prefix, config, count=2)

    assert found[0].ids == pytorch.continue_in_ways(source, prefix, config, count=2)[0].ids

    sources, prefixes = [[5] * 9, source], [[], [50] * 30]
    (longest,), (begun,) = ct2.search(sources, config, prefixes=prefixes)

    assert (len(longest.ids), len(begun.ids)) == (9 + 3, 30 + 3)


def test_both_engines_judge_a_translation_alike(save: Save) -> None:
    directory = save()
    ct2, pytorch = engines(directory)
    sources, translations = [[5, 6, 7], [8], [9] * 30, []], [[40, 41], [], [50] * 12, []]
    ours = ct2.log_probabilities(sources, translations)
    for values, expected, translation in zip(
        ours, pytorch.log_probabilities(sources, translations), translations, strict=True
    ):
        assert len(values) == len(translation) + 1
        assert values == pytest.approx(expected, abs=1e-4)
    assert ct2.log_probabilities([], []) == []


def test_a_long_translation_is_judged_with_few_others(
    save: Save, monkeypatch: pytest.MonkeyPatch
) -> None:
    ct2, pytorch = engines(save())
    real, judged_together = ct2._translator, []

    class Recorder:
        def score_batch(self, sources: list[Any], targets: list[Any], **options: Any) -> Any:
            judged_together.append(len(targets) * max(map(len, targets)))
            return real.score_batch(sources, targets, **options)

    monkeypatch.setattr(ct2, "_translator", Recorder())
    sources = [[5, 6], []] * 150
    translations: list[list[int]] = [[40], [41, 42]] * 150
    translations[7] = [50] * 20

    values = ct2.log_probabilities(sources, translations)

    assert max(judged_together) < engine_module.TOKENS_PER_BATCH < 300 * 20
    expected = pytorch.log_probabilities(sources, translations)
    assert values[7] == pytest.approx(expected[7], abs=1e-4)
    assert values[0] == pytest.approx(expected[0], abs=1e-4)
    assert values[299] == pytest.approx(expected[299], abs=1e-4)


@pytest.mark.parametrize("engine", ["pytorch", "ctranslate2"])
def test_a_translation_can_be_begun_parted_and_judged(
    save: Save, engine: Literal["pytorch", "ctranslate2"]
) -> None:
    directory = save(end=1.2)
    export_ctranslate2(directory.path, quantization="float32")
    translator = Translator(directory.path, engine=engine, device="cpu")

    completed = translator.complete(TEXTS[0], "Vedo un")
    ways = translator.ways_to_continue(TEXTS[0], "", count=6)
    words = translator.judge(TEXTS[0], completed.text)

    assert completed.text.startswith("Vedo un")
    assert ways
    assert all(way.translation.split()[0] == way.word.text for way in ways)
    confidences = [way.word.confidence for way in ways]
    assert confidences == sorted(confidences, reverse=True)
    assert [word.text for word in words] == completed.text.split()
    assert all(0 < word.confidence <= 1 for word in words)


@pytest.mark.parametrize("beam_size", [1, 3])
def test_a_model_that_never_ends_is_stopped_at_the_limit_of_each_sentence(
    save: Save, beam_size: int
) -> None:
    directory = save(end=-50.0)
    ct2, _ = engines(directory)
    sources = directory.load_tokenizers().source.encode_batch(TEXTS)
    config = SearchConfig(beam_size=beam_size, max_length_ratio=1.0, max_length_extra=2)

    found = [hypotheses[0] for hypotheses in ct2.search(sources, config)]

    for source, hypothesis in zip(sources, found, strict=True):
        if source:
            assert len(hypothesis.ids) == len(source) + 2
            assert not hypothesis.finished


def test_a_model_that_ends_at_once_gives_an_empty_translation(save: Save) -> None:
    ct2, pytorch = engines(save(end=60.0))

    for engine in (ct2, pytorch):
        ((found,),) = engine.search([[5, 6]], SearchConfig(beam_size=3))
        assert (found.ids, found.finished) == ((), True)


@pytest.mark.parametrize("engine", ["pytorch", "ctranslate2"])
def test_an_empty_translation_gives_way_to_another_or_says_that_it_is_empty(
    save: Save, engine: Literal["pytorch", "ctranslate2"]
) -> None:
    directory = save(end=60.0)
    export_ctranslate2(directory.path, quantization="float32")
    texts = [text for text in TEXTS if text]

    found = list(Translator(directory.path, engine=engine, device="cpu").translate(texts))

    told = ["is empty" in translation.faults for translation in found]
    assert told == [not translation.text.strip() for translation in found]
    assert set(told) == {True, False}  # where another would be worse, it stays empty


def test_the_copy_is_rounded_and_smaller(save: Save) -> None:
    directory = save(d_model=64, d_ff=128)
    export_ctranslate2(directory.path, quantization="float32")
    exact = (directory.path / "ctranslate2" / "model.bin").stat().st_size

    proof = export_ctranslate2(directory.path)

    assert (directory.path / "ctranslate2" / "model.bin").stat().st_size < 0.6 * exact
    rounded = CTranslate2Engine(directory, directory.load_tokenizers())
    assert "int8" in rounded.name
    agreement = compare(LoadedModel.load(directory.path), EngineCopy(rounded))
    assert proof.num_equal == agreement.num_equal < agreement.num_sentences


def test_what_ctranslate2_cannot_do_is_refused(save: Save) -> None:
    directory = save()
    ct2, _ = engines(directory)

    with pytest.raises(UsageError, match="does not sample as Dragoman does; take engine pytorch"):
        ct2.search([[5]], SearchConfig(sampling_temperature=1.0))
    with pytest.raises(EngineError, match=r"20000 positions may be needed, but .* has only 2048"):
        ct2.search([[5]], SearchConfig(max_length_ratio=0.0, max_length_extra=20_000))
    with pytest.raises(EngineError, match=r"2049 positions may be needed, but .* has only 2048"):
        ct2.log_probabilities([[5]], [[5] * 2048])
    with pytest.raises(UsageError, match="used on the CPU here, not on cuda"):
        Translator(directory.path, engine="ctranslate2", device="cuda")


def test_a_copy_has_all_positions_that_its_model_asks_for(save: Save) -> None:
    directory = save(max_length=3000)
    ct2, pytorch = engines(directory)
    long = [5, 6, 7] * 900

    (found,), (expected,) = (engine.log_probabilities([long], [long]) for engine in (ct2, pytorch))

    assert len(found) == len(long) + 1
    assert found == pytest.approx(expected, abs=1e-3)


def test_a_copy_can_judge_what_has_met_the_length_limit(save: Save) -> None:
    directory = save(max_length=300)
    update_description(directory.path, search={"max_length_extra": FEWEST_POSITIONS - 600})
    limit = ModelDirectory(directory.path).search.max_length(300)
    assert limit == FEWEST_POSITIONS
    ct2, _ = engines(directory)

    (found,) = ct2.log_probabilities([[5]], [[5] * limit])

    assert len(found) == limit + 1


def test_a_layer_norm_that_ctranslate2_lacks_is_refused(save: Save) -> None:
    directory = save(layer_norm="scalar")

    with pytest.raises(ExportError, match="no layer norm of the kind 'scalar'"):
        export_ctranslate2(directory.path)

    assert not (directory.path / "ctranslate2").exists()


def test_an_activation_of_somebody_s_own_is_refused(
    save: Save, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = save(activation="silu")
    monkeypatch.delitem(exporting._ACTIVATIONS, "silu")

    with pytest.raises(ExportError, match="knows no activation 'silu'; take --to onnx"):
        export_ctranslate2(directory.path)


def test_a_positional_encoding_of_somebody_s_own_is_refused(
    save: Save, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = save()
    monkeypatch.setattr(exporting, "_POSITIONS", ("rotary",))

    with pytest.raises(ExportError, match="no positional encoding 'interleaved'; take --to onnx"):
        export_ctranslate2(directory.path)


def forget_a_norm(monkeypatch: pytest.MonkeyPatch) -> None:
    fill = exporting._fill_norm

    def leave_the_bias(spec: Any, norm: Any) -> None:
        fill(spec, norm)
        spec.beta = spec.beta * 0

    monkeypatch.setattr(exporting, "_fill_norm", leave_the_bias)


def swap_keys_and_values(monkeypatch: pytest.MonkeyPatch) -> None:
    fill = exporting._fill_linear
    monkeypatch.setattr(
        exporting, "_fill_linear", lambda spec, *linears: fill(spec, *reversed(linears))
    )


def take_other_positions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporting, "sinusoids", lambda n, d, _: sinusoids(n, d, "marian"))


@pytest.mark.parametrize("mistake", [forget_a_norm, swap_keys_and_values, take_other_positions])
def test_a_copy_that_computes_something_else_is_not_written(
    save: Save, mistake: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = save()
    before = sorted(directory.path.iterdir())
    mistake(monkeypatch)

    with pytest.raises(
        ExportError, match=r"the copy computes something else: .* nothing was writt"
    ):
        export_ctranslate2(directory.path)

    assert sorted(directory.path.iterdir()) == before


@pytest.mark.parametrize("output", [[], ["-o", "elsewhere"]])
def test_what_rounding_does_to_random_texts_alarms_nobody(
    output: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    exact = Agreement(num_sentences=20, num_equal=20, largest_difference=1e-6)
    proof = Proof(in_single_precision=exact, num_equal=8)
    monkeypatch.setattr(exporting, "export_ctranslate2", lambda *_, **settings: proof)

    main(["export", "m", "--to", "ctranslate2", *output])

    told, alarmed = capsys.readouterr()
    assert "with int8: 8 of 20 texts of random tokens are translated the same; no model" in told
    assert alarmed == ""
    comparison = (
        "dragoman evaluate m PAIRS with --engine ctranslate2, and then with --engine pytorch"
    )
    assert (comparison in told) == (not output)  # only the copy in the model is used by it


def test_after_the_export_nothing_needs_pytorch(
    save: Save, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = save()
    expected = Translator(directory.path, engine="pytorch", device="cpu")(TEXTS)

    assert (
        main(["export", str(directory.path), "--to", "ctranslate2", "--quantization", "float32"])
        == 0
    )

    printed = capsys.readouterr().out
    assert "proved in float32: 20 of 20 translations by CTranslate2 equal" in printed
    assert f"wrote {directory.path / 'ctranslate2'}" in printed
    main(["export", str(directory.path), "--to", "ctranslate2", "--json"])
    told = json.loads(capsys.readouterr().out)
    assert (told["output"], told["quantization"]) == (f"{directory.path / 'ctranslate2'}", "int8")
    assert told["in_single_precision"]["num_equal"] == 20
    main(["export", str(directory.path), "--to", "ctranslate2", "--quantization", "float32"])
    program = (
        "import json, sys\n"
        "sys.modules['torch'] = None\n"
        "from dragoman import Translator\n"
        "translator = Translator(sys.argv[1])\n"
        "print(json.dumps([translator.engine, *translator(json.loads(sys.argv[2]))]))"
    )
    command = [sys.executable, "-c", program, str(directory.path), json.dumps(TEXTS)]
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    engine, *found = json.loads(run.stdout)
    assert engine.startswith("CTranslate2")
    assert found == expected


@pytest.mark.parametrize("missing", ["torch", "jaxtyping"])
def test_terms_are_kept_as_far_as_possible_without_pytorch(save: Save, missing: str) -> None:
    directory = save()
    export_ctranslate2(directory.path)
    program = (
        "import sys\n"
        f"sys.modules[{missing!r}] = None\n"
        "from dragoman import Translator\n"
        "print(Translator(sys.argv[1], device='cpu')('The cat sees 12 %s.'))"
    )
    run = subprocess.run(
        [sys.executable, "-c", program, str(directory.path)],
        check=True,
        capture_output=True,
        text=True,
    )

    assert "12" in run.stdout
    assert "%s" in run.stdout


def test_what_is_begun_with_the_copy_keeps_its_terms(save: Save) -> None:
    directory = save(end=1.2)
    export_ctranslate2(directory.path, quantization="float32")
    translator = Translator(directory.path, device="cpu")
    assert translator.engine.startswith("CTranslate2")

    completed = translator.complete("The cat sees 12 %s.", "Vedo")
    ways = translator.ways_to_continue("The cat sees 12 %s.", "Vedo", count=4)

    assert completed.text.startswith("Vedo")
    for text, faults in [(completed.text, completed.faults), *((w[1], w.faults) for w in ways)]:
        assert "12" in text
        assert "%s" in text
        assert "changes what must stay as it is" not in faults


@pytest.mark.parametrize("without_pytorch", [True, False])
def test_a_gpu_that_pytorch_cannot_use_does_not_keep_the_copy_from_working(
    save: Save, monkeypatch: pytest.MonkeyPatch, without_pytorch: bool
) -> None:
    directory = save()
    export_ctranslate2(directory.path)
    monkeypatch.setattr("ctranslate2.get_cuda_device_count", lambda: 1)
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    if without_pytorch:
        monkeypatch.setitem(sys.modules, "torch", None)

    assert Translator(directory.path).engine.startswith("CTranslate2")


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_rounded_weights_that_give_no_numbers_are_refused(save: Save, value: float) -> None:
    model = LoadedModel.load(save().path)

    class Broken:
        def translate(self, sources: Sequence[Sequence[int]]) -> list[list[int]]:
            return model.in_pytorch.translate(sources)

        def score(self, pairs: Sequence[Pair]) -> list[list[float]]:
            return [[value, *values[1:]] for values in model.in_pytorch.score(pairs)]

    assert compare_rounded(model, model.in_pytorch).holds
    with pytest.raises(ExportError, match="not numbers; take --quantization float32"):
        compare_rounded(model, Broken())


def test_a_copy_of_other_weights_is_not_used(
    save: Save, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = save()
    with pytest.raises(
        EngineError, match=r'no copy for CTranslate2; "dragoman export .* makes one'
    ):
        Translator(directory.path, engine="ctranslate2")
    assert Translator(directory.path, device="cpu").engine.startswith("PyTorch")
    export_ctranslate2(directory.path)
    assert Translator(directory.path, device="cpu").engine.startswith("CTranslate2")
    sampling = SearchConfig(sampling_temperature=1.0)
    assert Translator(directory.path, device="cpu", search=sampling).engine.startswith("PyTorch")

    directory = save()  # trained again

    assert Translator(directory.path, device="cpu").engine.startswith("PyTorch")
    with pytest.raises(EngineError, match="ctranslate2: made from other weights"):
        Translator(directory.path, engine="ctranslate2")
    assert TranslationOptions(device="cpu").load(directory.path).engine.startswith("PyTorch")
    assert "ctranslate2: made from other weights" in capsys.readouterr().err


def test_damaged_weights_are_told_where_a_second_engine_is_needed(save: Save) -> None:
    directory = save()
    export_ctranslate2(directory.path)
    translator = Translator(directory.path, device="cpu")
    weights = directory.path / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)

    with pytest.raises(ModelError, match=r"model\.safetensors: not the weights"):
        translator("the %s cat {x} 4711")
    weights.unlink()  # as of a model that is given away as its copy

    assert Translator(directory.path, device="cpu")("the %s cat {x} 4711")


def test_a_second_engine_is_found_when_the_program_works_in_another_folder_by_then(
    save: Save, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = save()
    export_ctranslate2(directory.path)
    monkeypatch.chdir(directory.path)
    translator = Translator(".", device="cpu")
    assert translator.engine.startswith("CTranslate2")
    monkeypatch.chdir("/")

    (drawn,) = translator.translate(["the cat"], SearchConfig(sampling_temperature=1.0, n_best=2))

    assert len(drawn.alternatives) == 2


@pytest.mark.parametrize("name", ["model.bin", "shared_vocabulary.json"])
@pytest.mark.parametrize("damage", ["flip", "cut", "gone", "device"])
def test_a_copy_that_is_not_what_was_written_is_refused(save: Save, name: str, damage: str) -> None:
    directory = save()
    export_ctranslate2(directory.path)
    path = directory.path / "ctranslate2" / name
    content = bytearray(path.read_bytes())
    path.unlink()
    if damage == "flip":
        content[-9] ^= 1
        path.write_bytes(content)
    elif damage == "cut":
        path.write_bytes(content[:-1])
    elif damage == "device":
        path.symlink_to("/dev/zero")

    with pytest.raises(EngineError, match=f"{name}: (not what|cannot be).*dragoman export "):
        Translator(directory.path, engine="ctranslate2")


def test_to_export_again_replaces_a_copy_that_is_damaged(save: Save) -> None:
    directory = save()
    export_ctranslate2(directory.path)
    for name in ["model.bin", "shared_vocabulary.json"]:
        (directory.path / "ctranslate2" / name).write_bytes(b"")

    export_ctranslate2(directory.path)

    assert Translator(directory.path, engine="ctranslate2")(TEXTS)


def test_a_copy_that_cannot_be_read_is_not_passed_over_in_silence(
    save: Save, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = save()
    export_ctranslate2(directory.path)
    copy = directory.path / "ctranslate2"
    (copy / "config.json").unlink()

    assert TranslationOptions(device="cpu").load(directory.path).engine.startswith("PyTorch")

    said = f"the copy for CTranslate2 is not used: {copy / 'config.json'}: it is missing; move "
    assert f'{said}{copy} away, and "dragoman export ' in capsys.readouterr().err
    copy.rename(directory.path / "away")  # an export does not replace what it cannot recognise
    export_ctranslate2(directory.path)
    assert Translator(directory.path).engine.startswith("CTranslate2")


def test_a_copy_by_release_0_1_0_has_no_checksums_and_is_read(save: Save) -> None:
    directory = save()
    export_ctranslate2(directory.path)
    path = directory.path / "ctranslate2" / "config.json"
    config = json.loads(path.read_bytes())
    assert set(config.pop("dragoman_sha256")) == {
        file.name for file in path.parent.iterdir() if file != path
    }
    expected = Translator(directory.path, engine="ctranslate2")(TEXTS)

    path.write_text(json.dumps(config))

    assert Translator(directory.path, engine="ctranslate2")(TEXTS) == expected


SHARED = "shared_vocabulary.json"


def test_a_copy_that_writes_tokens_that_the_model_has_not_is_told(save: Save) -> None:
    directory = save()
    export_ctranslate2(directory.path)
    path = directory.path / "ctranslate2" / "config.json"
    config, pieces = (json.loads(file.read_bytes()) for file in (path, path.with_name(SHARED)))
    del config["dragoman_sha256"]
    path.write_text(json.dumps(config))
    path.with_name(SHARED).write_text(
        json.dumps(pieces[:4] + [f"{piece}~" for piece in pieces[4:]])
    )

    with pytest.raises(EngineError, match=r"~', which is not in the model's vocabulary; export it"):
        Translator(directory.path, engine="ctranslate2")(TEXTS)


ELSEWHERE = [
    json.dumps({"dragoman_num_positions": 9, "dragoman_sha256": {name: "0"}})
    for name in ("../../secret", "/etc/hostname", "..", "", "a/b", "\0")
]


def test_a_copy_whose_settings_never_end_is_not_read(save: Save) -> None:
    directory = save()
    (directory.path / "ctranslate2").mkdir()
    os.mkfifo(directory.path / "ctranslate2" / "config.json")

    with pytest.raises(EngineError, match=r"config\.json: cannot be read: not a file"):
        Translator(directory.path, engine="ctranslate2")

    (directory.path / "ctranslate2" / "config.json").unlink()
    with (directory.path / "ctranslate2" / "config.json").open("wb") as file:
        file.truncate(2**27)
    with pytest.raises(EngineError, match=r"config\.json: cannot be read: more than 1 MiB"):
        Translator(directory.path, engine="ctranslate2")


@pytest.mark.parametrize(
    "content",
    ["", "{}", "[1]", "[" * 100_000, '{"dragoman_num_positions": "many"}', LIST, *ELSEWHERE],
)
def test_a_damaged_copy_is_refused(save: Save, content: str) -> None:
    directory = save()
    (directory.path / "ctranslate2").mkdir()
    (directory.path / "ctranslate2" / "config.json").write_text(content)

    with pytest.raises(EngineError, match=r"config\.json: (not JSON|not a copy made by drag)"):
        Translator(directory.path, engine="ctranslate2")
