"""The protocol of Apertium's web service, which OmegaT can use without a plugin."""

from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from dragoman.serving.access import check_key
from dragoman.serving.dependencies import Service
from dragoman.serving.fields import read_fields
from dragoman.serving.openapi import accepts_query, refuses
from dragoman.serving.refusal import RefusalError
from dragoman.serving.service import Order

router = APIRouter(tags=["Apertium"])


class Question(BaseModel):
    """What to translate."""

    q: str
    langpair: str = Field(description="Two language codes, as en|it.")
    key: str | None = None


@router.get("/translate", responses=refuses(400, 403, 504), openapi_extra=accepts_query(Question))
async def translate(request: Request, service: Service) -> dict[str, Any]:
    """Translate a text; `markUnknown` has no effect."""
    question = await read_fields(request, Question)
    check_key(request, question.key)
    source, bar, target = question.langpair.partition("|")
    if not (source and bar and target):
        raise RefusalError(400, "langpair: write two language codes, as en|it")
    (answer,) = await service.translate(Order(texts=[question.q], source=source, target=target))
    return {
        "responseData": {"translatedText": answer.translation.text},
        "responseDetails": None,
        "responseStatus": 200,
    }


@router.get("/listPairs")
async def list_pairs(service: Service) -> dict[str, Any]:
    """List the pairs of languages."""
    pairs = [
        {"sourceLanguage": model.source, "targetLanguage": model.target}
        for model in service.models.all
    ]
    return {"responseData": pairs, "responseDetails": None, "responseStatus": 200}
