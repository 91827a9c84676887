"""Write `mistakes.md`, which explains what `dragoman check` finds, from the checks themselves.

Each mistake is put into a right program, and the page says what the check measures there. Run it
as `make docs`; a test fails when the page is not what this writes.
"""

import contextlib
import difflib
import importlib
import io
import pkgutil
import sys
import textwrap
from itertools import groupby, islice
from pathlib import Path

from docs.measure_mistakes import MEASURED
from tests.checking.mutations import attention, layers, stacks
from tests.checking.mutations.mutation import Mutation, source_of, together

from dragoman.checking import demonstrations, examinations, mending, reading
from dragoman.checking.cells import Cell
from dragoman.checking.examinations.check import Check
from dragoman.checking.examiner import Examiner, Wishes
from dragoman.checking.parts import PART_NAMES
from dragoman.checking.report import Finding

PAGE = Path(__file__).with_name("mistakes.md")

HEAD = """# Mistakes that still run

A Transformer with a mistake in it often still runs. Shapes fit, the loss falls, and the results are
only a little worse, or look fine until somebody translates with it. This page has a section for
each mistake that `dragoman check FILE` finds in an implementation of your own. It shows the wrong
line (`+`) in place of the right one (`-`), what the check measured when that line was put into a
right program, and why it matters. Sections are those of *Attention Is All You Need*.

The checks build your classes with small sizes, such as `d_model` 24 and 3 heads, and examine what
they compute, what depends on what, and what gets a gradient. In the text of your code they only
look for lines that do nothing. A *note* is a peculiarity that works. `make docs` writes this page
from the checks.

## What a mistake costs

A model with one encoder block and one decoder block learned for 200 updates to write five symbols
backwards. The loss, in nats per symbol, is that of training, where the model is given the right
beginning; guessing costs 2.3. The last column is the share of right ones among 200 sequences that
the model then wrote on its own. `docs/measure_mistakes.py` measures both.

| mistake | loss | right on its own |
|---|---|---|
"""

AFTER_COSTS = """
By their loss, the first five mistakes cannot be told from the right model, and three of these five
write next to nothing right. A decoder that sees the future has nothing to learn in training, and
nothing to copy from afterwards. A second softmax divides the gradient, as long as all words are
equally probable, by their number: by 12 here, with which the model still learns, down to 1.6, the
least loss that it can then have; in the paper it would be 37,000. What costs nothing on five
symbols is not shown to cost nothing elsewhere.

Some checks look at every part. They are listed with the part from which their example is taken.
"""

TAIL = """
## What is not examined

Only parts that read (batch, length, d_model) are examined. Those that read (length, batch, d_model)
are recognised, and left alone. A whole model may be an encoder-decoder, or read one sequence and
predict words, as GPT does. A model of the second kind is blamed for seeing what comes later only if
its name says that it may not (GPT, decoder and the like), or if it is called a language model and
something in its code is causal; others may be encoders. Sizes that classes read from global
variables are replaced by those of the checks, what is computed from them is computed again, and
nothing is compiled by `torch.compile`. No GPU is used, and what asks for one is left alone. The
training and the search of a program (label smoothing, the schedule of the learning rate, beam
search) are not examined, nor whether dropout is where the paper has it. Linear layers whose weights
begin with next to nothing, and learned positions that begin with zero, get usual weights before
they are examined, and weights of half precision become float32; a gate that begins with zero, as in
ReZero, is not known, and its block is blamed.

## What running cannot show

False statements in the words around the code are not found, such as:

- An embedding layer reads words. (It reads ids of tokens.)
- Token 2 has the second row of the table. (It has the third.)
- Dropout removes outliers.
- Sines are at even *positions*. (They are in even dimensions.)
- Attention without positions is invariant to order. (Its output is permuted with its input.)
- The heads see parts of the embedding. (They see parts of the projected vector.)
- W^O is as long as the sentence.
- Sinusoids make a model work on longer sentences than it was trained on.
- A count of parameters that leaves out biases.

Nor are mistakes found that show only with the text, the tokenizer or the trained weights of a
program:

- Training labels are shifted by one too many.
- The loss over the target ignores the padding id of the source's vocabulary.
- Gradients are accumulated and not divided.
- The tokenizer or the validation set has seen the test set.
- A search sums logits as if they were log-probabilities, or loses finished hypotheses.
- Translation uses another mask than training.
- Scores are those of two random sentences.
- Maps of attention are shown under the wrong words.

The tests of this project plant those that we could make ourselves; `tests/model/test_mistakes.py`
lists them.
"""

PAGES = {
    "InputEmbeddings": "tokens.md",
    "PositionalEncoding": "positions.md",
    "LayerNormalization": "residuals.md",
    "FeedForward": "feed_forward.md",
    "ResidualConnection": "residuals.md",
    "ProjectionLayer": "projection.md",
    "MultiHeadAttention": "heads.md",
    "causal_mask": "masks.md",
    "DecoderBlock": "stacks.md",
    "EncoderBlock": "stacks.md",
    "Encoder": "stacks.md",
    "Transformer": "stacks.md",
}
"""Of the tour, for each part."""

