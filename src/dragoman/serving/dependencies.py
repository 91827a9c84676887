"""What the application gives to the routes of all protocols."""

from typing import Annotated

from fastapi import Depends, Request

from dragoman.serving.documents import Documents
from dragoman.serving.service import TranslationService


async def _service(request: Request) -> TranslationService:
    return request.app.state.service


async def _documents(request: Request) -> Documents:
    return request.app.state.documents


Service = Annotated[TranslationService, Depends(_service)]
Store = Annotated[Documents, Depends(_documents)]
