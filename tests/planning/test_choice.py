"""Rules that choose sizes, at their edges."""

from dataclasses import replace

import pytest

from dragoman.corpora.config import CorpusConfig
from dragoman.planning.choice import (
    Candidate,
    candidates,
    fits,
    sections,
    tokens_per_update,
    values,
)
from dragoman.planning.text import TextMeasure
from dragoman.recipe import recipe_from_table

TEXT = TextMeasure(
    share_too_long=0.0,
    pairs=30_000,
    may_validate=30_000,
    target_tokens=500_000,
    epoch_tokens=500_000,
    effective_tokens=500_000,
    max_length=48,
    vocab_size=6000,
    sample=(CorpusConfig(path="sample.tsv"),),
    warnings=(),
    cleaning_seconds=1.0,
    further_vocabulary_seconds=0.0,
    vocabulary_mib=80.0,
)


def test_candidates_come_by_size_with_the_vocabulary_counted() -> None:
    names = [candidate.preset for candidate in candidates(6000)]
    tiny = {size: candidates(size)[-1].parameters for size in (6000, 7000)}

    assert names == ["big", "base", "small", "tiny"]
    assert tiny[7000] - tiny[6000] == 1000 * 128


@pytest.mark.parametrize(
    ("parameters", "tokens_seen", "expected"),
    [
        (8_000_000, 10_000_000, True),
        (8_000_001, 90_000_000, False),  # more than 16 for each token of the text
        (8_000_000, 9_999_999, False),  # fewer than 1.25 tokens seen for each
    ],
)
def test_a_model_needs_text_and_time(parameters: int, tokens_seen: int, expected: bool) -> None:
    assert fits(Candidate("any", parameters), TEXT, tokens_seen) is expected


@pytest.mark.parametrize(
    ("tokens_seen", "size"),
    [(0, 1024), (2047 * 3000, 1024), (2048 * 3000, 2048), (10**12, 4096)],
)
def test_an_update_is_a_power_of_two_that_leaves_room_for_many(
    tokens_seen: float, size: int
) -> None:
    assert tokens_per_update(tokens_seen, most=4096) == size


@pytest.mark.parametrize(
    ("epochs", "parameters", "dropout", "why"),
    [
        (7, 4_900_000, 0.1, "the text is seen 7 times"),
        (8, 4_900_000, 0.15, "the text is seen 8 times"),
        (15, 4_900_000, 0.2, "the text is seen 15 times"),
        (40, 4_900_000, 0.3, "the text is seen 40 times"),
        (7, 5_000_000, 0.1, "the text is seen 7 times"),
        (8, 5_000_000, 0.3, "10 parameters for each token of the text"),
    ],
)
@pytest.mark.parametrize("preset", ["tiny", "small", "base", "big"])
def test_the_sections_are_a_recipe(
    preset: str, epochs: int, parameters: int, dropout: float, why: str
) -> None:
    updates = epochs * TEXT.target_tokens // 1000

    chosen = sections(
        Candidate(preset, parameters),
        replace(TEXT, max_length=256),
        update_tokens=1000,
        updates=updates,
    )
    recipe = recipe_from_table(
        {
            "source_language": "en",
            "target_language": "it",
            "corpora": {"train": [{"path": "pairs.tsv"}]},
            **values(chosen),
        }
    )

    assert recipe.model.dropout == dropout
    assert recipe.training.weight_decay == 0.1
    assert chosen["model"]["dropout"].why == why
    assert all(setting.why for of_section in chosen.values() for setting in of_section.values())

    assert recipe.training.updates == updates
    if recipe.training.optimizer == "adamw":
        assert recipe.training.learning_rate == pytest.approx(0.4 / recipe.model.d_model, rel=0.05)
    assert (recipe.training.optimizer == "muon") == (preset in ("tiny", "small"))
    assert recipe.search.length_penalty == 1.0
    assert recipe.training.updates // recipe.training.validate_every == 10


@pytest.mark.parametrize(("updates", "warmup"), [(5, 1), (120, 10), (24_000, 500)])
def test_a_plan_warms_up_briefly_and_cools_down_to_its_end(updates: int, warmup: int) -> None:
    chosen = values(sections(Candidate("tiny", 1), TEXT, update_tokens=1024, updates=updates))

    training, batching = chosen["training"], chosen["batching"]
    assert training["warmup_updates"] == warmup
    assert training["validate_every"] == max(1, updates // 10)
    assert (training["schedule"], training["patience"]) == ("cosine", 0)
    assert training["learning_rate"] == 6e-3  # measured for this width
    assert (batching["max_length"], batching["fill_up"]) == (TEXT.max_length, True)


def test_a_gpu_computes_an_update_at_once() -> None:
    parts = [
        values(
            sections(Candidate("base", 1), TEXT, update_tokens=16_384, updates=100, on_gpu=on_gpu)
        )["batching"]["max_tokens_per_micro_batch"]
        for on_gpu in (False, True)
    ]

    assert parts == [4096, 16_384]


@pytest.mark.parametrize(
    ("updates", "update_tokens", "too_large", "of_model", "of_update"),
    [
        (1600, 2048, None, "the largest that text and time are enough for", "guessed to leave"),
        (1500, 2048, None, "the smallest", "guessed to leave"),
        (5000, 1024, None, "the largest that text and time are enough for", "the least"),
        (5000, 1024, "small", "memory is too small for small", "the least"),
    ],
)
def test_the_reasons_fit_the_case(
    updates: int, update_tokens: int, too_large: str | None, of_model: str, of_update: str
) -> None:
    chosen = sections(
        Candidate("tiny", 2_500_000),  # as large as the text allows
        TEXT,
        update_tokens=update_tokens,
        updates=updates,
        too_large=too_large,
    )

    assert chosen["model"]["preset"].why == of_model
    assert chosen["batching"]["tokens_per_update"].why.startswith(of_update)
