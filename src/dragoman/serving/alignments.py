"""Dragoman's own interface: which word became which."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from dragoman.serving.dependencies import RequiresKey, Service
from dragoman.serving.fields import read_fields
from dragoman.serving.openapi import accepts, refuses
from dragoman.serving.refusal import RefusalError
from dragoman.serving.service import Answer, TranslationService
from dragoman.serving.words import SentencePair

if TYPE_CHECKING:
    from dragoman.alignment import links

router = APIRouter(tags=["Dragoman"], dependencies=[RequiresKey])

MOST_ALIGNED_CHARACTERS = 20_000
"""Characters in the texts of a request whose words are aligned."""


class Alignment(BaseModel):
    """Which words of a text and of its translation belong together."""

    source_words: list[str] = Field(
        description="As white space sets them apart; in scripts without spaces, what the model "
        "reads or writes at once."
    )
    target_words: list[str]
    links: list[tuple[int, int]] = Field(
        description="Places of a source word and of a target word, from 0; a sentence that is far "
        "too long for the model has none."
    )


@router.post(
    "/api/v1/alignment", responses=refuses(400, 403, 413, 504), openapi_extra=accepts(SentencePair)
)
async def alignment(request: Request, service: Service) -> Alignment:
    """Align the words of a sentence with those of a translation."""
    wanted = await read_fields(request, SentencePair)
    found = await service.look(
        (wanted.source, wanted.target),
        (wanted.text, wanted.translation),
        lambda insight: insight.align(wanted.text, wanted.translation),
    )
    return _write(found)


def check_can_be_aligned(texts: Sequence[str]) -> None:
    """Refuse texts that would take long to align, before they are translated.

    Raises:
        RefusalError: there is too much text.
    """
    num_characters = sum(map(len, texts))
    if num_characters > MOST_ALIGNED_CHARACTERS:
        raise RefusalError(
            413,
            f"{num_characters} characters are too many to align; "
            f"at most {MOST_ALIGNED_CHARACTERS} are taken at once",
        )


async def align_answers(
    service: TranslationService, answers: Sequence[Answer]
) -> list[Alignment | None]:
    """Align each text with its best translation; texts in the target language are left out.

    Raises:
        RefusalError: a model cannot align, or all together take too long.
    """
    async with service.in_time():
        return [await _align(service, answer) for answer in answers]


async def _align(service: TranslationService, answer: Answer) -> Alignment | None:
    if answer.source == answer.target:
        return None
    found = await service.look(
        (answer.source, answer.target),
        (),
        lambda insight: insight.align_translation(answer.translation),
    )
    return _write(found)


def _write(found: "links.Alignment") -> Alignment:
    return Alignment(
        source_words=list(found.source_words),
        target_words=list(found.target_words),
        links=sorted(found.links),
    )
