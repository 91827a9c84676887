"""Markdown: words are translated, and what a renderer makes of the rest stays."""

import re
from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from tests.documents.translated import READER, translated

from dragoman.documents.markdown import take_markdown_apart

RENDERER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def rendered(text: str) -> str:
    """Render a file; where lines break makes no difference."""
    return " ".join(RENDERER.render(text).split())


def in_capitals(text: str) -> str:
    return translated(text, take_markdown_apart)


KEPT = {
    "# A cat\n": "# A CAT\n",
    "## A cat ##\n": "## A CAT ##\n",
    "A cat\n===\n\nA dog\n": "A CAT\n===\n\nA DOG\n",
    "A `cat` sleeps, and ``a`b`` too\n": "A `cat` SLEEPS, AND ``a`b`` TOO\n",
    "A **red _cat_** and *a dog*\n": "A **RED _CAT_** AND *A DOG*\n",
    "A **very long and red cat** sleeps.\n": "A **VERY LONG AND RED CAT** SLEEPS.\n",
    "See [the very long link](a) now.\n": "SEE [THE VERY LONG LINK](a) NOW.\n",
    "**A cat.** It sleeps\n": "**A CAT.** IT SLEEPS\n",
    "It (#22) and [#22](a)\n": "IT (#22) AND [#22](a)\n",
    "A ~~red~~ cat\n": "A ~~RED~~ CAT\n",
    'See [the cat](a%20b.md "c").\n': 'SEE [THE CAT](a%20b.md "C").\n',
    "See [the cat](<a b.md>) and [é](é.md)\n": "SEE [THE CAT](<a b.md>) AND [É](é.md)\n",
    "See [the cat][CMake x].\n\n[cmake x]: /c\n": "SEE [THE CAT][CMake x].\n\n[cmake x]: /c\n",
    "A [`x`][] and [C]\n\n[`x`]: /c\n[C]: /d\n": "A [`x`][] AND [C][]\n\n[`x`]: /c\n[C]: /d\n",
    "A [CAT\nDOG]\n\n[CAT DOG]: /c\n": "A [CAT DOG][]\n\n[CAT DOG]: /c\n",
    "Put `; ` and `` ` `` and `  ` there\n": "PUT `; ` AND `` ` `` AND `  ` THERE\n",
    "A [cat]\n\n[cat]: /c 'A title'\n": "A [CAT][cat]\n\n[cat]: /c 'A title'\n",
    "A ![cat](c.png) is <http://a.b>, <a@b>\n": "A ![CAT](c.png) IS <http://a.b>, <a@b>\n",
    "![a *red* cat](c 'd')\n": '![A RED CAT](c "D")\n',
    "[![a][c]](b) ![1 *2*](c) ![cat]\n\n[c]: d\n[cat]: e\n": (
        "[![A][c]](b) ![1 *2*](c) ![CAT][cat]\n\n[c]: d\n[cat]: e\n"
    ),
    '|![a \\| b](c "d \\| e")|\n|-|\n': '|![A \\| B](c "D \\| E")|\n|-|\n',
    '<p>\n<img src="c" alt="a cat">\n</p>\n': '<p>\n<img src="c" alt="A CAT">\n</p>\n',
    "- <p>A cat</p>\n1) <p>\n   A dog\n   </p>\n> <p>a\n> b</p>\n": (
        "- <p>A CAT</p>\n1) <p>\n   A DOG\n   </p>\n> <p>a\n> b</p>\n"
    ),
    "A <b>red</b> cat<br>here <x-y/>\n": "A <b>RED</b> CAT<br>HERE <x-y/>\n",
    "- a cat\n  - a dog\n\n1. one\n2) two\n": "- A CAT\n  - A DOG\n\n1. ONE\n2) TWO\n",
    "- [ ] a cat\n- [x] a dog\n": "- [ ] A CAT\n- [x] A DOG\n",
    "> [!NOTE]\n> A cat\n> sleeps\n": "> [!NOTE]\n> A CAT SLEEPS\n",
    "- \\[ ] a cat\n": "- \\[ \\] A CAT\n",
    "- [ ] a \\[ b\n": "- [ ] A [ B\n",
    "> \\[!NOTE]\n> A cat\n": "> \\[\\!NOTE\\] A CAT\n",
    "A\\[^1] cat\n\n[^1]: A note\n": "A\\[^1\\] CAT\n\n[^1]: A NOTE\n",
    "**A cat** sleeps.\n[ ] No box\n": "**A CAT** SLEEPS. [ ] NO BOX\n",
    "A cat[^1] sleeps\n\n[^1]: A note\n": "A CAT[^1] SLEEPS\n\n[^1]: A NOTE\n",
    "A[^1]\n\n[^1]: <http://a>\n[^b]: Yes\n": "A[^1]\n\n[^1]: <http://a>\n[^b]: YES\n",
    "> A cat\n[^1]: A note\n\n    - More\n\n          code\n\n    of it\n\nEnd\n": (
        "> A CAT\n[^1]: A NOTE\n\n    - MORE\n\n          code\n\n    OF IT\n\nEND\n"
    ),
    "- A\n[^1]:\n    A note\n\n> [^2]:\tA\n>\n>     cat\n": (
        "- A\n[^1]:\n    A NOTE\n\n> [^2]:\tA\n>\n>     CAT\n"
    ),
    "A cat[^1]: it sleeps\n": "A CAT[^1]: IT SLEEPS\n",
    "[^1]: A cat\n[^2]: A\n  dog\n[^3]: Birds\n": "[^1]: A CAT\n[^2]: A DOG\n[^3]: BIRDS\n",
    "|a|b \\| c|\n|-|-|\n|x `y\\|z`| x |\n": "|A|B \\| C|\n|-|-|\n|X `y\\|z`| X |\n",
    "    a cat\n\n```\na dog\n```\n~~~ x\na\n~~~\n": None,
    "---\ntitle: A cat\n---\nA dog\n": "---\ntitle: A cat\n---\nA DOG\n",
    "+++\ntitle = 'A cat'\n+++\n": None,
    "---\r\n\r\nA cat\r\n": "---\r\n\r\nA CAT\r\n",
    "<p a=1>\na <b>cat</b>\n</p>\n\n<!-- a -->\n": "<p a=1>\nA <b>CAT</b>\n</p>\n\n<!-- a -->\n",
    "A &lt;cat&gt; \\*and\\* 2 * 3 * a_b_c\n": "A \\<CAT\\> \\*AND\\* 2 \\* 3 \\* A\\_B\\_C\n",
    "A & B < C * D_E_F\n": "A & B < C * D_E_F\n",
    "\u00a0\nA cat <i></i><b> </b>\n": "\u00a0\nA CAT <i></i><b> </b>\n",
    "<b>A</b> cat\n": "<b>A</b> CAT\n",
    "Press <kbd>a &lt;\nb</kbd> *now*\n": "PRESS <kbd>a \\< b</kbd> *NOW*\n",
    "Press <kbd><b>a</b> *b*</kbd> *now*\n": "PRESS <kbd><b>a</b> *b*</kbd> *NOW*\n",
    "Press <kbd>a <br> b</kbd> now\n": "PRESS <kbd>a <br> b</kbd> NOW\n",
    "A <i translate=no>cat</i> <var>x</var>\n": "A <i translate=no>cat</i> <var>x</var>\n",
    "\\[a cat]: /b\n": "\\[A CAT]: /B\n",
    "# A cat\rA dog\r": "# A CAT\rA DOG\r",
    "A [cat](<b(c>)\n": "A [CAT](<b(c>)\n",
    "A [cat](<\\<b>) or [dog](d\\e)\n": "A [CAT](<\\<b>) OR [DOG](d\\e)\n",
    "A [cat](<b\\\\>) or [dog](<d\\\\!>)\n": "A [CAT](<b\\\\>) OR [DOG](<d\\\\!>)\n",
    "[*A* cat]() and [*dogs*](<> 'A')\n": '[*A* CAT]() AND [*DOGS*](<> "A")\n',
    "12\n\n\n***\n": None,
    "": None,
}


