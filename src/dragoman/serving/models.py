"""The models that are served: at most one for each pair of languages."""

import logging
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from dragoman.errors import UsageError
from dragoman.languages.codes import same_language, stands_in_for
from dragoman.markup.text_reader import TextReader
from dragoman.model_directory import ModelDirectory
from dragoman.serving.insight import Insight
from dragoman.serving.refusal import RefusalError, cut_short
from dragoman.translator import Translator

_log = logging.getLogger(__name__)


class ServedModel:
    """A model that is ready to translate.

    Args:
        path: Its directory.
        translator: What translates with it. It gets single sentences, and must not cut them again.
        whole_lines: Whether it was trained on paragraphs, so that lines are not cut into sentences.

    Raises:
        DragomanError: there is no model.
    """

    def __init__(self, path: Path, translator: Translator, *, whole_lines: bool) -> None:
        description = ModelDirectory(path).description
        self.name = path.resolve().name
        self.source, self.target = description.languages
        self.max_length = description.max_length
        self.training = description.training
        self.whole_lines = whole_lines
        self.insight = Insight(path)
        self.translator = translator
        self.loaded = datetime.now(UTC)
        translator.outlive_its_files(
            lambda error: _log.warning("%s, and start the server again; it goes on without", error)
        )

    @property
    def pair(self) -> tuple[str, str]:
        """Its languages."""
        return self.source, self.target

    @property
    def text_reader(self) -> TextReader:
        """What takes texts apart for it."""
        return TextReader(self.source, self.target, splits_sentences=not self.whole_lines)


class Models:
    """The models of a server, by their languages.

    Raises:
        UsageError: there is none, or two translate between the same languages.
    """

    def __init__(self, models: Iterable[ServedModel]) -> None:
        self.all = tuple(models)
        if not self.all:
            raise UsageError("name a model to serve")
        self._of_pair: dict[tuple[str, str], ServedModel] = {}
        for model in self.all:
            if other := self._of_pair.get(model.pair):
                raise UsageError(
                    f"{other.name} and {model.name} both translate from {model.source} to "
                    f"{model.target}; serve one of them, or each on a port of its own"
                )
            self._of_pair[model.pair] = model

    @property
    def languages(self) -> list[str]:
        """The codes of all languages, sources first, each once."""
        return list(dict.fromkeys([m.source for m in self.all] + [m.target for m in self.all]))

    def targets(self, source: str) -> list[str]:
        """List the languages into which one is translated."""
        return [model.target for model in self.all if model.source == source]

    def sources(self, target: str) -> list[str]:
        """List the languages from which one is translated."""
        return [model.source for model in self.all if model.target == target]

    def find_target(self, wanted: str, *, source: str | None = None) -> str:
        """Find the target that a client means; for a region that is not here, the language.

        Another script is not what a client means: zh-Hans is not given for zh-Hant.

        Into pt may be into pt_BR, though there is a model from pt.

        Args:
            wanted: A language, in any spelling.
            source: The one that the client has named, in any spelling.

        Raises:
            RefusalError: it is not served.
        """
        targets = [
            model.target
            for model in self.all
            if source is None or stands_in_for(model.source, source)
        ]
        return _nearest(wanted, targets) or self._nearest_of_all(wanted)

    def find_pair(self, source: str, target: str) -> tuple[str, str]:
        """Find the languages that a client means, as `find_target` does.

        They may be the same: such a text needs no model.

        Raises:
            RefusalError: one of them is not served.
        """
        target = self.find_target(target, source=source)
        sources = [*self.sources(target), target]
        return _nearest(source, sources) or self._nearest_of_all(source), target

    def _nearest_of_all(self, wanted: str) -> str:
        if found := _nearest(wanted, self.languages):
            return found
        raise RefusalError(
            400,
            f"{cut_short(wanted)!r} is not served; the languages are {', '.join(self.languages)}",
        )

    def find(self, source: str, target: str) -> ServedModel:
        """Find the model between two languages, written as `find_pair` writes them.

        Raises:
            RefusalError: there is none.
        """
        if model := self._of_pair.get((source, target)):
            return model
        pairs = ", ".join(f"{model.source} to {model.target}" for model in self.all)
        raise RefusalError(
            400, f"no model translates from {source} to {target}; the models are {pairs}"
        )


def _nearest(wanted: str, codes: Sequence[str]) -> str | None:
    """Find a language among others, or else the first one that differs in its region."""
    same = [code for code in codes if same_language(code, wanted)]
    alike = [code for code in codes if stands_in_for(code, wanted)]
    return next(iter(same + alike), None)
