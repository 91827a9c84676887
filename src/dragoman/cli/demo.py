"""`dragoman demo`: the whole path, from no text at all to a translator."""

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from dragoman.cli.options import Output
from dragoman.device import sleep_while_waiting
from dragoman.exit_codes import STOPPED

if TYPE_CHECKING:
    from dragoman.corpora.primer.splits import Split

SIZES: dict["Split", int] = {"train": 100_000, "validation": 1000, "test": 1000}
"""Sentence pairs in each split."""

SHOWN = 8

NEXT = """
Try next:
  echo "My sister is buying two red apples." | dragoman translate {directory}
  dragoman inspect {directory}
  dragoman translate {directory}                 type sentences, end with Ctrl-D
  dragoman export {directory} --to ctranslate2     make it faster
  dragoman corpus check my-pairs.tsv             look at parallel text of your own
  dragoman train my-recipe.toml                  and train on it; recipes/ has examples"""


def demo(*, output: Output = Path("runs/demo")) -> int:
    """Train an English-Italian translator on the embedded corpus, and see how good it is.

    The test sentences combine words in ways that the training text never shows. It takes a few
    minutes on two CPU cores; if you interrupt it, the same command continues from there.

    Parameters
    ----------
    output
        The model directory to write.
    """
    sleep_while_waiting()
    from dragoman.config import read_table
    from dragoman.corpora.text_file import as_setting
    from dragoman.pipeline.run import train_model
    from dragoman.pipeline.run_directory import RECIPE_FILE, check_belongs
    from dragoman.recipe import recipe_from_table
    from dragoman.training.display import ConsoleDisplay

    text = {split: output / "text" / f"{split}.tsv" for split in SIZES}
    corpora = {split: [{"path": as_setting(path)}] for split, path in text.items()}
    settings = read_table(Path(__file__).with_suffix(".toml"))
    recipe = recipe_from_table({**settings, "corpora": corpora})
    check_belongs(recipe, output)
    _write_text(text, has_begun=(output / RECIPE_FILE).exists())
    display = ConsoleDisplay()
    if (stopped_by := train_model(recipe, output, display)) is not None:
        return STOPPED + stopped_by
    _show(output, text["test"])
    print(NEXT.format(directory=quote(str(output))))
    return 0


def _write_text(paths: dict["Split", Path], *, has_begun: bool) -> None:
    """Write the embedded corpus as three TSV files, as `dragoman corpus primer` does.

    Once training has begun, it looks after its text; before, what is there may be anybody's.

    Raises:
        DragomanError: other text is there.
    """
    from dragoman.corpora.primer.corpus import generate
    from dragoman.durable import write_atomically
    from dragoman.errors import DragomanError

    for split, path in paths.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if has_begun and path.exists():
            continue
        pairs = generate(SIZES[split], seed=1, split=split)
        lines = "".join(f"{pair.source}\t{pair.target}\n" for pair in pairs)
        if not path.exists():
            write_atomically(path, lines)
        elif path.read_bytes() != lines.encode():
            raise DragomanError(
                f"{path}: it is not the text of the demo; name another directory with -o"
            )


def _show(model: Path, test: Path) -> None:
    """Score the test sentences and print some of them, evenly spaced."""
    from dragoman import Translator
    from dragoman.corpora.prepared_text import read_tsv
    from dragoman.evaluation.config import EvaluationConfig
    from dragoman.evaluation.metrics import exact_match, score
    from dragoman.evaluation.report import scores_to_text

    sources, references = zip(*read_tsv(test), strict=True)
    translations = Translator(model)(list(sources))
    print(
        f"\n{len(sources):,} test sentences, with combinations of words that the training text "
        "lacks:"
    )
    config = EvaluationConfig()
    print(scores_to_text(score(translations, references, config)))
    print(f"exact match {exact_match(translations, references, config):.1f} %\n")
    for i in range(0, len(sources), len(sources) // SHOWN):
        verdict = "" if translations[i] == references[i] else f"   (expected: {references[i]})"
        print(f"{sources[i]}\n    {translations[i]}{verdict}")
