"""The protocol of DeepL, version 2: texts and documents."""

import asyncio
from pathlib import PurePath
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, BeforeValidator, Field
from starlette.responses import Response

from dragoman.languages.codes import base_language, language_name, language_tag
from dragoman.markup.rules import Rules
from dragoman.serving.access import check_key
from dragoman.serving.dependencies import RequiresKey, Service, Store
from dragoman.serving.documents import Document
from dragoman.serving.fields import File, read_fields
from dragoman.serving.glossaries import check_glossary
from dragoman.serving.openapi import FILE, WITH_FILE, accepts, accepts_query, refuses_as_deepl
from dragoman.serving.readers import Reader, markup_reader, plain_reader
from dragoman.serving.refusal import RefusalError
from dragoman.serving.service import Order, TranslationService

_NO_LIMIT = 10**12
_PATIENCE = 2.0
"""Seconds that the answer may wait for a file to be ready; the clients ask again after five."""

_VARIANTS = {"en": ("EN-GB", "EN-US"), "pt": ("PT-PT", "PT-BR")}
"""Target languages whose region the clients want to know."""

router = APIRouter(prefix="/v2", tags=["DeepL"])


def _listed(value: Any) -> Any:
    """Read names given as a list, or as one text with commas, which is all that a form can have."""
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        return value
    return [name.strip() for entry in names for name in entry.split(",") if name.strip()]


