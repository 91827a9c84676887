"""A validation loss is a cross-entropy; translations are those that a user would get."""

from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
import torch

from dragoman.evaluation.metrics import score
from dragoman.model.transformer import Transformer
from dragoman.pipeline.publication import Publisher
from dragoman.pipeline.run import _prepare_text, _validator
from dragoman.pipeline.validation import Validator, validation_metrics
from dragoman.recipe import Recipe
from dragoman.tokenizers.tokenizer import BOS_ID, EOS_ID, PAD_ID, UNK_ID
from dragoman.training.averaging import weights_of
from dragoman.training.display import Display
from dragoman.training.objective import Loss, Objective
from dragoman.training.progress import Progress
from dragoman.translator import Translator

from .conftest import MakeRecipe, sentences, write_lines


def build(recipe: Recipe, directory: Path) -> tuple[Validator, Objective]:
    text = _prepare_text(recipe, directory, Display())
    torch.manual_seed(4)
    transformer = Transformer(
        recipe.model,
        source_vocab_size=text.tokenizers.source.vocab_size,
        target_vocab_size=text.tokenizers.target.vocab_size,
        padding_id=PAD_ID,
    )
    objective = Objective(Loss(transformer, label_smoothing=0.1), dtype=torch.float32)
    return _validator(recipe, text), objective.eval()


@torch.no_grad()
def mean_cross_entropy(validator: Validator, transformer: Transformer) -> float:
    """Add up the surprise of each target token, a pair at a time and without padding."""
    surprise, tokens = 0.0, 0
    for pair in validator.pairs:
        source = [*validator.tokenizers.source.encode(pair.source), EOS_ID]
        target = [BOS_ID, *validator.tokenizers.target.encode(pair.target), EOS_ID]
        logits = transformer(torch.tensor([source]), torch.tensor([target[:-1]]))[0]
        for position, token in enumerate(target[1:]):
            surprise -= float(logits[position].double().log_softmax(dim=0)[token])
            tokens += 1
    return surprise / tokens


def test_the_loss_is_the_mean_surprise_of_a_target_token(
    make_recipe: MakeRecipe, tmp_path: Path
) -> None:
    recipe = make_recipe(
        model__dropout=0.4, batching__tokens_per_update=20, batching__max_tokens_per_micro_batch=14
    )
    validator, objective = build(recipe, tmp_path)

    validation = validator(objective, False)

    assert validator.batches.epoch(0).num_updates > 1

    expected = mean_cross_entropy(validator, objective.transformer)
    assert dict(validation.metrics) == {"loss": pytest.approx(expected, rel=1e-5)}


def test_a_recipe_that_draws_is_validated_by_a_search(
    make_recipe: MakeRecipe, tmp_path: Path
) -> None:
    recipe = make_recipe(search__sampling_temperature=1.0, search__top_k=5, search__n_best=3)

    validator, _ = build(recipe, tmp_path)

    assert not validator.search.samples
    assert (validator.search.beam_size, validator.search.n_best) == (
        recipe.training.search_beam_size,
        1,
    )


def test_a_search_adds_scores_and_samples_of_other_places(
    make_recipe: MakeRecipe, tmp_path: Path
) -> None:
    validator, objective = build(make_recipe(), tmp_path)

    validation = validator(objective, True)

    assert set(validation.metrics) == {"loss", "BLEU", "chrF"}
    sources = [pair.source for pair in validator.pairs]
    assert [sample.source for sample in validation.samples] == [sources[i] for i in (0, 2, 4)]


def test_translations_are_those_that_the_published_model_makes(
    make_recipe: MakeRecipe, tmp_path: Path
) -> None:
    """In the number format of the training, also of a text that is cut for its length."""
    too_long = f"{'one two three ' * 6}\tuno"
    paths = {
        "train": write_lines(tmp_path / "train.tsv", sentences(100, 150)),
        "validation": write_lines(tmp_path / "held.tsv", [*sentences(200, 229), too_long]),
    }
    corpora = {use: [{"path": path}] for use, path in paths.items()}
    recipe = make_recipe(corpora=corpora, search__beam_size=1, training__search_beam_size=3)
    run = tmp_path / "run"
    validator, objective = build(recipe, run)
    weights = weights_of(objective.transformer)
    for weight in weights.values():
        weight.add_(0.6 * torch.randn_like(weight))  # so that it does not always say the same
    Publisher(recipe, _prepare_text(recipe, run, Display()), run).publish(weights, Progress())
    sources = [pair.source for pair in validator.pairs]
    search = replace(recipe.search, beam_size=3)

    formats: dict[Literal["fp32", "bf16"], torch.dtype]
    formats, found = {"fp32": torch.float32, "bf16": torch.bfloat16}, {}
    for precision, dtype in formats.items():
        found[precision] = validator._translate(Objective(objective.loss, dtype=dtype))
        translator = Translator(
            run, engine="pytorch", device="cpu", precision=precision, search=search
        )
        assert found[precision] == translator(sources)

    greedy = Translator(run, engine="pytorch", device="cpu", precision="fp32")
    assert found["fp32"] not in (found["bf16"], greedy(sources))
    assert len(sources[-1].split()) > recipe.batching.max_length
    validation = validator(objective, True)
    translations = [sample.translation for sample in validation.samples]
    assert translations == found["fp32"][::10]
    assert len(set(translations)) > 1
    targets = [pair.target for pair in validator.pairs]
    for result in score(found["fp32"], targets, validation_metrics(recipe)):
        assert validation.metrics[result.name] == result.value


def test_a_validation_scores_as_the_recipe_says(make_recipe: MakeRecipe) -> None:
    config = validation_metrics(make_recipe(evaluation__tokenize="char", evaluation__seed=1))

    assert (config.tokenize, config.seed) == ("char", 1)
    assert (config.metrics, config.bootstrap_samples) == (("BLEU", "chrF"), 0)


def prefer_unknown(transformer: Transformer) -> None:
    """Make the unknown token the most probable one, everywhere."""
    with torch.no_grad():
        for name, parameter in transformer.named_parameters():
            is_bias_of_norm = name.endswith("bias") and parameter.dim() == 1 and "norm" in name
            parameter.fill_(1.0 if is_bias_of_norm else 0.0)
        transformer.projection.linear.weight[UNK_ID] = 1.0


@pytest.mark.parametrize(("kind", "has_unknown"), [("words", True), ("bpe", False)])
def test_words_may_be_unknown_and_subwords_may_not(
    kind: str, has_unknown: bool, make_recipe: MakeRecipe, tmp_path: Path
) -> None:
    validator, objective = build(make_recipe(tokenizer={"kind": kind}), tmp_path)
    prefer_unknown(objective.transformer)
    unknown = validator.tokenizers.target.decode([UNK_ID]).strip()

    samples = validator(objective, True).samples

    assert [unknown in sample.translation for sample in samples] == [has_unknown] * 3
