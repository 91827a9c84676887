"""Glossaries in the protocol of DeepL, version 2: they can be read and chosen, but not written.

There is one for each model that was loaded with prescribed terms. It applies to all that this model
translates, whether a client chooses it or not.
"""

from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from dragoman.serving.dependencies import RequiresKey, Service
from dragoman.serving.models import Models, ServedModel
from dragoman.serving.openapi import refuses_as_deepl
from dragoman.serving.refusal import RefusalError
from dragoman.terms.glossary import Glossary

_TSV = "text/tab-separated-values"
_ENTRIES: dict[int | str, dict[str, Any]] = {
    200: {"description": "A term and its translation in each line.", "content": {_TSV: {}}}
}

router = APIRouter(prefix="/v2", tags=["DeepL"], dependencies=[RequiresKey])


@router.get("/glossary-language-pairs", responses=refuses_as_deepl(403))
async def language_pairs(service: Service) -> dict[str, list[dict[str, str]]]:
    """List the pairs of languages that have glossaries."""
    return {"supported_languages": [_languages(model) for model, _ in _all(service.models)]}


@router.get("/glossaries", responses=refuses_as_deepl(403))
async def glossaries(service: Service) -> dict[str, list[dict[str, Any]]]:
    """List the glossaries."""
    return {"glossaries": [_describe(*found) for found in _all(service.models)]}


@router.get("/glossaries/{name}", responses=refuses_as_deepl(403, 404))
async def glossary(name: str, service: Service) -> dict[str, Any]:
    """Describe a glossary."""
    return _describe(*_find(service.models, name))


@router.get(
    "/glossaries/{name}/entries",
    response_class=Response,
    responses=_ENTRIES | refuses_as_deepl(403, 404),
)
async def entries(name: str, service: Service) -> Response:
    """List the terms of a glossary with their preferred translations."""
    _, terms = _find(service.models, name)
    lines = (f"{source}\t{target}\n" for source, target in terms.preferred.items())
    return Response("".join(lines), media_type=_TSV)


def check_glossary(models: Models, name: str, source: str | None, target: str) -> None:
    """Refuse a glossary that does not apply to a translation.

    Args:
        models: The served models.
        name: The glossary that the client has chosen.
        source: The language that the client translates from, if it is named.
        target: The language that it translates to.

    Raises:
        RefusalError: there is no such glossary, or it is for other languages.
    """
    model, _ = _find(models, name)
    if not source or model.pair != models.find_pair(source, target):
        raise RefusalError(
            400,
            f"the glossary {name} needs source_lang {model.source} and target_lang {model.target}",
        )


def _all(models: Models) -> list[tuple[ServedModel, Glossary]]:
    return [(m, m.translator.glossary) for m in models.all if m.translator.glossary is not None]


def _find(models: Models, name: str) -> tuple[ServedModel, Glossary]:
    for model, terms in _all(models):
        if _name(model) == name:
            return model, terms
    raise RefusalError(404, "there is no such glossary here")


def _name(model: ServedModel) -> str:
    return "-".join(model.pair)


def _languages(model: ServedModel) -> dict[str, str]:
    return {"source_lang": model.source.lower(), "target_lang": model.target.lower()}


def _describe(model: ServedModel, terms: Glossary) -> dict[str, Any]:
    return {
        "glossary_id": _name(model),
        "name": f"{model.source} to {model.target}",
        "ready": True,
        **_languages(model),
        "creation_time": model.loaded.isoformat(timespec="microseconds"),
        "entry_count": len(terms.preferred),
    }
