"""Files that are translated as a whole, and wait to be fetched."""

import asyncio
import codecs
import math
import secrets
import time
from dataclasses import dataclass, field, replace
from pathlib import PureWindowsPath

from dragoman.documents.archive import count_characters, read_archive
from dragoman.documents.formats import DOCUMENT_FORMATS, DocumentFormat
from dragoman.documents.other_formats import other_way
from dragoman.serving.readers import PLAIN_TEXT, document_reader
from dragoman.serving.refusal import RefusalError, as_refusal
from dragoman.serving.service import Order, TranslationService
from dragoman.tokenizers.normalisation import encodable

_TEXT = DocumentFormat(PLAIN_TEXT.take_apart, "text/plain")
FORMATS = {".txt": _TEXT, **DOCUMENT_FORMATS}
"""What is translated as a whole here, by the endings of its name in small letters."""

_MOST_DOCUMENTS = 100
_MOST_BYTES = 2**28
"""Of all files that are kept."""

_MOST_UNPACKED = 2**26
"""Bytes to which an archive may unpack, pictures included."""

_BYTES_FOR_EACH_CHARACTER = 64
"""To which the text of an archive may unpack; most of it is tags."""

_SECONDS_KEPT = 30 * 60.0
_SECONDS_TO_FETCH = 5 * 60.0
"""How long after it was sent a file is sure of its place. A program fetches it as soon as it is
translated, a person at the page within a minute or two."""

_LONGEST_STEM = 100


@dataclass(kw_only=True, eq=False)
class Document:
    """A file, its translation, and the identifiers with which its owner fetches it."""

    name: str
    """The name for its translation: that of the file, with the language."""

    media_type: str
    """What a browser should take it for."""

    num_bytes: int
    num_characters: int
    """What people read of it."""

    translation: "asyncio.Task[bytes]"
    needs_key: bool
    """Whether its identifier alone is not enough to open it."""

    is_fetched: bool = False
    """Whether its owner has it; it then gives way to others."""

    id: str = field(default_factory=lambda: secrets.token_hex(16).upper())
    key: str = field(default_factory=lambda: secrets.token_hex(32).upper())
    made: float = field(default_factory=time.monotonic)

    def is_opened_by(self, key: str | None) -> bool:
        """Compare a key in a time that does not reveal where it differs."""
        if not self.needs_key:
            return key is None
        return key is not None and secrets.compare_digest(key.encode(), self.key.encode())

    @property
    def is_over(self) -> bool:
        """Whether nobody waits for it any more: it was fetched, or could not be translated."""
        task = self.translation
        failed = task.done() and (task.cancelled() or task.exception() is not None)
        return self.is_fetched or failed

    @property
    def seems_forgotten(self) -> bool:
        """Whether it could have been fetched for so long that perhaps nobody will."""
        return self.translation.done() and time.monotonic() - self.made > _SECONDS_TO_FETCH


