"""Translations are spread over cues and lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.documents.spreading import LINE_WIDTH, break_lines, spread


@pytest.mark.parametrize(
    ("text", "lengths", "parts"),
    [
        ("one two three four", [1, 1], ["one two", "three four"]),
        ("one two three four", [1, 3], ["one", "two three four"]),
        ("one two, three four five six", [1, 1], ["one two,", "three four five six"]),
        ("<i>one two,</i> three four five six", [1, 1], ["<i>one two,</i>", "three four five six"]),
        ("<i> one</i>", [1, 1], ["<i> one</i>"] * 2),
        ("one", [4, 3], ["one", "one"]),
        ("one two", [9], ["one two"]),
        ("猫在桌子上睡觉", [3, 4], ["猫在桌", "子上睡觉"]),
        ("猫在桌子上。", [5, 1], ["猫在桌子", "上。"]),
        ("我说「猫」了", [4, 3], ["我说", "「猫」了"]),
        ("この Dragoman の猫", [1, 1], ["この", "Dragoman の猫"]),
        ("彼はDragomanだ", [4, 7], ["彼は", "Dragomanだ"]),
        ("猫<i>在桌</i>子上睡觉", [3, 4], ["猫<i>在", "桌</i>子上睡觉"]),
        ("Words of 猫 and no others", [1, 1], ["Words of 猫", "and no others"]),
        ("고양이는 책상에서 잠을", [3, 3], ["고양이는", "책상에서 잠을"]),
        ("แม่กิน", [3, 3], ["แม่", "กิน"]),
        ("กิ", [1, 1], ["กิ", "กิ"]),
        ("", [2], [""]),
    ],
)
def test_a_text_is_spread_by_length_and_at_pauses(
    text: str, lengths: list[int], parts: list[str]
) -> None:
    assert spread(text, lengths) == parts


@given(
    st.lists(st.text("ab ,.", min_size=1), min_size=1).map(" ".join),
    st.lists(st.integers(1, 40), min_size=1, max_size=6),
)
def test_spreading_loses_no_word(text: str, lengths: list[int]) -> None:
    parts = spread(text, lengths)
    assert len(parts) == len(lengths)
    assert " ".join(parts).split() == text.split() or parts == [text] * len(lengths)


@pytest.mark.parametrize("words", [["a" * 60], ["a" * 60, "b" * 60], ["a", "b" * 100]])
def test_what_is_longer_than_a_line_is_written_once(words: list[str]) -> None:
    assert max(map(len, words)) > LINE_WIDTH
    assert break_lines(" ".join(words)) == words
