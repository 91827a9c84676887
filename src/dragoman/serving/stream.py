"""Dragoman's own interface: a translation as it is made."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from dragoman.serving.dependencies import RequiresKey, Service
from dragoman.serving.fields import read_fields
from dragoman.serving.openapi import accepts, refuses
from dragoman.serving.own import Translated, Wanted, write_answer
from dragoman.serving.progress import Piece
from dragoman.serving.refusal import as_refusal
from dragoman.serving.service import TranslationService

router = APIRouter(tags=["Dragoman"], dependencies=[RequiresKey])

JSON_LINES = "application/x-ndjson"


class Text(Wanted):
    """What to translate."""

    text: str


class Line(BaseModel):
    """One of the lines: a piece, or at the end the translation or what went wrong."""

    source: str | None = Field(default=None, description="A sentence, or a part of a long one.")
    text: str | None = Field(
        default=None, description="Its translation, with the white space before it."
    )
    translation: Translated | None = Field(default=None, description="The whole, in the last line.")
    error: str | None = Field(default=None, description="Why there is no translation after all.")


_LINES: dict[int | str, dict[str, Any]] = {
    200: {"description": "JSON lines.", "content": {JSON_LINES: {"schema": {}}}}
}


@router.post(
    "/api/v1/translate/stream",
    response_class=StreamingResponse,
    responses=_LINES | refuses(400, 403, 413, 504),
    openapi_extra=accepts(Text),
)
async def translate_as_it_is_made(request: Request, service: Service) -> StreamingResponse:
    """Translate a text, sentence by sentence, and send each as soon as it is ready.

    The answer is a line of JSON for each sentence, in order, with the fields `source` and `text`,
    and a last line with `translation`, which has what /api/v1/translate gives, or with `error`.
    When the client goes away, the work ends.
    """
    wanted = await read_fields(request, Text)
    lines = _translate(service, wanted)
    first = await anext(lines)  # what is refused at once is answered with its status
    return _Lines(first, lines)


class _Lines(StreamingResponse):
    """The lines of a translation, which is given up if the client does not take them all."""

    def __init__(self, first: Line, others: AsyncGenerator[Line, None]) -> None:
        super().__init__(
            _write(first, others),
            media_type=JSON_LINES,
            headers={"X-Accel-Buffering": "no"},  # nginx would hold them back until the last one
        )
        self._others = others

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with aclosing(self._others):  # else it would go on until garbage is collected
            await super().__call__(scope, receive, send)


async def _translate(service: TranslationService, wanted: Text) -> AsyncGenerator[Line, None]:
    """Yield the pieces of a translation as they are made, and the whole at the end."""
    heard: asyncio.Queue[Piece | None] = asyncio.Queue()
    order = replace(wanted.order(), heard=heard.put_nowait)
    working = asyncio.create_task(service.translate(order))
    working.add_done_callback(lambda _: heard.put_nowait(None))
    try:
        while (piece := await heard.get()) is not None:
            yield Line(source=piece.source, text=piece.text)
        (answer,) = working.result()
        yield Line(translation=await write_answer(service, answer, words=wanted.words))
    finally:
        working.cancel()


async def _write(first: Line, others: AsyncIterator[Line]) -> AsyncIterator[str]:
    """Write each line; it is too late for another status if something goes wrong."""
    yield _dump(first)
    try:
        async for line in others:
            yield _dump(line)
    except Exception as error:
        yield _dump(Line(error=str(as_refusal(error))))


def _dump(line: Line) -> str:
    return line.model_dump_json(exclude_unset=True) + "\n"
