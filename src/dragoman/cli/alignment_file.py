"""The word alignments that `dragoman translate` writes beside the translations."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from dragoman.batched import batched
from dragoman.durable import open_whole

if TYPE_CHECKING:
    from dragoman.bulk.form import Translated
    from dragoman.bulk.stream import Align
    from dragoman.translation import Translation

ALIGNED_AT_ONCE = 256


def open_alignments(model: Path, path: Path | None) -> AbstractContextManager["Align"]:
    """Prepare to align translations and to write a line for each, if a file is named."""
    return nullcontext(_without_alignments) if path is None else _writing(model, path)


def _without_alignments(translations: Iterator["Translation"]) -> Iterator["Translated"]:
    from dragoman.bulk.form import Translated

    return map(Translated, translations)


@contextmanager
def _writing(model: Path, path: Path) -> Iterator["Align"]:
    """Load the model once more, to align whichever engine translates."""
    from dragoman.alignment.aligner import Aligner
    from dragoman.alignment.links import write_pharaoh
    from dragoman.bulk.form import Translated

    aligner = Aligner(model)
    aligner.check()
    with open_whole(path) as file:

        def align(translations: Iterator["Translation"]) -> Iterator[Translated]:
            for block in batched(translations, ALIGNED_AT_ONCE):
                for translation, alignment in zip(
                    block, aligner.align_translations(block), strict=True
                ):
                    file.write(f"{write_pharaoh(alignment.links)}\n".encode())
                    yield Translated(translation, alignment)

        yield align
