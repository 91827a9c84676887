"""The protocol of LibreTranslate."""

from typing import Any, Literal
from urllib.parse import quote

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field
from starlette.responses import Response

from dragoman.languages.codes import language_name
from dragoman.languages.detection import Detection
from dragoman.serving.access import check_key
from dragoman.serving.dependencies import Service, Store
from dragoman.serving.documents import FORMATS
from dragoman.serving.fields import File, read_fields
from dragoman.serving.openapi import FILE, WITH_FILE, accepts, refuses
from dragoman.serving.readers import HTML, PLAIN_TEXT
from dragoman.serving.refusal import RefusalError
from dragoman.serving.service import Answer, Order
from dragoman.serving.settings import MOST_ALTERNATIVES
from dragoman.translation import Translation

AUTO = "auto"
"""The source language of a client that does not know it."""

router = APIRouter(tags=["LibreTranslate"])


class Question(BaseModel):
    """What to translate."""

    q: str | list[str]
    source: str = Field(default=AUTO, description="A language code, or auto.")
    target: str = Field(description="A language code.")
    format: Literal["text", "html"] = "text"
    alternatives: int = Field(default=0, ge=0, lt=MOST_ALTERNATIVES)
    api_key: str | None = None


class Upload(BaseModel):
    """A file to translate."""

    file: File
    source: str = Field(default=AUTO, description="A language code, or auto.")
    target: str = Field(description="A language code.")
    api_key: str | None = None


class Unknown(BaseModel):
    """The text whose language is wanted."""

    q: str
    api_key: str | None = None


@router.post("/translate", responses=refuses(400, 403, 504), openapi_extra=accepts(Question))
async def translate(request: Request, service: Service) -> dict[str, Any]:
    """Translate a text, or each text of a list."""
    question = await read_fields(request, Question)
    check_key(request, question.api_key)
    answers = await service.translate(
        Order(
            texts=[question.q] if isinstance(question.q, str) else question.q,
            target=question.target,
            source=_source(question),
            num_alternatives=question.alternatives + 1,
            reader=HTML if question.format == "html" else PLAIN_TEXT,
        )
    )
    return _write(question, answers)


def _source(question: Question | Upload) -> str | None:
    return None if question.source == AUTO else question.source


def _write(question: Question, answers: list[Answer]) -> dict[str, Any]:
    """Write answers: single values for a text, lists of values for a list."""
    columns: dict[str, list[Any]] = {"translatedText": [a.translation.text for a in answers]}
    if question.source == AUTO:
        columns["detectedLanguage"] = [_detected(a.detection) for a in answers if a.detection]
    if question.alternatives:
        columns["alternatives"] = [_others(a.translation) for a in answers]
    if isinstance(question.q, list):
        return columns
    return {name: column[0] for name, column in columns.items()}


def _detected(detection: Detection) -> dict[str, Any]:
    return {"confidence": round(100 * detection.confidence, 1), "language": detection.language}


def _others(translation: Translation) -> list[str]:
    """List the alternatives that read differently from the best one."""
    return list(dict.fromkeys(found.text for found in translation.alternatives))[1:]


@router.post("/detect", responses=refuses(400, 403), openapi_extra=accepts(Unknown))
async def detect(request: Request, service: Service) -> list[dict[str, Any]]:
    """Say in which of the served languages a text is written, the likeliest first."""
    question = await read_fields(request, Unknown)
    check_key(request, question.api_key)
    service.check_length([question.q])
    return [_detected(d) for d in service.detector.rank(question.q, among=service.models.languages)]


@router.get("/languages")
async def languages(service: Service) -> list[dict[str, Any]]:
    """List the languages, and into which each is translated."""
    return [
        {"code": code, "name": language_name(code), "targets": service.models.targets(code)}
        for code in service.models.languages
    ]


@router.post(
    "/translate_file", responses=refuses(400, 403, 504), openapi_extra=accepts(Upload, WITH_FILE)
)
async def translate_file(request: Request, store: Store) -> dict[str, str]:
    """Translate a text or a document, and say where the translation waits to be fetched."""
    upload = await read_fields(request, Upload)
    check_key(request, upload.api_key)
    order = Order(texts=[], source=_source(upload), target=upload.target)
    document = await store.start(*upload.file, order, needs_key=False)
    try:
        await document.translation
    except BaseException:
        store.forget(document.id)
        raise
    url = request.url_for("download_file", name=document.id)
    return {"translatedFileUrl": str(url)}


@router.get("/download_file/{name}", response_class=Response, responses=FILE | refuses(404))
async def download_file(name: str, store: Store) -> Response:
    """Fetch a translated file; only its owner knows its address, and not before it is ready."""
    document = store.find(name)
    content = document.translation.result()
    document.is_fetched = True
    return Response(
        content,
        media_type=document.media_type,
        headers={"Content-Disposition": f"attachment; filename*=UTF-8''{quote(document.name)}"},
    )


@router.get("/health", responses=refuses(503))
async def health(request: Request) -> dict[str, str]:
    """Say that the server is up and not about to stop."""
    if request.app.state.stops:
        raise RefusalError(503, "the server is about to stop")
    return {"status": "ok"}


@router.get("/frontend/settings")
async def frontend_settings(service: Service) -> dict[str, Any]:
    """Say what a page needs to know."""
    first = service.models.all[0]
    return {
        "apiKeys": bool(service.settings.api_keys),
        "keyRequired": bool(service.settings.api_keys),
        "charLimit": service.settings.max_characters,
        "frontendTimeout": 500,
        "filesTranslation": True,
        "supportedFilesFormat": list(FORMATS),
        "suggestions": False,
        "language": {
            name: {"code": code, "name": language_name(code)}
            for name, code in (("source", first.source), ("target", first.target))
        },
    }
