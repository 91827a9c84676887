"""`dragoman corpus`: look at parallel text, fetch it, or write the embedded one."""

import contextlib
import sys
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, Literal

from cyclopts import App, Parameter

from dragoman.cli.options import (
    Count,
    FileToWrite,
    Flag,
    Languages,
    OutputFile,
    OutputFileIfAny,
    OutputIfAny,
    WholeNumber,
)
from dragoman.cli.text_output import print_json
from dragoman.counting import counted
from dragoman.durable import check_written, naming, open_whole
from dragoman.exit_codes import FOUND

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from dragoman.corpora.config import CorpusConfig
    from dragoman.corpora.parallel_text import Pair
    from dragoman.corpora.statistics import CorpusStatistics

app = App(name="corpus", help="Check parallel text, download it, or write out the embedded corpus.")


def _check_address(_: Any, text: str) -> None:
    from dragoman.corpora.opus.servers import parse

    parse(text)


@app.command
def check(
    files: list[str] | None = None,
    /,
    *,
    source: str | None = None,
    target: str | None = None,
    languages: Languages = "en-it",
    output: OutputFileIfAny = None,
    json: Flag = False,
) -> int:
    """Describe parallel text: sizes, lengths, suspicious pairs, and what files share.

    Lines that hold no pair are counted, and the first ones are listed. A file that cannot be read
    is named, and the others are described all the same. In both cases the exit code is 1, as
    training refuses such a file.

    For example:

        dragoman corpus check train.tsv test.tsv
        dragoman corpus check memory.tmx it.po -o suspicious.tsv
        dragoman corpus check Books.en-it
        dragoman corpus check test.tsv --source train.en --target train.it
        dragoman corpus check memory.jsonl.zst --languages de-en --json

    Parameters
    ----------
    files
        Anything that a recipe reads: TSV, CSV, JSON lines, a translation memory (TMX), PO or XLIFF,
        plain or compressed; the directory of a downloaded corpus; a Hugging Face data set.
    source
        A plain text file, one sentence per line, for a corpus in two files.
    target
        The translation of each line of the source.
    languages
        The language codes of source and target. They decide which script a sentence should have,
        and under which codes it is read from JSON lines, TMX, PO and XLIFF.
    output
        A TSV file for all lines that hold no pair, all suspicious pairs, and all that seem to be
        the wrong way round: corpus, number of the line or record (for a line without a pair the
        reason names it), reason, source and target. It takes about a minute for a hundred thousand
        pairs.
    json
        Print one JSON object, for programs.
    """
    from itertools import combinations

    from dragoman.corpora.languages import parse_languages, warn_of_unknown
    from dragoman.corpora.statistics import shared_sources

    pair = parse_languages(languages)
    warn_of_unknown(pair, partial(print, file=sys.stderr))
    corpora = _corpora(files or [], source, target)
    if output is not None:
        check_written([output], list(_files(corpora)))
    # A list is completed even if nobody reads the rest of the report, as behind `| head`.
    unread = contextlib.suppress(*([] if output is None else [BrokenPipeError]))
    measured = []
    with contextlib.nullcontext() if output is None else open_whole(output) as listing:
        for statistics in _measured(corpora, pair, listing):
            measured.append(statistics)
            if not json:
                with unread, naming("standard output"):
                    _print_statistics(statistics)
    shared = [
        (first.corpus, second.corpus, shared_sources(first, second))
        for first, second in combinations(measured, 2)
    ]
    with naming("standard output"):
        if json:
            _print_json(measured, shared)
        else:
            _print_shared(shared)
    is_whole = len(measured) == len(corpora)
    return 0 if is_whole and not any(statistics.num_refused for statistics in measured) else FOUND