def _repeated(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


Names = Annotated[list[str], BeforeValidator(_listed)]


class Wanted(BaseModel):
    """How to translate. Other fields of DeepL's are allowed and have no effect."""

    target_lang: str
    source_lang: str | None = None
    formality: Literal["default", "prefer_more", "prefer_less", "more", "less"] = "default"
    glossary_id: str | None = None
    glossary_ids: Names = []
    style_id: str | None = None
    translation_memory_id: str | None = None
    auth_key: str | None = None


class Question(Wanted):
    """What to translate."""

    text: Annotated[list[str], BeforeValidator(_repeated)] = Field(min_length=1)
    split_sentences: Annotated[Literal["0", "1", "nonewlines"], BeforeValidator(str)] | None = None
    tag_handling: Literal["xml", "html"] | None = None
    outline_detection: bool = True
    ignore_tags: Names = []
    splitting_tags: Names = []
    non_splitting_tags: Names = []
    show_billed_characters: bool = False
    custom_instructions: list[str] = []


class Upload(Wanted):
    """A file to translate."""

    file: File
    output_format: str | None = None
    filename: str | None = Field(
        default=None,
        description="The name of the file, if it is not that of the form part with the file.",
    )


class DocumentKey(BaseModel):
    """What identifies the owner of a document."""

    document_key: str


@router.post(
    "/translate", responses=refuses_as_deepl(400, 403, 404, 504), openapi_extra=accepts(Question)
)
async def translate(request: Request, service: Service) -> dict[str, Any]:
    """Translate texts."""
    question = await read_fields(request, Question)
    _check(
        request,
        service,
        question,
        custom_instructions=question.custom_instructions,
        outline_detection=not question.outline_detection,
    )
    answers = await service.translate(
        Order(
            texts=question.text,
            source=question.source_lang,
            target=question.target_lang,
            reader=_reader(question),
        )
    )
    translations = [
        {
            "detected_source_language": base_language(answer.source).upper(),
            "text": answer.translation.text,
            **({"billed_characters": len(text)} if question.show_billed_characters else {}),
        }
        for text, answer in zip(question.text, answers, strict=True)
    ]
    return {"translations": translations}


def _check(
    request: Request, service: TranslationService, wanted: Wanted, **unsupported: object
) -> None:
    """Refuse a wrong key, and options that would change the translation and are not supported."""
    check_key(request, wanted.auth_key)
    if wanted.formality in ("more", "less"):
        raise RefusalError(400, "formality is not supported for these languages; write prefer_more")
    unsupported |= wanted.model_dump(include={"style_id", "translation_memory_id"})
    for name, value in unsupported.items():
        if value:
            raise RefusalError(400, f"{name} is not supported here")
    for glossary in filter(None, (wanted.glossary_id, *wanted.glossary_ids)):
        check_glossary(service.models, glossary, wanted.source_lang, wanted.target_lang)


def _reader(question: Question) -> Reader:
    """Choose how texts are read, as the client wants it."""
    splits = question.split_sentences or "1"
    if question.tag_handling is None:
        return plain_reader(lines=splits == "1", sentences=splits != "0")
    ignored, block, inline = (
        frozenset(map(str.lower, tags))
        for tags in (question.ignore_tags, question.splitting_tags, question.non_splitting_tags)
    )
    is_html = question.tag_handling == "html"
    usual = Rules() if is_html else Rules(untranslated=frozenset(), inline=frozenset())
    rules = Rules(
        untranslated=usual.untranslated | ignored,
        inline=usual.inline | ignored | inline,
        mixed_is_inline=not is_html,
        is_xml=not is_html,
        block=block,
    )
    return markup_reader(rules, sentences=splits != "0")


class LanguageKind(BaseModel):
    """Which languages are listed."""

    type: Literal["source", "target"] = "source"


@router.get(
    "/languages",
    dependencies=[RequiresKey],
    responses=refuses_as_deepl(400, 403),
    openapi_extra=accepts_query(LanguageKind),
)
async def languages(request: Request, service: Service) -> list[dict[str, Any]]:
    """List source languages, or with `type=target` target languages."""
    wanted = await read_fields(request, LanguageKind)
    if wanted.type == "source":
        codes = dict.fromkeys(base_language(model.source).upper() for model in service.models.all)
        return [{"language": code, "name": language_name(code)} for code in codes]
    targets = [
        variant
        for code in dict.fromkeys(language_tag(model.target) for model in service.models.all)
        for variant in _VARIANTS.get(code.lower(), (code.upper(),))
    ]
    return [
        {"language": code, "name": language_name(code), "supports_formality": False}
        for code in targets
    ]


@router.get("/usage", dependencies=[RequiresKey], responses=refuses_as_deepl(403))
@router.post("/usage", dependencies=[RequiresKey], responses=refuses_as_deepl(403))
async def usage(service: Service) -> dict[str, int]:
    """Count the characters that were translated since the server started."""
    return {"character_count": service.metrics.num_characters, "character_limit": _NO_LIMIT}


@router.post(
    "/document",
    responses=refuses_as_deepl(400, 403, 404),
    openapi_extra=accepts(Upload, WITH_FILE),
)
async def upload_document(request: Request, service: Service, store: Store) -> dict[str, str]:
    """Start to translate a text or a document."""
    upload = await read_fields(request, Upload)
    name = upload.filename or upload.file.name
    kind = PurePath(name or "").suffix.removeprefix(".")
    is_other = (upload.output_format or kind).lower() != kind.lower()
    _check(request, service, upload, output_format=is_other)
    order = Order(texts=[], source=upload.source_lang, target=upload.target_lang)
    document = await store.start(name, upload.file.content, order, needs_key=True)
    return {"document_id": document.id, "document_key": document.key}


@router.post(
    "/document/{name}",
    dependencies=[RequiresKey],
    responses=refuses_as_deepl(400, 403, 404),
    openapi_extra=accepts(DocumentKey),
)
async def document_status(name: str, request: Request, store: Store) -> dict[str, Any]:
    """Say whether a file is ready."""
    document = await _find_document(name, request, store)
    await asyncio.wait([document.translation], timeout=_PATIENCE)
    if not document.translation.done():
        return {"document_id": document.id, "status": "translating", "seconds_remaining": 1}
    if error := document.translation.exception():
        return {"document_id": document.id, "status": "error", "error_message": str(error)}
    return {
        "document_id": document.id,
        "status": "done",
        "billed_characters": document.num_characters,
    }


@router.post(
    "/document/{name}/result",
    dependencies=[RequiresKey],
    response_class=Response,
    responses=FILE | refuses_as_deepl(400, 403, 404, 503),
    openapi_extra=accepts(DocumentKey),
)
async def document_result(name: str, request: Request, store: Store) -> Response:
    """Fetch a translated file, once."""
    document = await _find_document(name, request, store)
    if not document.translation.done():
        raise RefusalError(503, "the translation is not ready", retry_after=1)
    if error := document.translation.exception():
        raise RefusalError(400, str(error))
    store.forget(document.id)
    return Response(document.translation.result(), media_type=document.media_type)


async def _find_document(name: str, request: Request, store: Store) -> Document:
    return store.find(name, (await read_fields(request, DocumentKey)).document_key)
