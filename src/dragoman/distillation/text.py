"""The text of a distillation: what the teacher translates, and which translations are taught."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import compress, islice
from pathlib import Path
from typing import Any

from dragoman.corpora.clean_text import Say, write_clean_text
from dragoman.corpora.config import CleaningConfig, CorporaConfig
from dragoman.corpora.prepared_text import read_tsv
from dragoman.corpora.seen import SeenPairs
from dragoman.corpora.text_file import CorpusError, read_lines
from dragoman.durable import open_whole
from dragoman.model_directory import ModelDirectory
from dragoman.tokenizers.normalisation import normalise

ENCODED_AT_ONCE = 10_000  # sentences


def write_sources(
    path: Path,
    teacher: ModelDirectory,
    corpora: CorporaConfig,
    cleaning: CleaningConfig,
    say: Say,
) -> None:
    """Write what the teacher translates, a sentence a line.

    That is the source side of what a training would keep: clean pairs that give no evaluation
    sentence away; but each source once, unless duplicates are to stay. A source with more tokens
    than the teacher has seen is left out, and counted.

    Args:
        path: The file to write.
        teacher: The model that teaches.
        corpora: What is read, and the evaluation text of the student.
        cleaning: The thresholds.
        say: Is told what is kept.

    Raises:
        CorpusError: a corpus cannot be read, or overlaps with the evaluation text, or nothing is
            left.
    """
    description = teacher.description
    languages = description.languages
    pairs = path.with_name(f"{path.name}.pairs")
    write_clean_text(pairs, corpora, cleaning, languages=languages, say=say)
    tokenizer = teacher.load_tokenizers().source
    written = too_long = repeated = 0
    seen = SeenPairs()
    with open_whole(path) as file:
        for block in _blocks(source for source, _ in read_tsv(pairs)):
            sources = block
            if cleaning.drop_duplicates:  # several translations of a source become one
                is_new = seen.add([(source, "") for source in block])
                sources = list(compress(block, is_new))
                repeated += len(block) - len(sources)
            for source, ids in zip(sources, tokenizer.encode_batch(sources), strict=True):
                if len(ids) > description.max_length:
                    too_long += 1
                else:
                    file.write(f"{source}\n".encode())
                    written += 1
    pairs.unlink()
    if repeated:
        say(f"{repeated:,} sources that repeat others left out")
    if too_long:
        say(f"{too_long:,} sources with more than {description.max_length} tokens left out")
    if not written:
        raise CorpusError("every source has more tokens than the teacher has seen; cut them")


def _blocks(texts: Iterable[str]) -> Iterator[list[str]]:
    remaining = iter(texts)
    while block := list(islice(remaining, ENCODED_AT_ONCE)):
        yield block


def write_pairs(translations: Path, pairs: Path) -> tuple[int, Counter[str]]:
    """Write the translations that can be taught as a TSV file: source TAB translation.

    Of several translations of a source each is a pair.

    Args:
        translations: What `dragoman translate --json` writes.
        pairs: The file to write.

    Returns:
        How many are written, and how many are left out for each reason. A translation counts for
        its first reason only.

    Raises:
        CorpusError: every translation has a fault.
    """
    left_out: Counter[str] = Counter()
    written = 0
    with open_whole(pairs) as file:
        for line in read_lines(translations):
            record = json.loads(line)
            if "rejected" in record:
                left_out["it could not be translated"] += 1
                continue
            source = normalise(record["source"])
            for translation in record["alternatives"]:
                if reason := _fault(translation):
                    left_out[reason] += 1
                else:
                    file.write(f"{source}\t{normalise(translation['text'])}\n".encode())
                    written += 1
        if not written:
            raise CorpusError(
                f"{translations}: no translation is without a fault, so this teacher has nothing "
                "to teach; its faults stand there"
            )
    return written, left_out


def _fault(translation: dict[str, Any]) -> str | None:
    """Say why a translation is not taught, if there is a reason."""
    if translation["faults"]:
        return f"the translation {translation['faults'][0]}"
    if not translation["finished"]:
        return "the translation stopped at the length limit"
    return None
