"""Dragoman's own interface, word by word: how sure the model is, and what else it could say."""

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from dragoman.serving.dependencies import RequiresKey, Service
from dragoman.serving.fields import OneSentence, read_fields
from dragoman.serving.openapi import accepts, refuses
from dragoman.translator import Translator

router = APIRouter(tags=["Dragoman"], dependencies=[RequiresKey])

MOST_WAYS = 16
"""Tokens that are tried as the next one; each takes a translation."""


class Begun(OneSentence):
    """A sentence, and how its translation begins."""

    prefix: str = Field(default="", description="Up to the end of a word; empty for the first one.")
    count: int = Field(default=8, ge=1, le=MOST_WAYS)


class WayOn(BaseModel):
    """A word that could follow."""

    word: str
    confidence: float = Field(description="The probability of the word after the prefix.")
    translation: str = Field(description="The best translation that continues with it.")
    faults: list[str] = Field(description="Obvious faults of that translation.")
    words: list[str] = Field(description="All words of that translation, as they are aligned.")


class WaysOn(BaseModel):
    """The most probable word first; fewer than asked for, if several tokens begin the same word."""

    ways: list[WayOn]


class SentencePair(OneSentence):
    """A sentence and its translation, whoever made it."""

    translation: str


class JudgedWord(BaseModel):
    """A word; in scripts without spaces, what the model writes at once."""

    text: str
    confidence: float = Field(description="Its probability after the words before it.")


class Judgement(BaseModel):
    """How sure the model is of each word of a translation."""

    words: list[JudgedWord]


@router.post("/api/v1/ways", responses=refuses(400, 403, 413, 504), openapi_extra=accepts(Begun))
async def ways(request: Request, service: Service) -> WaysOn:
    """Give the words that could follow the beginning of a translation."""
    wanted = await read_fields(request, Begun)

    def find(translator: Translator) -> list[WayOn]:
        return [
            WayOn(
                word=way.word.text,
                confidence=way.word.confidence,
                translation=way.translation,
                faults=list(way.faults),
                words=translator.target_words(way.translation),
            )
            for way in translator.ways_to_continue(wanted.text, wanted.prefix, count=wanted.count)
        ]

    return WaysOn(
        ways=await service.ask((wanted.source, wanted.target), (wanted.text, wanted.prefix), find)
    )


@router.post(
    "/api/v1/words", responses=refuses(400, 403, 413, 504), openapi_extra=accepts(SentencePair)
)
async def words(request: Request, service: Service) -> Judgement:
    """Tell how sure the model is of each word of a translation."""
    wanted = await read_fields(request, SentencePair)
    found = await service.ask(
        (wanted.source, wanted.target),
        (wanted.text, wanted.translation),
        lambda translator: translator.judge(wanted.text, wanted.translation),
    )
    return Judgement(
        words=[JudgedWord(text=word.text, confidence=word.confidence) for word in found]
    )
