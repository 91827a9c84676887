"""Errors can be raised in one process and caught in another."""

import pickle

import pytest

from dragoman.corpora.gettext import PoError
from dragoman.documents.document import DocumentError
from dragoman.errors import DragomanError, UsageError
from dragoman.serving.refusal import RefusalError


@pytest.mark.parametrize(
    "error",
    [
        UsageError("threads=0 should be at least 1"),
        PoError(3, "a string without its end"),
        DocumentError(None, "no archive"),
        RefusalError(503, "too many requests", retry_after=2),
    ],
)
def test_an_error_comes_out_of_another_process_as_it_was_raised(error: DragomanError) -> None:
    received = pickle.loads(pickle.dumps(error))

    assert (type(received), str(received)) == (type(error), str(error))
    assert vars(received) == vars(error)
