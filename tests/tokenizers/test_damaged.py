"""A vocabulary that is not what was written is refused, or still cuts text; it never crashes."""

import contextlib
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from dragoman.tokenizers.sentencepiece import SentencePieceTokenizer
from dragoman.tokenizers.tokenizer import TokenizerError

MODEL = Path(__file__).parents[1] / "fixtures" / "release-0.1.0" / "model" / "tokenizer.model"
CONTENT = MODEL.read_bytes()


@given(
    places=st.lists(st.tuples(st.integers(0, len(CONTENT) - 1), st.integers(0, 255)), max_size=4),
    end=st.integers(0, len(CONTENT)) | st.none(),
    more=st.binary(max_size=20),
)
@example(places=[(CONTENT.index(b"one"), 0xFF)], end=None, more=b"")  # not UTF-8
@settings(max_examples=100, deadline=None)
def test_damage_is_noticed_or_harmless(
    places: list[tuple[int, int]], end: int | None, more: bytes
) -> None:
    content = bytearray(CONTENT)
    for place, byte in places:
        content[place] = byte

    with contextlib.suppress(TokenizerError):
        tokenizer = SentencePieceTokenizer(bytes(content[:end]) + more)
        ids = tokenizer.encode("one two three")
        assert all(0 <= i < tokenizer.vocab_size for i in ids)
        assert isinstance(tokenizer.decode(range(tokenizer.vocab_size)), str)
