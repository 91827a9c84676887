"""The model that is trained further is the one that teaches in the tests of distillation."""

from tests.distillation.conftest import teacher, text

__all__ = ["teacher", "text"]
