"""Dragoman's own interface: everything that is known about a translation."""

import asyncio
from typing import Any

from fastapi import APIRouter, Request
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from pydantic import BaseModel, Field
from starlette.responses import PlainTextResponse, Response

from dragoman.languages.codes import language_name
from dragoman.serving.alignments import (
    MOST_ALIGNED_CHARACTERS,
    Alignment,
    align_answers,
    check_can_be_aligned,
)
from dragoman.serving.dependencies import RequiresKey, Service
from dragoman.serving.fields import OwnFields, read_fields
from dragoman.serving.openapi import accepts, refuses
from dragoman.serving.service import Answer, Order, TranslationService
from dragoman.serving.settings import MOST_ALTERNATIVES
from dragoman.translator import Translator

router = APIRouter(tags=["Dragoman"])


class Wanted(OwnFields):
    """Texts to translate."""

    text: str | list[str]
    target: str = Field(description="A language code.")
    source: str | None = Field(
        default=None, description="A language code; left out, it is found out."
    )
    n_best: int = Field(default=1, ge=1, le=MOST_ALTERNATIVES)
    words: bool = Field(
        default=False, description="Whether to cut the text and its translations into words, too."
    )

    def order(self) -> Order:
        """Write what is wanted as all protocols do."""
        return Order(
            texts=[self.text] if isinstance(self.text, str) else self.text,
            source=self.source,
            target=self.target,
            num_alternatives=self.n_best,
        )


class Texts(Wanted):
    """What to translate."""

    alignments: bool = Field(
        default=False,
        description=f"Whether to align the words, of {MOST_ALIGNED_CHARACTERS} characters at most; "
        "the model must be able to.",
    )


class Candidate(BaseModel):
    """One translation of a text."""

    text: str
    score: float
    confidence: float = Field(description="Geometric mean of the tokens' probabilities.")
    finished: bool
    faults: list[str]
    translated_parts: list[str] = Field(description="One for each of `parts`.")
    translated_words: list[list[str]] | None = Field(
        description="Those of each of `translated_parts`, if they were asked for."
    )


class Translated(Candidate):
    """The best translation of a text, and how it came about."""

    source_language: str
    target_language: str
    language_confidence: float | None = Field(
        description="How sure the source language is, if it was found out."
    )
    parts: list[str]
    words: list[list[str]] | None = Field(
        description="Those of each of `parts`, if they were asked for; none of a text that was in "
        "the target language."
    )
    cut: bool
    alternatives: list[Candidate]
    alignment: Alignment | None = Field(
        description="Of the best translation, if it was asked for; none of a text that was in the "
        "target language."
    )


class Translations(BaseModel):
    """One for each text, in order."""

    translations: list[Translated]


class ModelCard(BaseModel):
    """A model that is served."""

    name: str
    source: str
    target: str
    source_name: str
    target_name: str
    engine: str
    max_length: int = Field(description="Tokens of the longest sentence that it has seen.")
    aligns: bool = Field(description="Whether it can align words.")
    explains: bool = Field(description="Whether it can explain a translation.")
    scores: dict[str, Any] = Field(description="By test set and metric, with their signatures.")


@router.post(
    "/api/v1/translate",
    dependencies=[RequiresKey],
    responses=refuses(400, 403, 413, 504),
    openapi_extra=accepts(Texts),
)
async def translate(request: Request, service: Service) -> Translations:
    """Translate texts, and say everything that is known about the translations."""
    wanted = await read_fields(request, Texts)
    order = wanted.order()
    if wanted.alignments:
        check_can_be_aligned(order.texts)
    answers = await service.translate(order)
    aligned = await align_answers(service, answers) if wanted.alignments else [None] * len(answers)
    return Translations(
        translations=[
            await write_answer(service, answer, words=wanted.words, alignment=alignment)
            for answer, alignment in zip(answers, aligned, strict=True)
        ]
    )


async def write_answer(
    service: TranslationService,
    answer: Answer,
    *,
    words: bool,
    alignment: Alignment | None = None,
) -> Translated:
    """Write what is known about a translation; long texts are cut into words beside."""
    if not words or answer.source == answer.target:
        return _write(answer, None, alignment)
    translator = service.models.find(answer.source, answer.target).translator
    return await asyncio.to_thread(_write, answer, translator, alignment)


def _write(
    answer: Answer, translator: Translator | None, alignment: Alignment | None
) -> Translated:
    found = answer.translation
    candidates = [
        Candidate(
            text=alternative.text,
            score=alternative.score,
            confidence=alternative.confidence,
            finished=alternative.finished,
            faults=list(alternative.faults),
            translated_parts=list(alternative.parts),
            translated_words=None
            if translator is None
            else list(map(translator.target_words, alternative.parts)),
        )
        for alternative in found.alternatives
    ]
    return Translated(
        **vars(candidates[0]),
        source_language=answer.source,
        target_language=answer.target,
        language_confidence=answer.detection.confidence if answer.detection else None,
        parts=list(found.parts),
        words=None if translator is None else list(map(translator.source_words, found.parts)),
        cut=found.cut,
        alternatives=candidates,
        alignment=alignment,
    )


@router.get("/api/v1/models")
async def models(service: Service) -> list[ModelCard]:
    """List what is served, with which engine, and how good it is."""
    return [
        ModelCard(
            name=model.name,
            source=model.source,
            target=model.target,
            source_name=language_name(model.source),
            target_name=language_name(model.target),
            engine=model.translator.engine,
            max_length=model.max_length,
            aligns=model.insight.aligns,
            explains=model.insight.explains,
            scores=model.training.get("scores", {}),
        )
        for model in service.models.all
    ]


@router.get(
    "/metrics",
    dependencies=[RequiresKey],
    response_class=PlainTextResponse,
    responses=refuses(403),
)
async def metrics(service: Service) -> Response:
    """Numbers for Prometheus."""
    return Response(service.metrics.write(), media_type=CONTENT_TYPE_PLAIN_0_0_4)
