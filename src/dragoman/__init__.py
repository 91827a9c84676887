"""Build, see inside and ship your own translator.

from dragoman import Translator

translator = Translator("runs/en-it")
translator("The cat is on the table.")
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dragoman.decoding.config import SearchConfig
    from dragoman.errors import DragomanError
    from dragoman.translator import Translator

__all__ = ["DragomanError", "SearchConfig", "Translator", "__version__"]

__version__ = "0.1.0"


def __dir__() -> list[str]:
    """List what can be asked for, as for completion in a notebook."""
    return sorted({*globals(), *__all__})


if not TYPE_CHECKING:  # a type checker would take any name for one that is loaded so

    def __getattr__(name: str) -> Any:
        """Load a name only when it is asked for, so that importing the package costs nothing."""
        match name:
            case "DragomanError":
                from dragoman.errors import DragomanError

                return DragomanError
            case "SearchConfig":
                from dragoman.decoding.config import SearchConfig

                return SearchConfig
            case "Translator":
                from dragoman.translator import Translator

                return Translator
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