@app.command
def get(
    corpus: Annotated[str, Parameter(validator=_check_address)],
    languages: Languages,
    /,
    *,
    output: OutputIfAny = None,
    json: Flag = False,
) -> None:
    """Download a public corpus, verify it, and show its licence.

    If a download is interrupted, the same command continues where it stopped.

    For example:

        dragoman corpus get opus:Books en-it
        dragoman corpus get opus:Tatoeba/v2023-04-12 it-en -o corpora/tatoeba

    Parameters
    ----------
    corpus
        `opus:NAME` for the latest version, or `opus:NAME/VERSION`.
    languages
        Two language codes, such as `en-it`.
    output
        The directory to create; `NAME.LANGUAGES` if left out.
    json
        Print one JSON object, for programs, with the contents of the corpus's `corpus.toml` too.
    """
    from dragoman.corpora.languages import parse_languages
    from dragoman.corpora.opus.corpus import get as get_corpus

    there = get_corpus(corpus, parse_languages(languages), output)
    provenance = there.provenance
    if json:
        from dragoman.config import to_table

        fetched = {"directory": str(there.directory), "is_new": there.is_new}
        print_json({**fetched, **to_table(provenance)})
        return
    state = "downloaded" if there.is_new else "was complete, nothing was downloaded"
    print(f"{there.directory}: {provenance.name} {provenance.version}, {state}")
    print(f"{counted(provenance.pairs, 'pair')}, {' and '.join(provenance.languages)}")
    print(f"in a recipe: path = {str(there.directory)!r}")
    if there.licence:
        print(f"licence:\n\n{_printable(there.licence)}")
    else:
        print(f"licence: the archive names none; see where {provenance.url} comes from")


@app.command
def primer(
    *,
    pairs: Count,
    output: OutputFile,
    seed: WholeNumber = 0,
    split: Literal["train", "validation", "test"] = "train",
    alignments: FileToWrite | None = None,
) -> None:
    """Write sentence pairs of the embedded English-Italian corpus as TSV.

    For example:

        dragoman corpus primer --pairs 20000 -o train.tsv
        dragoman corpus primer --pairs 500 --split test -o test.tsv --alignments test.align

    Parameters
    ----------
    pairs
        How many pairs to write.
    output
        The TSV file to write.
    seed
        Another seed gives other sentences.
    split
        The splits have no sentences in common.
    alignments
        A file for the word alignments, one line per pair: `0-0 1-2` says that the first words
        translate each other, and that the second English word is the third Italian one. A
        punctuation mark counts as a word, and so does what precedes an Italian apostrophe. The line
        of a sentence from the phrasebook, with which the training split begins, is empty.
    """
    from dragoman.alignment.links import write_pharaoh
    from dragoman.corpora.primer.corpus import generate

    check_written([output] if alignments is None else [output, alignments])
    with contextlib.ExitStack() as stack:
        text = stack.enter_context(open_whole(output))
        links = stack.enter_context(open_whole(alignments)) if alignments else None
        for pair in generate(pairs, seed=seed, split=split):
            text.write(f"{pair.source}\t{pair.target}\n".encode())
            if links:
                links.write(f"{write_pharaoh(frozenset(pair.alignment))}\n".encode())


def _corpora(files: list[str], source: str | None, target: str | None) -> "list[CorpusConfig]":
    """List what to check: each of the files, and the corpus in two files."""
    from dragoman.corpora.config import CorpusConfig
    from dragoman.errors import UsageError

    if (source is None) != (target is None):
        raise UsageError("a corpus in two files takes both --source and --target")
    corpora = [CorpusConfig(path=file) for file in files]
    if source is not None:
        corpora.append(CorpusConfig(source=source, target=target))
    if not corpora:
        raise UsageError("name what to check: FILES, or --source and --target")
    return corpora


def _files(corpora: "list[CorpusConfig]") -> "Iterator[Path]":
    """List the files that will be read; what cannot be read is told when its turn comes."""
    from dragoman.corpora.fingerprint import files_of
    from dragoman.corpora.text_file import CorpusError

    for corpus in corpora:
        with contextlib.suppress(CorpusError):
            yield from (path for _, path in files_of(corpus))


