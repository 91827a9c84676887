"""Measure what keeping terms costs and gives: protected text, and a glossary.

    python benchmarks/terms.py protection MODEL PAIRS.tsv
    python benchmarks/terms.py tags MODEL PAIRS.tsv --sample 300
    python benchmarks/terms.py glossary MODEL TRAINING_PAIRS.tsv TEST_PAIRS.tsv
    python benchmarks/terms.py unusual MODEL PAIRS.tsv [TERMS.tsv] --sample 200
    python benchmarks/terms.py capitals MODEL PAIRS.tsv

`protection` translates the pairs whose source has a placeholder, a number or an address, but
neither tags nor escapes, with and without protection, and counts the terms that survive, however
often each occurs. `tags` does the same with those that have tags or escaped line breaks, and counts
these, too.

`glossary` makes a glossary from the training pairs: words of the source that go with one word of
the target in at least `LEAST_PAIRS` pairs and in more than half of those that have either (Dice).
It then translates the test pairs that have such a word and its translation, with and without the
glossary, and counts the terms that the translation also has, as often as the source has them.

`unusual` does the same with `UNUSUAL`, words that no model would produce by itself, or those of a
second file, on the first pairs that have one in the source; the references do not have them, so
BLEU is lost.

`capitals` writes the sources in capitals and compares with the references in capitals, with and
without protection, and beside them the translations of the sources as they are.
"""

import argparse
import json
import random
import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from dragoman import Translator
from dragoman.corpora.config import CorpusConfig
from dragoman.corpora.parallel_text import Pair, read_pairs
from dragoman.engines.protocol import EngineKind
from dragoman.evaluation.config import EvaluationConfig
from dragoman.evaluation.metrics import score
from dragoman.markup.document import is_marked_up
from dragoman.terms.finder import TermFinder
from dragoman.terms.glossary import Glossary
from dragoman.terms.protected import find_protected

LEAST_PAIRS = 20
LEAST_DICE = 0.5
LEAST_LETTERS = 4
LANGUAGES = ("source", "target")

UNUSUAL = {
    "file": "incartamento",
    "server": "erogatore",
    "window": "vetrina",
    "folder": "faldone",
    "error": "svarione",
    "user": "fruitore",
    "password": "segreto",
    "image": "raffigurazione",
    "version": "stesura",
    "message": "dispaccio",
    "option": "scelta",
    "text": "brano",
    "list": "rubrica",
    "program": "applicativo",
}

_TAG = re.compile(r"</?[A-Za-z][^<>]*>|\\[nrt]")
_WORD = re.compile(rf"[^\W\d_]{{{LEAST_LETTERS},}}")


def read(path: Path) -> list[Pair]:
    """Read pairs, each once: translation memories repeat themselves."""
    pairs = read_pairs(CorpusConfig(path=str(path)), languages=LANGUAGES)
    return list({(pair.source, pair.target): pair for pair in pairs}.values())


def measure_protection(model: Path, pairs: Sequence[Pair], engine: EngineKind) -> None:
    """Count the terms that survive, with and without protection."""
    chosen = [
        pair for pair in pairs if find_protected(pair.source) and not is_marked_up(pair.source)
    ]
    for protect in (False, True):
        translator = Translator(model, engine=engine, protect=protect)
        translations, seconds = translate(translator, chosen)
        terms = kept = whole = 0
        for pair, translation in zip(chosen, translations, strict=True):
            required = find_protected(pair.source)
            ours, theirs = (
                Counter(frozenset(term.writings) for term in found)
                for found in (required, find_protected(translation))
            )
            terms += len(required)
            kept += (ours & theirs).total()
            whole += not TermFinder().find_faults(required, translation)
        report(
            chosen,
            translations,
            engine=translator.engine,
            protect=protect,
            terms=terms,
            terms_that_survive=kept,
            sentences_that_keep_all=whole,
            seconds=round(seconds, 1),
        )


def measure_tags(model: Path, pairs: Sequence[Pair], engine: EngineKind) -> None:
    """Count the tags, escapes and terms that survive, with and without protection."""
    for protect in (False, True):
        translator = Translator(model, engine=engine, protect=protect)
        translations, seconds = translate(translator, pairs)
        tags = kept = same_tags = whole = 0
        for pair, translation in zip(pairs, translations, strict=True):
            ours, theirs = (Counter(_TAG.findall(text)) for text in (pair.source, translation))
            tags += ours.total()
            kept += (ours & theirs).total()
            same_tags += ours == theirs
            required = find_protected(_TAG.sub(" ", pair.source))
            lost = TermFinder().find_faults(required, _TAG.sub(" ", translation))
            whole += ours == theirs and not lost
        report(
            pairs,
            translations,
            engine=translator.engine,
            protect=protect,
            tags_and_escapes=tags,
            that_survive=kept,
            sentences_with_the_same=same_tags,
            sentences_that_keep_terms_too=whole,
            bleu_without_tags=bleu(
                [_TAG.sub(" ", t) for t in translations],
                [_TAG.sub(" ", pair.target) for pair in pairs],
            ),
            seconds=round(seconds, 1),
        )


