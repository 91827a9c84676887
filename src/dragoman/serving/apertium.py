"""The protocol of Apertium's web service, which OmegaT can use without a plugin."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from dragoman.serving.access import check_key
from dragoman.serving.dependencies import Service
from dragoman.serving.fields import refuse_repeated_fields
from dragoman.serving.openapi import refuses
from dragoman.serving.refusal import RefusalError
from dragoman.serving.service import Order
from dragoman.tokenizers.normalisation import encodable

router = APIRouter(tags=["Apertium"])


@router.get("/translate", responses=refuses(400, 403, 504))
async def translate(
    request: Request,
    service: Service,
    q: str,
    langpair: Annotated[str, Query(description="Two language codes, as en|it.")],
    key: str | None = None,
) -> dict[str, Any]:
    """Translate a text; `markUnknown` has no effect."""
    check_key(request, service.settings.api_keys, api_key=key)
    refuse_repeated_fields(request.query_params)
    source, bar, target = langpair.partition("|")
    if not (source and bar and target):
        raise RefusalError(400, "langpair: write two language codes, as en|it")
    (answer,) = await service.translate(Order(texts=[encodable(q)], source=source, target=target))
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
