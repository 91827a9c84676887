"""The protocol of DeepL, version 2: texts and documents."""

import asyncio
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Form, Request, UploadFile
from pydantic import BaseModel, BeforeValidator, Field
from starlette.responses import Response

from dragoman.languages.codes import base_language, language_name
from dragoman.markup.rules import Rules
from dragoman.serving.access import check_key
from dragoman.serving.dependencies import RequiresKey, Service, Store
from dragoman.serving.documents import Document
from dragoman.serving.fields import read_fields, refuse_repeated_fields
from dragoman.serving.glossaries import check_glossary
from dragoman.serving.openapi import FILE, Message, accepts, refuses
from dragoman.serving.readers import Reader, markup_reader, plain_reader
from dragoman.serving.refusal import RefusalError
from dragoman.serving.service import Order

_NO_LIMIT = 10**12
_PATIENCE = 2.0
"""Seconds that the answer may wait for a file to be ready; the clients ask again after five."""

_VARIANTS = {"en": ("EN-GB", "EN-US"), "pt": ("PT-PT", "PT-BR")}
"""Target languages whose region the clients want to know."""

router = APIRouter(prefix="/v2", tags=["DeepL"])
_refuses = partial(refuses, body=Message)


def _listed(value: Any) -> Any:
    """Read names given as a list, or as one text with commas, which is all that a form can have."""
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        return value
    return [name.strip() for entry in names for name in entry.split(",") if name.strip()]


def _repeated(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


Names = Annotated[list[str], BeforeValidator(_listed)]
Formality = Literal["default", "prefer_more", "prefer_less", "more", "less"]


class Question(BaseModel):
    """What to translate. Other fields of DeepL's are allowed and have no effect."""

    text: Annotated[list[str], BeforeValidator(_repeated)] = Field(min_length=1)
    target_lang: str
    source_lang: str | None = None
    split_sentences: Annotated[Literal["0", "1", "nonewlines"], BeforeValidator(str)] | None = None
    formality: Formality = "default"
    tag_handling: Literal["xml", "html"] | None = None
    outline_detection: bool = True
    ignore_tags: Names = []
    splitting_tags: Names = []
    non_splitting_tags: Names = []
    show_billed_characters: bool = False
    auth_key: str | None = None
    glossary_id: str | None = None
    glossary_ids: Names = []
    style_id: str | None = None
    translation_memory_id: str | None = None
    custom_instructions: list[str] = []


@dataclass(frozen=True, kw_only=True)
class DocumentForm:
    """What comes with a file."""

    target_lang: Annotated[str, Form()]
    source_lang: Annotated[str | None, Form()] = None
    formality: Annotated[Formality, Form()] = "default"
    glossary_id: Annotated[str | None, Form()] = None
    glossary_ids: Annotated[str, Form()] = ""
    style_id: Annotated[str | None, Form()] = None
    translation_memory_id: Annotated[str | None, Form()] = None
    output_format: Annotated[str | None, Form()] = None
    filename: Annotated[str | None, Form()] = None
    """The name of the file, if it is not that of the form part with the file."""


class DocumentKey(BaseModel):
    """What identifies the owner of a document."""

    document_key: str


@router.post("/translate", responses=_refuses(400, 403, 404, 504), openapi_extra=accepts(Question))
async def translate(request: Request, service: Service) -> dict[str, Any]:
    """Translate texts."""
    question = await read_fields(request, Question)
    check_key(request, service.settings.api_keys, api_key=question.auth_key)
    _refuse_what_is_missing(
        question.formality,
        style_id=question.style_id,
        translation_memory_id=question.translation_memory_id,
        custom_instructions=question.custom_instructions,
        outline_detection=None if question.outline_detection else "off",
    )
    for glossary in filter(None, (question.glossary_id, *question.glossary_ids)):
        check_glossary(service.models, glossary, question.source_lang, question.target_lang)
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


def _refuse_what_is_missing(formality: Formality, **unknown: object) -> None:
    """Refuse options that would change the translation and are not supported."""
    if formality in ("more", "less"):
        raise RefusalError(400, "formality is not supported for these languages; write prefer_more")
    for name, value in unknown.items():
        if value:
            raise RefusalError(400, f"{name} is not supported here")


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


@router.get("/languages", dependencies=[RequiresKey], responses=_refuses(400, 403))
async def languages(request: Request, service: Service) -> list[dict[str, Any]]:
    """List source languages, or with `type=target` target languages."""
    wanted = await read_fields(request, LanguageKind)
    if wanted.type == "source":
        codes = dict.fromkeys(base_language(model.source).upper() for model in service.models.all)
        return [{"language": code, "name": language_name(code)} for code in codes]
    targets = [
        variant
        for code in dict.fromkeys(model.target.replace("_", "-") for model in service.models.all)
        for variant in _VARIANTS.get(code.lower(), (code.upper(),))
    ]
    return [
        {"language": code, "name": language_name(code), "supports_formality": False}
        for code in targets
    ]


class LanguageKind(BaseModel):
    """Which languages are listed."""

    type: Literal["source", "target"] = "source"


@router.get("/usage", dependencies=[RequiresKey], responses=_refuses(403))
@router.post("/usage", dependencies=[RequiresKey], responses=_refuses(403))
async def usage(service: Service) -> dict[str, int]:
    """Count the characters that were translated since the server started."""
    return {"character_count": service.metrics.num_characters, "character_limit": _NO_LIMIT}


@router.post("/document", responses=_refuses(400, 403, 404))
async def upload_document(
    request: Request,
    service: Service,
    store: Store,
    file: UploadFile,
    wanted: Annotated[DocumentForm, Depends()],
) -> dict[str, str]:
    """Start to translate a text or a document."""
    check_key(request, service.settings.api_keys)
    refuse_repeated_fields(await request.form())
    name = wanted.filename or file.filename
    kind = PurePath(name or "").suffix.removeprefix(".")
    other = wanted.output_format if (wanted.output_format or kind).lower() != kind.lower() else None
    _refuse_what_is_missing(
        wanted.formality,
        style_id=wanted.style_id,
        translation_memory_id=wanted.translation_memory_id,
        output_format=other,
    )
    for glossary in filter(None, (wanted.glossary_id, *_listed(wanted.glossary_ids))):
        check_glossary(service.models, glossary, wanted.source_lang, wanted.target_lang)
    order = Order(texts=[], source=wanted.source_lang or None, target=wanted.target_lang)
    document = await store.start(name, await file.read(), order, needs_key=True)
    return {"document_id": document.id, "document_key": document.key}


@router.post(
    "/document/{name}",
    dependencies=[RequiresKey],
    responses=_refuses(400, 403, 404),
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
    responses=FILE | _refuses(400, 403, 404, 503),
    openapi_extra=accepts(DocumentKey),
)
async def document_result(name: str, request: Request, store: Store) -> Response:
    """Fetch a translated file, once."""
    document = await _find_document(name, request, store)
    if document.translation.done() and (error := document.translation.exception()):
        raise RefusalError(400, str(error))
    if not document.translation.done():
        raise RefusalError(503, "the translation is not ready", retry_after=1)
    store.forget(document.id)
    return Response(document.translation.result(), media_type=document.media_type)


async def _find_document(name: str, request: Request, store: Store) -> Document:
    return store.find(name, (await read_fields(request, DocumentKey)).document_key)
