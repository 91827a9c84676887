"""Links are counted and written as others count and write them."""

from pathlib import Path

import pytest

from dragoman.alignment.links import (
    AlignmentError,
    ErrorRate,
    GoldAlignment,
    Links,
    check_gold,
    read_gold,
    write_pharaoh,
)


def gold(sure: set[tuple[int, int]], possible: set[tuple[int, int]]) -> GoldAlignment:
    return GoldAlignment(sure=frozenset(sure), possible=frozenset(sure | possible))


def error_rate(*pairs: tuple[Links, GoldAlignment]) -> float:
    rate = ErrorRate()
    for found, aligned in pairs:
        rate.add(found, aligned)
    return rate.value


def test_the_error_rate_of_a_case_worked_by_hand() -> None:
    # First pair: A = 4 links, S = 2, P = 3; A & S = 1, A & P = 2. Second: A = 1, S = 1, both right.
    first = gold({(0, 0), (1, 1)}, {(1, 2)})
    found = frozenset({(0, 0), (1, 2), (2, 2), (3, 3)})
    second = gold({(0, 1)}, set())

    # 1 - ((1 + 2) + (1 + 1)) / ((4 + 2) + (1 + 1)) = 1 - 5/8
    assert error_rate((found, first), (frozenset({(0, 1)}), second)) == 0.375


def test_the_error_rate_is_0_for_all_that_is_sure_and_some_that_is_possible() -> None:
    aligned = gold({(0, 0), (1, 1)}, {(1, 2), (2, 2)})

    assert error_rate((frozenset({(0, 0), (1, 1), (1, 2)}), aligned)) == 0.0
    assert error_rate((frozenset(), aligned)) == 1.0
    assert error_rate((frozenset(), gold(set(), set()))) == 0.0


def test_gold_is_read_with_what_is_possible_apart(tmp_path: Path) -> None:
    path = tmp_path / "gold.align"
    path.write_text("0-0 1?2\n\n10-3\n")

    assert read_gold(path) == [
        gold({(0, 0)}, {(1, 2)}),
        gold(set(), set()),
        gold({(10, 3)}, set()),
    ]


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    links = frozenset({(10, 2), (9, 11), (0, 0)})
    path = tmp_path / "some.align"
    path.write_text(write_pharaoh(links))

    assert write_pharaoh(links) == "0-0 9-11 10-2"
    assert read_gold(path)[0].sure == links


@pytest.mark.parametrize("word", ["0:0", "-1-2", "1-", "a-b", "1-2-3", "0-" + "1" * 4301])
def test_what_is_no_link_is_refused_with_its_line(word: str, tmp_path: Path) -> None:
    path = tmp_path / "gold.align"
    path.write_text(f"0-0\n1-1 {word}\n")

    with pytest.raises(AlignmentError, match=rf"gold.align:2: '{word}' is not a link"):
        read_gold(path)


def test_an_empty_file_of_links_aligns_no_pair(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()

    assert read_gold(tmp_path / "empty") == []


@pytest.mark.parametrize(("link", "fits"), [((1, 2), True), ((2, 2), False), ((1, 3), False)])
def test_a_link_is_to_a_word_that_the_sentences_have(link: tuple[int, int], fits: bool) -> None:
    aligned, num_words = [gold({link}, set())], [(2, 3)]

    if fits:
        check_gold(Path("gold.align"), aligned, num_words)
    else:
        with pytest.raises(AlignmentError, match=f"1: it links word {link[0]} to word {link[1]}"):
            check_gold(Path("gold.align"), aligned, num_words)


def test_a_file_without_any_link_judges_nothing() -> None:
    with pytest.raises(
        AlignmentError, match=r"^gold\.align: no line has a link, so nothing can be"
    ):
        check_gold(Path("gold.align"), [gold(set(), set())] * 2, [(2, 3)] * 2)
