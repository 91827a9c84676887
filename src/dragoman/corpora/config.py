"""Which parallel text a run reads, and what it leaves out."""

import re
from dataclasses import dataclass
from os.path import commonprefix
from pathlib import PurePath
from typing import Literal

from dragoman.choices import check_choices
from dragoman.corpora.file_names import CSV, JSON_LINES, PO, TMX, XLIFF

OverlapPolicy = Literal["refuse", "drop", "allow"]

LARGEST_WEIGHT = 1_000_000.0
"""Far beyond any use; the order of an epoch would not fit into memory."""

FORMAT_SUFFIXES = (".gz", ".zst", ".tsv", *JSON_LINES, TMX, CSV, PO, *XLIFF)
"""File name endings that tell the format, in the order in which they are stripped from a name."""


@dataclass(frozen=True, kw_only=True)
class CorpusConfig:
    """One parallel corpus: either `path`, or `source` and `target`.

    `~` and `$VARIABLE` in a path are expanded when the file is read, so that a recipe does not
    depend on the machine. A relative path starts at the working directory, not at the recipe.
    """

    path: str | None = None
    """A `.tsv`, `.csv`, `.jsonl` (`.ndjson`), `.tmx`, `.tbx`, `.po` or `.xliff` (`.xlf`,
    `.sdlxliff`, `.mqxliff`, `.mxliff`, `.txlf`) file, also `.gz` or `.zst`; a directory written by
    `dragoman corpus get` or `datasets.save_to_disk`; or `hf:NAME[:CONFIG[:SPLIT]]` from the Hugging
    Face hub. A relative path starts at the working directory."""

    source: str | None = None
    """A plain text file with one source sentence a line."""

    target: str | None = None
    """A plain text file with the translation of each line of `source`."""

    weight: float = 1.0
    """How many times an epoch sees the corpus; 0.5 means a random half in each epoch."""

    truecase: bool = False
    """The corpus is in lower case: its words get the case that they mostly have in the training
    corpora listed before it, and its sentences begin with a capital."""

    hold_out: bool = True
    """Whether some of the corpus may be held out to validate, where no validation corpus is named;
    false for what machines have translated, for example."""

    def __post_init__(self) -> None:
        given = [value is not None for value in (self.path, self.source, self.target)]
        if given in ([False, True, False], [False, False, True]):
            missing = "target" if self.target is None else "source"
            raise ValueError(f"{missing} is missing: two plain files are a corpus")
        if given not in ([True, False, False], [False, True, True]):
            raise ValueError(
                f"path = {self.path!r}, source = {self.source!r}, target = {self.target!r}: "
                "a corpus is either path, or source and target"
            )
        if not 0 < self.weight <= LARGEST_WEIGHT:
            raise ValueError(
                f"weight = {self.weight} should be above zero and at most {LARGEST_WEIGHT:,.0f}"
            )

    @property
    def file(self) -> str:
        """What messages name, as it was given; of two files, that of the source."""
        return self.path or self.source or ""

    @property
    def name(self) -> str:
        """A short name for reports: the words that the file names share, without endings."""
        if self.path is not None:
            name = PurePath(self.path).name
        else:
            sides = [PurePath(side or "").name for side in (self.source, self.target)]
            words = commonprefix([re.split("([._-])", side) for side in sides])  # noqa: RUF071
            name = "".join(words).rstrip(".-_") or sides[0]
        for suffix in FORMAT_SUFFIXES:
            name = name.removesuffix(suffix)
        return name


@dataclass(frozen=True, kw_only=True)
class CorporaConfig:
    """The corpora of a run."""

    train: tuple[CorpusConfig, ...]
    """What the model learns from."""

    validation: tuple[CorpusConfig, ...] = ()
    """What decides when training stops and which checkpoint is kept."""

    test: tuple[CorpusConfig, ...] = ()
    """What the final scores are measured on."""

    overlap: OverlapPolicy = "refuse"
    """What happens when the source of a training pair also occurs in validation or test: stop and
    count such pairs, leave them out, or keep them."""

    def __post_init__(self) -> None:
        check_choices(self)
        if not self.train:
            raise ValueError("train = () should name at least one corpus")
        if self.train[0].truecase:
            raise ValueError(
                f"truecase = true of {self.train[0].name}: the case of its words is learnt from "
                "the training corpora before it, and it is the first"
            )
        if not self.validation and not any(corpus.hold_out for corpus in self.train):
            raise ValueError(
                "hold_out = false of all training corpora: name a validation corpus, as there is "
                "nothing to hold out"
            )
        usual = CorpusConfig(path=".")
        for corpus in self.evaluation:
            for setting in ("weight", "truecase", "hold_out"):
                value = getattr(corpus, setting)
                if value != getattr(usual, setting):
                    raise ValueError(
                        f"{setting} = {str(value).lower()} of {corpus.name}: that is for training "
                        "text; validation and test text is read once, as it is"
                    )

    @property
    def evaluation(self) -> tuple[CorpusConfig, ...]:
        """What the model is judged by, and must not learn."""
        return (*self.validation, *self.test)

    @property
    def all(self) -> tuple[CorpusConfig, ...]:
        """Every corpus of the run."""
        return (*self.train, *self.evaluation)


@dataclass(frozen=True, kw_only=True)
class CleaningConfig:
    """Which pairs are left out of training.

    Each rule has its own threshold; an extreme value switches the rule off. Pairs with an empty
    side are always left out, because nothing can be learnt from them.
    """

    max_characters: int = 1000
    """Maximum number of characters of the longer side. Written sentences rarely have more than 600;
    longer ones are paragraphs, or lines whose ends were lost."""

    max_words: int = 200
    """Maximum number of words of the longer side, separated by white space."""

    max_length_ratio: float = 3.0
    """Maximum number of characters of the longer side per character of the shorter; `inf` switches
    the rule off. A Chinese, Japanese or Korean character counts as three, because it says as much.
    Pairs of at most 20 characters are not measured: their ratios say nothing."""

    min_script_share: float = 0.5
    """Minimum share of a side's letters that belong to the scripts of its language; 0 switches the
    rule off. A Chinese, Japanese or Korean letter counts as three, and names that stand on both
    sides do not count. Languages whose scripts are not known are not checked."""

    drop_duplicates: bool = True
    """Leave out a pair that exactly repeats an earlier one."""

    drop_identical: bool = True
    """Leave out a pair whose two sides are the same text: it was not translated. Between varieties
    of a language, such as `pt_PT` and `pt_BR`, it may well be, and stays."""

    drop_control_characters: bool = True
    """Leave out a pair with control characters (not tabs and line breaks, which become spaces),
    U+FFFD or a lone surrogate, or with UTF-8 that was read as Windows-1252, such as Ã¨ for è: the
    traces of a broken conversion. If there are many, repair the file instead."""

    def __post_init__(self) -> None:
        for field in ("max_characters", "max_words"):
            if getattr(self, field) < 1:
                raise ValueError(f"{field} = {getattr(self, field)} should be at least 1")
        if not self.max_length_ratio >= 1:
            raise ValueError(f"max_length_ratio = {self.max_length_ratio} should be at least 1")
        if not 0 <= self.min_script_share <= 1:
            raise ValueError(f"min_script_share = {self.min_script_share} should be in [0, 1]")
