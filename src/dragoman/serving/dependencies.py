"""What the application gives to the routes of all protocols."""

from typing import Annotated

from fastapi import Depends, Request

from dragoman.serving.access import check_key
from dragoman.serving.documents import Documents
from dragoman.serving.service import TranslationService


async def _service(request: Request) -> TranslationService:
    return request.app.state.service


async def _documents(request: Request) -> Documents:
    return request.app.state.documents


async def _require_key(request: Request) -> None:
    check_key(request)


RequiresKey = Depends(_require_key)
"""Of routes that have no field for a key."""

Service = Annotated[TranslationService, Depends(_service)]
Store = Annotated[Documents, Depends(_documents)]
