"""Evaluate a model while it is trained: its loss, and its translations."""

from collections.abc import Sequence
from dataclasses import replace

import torch

from dragoman.corpora.batching import Batches, Position
from dragoman.corpora.prepared_text import PreparedText
from dragoman.engines.pytorch import PyTorchEngine
from dragoman.evaluation.config import EvaluationConfig
from dragoman.evaluation.metrics import score
from dragoman.recipe import Recipe
from dragoman.tokenizers.tokenizer import forbidden_ids
from dragoman.training.objective import Objective
from dragoman.training.step import MicroBatch
from dragoman.training.validation import Sample, Validation
from dragoman.translator import Translator

NUM_SAMPLES = 3

TOKENS_ON_GPU = 2**16
"""Of a GPU's memory, training holds most."""


class Validator:
    """Validates on a fixed text; called by the trainer."""

    def __init__(self, batches: Batches, text: PreparedText, recipe: Recipe) -> None:
        self.batches = batches
        self.pairs = text.validation
        self.tokenizers = text.tokenizers
        self.recipe = recipe
        self.search = replace(
            recipe.search.without_sampling(), beam_size=recipe.training.search_beam_size
        )
        self.evaluation = validation_metrics(recipe)

    def __call__(self, objective: Objective, search: bool) -> Validation:
        """Compute the loss and, if asked to search, BLEU and chrF of real translations."""
        metrics = {"loss": self._loss(objective)}
        if not search:
            return Validation(metrics)
        translations = self._translate(objective)
        references = [pair.target for pair in self.pairs]
        for result in score(translations, references, self.evaluation):
            metrics[result.name] = result.value
        return Validation(metrics, self._samples(translations))

    @torch.no_grad()
    def _loss(self, objective: Objective) -> float:
        """Compute the mean cross-entropy of a target token, in nats, without label smoothing."""
        device = next(objective.parameters()).device
        loss, tokens = 0.0, 0
        for update in self.batches.updates(Position(0, 0)):
            for batch in update.micro_batches:
                on_device = MicroBatch.on(device, batch)
                loss += float(objective(on_device.source, on_device.target))
            tokens += update.num_target_tokens
            if update.ends_epoch:
                break
        return loss / tokens

    def _translate(self, objective: Objective) -> list[str]:
        """Translate the sources of the validation text as a user would get them."""
        special = self.tokenizers.target.special_ids
        engine = PyTorchEngine(
            objective.transformer,
            special,
            dtype=objective.dtype,
            forbidden_ids=forbidden_ids(self.recipe.tokenizer.kind, special),
            tokens_per_batch=TOKENS_ON_GPU if next(objective.parameters()).is_cuda else None,
        )
        translator = Translator.from_engine(
            engine,
            self.tokenizers,
            languages=self.recipe.languages,
            max_length=self.recipe.batching.max_length,
            search=self.search,
        )
        return translator([pair.source for pair in self.pairs])

    def _samples(self, translations: Sequence[str]) -> list[Sample]:
        """Show the same few sentences each time, from across the text."""
        step = max(1, len(self.pairs) // NUM_SAMPLES)
        return [
            Sample(self.pairs[i].source, self.pairs[i].target, translations[i])
            for i in range(0, len(self.pairs), step)
        ][:NUM_SAMPLES]


def validation_metrics(recipe: Recipe) -> EvaluationConfig:
    """Choose the scores of a validation: two that are quick, without intervals."""
    return replace(recipe.evaluation, metrics=("BLEU", "chrF"), bootstrap_samples=0)