def _measured(
    corpora: "list[CorpusConfig]", languages: tuple[str, str], listing: BinaryIO | None
) -> "Iterator[CorpusStatistics]":
    """Measure each corpus that can be read, and say why others cannot.

    Raises:
        CorpusError: none can be read.
    """
    from dragoman.corpora.config import CleaningConfig
    from dragoman.corpora.statistics import measure
    from dragoman.corpora.text_file import CorpusError

    can_be_read = False
    for corpus in corpora:
        listed = None if listing is None else partial(_list, listing, corpus.path or corpus.name)
        try:
            statistics = measure(
                corpus, languages=languages, config=CleaningConfig(), listed=listed
            )
        except CorpusError as error:
            if not can_be_read and corpus is corpora[-1]:
                raise
            print(f"dragoman: {error}", file=sys.stderr)
        else:
            can_be_read = True
            yield statistics


def _list(listing: BinaryIO, corpus: str, pair: "Pair | None", reason: str) -> None:
    """Write a row of TSV about a pair, or about a line that holds none."""
    cells = (pair.line, reason, *pair[:2]) if pair else ("", reason, "", "")
    row = "\t".join(" ".join(str(cell).split()) for cell in (corpus, *cells))
    listing.write(f"{row}\n".encode(errors="replace"))


def _print_json(measured: list["CorpusStatistics"], shared: list[tuple[str, str, int]]) -> None:
    """Print everything as one JSON object."""
    corpora = [asdict(statistics) for statistics in measured]
    for corpus in corpora:
        del corpus["source_hashes"]
    overlaps = [{"corpora": [one, other], "sources": count} for one, other, count in shared]
    print_json({"corpora": corpora, "overlaps": overlaps})


def _print_shared(shared: list[tuple[str, str, int]]) -> None:
    """Print which corpora have sources in common: of hundreds of memories, few do."""
    for one, other, count in shared:
        if count:
            print(f"{one} and {other} share {counted(count, 'source sentence')}")
    if shared and not any(count for _, _, count in shared):
        print("no two of them share a source sentence")


def _print_statistics(statistics: "CorpusStatistics") -> None:
    """Print what a person wants to know about a corpus."""
    languages = "-".join(side.language for side in statistics.sides)
    print(
        f"{statistics.corpus}: {counted(statistics.pairs, 'pair')}, languages {languages} "
        "(change with --languages)"
    )
    print(
        "             characters       words   characters a sentence: median   90 %   99 %    most"
    )
    for side in statistics.sides:
        median, *others = side.character_percentiles.values()
        tail = "".join(f" {length:6,}" for length in others)
        words = "-" if side.words is None else f"{side.words:,}"  # none without spaces
        print(f"  {side.language:<8}{side.characters:13,} {words:>11}{median:32,}{tail}")
    total = sum(suspicion.count for suspicion in statistics.suspicious.values())
    share = total / statistics.pairs
    print(f"  {counted(total, 'pair')} ({share:.1%}) that the default cleaning leaves out")
    for reason, suspicion in statistics.suspicious.items():
        more = ", …" if suspicion.count > len(suspicion.lines) else ""
        lines = ", ".join(map(str, suspicion.lines))
        print(f"    {reason:<20}{suspicion.count:9,}   line {lines}{more}")
    for warning in statistics.warnings:
        print(f"  warning: {warning}")
    if statistics.num_refused:
        refused = counted(statistics.num_refused, "line")
        print(f"  {refused} without a pair; training refuses the file:")
        for refusal in statistics.refused:
            print(f"    {refusal}")
        if statistics.num_refused > len(statistics.refused):
            print("    …")
    print()


def _printable(text: str) -> str:
    """Remove what a terminal would obey."""
    return "".join(c for c in text if c.isprintable() or c in "\n\t").strip()
