"""`dragoman import marian`: a model directory from a Marian one, and how that was proved."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dragoman.interop.marian import convert_marian, find_bad_words
from dragoman.interop.marian_proof import find_other_tokens, prove_import
from dragoman.interop.proof import Agreement
from dragoman.interop.staging import staging
from dragoman.model_directory import ModelDirectory


@dataclass(frozen=True, kw_only=True)
class MarianImport:
    """What an import has shown."""

    proof: Agreement | None
    """The comparison with transformers, if it is installed."""

    texts_cut_otherwise: list[str]
    """Texts of random pieces that `MarianTokenizer` encodes or decodes differently."""

    bad_words_ids: list[Any]
    """Tokens that transformers would keep out of every translation, and we do not."""


def import_marian(
    directory: Path,
    output: Path,
    *,
    languages: tuple[str, str] | None = None,
    language_token: str | None = None,
) -> MarianImport:
    """Turn a Marian directory into a model directory, which is written only if it is proved.

    Args:
        directory: What `load_marian` reads.
        output: The model directory to write, which must not exist yet.
        languages: What `convert_marian` takes.
        language_token: What `convert_marian` takes.

    Raises:
        MarianError: the model cannot be imported, or transformers computes something else.
        OutputError: the output exists, or cannot be written.
    """
    with staging(output) as unfinished:
        convert_marian(directory, unfinished, languages=languages, language_token=language_token)
        proof = prove_import(directory, unfinished)
        imported = ModelDirectory(unfinished)
        return MarianImport(
            proof=proof,
            texts_cut_otherwise=(
                find_other_tokens(directory, imported.load_tokenizers()) if proof else []
            ),
            bad_words_ids=find_bad_words(directory, imported.description.forbidden_ids),
        )
