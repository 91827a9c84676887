"""All protocols, and the page, on one port."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from fastapi import FastAPI, Request
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import JSONResponse
from starlette.staticfiles import StaticFiles

from dragoman import __version__
from dragoman.errors import DragomanError
from dragoman.serving import (
    alignments,
    apertium,
    deepl,
    explanation,
    glossaries,
    libretranslate,
    own,
    page,
    stream,
    words,
)
from dragoman.serving.documents import Documents
from dragoman.serving.guard import Guard
from dragoman.serving.metrics import Metrics
from dragoman.serving.models import Models
from dragoman.serving.openapi import describe_keys
from dragoman.serving.overload import Door
from dragoman.serving.refusal import RefusalError, as_refusal, as_response
from dragoman.serving.service import TranslationService
from dragoman.serving.settings import Settings


def build_application(models: Models, settings: Settings) -> FastAPI:
    """Build the application that serves some models."""
    metrics = Metrics()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.stops = False
        app.state.service = TranslationService(models, settings, metrics)
        app.state.documents = Documents(app.state.service)
        with suppress(asyncio.CancelledError):  # it was told twice to stop
            yield
        app.state.documents.close()
        await app.state.service.close()

    app = _Application(
        title="Dragoman",
        version=__version__,
        lifespan=lifespan,
        docs_url=None,  # the pages that come with FastAPI load scripts from a CDN
        redoc_url=None,
    )
    app.state.door = Door(app, metrics)
    app.add_middleware(Guard, settings=settings, metrics=metrics)
    # Pages and browser extensions of any origin may ask; nothing here depends on who is logged in.
    app.add_middleware(
        CORSMiddleware,
        allow_origins=["*"],
        allow_methods=["*"],
        allow_headers=["*"],
        expose_headers=["Retry-After"],
    )
    for protocol in (
        own,
        stream,
        words,
        alignments,
        explanation,
        libretranslate,
        deepl,
        glossaries,
        apertium,
        page,
    ):
        app.include_router(protocol.router)
    app.mount("/static", StaticFiles(directory=page.FOLDER))
    _answer_errors(app)
    return app


class _Application(FastAPI):
    """Describes itself: with how keys are sent, and without a status that is never given.

    That is the one FastAPI would refuse fields with; here it is 400.
    """

    def openapi(self) -> dict[str, Any]:
        described = super().openapi()
        for path in described["paths"].values():
            for operation in path.values():
                operation["responses"].pop("422", None)
        for name in ("HTTPValidationError", "ValidationError"):
            described["components"]["schemas"].pop(name, None)
        if self.state.service.settings.api_keys:
            describe_keys(described)
        return described


def _answer_errors(app: FastAPI) -> None:
    """Answer every error that is not ours with a sentence, in the form of the protocol."""

    @app.exception_handler(DragomanError)
    async def refuse(request: Request, error: DragomanError) -> JSONResponse:
        return as_response(as_refusal(error), request.url.path)

    @app.exception_handler(HTTPException)
    async def refuse_path(request: Request, error: HTTPException) -> JSONResponse:
        path = request.url.path
        said = {
            404: f"there is nothing at {path}; /docs describes what there is",
            405: f"{path} does not take {request.method}; /docs describes what there is",
        }.get(error.status_code, error.detail)
        response = as_response(RefusalError(error.status_code, said), path)
        response.headers.update(error.headers or {})
        return response
