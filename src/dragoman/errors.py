"""The errors of Dragoman that a user can fix: one sentence each, no traceback."""

from typing import Any


class DragomanError(ValueError):
    """Something a user can fix; the message is one sentence that says how."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Send it to another process as it is: a class may be made from more than its message."""
        return type(self).__new__, (type(self), *self.args), vars(self)


class UsageError(DragomanError):
    """A setting, an option or an argument makes no sense; exit code 2."""


OUT_OF_MEMORY = "there is not enough memory"
"""How the message of a command that ran out of memory begins; `dragoman plan` takes it to mean that
a model is too large."""
