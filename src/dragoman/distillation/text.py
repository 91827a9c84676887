"""The text of a distillation: what the teacher translates, and which translations are taught."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import compress, islice, repeat
from operator import itemgetter
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
from dragoman.evaluation.config import EvaluationConfig
from dragoman.evaluation.statistics import collect
from dragoman.model_directory import ModelDirectory
from dragoman.tokenizers.normalisation import learnable

ENCODED_AT_ONCE = 10_000  # sentences


def references_of(sources: Path) -> Path:
    """Name the file of the first translation that people have made of each source.

    A line each, which is empty if there is none.
    """
    return sources.with_name(f"{sources.name}.references")


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
    """Write what the teacher translates, a sentence a line, text after text, and their references.

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
    texts: list[tuple[str, Iterator[tuple[str, str]]]] = []
    try:
        if pairs:
            corpora = replace(corpora, train=tuple(pairs))
            summaries = write_clean_text(
                clean_pairs, corpora, cleaning, languages=languages, say=say
            )
            kept = read_tsv(clean_pairs)
            texts += ((summary.name, islice(kept, summary.kept)) for summary in summaries)
        if monolingual:
            evaluation = evaluation_sources(corpora, languages)
            for text in monolingual:
                sentences = clean_sentences(
                    text, evaluation, corpora.overlap, cleaning, languages=languages, say=say
                )
                texts.append((str(text), zip(sentences, repeat(""))))
        counts = _write_chosen(path, texts, choice)
    finally:
        clean_pairs.unlink(missing_ok=True)
    for remark in choice.remarks():
        say(remark)
    return counts


def _write_chosen(
    path: Path, texts: Sequence[tuple[str, Iterator[tuple[str, str]]]], choice: "_Choice"
) -> list[int]:
    """Write sources that are chosen from each text, with their references, and count them.

    The names of the texts are for messages.
    """
    counts = []
    with open_whole(path) as sources, open_whole(references_of(path)) as references:
        for name, pairs in texts:
            count = 0
            for block in batched(pairs, ENCODED_AT_ONCE):
                chosen = choice.of(block)
                sources.writelines(f"{source}\n".encode() for source, _ in chosen)
                references.writelines(f"{reference}\n".encode() for _, reference in chosen)
                count += len(chosen)
            if not count:
                raise CorpusError(
                    f"{name}: all sources repeat others or have more tokens than the "
                    "teacher has seen; shorten them, or leave this text out"
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

    def of(self, pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
        """Leave out sources with too many tokens, and all but the first of equal ones."""
        new = pairs
        if self._seen is not None:  # several translations of a source become one
            new = list(compress(pairs, self._seen.add([source for source, _ in pairs])))
        lengths = map(len, self._tokenizer.encode_batch([source for source, _ in new]))
        chosen = list(compress(new, (length <= self._max_length for length in lengths)))
        self._repeated += len(pairs) - len(new)
        self._too_long += len(new) - len(chosen)
        return chosen

    def remarks(self) -> Iterator[str]:
        """Say how many were left out."""
        if self._repeated:
            yield f"{counted(self._repeated, 'repeated source')} left out"
        if self._too_long:
            sources = counted(self._too_long, "source")
            yield f"{sources} with more than {self._max_length} tokens left out"


def write_pairs(
    translations: Path, parts: Sequence[tuple[Path, int]], *, nearest_to: Path | None = None
) -> tuple[int, Counter[str]]:
    """Write the translations that can be taught as TSV files: source TAB translation.

    If a source has several translations, each of them makes a pair, or only the one that is most
    like the reference.

    Args:
        translations: What `dragoman translate --json` writes.
        parts: Each file to write, and the number of sources whose translations it gets.
        nearest_to: The references of all sources, to choose by.

    Returns:
        How many are written, and how many are left out for each reason. A translation counts for
        its first reason only.

    Raises:
        CorpusError: every translation for one of the files has a fault.
    """
    left_out: Counter[str] = Counter()
    written = 0
    references = read_lines(nearest_to) if nearest_to else repeat(None)
    records = zip(map(json.loads, read_lines(translations)), references, strict=False)
    for path, num_sources in parts:
        before = written
        with open_whole(path) as file:
            for record, reference in islice(records, num_sources):
                source = learnable(record["source"])
                taught = _taught(record, left_out)
                if reference is not None and len(taught) > 1:
                    left_out["another one is nearer to the reference"] += len(taught) - 1
                    taught = [_nearest(taught, reference)]
                file.writelines(f"{source}\t{text}\n".encode() for text in taught)
                written += len(taught)
            if written == before:
                raise CorpusError(
                    f"{translations}: every translation for {path.name} has a fault, so this "
                    "teacher has nothing to teach; this file says which faults"
                )
    return written, left_out


def _taught(record: dict[str, Any], left_out: Counter[str]) -> list[str]:
    """Choose the translations without a fault, best first, and count the others."""
    if "rejected" in record:
        left_out["it could not be translated"] += 1
        return []
    taught = []
    for translation in record["alternatives"]:
        if reason := _fault(translation):
            left_out[reason] += 1
        else:
            taught.append(learnable(translation["text"]))
    return taught


def _fault(translation: dict[str, Any]) -> str | None:
    """Say why a translation is not taught, if there is a reason."""
    if translation["faults"]:
        return f"the translation {translation['faults'][0]}"
    if not translation["finished"]:
        return "the translation stopped at the length limit"
    return None


def _nearest(translations: list[str], reference: str) -> str:
    """Choose the translation with the highest chrF; of equals, or without a reference, the first.

    Sequence-level interpolation (Kim and Rush 2016, arXiv 1606.07947, section 3.3), which chooses
    by BLEU there; chrF needs to know no words, and a sentence always has one.
    """
    scores = collect("chrF", translations, [reference] * len(translations), EvaluationConfig())
    return max(zip(scores.of_sentences(), translations, strict=True), key=itemgetter(0))[1]
