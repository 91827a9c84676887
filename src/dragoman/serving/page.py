"""The page for people, and the description of the interface for programmers."""

from pathlib import Path

from fastapi import APIRouter
from starlette.responses import FileResponse

FOLDER = Path(__file__).with_name("static")
"""What the pages load, and the pages."""

_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; "
    "form-action 'none'",
    "Referrer-Policy": "no-referrer",
}

router = APIRouter(include_in_schema=False)


@router.get("/")
async def translate_page() -> FileResponse:
    """Translate while typing."""
    return FileResponse(FOLDER / "index.html", headers=_HEADERS)


@router.get("/docs")
async def docs_page() -> FileResponse:
    """Read the description of the interface."""
    return FileResponse(FOLDER / "docs.html", headers=_HEADERS)
