"""The text of a distillation: what the teacher translates, and which translations are taught."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import compress, islice
from pathlib import Path
from typing import Any

from dragoman.batched import batched
from dragoman.corpora.clean_text import Say, evaluation_sources, write_clean_text
from dragoman.corpora.config import CleaningConfig, CorporaConfig, CorpusConfig
from dragoman.corpora.prepared_text import read_tsv
from dragoman.corpora.seen import SeenTexts
from dragoman.corpora.text_file import CorpusError, read_lines
from dragoman.counting import counted
from dragoman.distillation.monolingual import clean_sentences
from dragoman.durable import open_whole
from dragoman.model_directory import ModelDirectory
from dragoman.tokenizers.normalisation import learnable

ENCODED_AT_ONCE = 10_000  # sentences


def write_sources(
    path: Path,
    teacher: ModelDirectory,
    pairs: Sequence[CorpusConfig],
    monolingual: Sequence[Path],
    *,
    corpora: CorporaConfig,
    cleaning: CleaningConfig,
    say: Say,
) -> list[int]:
    """Write what the teacher translates, a sentence a line, text after text.

    Of pairs, that is the source side of what training would keep: clean pairs that leak no
    evaluation sentence. Each source is written only once, unless duplicates are to stay. A source
    with more tokens than the teacher has seen is left out and counted.

    Args:
        path: The file to write.
        teacher: The model that teaches.
        pairs: Text whose source side is translated.
        monolingual: Text that has no translation.
        corpora: Of the student: its evaluation text, and what happens if that occurs here.
        cleaning: The thresholds.
        say: Reports what is kept.

    Returns:
        How many there are of each text.

    Raises:
        CorpusError: a text cannot be read, or overlaps with the evaluation text, or nothing of it
            is left.
    """
    clean_pairs = path.with_name(f"{path.name}.pairs")
    languages = teacher.description.languages
    choice = _Choice(teacher, once=cleaning.drop_duplicates)
    texts: list[tuple[str, Iterator[str]]] = []
    try:
        if pairs:
            corpora = replace(corpora, train=tuple(pairs))
            summaries = write_clean_text(
                clean_pairs, corpora, cleaning, languages=languages, say=say
            )
            sources = (source for source, _ in read_tsv(clean_pairs))
            texts += ((summary.name, islice(sources, summary.kept)) for summary in summaries)
        if monolingual:
            evaluation = evaluation_sources(corpora, languages)
            for text in monolingual:
                sentences = clean_sentences(
                    text, evaluation, corpora.overlap, cleaning, languages=languages, say=say
                )
                texts.append((str(text), sentences))
        counts = _write_chosen(path, texts, choice)
    finally:
        clean_pairs.unlink(missing_ok=True)
    for remark in choice.remarks():
        say(remark)
    return counts


def _write_chosen(
    path: Path, texts: Sequence[tuple[str, Iterator[str]]], choice: "_Choice"
) -> list[int]:
    """Write the sources that are chosen from each text, and count them; names are for messages."""
    counts = []
    with open_whole(path) as file:
        for name, sources in texts:
            count = 0
            for block in batched(sources, ENCODED_AT_ONCE):
                chosen = choice.of(block)
                file.writelines(f"{source}\n".encode() for source in chosen)
                count += len(chosen)
            if not count:
                raise CorpusError(
                    f"{name}: cleaning leaves nothing of it, or all its sources repeat others or "
                    "have more tokens than the teacher has seen; leave this text out"
                )
            counts.append(count)
    return counts


class _Choice:
    """Chooses what a teacher translates, and counts what it leaves out."""

    def __init__(self, teacher: ModelDirectory, *, once: bool) -> None:
        self._tokenizer = teacher.load_tokenizers().source
        self._max_length = teacher.description.max_length
        self._seen = SeenTexts() if once else None
        self._repeated = self._too_long = 0

    def of(self, sources: list[str]) -> list[str]:
        """Leave out sources with too many tokens, and all but the first of equal ones."""
        new = sources
        if self._seen is not None:  # several translations of a source become one
            new = list(compress(sources, self._seen.add(sources)))
        lengths = map(len, self._tokenizer.encode_batch(new))
        chosen = list(compress(new, (length <= self._max_length for length in lengths)))
        self._repeated += len(sources) - len(new)
        self._too_long += len(new) - len(chosen)
        return chosen

    def remarks(self) -> Iterator[str]:
        """Say how many were left out."""
        if self._repeated:
            yield f"{counted(self._repeated, 'repeated source')} left out"
        if self._too_long:
            sources = counted(self._too_long, "source")
            yield f"{sources} with more than {self._max_length} tokens left out"


def write_pairs(translations: Path, parts: Sequence[tuple[Path, int]]) -> tuple[int, Counter[str]]:
    """Write the translations that can be taught as TSV files: source TAB translation.

    If a source has several translations, each of them makes a pair.

    Args:
        translations: What `dragoman translate --json` writes.
        parts: Each file to write, and the number of sources whose translations it gets.

    Returns:
        How many are written, and how many are left out for each reason. A translation counts for
        its first reason only.

    Raises:
        CorpusError: every translation for one of the files has a fault.
    """
    left_out: Counter[str] = Counter()
    written = 0
    records = map(json.loads, read_lines(translations))
    for path, num_sources in parts:
        before = written
        with open_whole(path) as file:
            for record in islice(records, num_sources):
                if "rejected" in record:
                    left_out["it could not be translated"] += 1
                    continue
                source = learnable(record["source"])
                for translation in record["alternatives"]:
                    if reason := _fault(translation):
                        left_out[reason] += 1
                    else:
                        file.write(f"{source}\t{learnable(translation['text'])}\n".encode())
                        written += 1
            if written == before:
                raise CorpusError(
                    f"{translations}: every translation for {path.name} has a fault, so this "
                    "teacher has nothing to teach; this file says which faults"
                )
    return written, left_out


def _fault(translation: dict[str, Any]) -> str | None:
    """Say why a translation is not taught, if there is a reason."""
    if translation["faults"]:
        return f"the translation {translation['faults'][0]}"
    if not translation["finished"]:
        return "the translation stopped at the length limit"
    return None
