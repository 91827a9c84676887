"""The options of every command that translates or judges."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cyclopts import Parameter

from dragoman.cli.options import Flag
from dragoman.cli.text_output import warn
from dragoman.device import Precision
from dragoman.engines.protocol import EngineKind

if TYPE_CHECKING:
    from dragoman.bulk.job import TranslatorSettings
    from dragoman.decoding.config import SearchConfig
    from dragoman.markup.text_reader import TextReader
    from dragoman.model_directory import ModelDirectory
    from dragoman.translator import Translator


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class EngineOptions:
    """What computes, and where."""

    engine: EngineKind = "auto"
    """ctranslate2 needs the copy that `dragoman export` makes; auto uses it if there is one."""

    device: str = "auto"
    """A device that PyTorch knows, such as cpu or cuda:1; auto uses a GPU if there is one."""

    precision: Precision = "auto"
    """Precision of PyTorch's matrix products; auto is bf16 if the hardware has it, else fp32."""

    def find(self, model: Path) -> "ModelDirectory":
        """Find a model; warn of a training that has not ended, and of a copy that is not used."""
        from dragoman.engines.selection import fault_of_unused_copy
        from dragoman.model_directory import ModelDirectory

        directory = ModelDirectory(model)
        if directory.is_unfinished:
            warn(
                f"{model}: its training has not ended, and this is its best model so far; the "
                "command that began it goes on with it"
            )
        if self.engine == "auto" and (fault := fault_of_unused_copy(directory)):
            warn(f"the copy for CTranslate2 is not used: {fault}")
        return directory


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class TranslationOptions(EngineOptions):
    """What translates, where, and what it keeps."""

    whole_lines: Flag = False
    """Translate each line as a whole, for a model that was trained on paragraphs."""

    glossary: Path | None = None
    """A file of terms with prescribed translations, one per line: source TAB target."""

    protect: bool = True
    """Keep placeholders (%s, {name}), addresses, codes, numbers, signs, emoji, tags and escapes
    (\\n) as they are, and show a sentence in capitals to the model in lower case."""

    shortlist: Flag = False
    """Search only among the tokens that `dragoman shortlist` allows for each sentence."""

    @property
    def files_read(self) -> list[Path]:
        """The files that are read besides the model and the text."""
        from dragoman.corpora.text_file import expand

        return [] if self.glossary is None else [expand(str(self.glossary))]

    def load(self, model: Path, search: "SearchConfig | None" = None) -> "Translator":
        """Load a model."""
        return self.settings(model, search).load()

    def reader(self, model: Path) -> "TextReader":
        """Say how the model wants the text in a document taken apart."""
        from dragoman.markup.text_reader import TextReader
        from dragoman.model_directory import ModelDirectory

        languages = ModelDirectory(model).description.languages
        return TextReader(*languages, splits_sentences=not self.whole_lines)

    def settings(self, model: Path, search: "SearchConfig | None" = None) -> "TranslatorSettings":
        """Say how to load a model, here or in another process."""
        from dragoman.bulk.job import TranslatorSettings

        self.find(model)  # which warns
        return TranslatorSettings(model=model, search=search, **vars(self))


def announce(translator: "Translator") -> None:
    """Tell a waiting person which engine is used, but not a program that reads standard error."""
    if sys.stderr.isatty():
        print(f"translating with {translator.engine}", file=sys.stderr)
