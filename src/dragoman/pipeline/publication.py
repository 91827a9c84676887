"""Write the model directory of a run: weights, description and model card."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path, PurePath
from shlex import quote
from typing import Any

import torch

from dragoman.config import to_table
from dragoman.corpora.clean_text import Say
from dragoman.corpora.config import CorpusConfig
from dragoman.corpora.parallel_text import read_pairs
from dragoman.corpora.prepared_text import PreparedText
from dragoman.device import choose_device, device_name
from dragoman.durable import write_atomically
from dragoman.evaluation.metrics import score
from dragoman.evaluation.report import scores_to_table, scores_to_text
from dragoman.model_directory import (
    ModelDescription,
    ModelDirectory,
    TokenizerDescription,
    save_model,
    update_description,
)
from dragoman.pipeline.initial_weights import fingerprint_start
from dragoman.pipeline.model_card import CARD, model_card
from dragoman.recipe import Recipe
from dragoman.training.averaging import Weights
from dragoman.training.display import Display
from dragoman.training.loop import Trainer, score_of
from dragoman.training.progress import Progress
from dragoman.translation import remark_on_cut
from dragoman.translator import Translator


@dataclass(frozen=True)
class Publisher:
    """Turns weights into the model directory that people use."""

    recipe: Recipe
    text: PreparedText
    directory: Path

    def publish(
        self,
        weights: Weights,
        progress: Progress,
        *,
        name: str | None = None,
        scores: dict[str, Any] | None = None,
    ) -> None:
        """Write the model, so that a run can be used before it ends.

        Args:
            weights: Those of the model.
            progress: How far the run is.
            name: Which weights they are; by default, those of the last update.
            scores: On the test sets.
        """
        tokenizers = self.text.tokenizers
        start = fingerprint_start(self.recipe.training.begins_with, self.directory)
        description = ModelDescription(
            source_language=self.recipe.source_language,
            target_language=self.recipe.target_language,
            model=self.recipe.model,
            tokenizer=TokenizerDescription.of(tokenizers, self.recipe.tokenizer),
            special_ids=tokenizers.target.special_ids,
            max_length=self.recipe.batching.max_length,
            search=to_table(self.recipe.search),
            training={
                "updates": progress.update,
                "weights": name or f"update {progress.update}",
                "target_tokens": progress.tokens,
                "minutes": round(progress.seconds / 60, 1),
                "recipe": to_table(self.recipe),
                "corpora": [asdict(corpus) for corpus in self.text.summary.corpora],
                "sha256": self.text.summary.files | start,
                "scores": scores or {},
            },
            software={
                "threads": str(torch.get_num_threads()),
                "device": device_name(choose_device(self.recipe.training.device)),
            },
        )
        written = save_model(self.directory, description, tokenizers, weights)
        write_atomically(self.directory / CARD, model_card(written, self.recipe.licence))

    def finish(self, trainer: Trainer, display: Display) -> None:
        """Publish the best weights of a finished run, with its scores on the test sets."""
        name, weights = self._best(trainer, display)
        self.publish(weights, trainer.progress, name=name)
        if scores := score_tests(self.recipe, self.directory, display.message):
            self.publish(weights, trainer.progress, name=name, scores=scores)
        display.message(
            f"the model is in {self.directory}; to make it translate faster: "
            f"dragoman export {quote(str(self.directory))} --to ctranslate2"
        )

    def _best(self, trainer: Trainer, display: Display) -> tuple[str, Weights]:
        """Validate the candidates and take the best one."""
        judged = []
        for name, weights in trainer.candidates():
            validation = trainer.validate_weights(weights)
            display.message(f"candidate {name}: {validation.summary()}")
            judged.append((score_of(validation, self.recipe.training.metric), name, weights))
        _, name, weights = max(judged, key=lambda candidate: candidate[0])
        return name, weights


def score_tests(recipe: Recipe, directory: Path, say: Say) -> dict[str, Any]:
    """Translate and score each test set of a recipe with a model as it was published.

    Args:
        recipe: Names the test sets, and how they are scored.
        directory: The model.
        say: Is told the scores of each.

    Returns:
        Scores by test set, as a description keeps them.
    """
    corpora = recipe.corpora.test
    if not corpora:
        return {}
    training = recipe.training
    translator = Translator(
        directory, engine="pytorch", device=training.device, precision=training.precision
    )
    tables = {}
    for name, corpus in zip(unique_names(corpora), corpora, strict=True):
        pairs = list(read_pairs(corpus, languages=recipe.languages))
        translations = list(translator.translate(pair.source for pair in pairs))
        if remark := remark_on_cut(translations):
            say(f"warning: {name}: {remark}")
        texts = [translation.text for translation in translations]
        scores = score(texts, [pair.target for pair in pairs], recipe.evaluation)
        say(f"{name}: {scores_to_text(scores)}")
        tables[name] = _without_none(scores_to_table(scores))
    return tables


def keep_scores(directory: Path, scores: dict[str, Any]) -> None:
    """Write scores into the description and the card of a model that has a recipe."""
    training = ModelDirectory(directory).description.training
    changed = update_description(directory, training={**training, "scores": scores})
    write_atomically(directory / CARD, model_card(changed, training["recipe"]["licence"]))


def relicense(directory: Path, licence: str) -> None:
    """Change the licence in the description and the card of a model, if it is another one."""
    training = ModelDirectory(directory).description.training
    if training["recipe"]["licence"] != licence:
        recipe = {**training["recipe"], "licence": licence}
        changed = update_description(directory, training={**training, "recipe": recipe})
        write_atomically(directory / CARD, model_card(changed, licence))


def unique_names(corpora: Sequence[CorpusConfig]) -> list[str]:
    """Name corpora by their files; those that share a name by their directory, too."""
    names = [corpus.name for corpus in corpora]
    shared = {name for name in names if names.count(name) > 1}
    for i, corpus in enumerate(corpora):
        if names[i] in shared:
            parent = PurePath(corpus.file).parent.name
            names[i] = f"{parent}/{names[i]}".lstrip("/")
    return [
        name if names.count(name) == 1 else f"{name} ({number})"
        for number, name in enumerate(names, start=1)
    ]


def _without_none(scores: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Leave out the intervals that were not computed: TOML has no null."""
    return {
        name: {key: value for key, value in score.items() if value is not None}
        for name, score in scores.items()
    }
