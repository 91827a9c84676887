"""The pieces that are told are the translation, whatever comes first."""

from hypothesis import given
from hypothesis import strategies as st

from dragoman.serving.progress import Piece, Progress
from dragoman.tokenizers.sentences import join_translations

PIECE = st.tuples(
    st.sampled_from(["", " ", "\n\n"]),
    st.text(alphabet="abc. ", min_size=1).map(str.strip).filter(bool),
    st.sampled_from(["", " ", "\t", "\n\n"]),
).map("".join)


@given(
    st.lists(PIECE, min_size=1, max_size=6).flatmap(
        lambda pieces: st.tuples(st.just(pieces), st.permutations(range(len(pieces))))
    ),
    st.sampled_from(["it", "zh"]),
)
def test_the_pieces_put_together_are_the_translation(
    pieces_in_order: tuple[list[str], list[int]], target: str
) -> None:
    pieces, order = pieces_in_order
    told: list[Piece] = []
    progress = Progress(pieces, target, told.append)

    for place in order:
        progress.note(place, f" <{pieces[place].strip()}> ")

    translations = [f"<{piece.strip()}>" for piece in pieces]
    assert [piece.source for piece in told] == [piece.strip() for piece in pieces]
    assert "".join(piece.text for piece in told) == (
        join_translations(pieces, translations, target).rstrip()
    )


def test_nothing_is_told_before_its_turn() -> None:
    told: list[Piece] = []
    progress = Progress(["a ", "b ", "c"], "it", told.append)

    progress.note(2, "C")
    progress.note(1, "B")
    assert told == []
    progress.note(0, "A")
    assert told == [("a", "A"), ("b", " B"), ("c", " C")]