@pytest.mark.parametrize(("text", "expected"), KEPT.items())
def test_words_are_translated_and_signs_stay(text: str, expected: str | None) -> None:
    assert in_capitals(text) == (text if expected is None else expected)


def test_lines_end_outside_of_code() -> None:
    text = "It was an alias\nof `npm diff one two three four five`.\n"
    expected = "IT WAS AN ALIAS OF\n`npm diff one two three four five`.\n"
    assert in_capitals(text) == expected


def test_code_within_a_link_does_not_divide_it() -> None:
    def in_reverse(text: str) -> str:
        return " ".join(reversed(text.split()))

    text = "See [the `exit` event](u), **`x`** here\n"
    expected = "here **`x`** [event, `exit` the](u) See\n"
    assert translated(text, take_markdown_apart, in_reverse) == expected


def test_a_tag_that_nothing_closes_may_stand_between_others() -> None:
    passage = take_markdown_apart("A <b>red <img src=a> cat</b>.\n", READER)
    assert passage.pieces[0] == "A red {x0} cat."


def test_a_box_of_a_task_and_the_sign_of_a_note_are_no_part_of_a_sentence() -> None:
    passage = take_markdown_apart("- [ ] A cat\n\n[^1]: A dog[^2] sleeps\n", READER)
    assert [piece.strip() for piece in passage.pieces] == ["A cat", "A dog{x0} sleeps"]


