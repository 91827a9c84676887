"""`dragoman demo`: the whole path, from no text at all to a translator."""

from pathlib import Path
from shlex import quote
from typing import Annotated, Any

from cyclopts import Parameter

from dragoman.cli.train import STOPPED

TRAIN_PAIRS = 100_000
EVALUATION_PAIRS = 1000
SHOWN = 8

NEXT = """
Try next:
  echo "My sister is buying two red apples." | dragoman translate {directory}
  dragoman inspect {directory}
  dragoman translate {directory}                 type sentences, end with Ctrl-D
  dragoman export {directory} --to ctranslate2     make it faster
  dragoman corpus check my-pairs.tsv             look at parallel text of your own
  dragoman train my-recipe.toml                  and train on it; recipes/ has examples"""


def demo(*, output: Annotated[Path, Parameter(name=["--output", "-o"])] = Path("runs/demo")) -> int:
    """Train an English-Italian translator on the embedded corpus, and see how good it is.

    The test sentences combine words in ways that the training text never shows. It takes a few
    minutes on two CPU cores; interrupt it and run it again, and it goes on.

    Parameters
    ----------
    output
        The model directory.
    """
    from dragoman.pipeline.run import train_model
    from dragoman.recipe import recipe_from_table
    from dragoman.training.display import ConsoleDisplay, LastingConsole

    text = _write_text(output / "text")
    table = {**_settings(), "corpora": {name: [{"path": str(p)}] for name, p in text.items()}}
    display = ConsoleDisplay(LastingConsole(stderr=True))
    if (stopped_by := train_model(recipe_from_table(table), output, display)) is not None:
        return STOPPED + stopped_by
    _show(output, text["test"])
    print(NEXT.format(directory=quote(str(output))))
    return 0


def _settings() -> dict[str, Any]:
    """Read the recipe that is shipped beside this file."""
    from dragoman.config import read_table

    return read_table(Path(__file__).with_suffix(".toml"))


def _write_text(directory: Path) -> dict[str, Path]:
    """Write the embedded corpus as three TSV files, as `dragoman corpus primer` does."""
    from dragoman.corpora.primer.corpus import generate
    from dragoman.corpora.primer.splits import Split
    from dragoman.durable import write_atomically

    directory.mkdir(parents=True, exist_ok=True)
    sizes: dict[Split, int] = {
        "train": TRAIN_PAIRS,
        "validation": EVALUATION_PAIRS,
        "test": EVALUATION_PAIRS,
    }
    paths: dict[str, Path] = {}
    for split, num_pairs in sizes.items():
        path = paths[split] = directory / f"{split}.tsv"
        if not path.exists():
            pairs = generate(num_pairs, seed=1, split=split)
            lines = "".join(f"{pair.source}\t{pair.target}\n" for pair in pairs)
            write_atomically(path, lines)
    return paths


def _show(model: Path, test: Path) -> None:
    """Score the test sentences and print some of them, chosen by their place."""
    from dragoman import Translator
    from dragoman.evaluation.config import EvaluationConfig
    from dragoman.evaluation.metrics import exact_match, score
    from dragoman.evaluation.report import scores_to_text

    pairs = [line.split("\t") for line in test.read_text(encoding="utf-8").split("\n") if line]
    sources, references = zip(*pairs, strict=True)
    translations = Translator(model)(list(sources))
    print(f"\n{len(pairs)} test sentences, whose words the training text never combines so:")
    config = EvaluationConfig()
    print(scores_to_text(score(translations, references, config)))
    print(f"exact match {exact_match(translations, references, config):.1f} %\n")
    for i in range(0, len(pairs), len(pairs) // SHOWN):
        verdict = "" if translations[i] == references[i] else f"   (expected: {references[i]})"
        print(f"{sources[i]}\n    {translations[i]}{verdict}")
