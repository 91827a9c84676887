"""The errors of Dragoman that a user can mend: one sentence each, no traceback."""


class DragomanError(ValueError):
    """Something a user can mend; the message is one sentence that says how."""


class UsageError(DragomanError):
    """What was asked for means nothing: a setting, an option or an argument; exit code 2."""


OUT_OF_MEMORY = "there is not enough memory"
"""How the message of a command that ran out of memory begins, by which a plan recognises that a
model is too large."""
