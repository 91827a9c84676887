"""One translation of files: with what, from what, to where; and how to recognise it again."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dragoman.bulk.file_format import LINES_PER_BLOCK, LINES_PER_BLOCK_ON_GPU, FileFormat
from dragoman.config import to_table
from dragoman.corpora.text_file import expand
from dragoman.decoding.config import SearchConfig
from dragoman.durable import checksum
from dragoman.engines.selection import EngineSettings, describe_choice, pytorch_computes_on
from dragoman.model_directory import DESCRIPTION_NAME, ModelDirectory

if TYPE_CHECKING:
    from dragoman.terms.glossary import Glossary
    from dragoman.translator import Translator

DECIDING_SOFTWARE = ("dragoman", "ctranslate2", "torch")
"""Packages of which another version may translate differently."""

COPY_WEIGHTS = Path("ctranslate2", "model.bin")


@dataclass(frozen=True, kw_only=True)
class TranslatorSettings(EngineSettings):
    """How to load the translator, in any process; see `Translator`."""

    model: Path
    search: SearchConfig | None = None
    """How to search; None follows the model."""

    whole_lines: bool = False
    protect: bool = True
    glossary: Path | None = None

    def load(self) -> "Translator":
        """Load the model, in a process that does nothing but translate."""
        from dragoman.memory import keep_freed_memory
        from dragoman.translator import Translator

        if pytorch_computes_on("cpu", *self._choice()):
            keep_freed_memory()
        return Translator(
            self.model,
            engine=self.engine,
            device=self.device,
            search=self.search,
            split_sentences=not self.whole_lines,
            protect=self.protect,
            glossary=self.glossary,
            shortlist=self.shortlist,
            precision=self.precision,
            threads=self.threads,
        )

    @property
    def source_language(self) -> str:
        """The language that the model translates from."""
        return ModelDirectory(self.model).description.languages[0]

    def load_glossary(self) -> "Glossary | None":
        """Read the glossary alone, if there is one."""
        from dragoman.terms.finder import TermFinder

        languages = ModelDirectory(self.model).description.languages
        return TermFinder.load(languages, protects=self.protect, glossary=self.glossary).glossary

    def checksums(self) -> dict[str, str]:
        """Return the checksums of the files that determine it, under names that people know.

        For a missing file, it is "none".
        """
        glossary = self.glossary and expand(str(self.glossary))  # as it is when it is read
        files = {"the model": self.model / DESCRIPTION_NAME, "the glossary": glossary}
        if self.engine != "pytorch":
            files["the model's copy for CTranslate2"] = self.model / COPY_WEIGHTS
        return {
            name: checksum(path) if path.exists() else "none"
            for name, path in files.items()
            if path is not None
        }

    def identity(self) -> dict[str, str]:
        """Return what determines how a text is translated, under names that people know."""
        from importlib.metadata import PackageNotFoundError, version

        found = {name: of_file for name, of_file in self.checksums().items() if of_file != "none"}
        for package in DECIDING_SOFTWARE:
            try:
                found[f"the version of {package}"] = version(package)
            except PackageNotFoundError:
                continue
        for name in ("engine", "whole_lines", "protect", "shortlist"):
            found[f"the option {name}"] = str(vars(self)[name])
        found["what translates on this machine"] = describe_choice(*self._choice())
        for name, value in to_table(self.search or SearchConfig()).items():
            found[f"the option {name}"] = str(value)
        return found

    @property
    def lines_per_block(self) -> int:
        """How many lines are worth translating together on this machine."""
        on_gpu = pytorch_computes_on("cuda", *self._choice())
        return LINES_PER_BLOCK_ON_GPU if on_gpu else LINES_PER_BLOCK

    def _choice(self) -> tuple[ModelDirectory, SearchConfig, EngineSettings]:
        """Return what the engine depends on."""
        directory = ModelDirectory(self.model)
        return directory, self.search or directory.search, self


@dataclass(frozen=True, kw_only=True)
class Job:
    """What is translated, and to where."""

    translator: TranslatorSettings
    files: FileFormat
    output: Path
    alignments: Path | None = None
    """Where the word alignments go, if they are wanted."""

    lines_per_block: int

    def identity(self) -> dict[str, str]:
        """Return what determines the bytes of the output, under names that people know."""
        paths = [path.absolute() for path in self.files.paths]
        texts = {f"the content of {path}": checksum(path) for path in paths}
        return {
            **texts,
            **self.translator.identity(),
            "the list of files": ", ".join(map(str, paths)),  # in their order
            "the form of the output": self.files.output_form,
            "the option alignments": "no" if self.alignments is None else "yes",
            "the size of blocks": str(self.lines_per_block),
        }