class Documents:
    """The files of a server. They are in memory only, for half an hour at most."""

    def __init__(self, service: TranslationService) -> None:
        self._service = service
        self._documents: dict[str, Document] = {}

    async def start(
        self, name: str | None, sent: bytes, order: Order, *, needs_key: bool
    ) -> Document:
        """Start to translate a file.

        Args:
            name: Its ending tells the kind of file.
            sent: UTF-8, or an archive.
            order: The languages; texts and reader are filled in.
            needs_key: Whether fetching it takes its key, besides its identifier.

        Raises:
            RefusalError: the file is of another kind, a language is not served, or a limit is
                exceeded.
            DocumentError: the file is damaged.
        """
        path = PureWindowsPath(encodable(name or ""))
        suffix = path.suffix.lower()
        if suffix not in FORMATS:
            if way := other_way(suffix):
                raise RefusalError(400, f"files whose names end in {suffix} are not read; {way}")
            raise RefusalError(400, f"only files whose names end in {', '.join(FORMATS)} are read")
        if len(sent) > (most := self._service.settings.max_file_bytes):
            raise RefusalError(413, f"the file is longer than {most} bytes")
        form = FORMATS[suffix]
        text, num_characters = await asyncio.to_thread(self._read, form, sent)
        order = replace(
            order,
            texts=[text],
            num_characters=num_characters,
            reader=PLAIN_TEXT if form is _TEXT else document_reader(form.take_apart),
        )
        order = self._service.check_room(order)
        self._make_room(len(sent))
        document = Document(
            name=f"{path.stem[:_LONGEST_STEM]}.{order.target}{suffix}",
            media_type=form.media_type,
            num_bytes=len(sent),
            num_characters=num_characters,
            translation=asyncio.create_task(self._translate(order, form, sent)),
            needs_key=needs_key,
        )
        self._documents[document.id] = document
        # By its identifier: the timer outlives a file that was fetched before.
        asyncio.get_running_loop().call_later(_SECONDS_KEPT, self.forget, document.id)
        return document

    def _read(self, form: DocumentFormat, sent: bytes) -> tuple[str, int]:
        """Return the text of a file, and how many characters of it people read."""
        if form.has_text is None:
            text = _read_text(sent)
            return text, len(text)
        most = _BYTES_FOR_EACH_CHARACTER * self._service.settings.max_characters
        text = read_archive(sent, form.has_text, most_bytes=most, most_in_all=_MOST_UNPACKED)
        return text, count_characters(text)

    async def _translate(self, order: Order, form: DocumentFormat, sent: bytes) -> bytes:
        """Translate a file; what goes wrong is logged now, as perhaps nobody will ask."""
        try:
            (answer,) = await self._service.translate(order)
            return await asyncio.to_thread(form.write, answer.translation.text, sent)
        except Exception as error:
            raise as_refusal(error) from None

    def find(self, identifier: str, key: str | None = None) -> Document:
        """Find a file, if its owner asks for it.

        Raises:
            RefusalError: it does not exist, or no longer, or the key is wrong or missing.
        """
        document = self._documents.get(identifier)
        if document is None or not document.is_opened_by(key):
            raise RefusalError(404, "there is no such document, or it is gone")
        return document

    def forget(self, identifier: str) -> None:
        """Drop a file, if it is there, and cancel its translation if it is not ready."""
        if document := self._documents.pop(identifier, None):
            document.translation.cancel()

    def close(self) -> None:
        """Drop all files."""
        for identifier in list(self._documents):
            self.forget(identifier)

    def _make_room(self, num_bytes: int) -> None:
        """Forget what nobody waits for, the oldest first, if there is no room for one more.

        Raises:
            RefusalError: all wait to be fetched, and not for long.
        """
        while not self._has_room(num_bytes):
            documents = list(self._documents.values())
            over = [document for document in documents if document.is_over]
            free = over or [document for document in documents if document.seems_forgotten]
            if not free:
                raise RefusalError(
                    429,
                    "too many files are waiting to be fetched",
                    retry_after=math.ceil(documents[0].made + _SECONDS_TO_FETCH - time.monotonic()),
                )
            self.forget(free[0].id)

    def _has_room(self, num_bytes: int) -> bool:
        documents = self._documents.values()
        return not documents or (
            len(documents) < _MOST_DOCUMENTS
            and sum(document.num_bytes for document in documents) + num_bytes <= _MOST_BYTES
        )


def _read_text(sent: bytes) -> str:
    """Read a text without its byte order mark; an archive or a picture has a NUL in it."""
    if sent.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise RefusalError(400, "the file is not UTF-8, but UTF-16; save it as UTF-8")
    if (place := sent.find(0)) >= 0:
        raise RefusalError(400, f"the file is not text: there is a NUL at {place}")
    try:
        return encodable(sent.decode()).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise RefusalError(
            400, f"the file is not UTF-8: byte 0x{sent[error.start]:02x} at {error.start}"
        ) from None
