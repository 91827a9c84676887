"""The exit codes of commands, besides 0."""

FAILED = 1
"""The work could not be done."""

FOUND = 1
"""What was looked for was found: mistakes, or lines that training would refuse."""

WRONG_USE = 2

SOME_REJECTED = 3
"""The output is complete except for lines that were set aside."""

STOPPED = 128
"""Added to the number of the signal that stopped a run, as a shell does."""

INTERRUPTED = 130
"""What a shell reports for a program that was ended by Ctrl-C."""

READER_GONE = 141
"""What a shell reports for a program whose output nobody reads any more."""