def measure_glossary(
    model: Path,
    terms: Mapping[str, str],
    test: Sequence[Pair],
    engine: EngineKind,
    sample: int | None,
) -> None:
    """Count the terms that are translated as the glossary says, with it and without it.

    Without a sample, these are the sentences whose references have all their terms.
    """
    finder = TermFinder(
        protects=False, glossary=Glossary({source: (target,) for source, target in terms.items()})
    )
    chosen = [
        pair
        for pair in test
        if (found := finder.find(pair.source))
        and (sample or not finder.find_faults(found, pair.target))
    ][:sample]
    with tempfile.NamedTemporaryFile("w", suffix=".tsv", encoding="utf-8") as file:
        file.writelines(f"{source}\t{target}\n" for source, target in terms.items())
        file.flush()
        _with_and_without(model, Path(file.name), chosen, finder, engine)


def _with_and_without(
    model: Path, file: Path, chosen: Sequence[Pair], finder: TermFinder, engine: EngineKind
) -> None:
    """Translate with a glossary and without it."""
    for glossary in (None, file):
        translator = Translator(model, engine=engine, glossary=glossary)
        translations, seconds = translate(translator, chosen)
        required = honoured = 0
        for pair, translation in zip(chosen, translations, strict=True):
            wanted = Counter(term.writings[0].lower() for term in finder.find(pair.source))
            written = Counter(
                {term: len(Glossary({term: (term,)}).find(translation)) for term in wanted}
            )
            required += wanted.total()
            honoured += (wanted & written).total()
        report(
            chosen,
            translations,
            engine=translator.engine,
            glossary=glossary is not None,
            terms=required,
            terms_that_are_honoured=honoured,
            seconds=round(seconds, 1),
        )


def measure_capitals(model: Path, pairs: Sequence[Pair], engine: EngineKind) -> None:
    """Score translations of sentences in capitals."""
    shouted = [
        pair._replace(source=pair.source.upper(), target=pair.target.upper()) for pair in pairs
    ]
    for sources, protect in ((shouted, False), (shouted, True), (pairs, True)):
        translations, seconds = translate(
            Translator(model, engine=engine, protect=protect), sources
        )
        report(
            shouted,
            [translation.upper() for translation in translations],
            in_capitals=sources is shouted,
            protect=protect,
            seconds=round(seconds, 1),
        )


def find_terms(pairs: Iterable[Pair]) -> dict[str, str]:
    """Find the words of the source that almost always go with one word of the target."""
    of_source: Counter[str] = Counter()
    of_target: Counter[str] = Counter()
    together: Counter[tuple[str, str]] = Counter()
    for pair in pairs:
        source, target = (set(_WORD.findall(side.lower())) for side in (pair.source, pair.target))
        of_source.update(source)
        of_target.update(target)
        together.update((s, t) for s in source for t in target)
    found: dict[str, tuple[float, str]] = {}
    for (s, t), count in together.items():
        dice = 2 * count / (of_source[s] + of_target[t])
        if count >= LEAST_PAIRS and dice > LEAST_DICE and s != t:
            found[s] = max(found.get(s, (0.0, "")), (dice, t))
    return {s: t for s, (_, t) in sorted(found.items())}


def translate(translator: Translator, pairs: Sequence[Pair]) -> tuple[list[str], float]:
    """Translate the sources, and measure the time."""
    start = time.perf_counter()
    translations = translator([pair.source for pair in pairs])
    return translations, time.perf_counter() - start


def report(
    pairs: Sequence[Pair], translations: Sequence[str], **counted: str | float | bool
) -> None:
    """Print what was counted, and BLEU."""
    found = bleu(translations, [pair.target for pair in pairs])
    print(json.dumps({"sentences": len(pairs), **counted, "bleu": found}))


def bleu(translations: Sequence[str], references: Sequence[str]) -> float:
    """Score translations."""
    (found,) = score(translations, references, EvaluationConfig(metrics=("BLEU",)))
    return round(found.value, 2)


def main() -> None:
    """Measure, and print a JSON object for each way to translate."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["protection", "tags", "glossary", "unusual", "capitals"])
    parser.add_argument("model", type=Path)
    parser.add_argument("pairs", type=Path, nargs="+")
    parser.add_argument("--sample", type=int, help="for tags and unusual: of so many pairs")
    parser.add_argument("--engine", default="auto", choices=["auto", "pytorch", "ctranslate2"])
    arguments = parser.parse_args()
    first, *others = [read(path) for path in arguments.pairs]
    if arguments.what == "protection":
        measure_protection(arguments.model, first, arguments.engine)
    elif arguments.what == "capitals":
        measure_capitals(arguments.model, first, arguments.engine)
    elif arguments.what == "tags":
        chosen = [pair for pair in first if is_marked_up(pair.source)]
        if arguments.sample:
            chosen = random.Random(1).sample(chosen, arguments.sample)
        measure_tags(arguments.model, chosen, arguments.engine)
    elif arguments.what == "unusual":
        sample = arguments.sample or len(first)
        terms = {pair.source: pair.target for pair in others[0]} if others else UNUSUAL
        measure_glossary(arguments.model, terms, first, arguments.engine, sample)
    else:
        measure_glossary(arguments.model, find_terms(first), others[0], arguments.engine, None)


if __name__ == "__main__":
    main()
