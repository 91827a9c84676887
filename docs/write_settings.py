"""Write `settings.md`, the list of all that a recipe may say, from the configurations themselves.

Run it as `make docs`; a test fails when the page is not what this writes.
"""

import ast
import inspect
import sys
import textwrap
from dataclasses import MISSING, Field, fields
from pathlib import Path
from types import UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from dragoman.corpora.batching_config import BatchingConfig
from dragoman.corpora.config import CleaningConfig, CorporaConfig, CorpusConfig
from dragoman.decoding.config import SearchConfig
from dragoman.evaluation.config import EvaluationConfig
from dragoman.model.config import PRESETS, STUDENTS, TransformerConfig
from dragoman.recipe import Recipe
from dragoman.tokenizers.config import TokenizerConfig
from dragoman.training.config import TrainingConfig

PAGE = Path(__file__).with_name("settings.md")

SECTIONS = {
    "at the top": Recipe,
    "[corpora]": CorporaConfig,
    "each corpus of [corpora]": CorpusConfig,
    "[cleaning]": CleaningConfig,
    "[tokenizer]": TokenizerConfig,
    "[batching]": BatchingConfig,
    "[model]": TransformerConfig,
    "[training]": TrainingConfig,
    "[search]": SearchConfig,
    "[evaluation]": EvaluationConfig,
}

HEAD = """# What a recipe may say

A recipe is a TOML file. Every setting may also be given to one run of `dragoman train` as
`--set section.key=value`, one at the top as `--set key=value`, and corpora as a whole list:
`--set 'corpora.train=[{path="a.tsv", weight=2}]'`. This page is written from the
code by `make docs`.
"""


def page() -> str:
    """Write the whole page."""
    parts = [HEAD]
    for title, config in SECTIONS.items():
        rows = [_row(config, field) for field in fields(config) if not _is_section(config, field)]
        table = "\n".join(["| key | values | default | meaning |", "|---|---|---|---|", *rows])
        note = _presets() if config is TransformerConfig else ""
        parts.append(f"## {title}\n\n{table}\n{note}")
    return "\n".join(parts)


def _row(config: type, field: Field[Any]) -> str:
    values = _values(get_type_hints(config)[field.name])
    meaning = _attribute_docstrings(config).get(field.name, "").replace("|", "\\|")
    return f"| `{field.name}` | {values} | {_default(field)} | {' '.join(meaning.split())} |"


def _is_section(config: type, field: Field[Any]) -> bool:
    return get_type_hints(config)[field.name] in SECTIONS.values()


def _attribute_docstrings(config: type) -> dict[str, str]:
    """Read the string that stands under each field of a class."""
    (body,) = ast.parse(textwrap.dedent(inspect.getsource(config))).body
    assert isinstance(body, ast.ClassDef)
    found = {}
    for field, text in zip(body.body, body.body[1:], strict=False):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(text, ast.Expr)
            and isinstance(text.value, ast.Constant)
        ):
            found[field.target.id] = str(text.value.value)
    return found


def _values(hint: Any) -> str:
    """Name a type as a person would."""
    if get_origin(hint) is Literal:
        return ", ".join(f"`{value}`" for value in get_args(hint))
    if isinstance(hint, UnionType):
        return _values(next(option for option in get_args(hint) if option is not type(None)))
    if get_origin(hint) is tuple:
        return f"list of {_values(get_args(hint)[0])}"
    names = {int: "whole number", float: "number", str: "text", bool: "true or false"}
    return names.get(hint, "a corpus, see below")


def _default(field: Field[Any]) -> str:
    value = field.default_factory() if field.default_factory is not MISSING else field.default
    if value is MISSING:
        return "needed"
    if value is None:
        return "-"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _presets() -> str:
    """List what each preset changes."""
    rows = [
        f"| `{name}` | {', '.join(f'{key} {value}' for key, value in changes.items()) or '-'} |"
        for name, changes in (PRESETS | STUDENTS).items()
    ]
    head = "\n`preset` names what the section starts from:\n\n| preset | changes |\n|---|---|\n"
    return head + "\n".join(rows) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.exit(0)