def test_notes_within_notes_without_end_are_read() -> None:
    passage = take_markdown_apart("[^1]: " * 3000 + "A cat\n\nA dog\n", READER)
    assert passage.pieces[-1] == "A dog"


def test_no_line_is_wrapped_before_what_would_be_a_note_there() -> None:
    text = "A cat that is very red and sleeps on the table\nis said[^1]: it dreams\n"
    translation = "Il gatto che è molto rosso dorme sul tavolo è {x0}: sogna"
    found = translated(text, take_markdown_apart, lambda _: translation)
    assert found == translation.format(x0="[^1]") + "\n"


def test_lines_of_a_script_without_spaces_are_joined_without_one() -> None:
    passage = take_markdown_apart("猫は*川\nを*見\nて、\nCat\nです\n", READER)
    assert passage.pieces[0] == "猫は川を見て、 Cat です"


def test_lines_of_a_paragraph_are_one_text_and_are_wrapped_again() -> None:
    text = (
        "> - The cat is on the table and the dog is under it,\n"
        ">   and nobody knows why. They\n"
        ">   sleep.\n"
    )
    passage = take_markdown_apart(text, READER)

    assert [piece.strip() for piece in passage.pieces] == [
        "The cat is on the table and the dog is under it, and nobody knows why.",
        "They sleep.",
    ]
    assert in_capitals(text) == (
        "> - THE CAT IS ON THE TABLE AND THE DOG IS UNDER IT,\n"
        ">   AND NOBODY KNOWS WHY. THEY SLEEP.\n"
    )


@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
@pytest.mark.parametrize("sign", ["\\", "  "])
def test_a_break_that_is_meant_stays(sign: str, line_break: str) -> None:
    text = f"- a cat{sign}\n  a dog\n".replace("\n", line_break)

    assert in_capitals(text) == text.replace("a cat", "A CAT").replace("a dog", "A DOG")


@pytest.mark.parametrize(
    "translation",
    [
        *(
            "1. A cat",
            "2) a",
            "- a cat",
            "+ a",
            "# a",
            "#",
            "> a",
            "=",
            "---",
            "```",
            "a * b",
            "*a*",
        ),
        *(
            "_a_",
            "[a](b)",
            "<b>a</b>",
            "`a`",
            "&amp;",
            "\\*",
            "\\#",
            "![a](b)",
            "<http://a.b>",
            "~~a~~",
        ),
    ],
)
@pytest.mark.parametrize(
    "place", ["A cat", "# A cat", "- A cat", "|A cat|\n|-|", "A *dog* runs", "a  \nA cat"]
)
def test_a_translation_is_text_whatever_it_looks_like(place: str, translation: str) -> None:
    before = rendered(place)
    text = re.sub("A cat|runs", "X", place)
    changed = translated(text, take_markdown_apart, lambda piece: piece.replace("X", translation))
    escaped = translation.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

    assert rendered(changed) == re.sub("A cat|runs", escaped.replace("\\", r"\\"), before)


@pytest.mark.parametrize(
    "translation", ["a]b", "[a](b)", 'a "b"', "a\\", "`a`", "<a", "&amp;", "|"]
)
def test_the_translated_text_and_title_of_a_picture_end_where_they_should(translation: str) -> None:
    changed = translated('|![A cat](b "A dog")|\n|-|\n', take_markdown_apart, lambda _: translation)
    said = escape(translation.replace("&amp;", "&"))
    assert f'<img src="b" alt="{said}" title="{said}"' in rendered(changed)


WORDS = st.sampled_from(
    [
        *("cat", "a dog", "`x y`", "**red**", "*the cat*", "[a](b)", "<b>a</b>", "![c](d)", "e_f"),
        *("~~no~~", "&lt;", "\\*", "[^1]", "<http://a.b>", "**a *b* c**", "[a **b**](c 'd')", "|"),
    ]
)
LINES = st.lists(WORDS, min_size=1, max_size=8).map(" ".join)
PARAGRAPHS = st.lists(LINES, min_size=1, max_size=3).map("\n".join)
PREFIXES = st.sampled_from(["", "# ", "- ", "1. ", "> ", "> - ", "> [!NOTE]\n> ", "    "])
BLOCKS = st.tuples(PREFIXES, PARAGRAPHS).map("".join) | LINES.map(
    lambda line: "|{0}|x|\n|-|-|\n|y|{0}|".format(line.replace("|", "\\|"))
)


@given(st.lists(BLOCKS, max_size=4).map("\n\n".join))
def test_what_is_not_changed_looks_as_it_did(text: str) -> None:
    assert rendered(translated(text, take_markdown_apart, str)) == rendered(text)


@given(st.text("ab*_[]()<>`#-|\\ \n>1.!&~:=\t", max_size=60))
def test_any_text_is_taken_apart(text: str) -> None:
    translated(text, take_markdown_apart, str)