PECULIARITIES = [
    together(
        "positions-alone",
        "PositionalEncoding",
        "assembled",
        ("x + self.pe[:, : x.shape[1]]", "self.pe[:, : x.shape[1]]"),
    ),
    together("positions-longest", "PositionalEncoding", "assembled"),
    together("positions-odd-width", "PositionalEncoding", "assembled"),
    together("residual-norm-first", "ResidualConnection", "assembled"),
    together("projection-log-softmax", "ProjectionLayer", "cloned"),
    together("does-not-run", "MultiHeadAttention", "assembled", ("self.w_o(x", "self.wo(x")),
    together("import-missing", "InputEmbeddings", "assembled", ("import math\n", "")),
    together(
        "result-dropped",
        "The lines between",
        "assembled",
        ("scores = scores.masked_fill(", "scores.masked_fill("),
    ),
    together(
        "buffer-gradient",
        "The lines between",
        "assembled",
        ("self.pe[:, : x.shape[1]]", "self.pe[:, : x.shape[1]].requires_grad_(False)"),
    ),
    together(
        "shown-in-training",
        "The lines between",
        "assembled",
        (
            "class LayerNormalization(",
            "positions = PositionalEncoding(d_model=512, seq_len=5, dropout=0.5)\n"
            "print(positions(torch.ones(1, 5, 512)))\n\n\nclass LayerNormalization(",
        ),
    ),
]
"""What the programs have as they are, and what stops them."""


def page() -> str:
    """Write the whole page."""
    rows = "".join(
        f"| {f'[{name}](#{name})' if name != 'none' else name} | {loss:.1f} | {right:.0%} |\n"
        for name, (loss, right) in MEASURED.items()
    )
    parts = [HEAD + rows + AFTER_COSTS]
    examples: dict[str, Mutation] = {}
    for mutation in [
        *layers.MUTATIONS,
        *attention.MUTATIONS,
        *stacks.MUTATIONS,
        *PECULIARITIES,
    ]:
        examples.setdefault(mutation.check, mutation)
    for part in dict.fromkeys(mutation.part for mutation in examples.values()):
        explained = (
            f"\nWhat it is: [tour/{PAGES[part]}](tour/{PAGES[part]}).\n" if part in PAGES else ""
        )
        parts.append(f"\n## {part}\n{explained}")
        parts += [_section(m) for m in examples.values() if m.part == part]
    return "".join(parts) + TAIL


def checks() -> dict[str, Check]:
    """Collect all that is checked, by name."""
    names = [module.name for module in pkgutil.iter_modules(examinations.__path__)]
    modules = [importlib.import_module(f"{examinations.__name__}.{name}") for name in names]
    found = [
        value
        for module in (*modules, mending, reading, demonstrations)
        for value in vars(module).values()
    ]
    return {check.name: check for check in found if isinstance(check, Check)}


def _section(mutation: Mutation) -> str:
    """Explain one mistake."""
    finding = find(mutation)
    kind = " (a note)" if checks()[mutation.check].kind == "note" else ""
    section = "" if finding.section == "-" else f" Section {finding.section}."
    lines = _difference(mutation)
    code = f"\n```diff\n{lines}\n```\n" if lines else ""
    said = textwrap.fill(f"Measured: {finding.measured}.", 100, break_long_words=False)
    why = textwrap.fill(f"{finding.why}{section}", 100)
    return f"\n### {finding.name}\n\n{finding.finding}{kind}\n{code}\n{said}\n\n{why}\n"


def find(mutation: Mutation) -> Finding:
    """Let the check find it.

    Raises:
        RuntimeError: it does not, perhaps because an examination ran out of time.
    """
    cell = Cell(source=mutation.source(), is_excerpt=mutation.check == "import-missing")
    parts = [mutation.part] if mutation.part in PART_NAMES else []
    with contextlib.redirect_stdout(io.StringIO()):  # the program may print
        report = Examiner([cell], Wishes()).report("learner.py", parts)
    for part in report.parts:
        for finding in (*part.mistakes, *part.notes):
            if finding.name == mutation.check:
                return finding
    reasons = "; ".join(reason for part in report.parts for reason in part.not_checked)
    raise RuntimeError(
        f"{mutation.check} was not found in {mutation.part}, where it was planted; not checked: "
        f"{reasons or 'nothing'}"
    )


def _difference(mutation: Mutation) -> str:
    """Show the lines that are wrong beside the right ones."""
    right = source_of(mutation.learner).splitlines()
    lines = difflib.unified_diff(right, mutation.source().splitlines(), n=0, lineterm="")
    after_names = islice(lines, 2, None)
    hunks = [list(hunk) for is_place, hunk in groupby(after_names, _is_place) if not is_place]
    changed = [line for hunk, _ in groupby(hunks) for line in hunk]  # what is alike, once
    margin = min((len(line[1:]) - len(line[1:].lstrip()) for line in changed), default=0)
    return "\n".join(line[0] + " " + line[1 + margin :] for line in changed)


def _is_place(line: str) -> bool:
    """Tell whether a line of a difference says where the next ones stand."""
    return line.startswith("@@")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.exit(0)
