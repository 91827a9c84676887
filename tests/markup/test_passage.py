"""A text is cut into lines and sentences, and into nothing smaller."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dragoman.markup.passage import PlainText
from dragoman.markup.text_reader import TextReader


@pytest.mark.parametrize(
    "placeholder",
    [
        "{{ ' in ' + (place) + '.' if place else '' }}",
        "${' in ' + (place) + '.' if place else ''}",
    ],
)
def test_sentences_in_a_placeholder_are_no_sentences_of_the_text(placeholder: str) -> None:
    text = f"He came. She is {placeholder} now. Then they left."

    pieces = PlainText(text, "en", "it").pieces

    assert pieces == ["He came. ", f"She is {placeholder} now. ", "Then they left."]


@pytest.mark.parametrize(
    "pieces",
    [
        ["Hello", "{% if new %}", ", and welcome", "{% endif %} ", "!"],
        ["{%- block a -%}\n", "The cat. ", "The dog.", "{%- endblock -%}"],
        ["{{#if a}}", "The cat.", "{{else}}", "The dog {{name}} of {{elsewhere}}.", "{{/if}}"],
        [
            "{{ if .A }}",
            "The cat.",
            "{{ else }}",
            "The dog.",
            "{{- end -}}",
            "From {{ a }} to {{ end }}.",
        ],
        ["{# a cat, #2, {{ old }} #} ", "One.", "{{!-- {{old}} --}} ", "Two."],
        ["{{< note >}} ", "{# a cat #}", "The cat {#a} and {{ b }}", "{{< /note >}}"],
        ["50 {% of } the %} {{%"],
    ],
)
def test_statements_of_a_template_stay_where_they_are(pieces: list[str]) -> None:
    """They say whether, and how often, what stands between them is shown."""
    assert PlainText("".join(pieces), "en", "it").pieces == pieces


@pytest.mark.parametrize(
    ("splits_sentences", "pieces"),
    [(True, ["One cat. ", "A\rDog"]), (False, ["One cat. A\rDog"])],
)
def test_a_line_is_cut_at_line_feeds_and_if_need_be_behind_sentences(
    splits_sentences: bool, pieces: list[str]
) -> None:
    reader = TextReader("en", "it", splits_sentences=splits_sentences)

    assert reader.read_line("One cat. A\rDog").pieces == pieces
    assert reader.read_line("A\nDog").pieces == ["A\n", "Dog"]


def test_a_placeholder_on_several_lines_is_not_cut() -> None:
    pieces = PlainText("Hello {{\n Name \n}} is here\nNext", "en", "it").pieces

    assert pieces == ["Hello {{\n Name \n}} is here\n", "Next"]


@pytest.mark.parametrize(
    ("before", "after", "is_one"),
    [
        ("the cat", "and the dog", True),
        ("“the cat”", "sleeps", True),
        ("Red", "Blue", False),
        (" " * 50 + "Red", "Blue", False),
        ("the cat.", "and the dog", False),
        ("the cat:", "and the dog", False),
        ("x" * 50, "Blue", True),
        ("x" * 50, "5 euros", True),
        ("x" * 49, "Blue", False),
        ("x" * 49 + ":", "Blue", False),
        ("x" * 50, "- Blue", False),
        ("x" * 50, "– Blue", False),
        ("x" * 50, "2. Blue", False),
        ("x" * 50, "2) Blue", False),
        ("x" * 50 + "\n", "Blue", False),
    ],
)
def test_some_breaks_only_wrap_a_sentence(before: str, after: str, is_one: bool) -> None:
    pieces = PlainText(f"{before}\n{after}", "en", "it", wraps=True).pieces

    assert pieces == ([f"{before}\n{after}"] if is_one else [f"{before}\n", after])


@pytest.mark.parametrize("line_break", ["\n", "\r", "\r\n", "\v", "\f", "\x85", "\u2028", "\u2029"])
def test_lines_end_with_breaks_of_any_kind(line_break: str) -> None:
    text = f"Red{line_break}Blue"

    assert PlainText(text, "en", "it").pieces == [f"Red{line_break}", "Blue"]
    assert PlainText(text.lower(), "en", "it", wraps=True).pieces == [text.lower()]


@pytest.mark.processor_seconds(60)
def test_a_text_of_many_lines_does_not_take_the_square_of_their_number() -> None:
    text = "lorem ipsum dolor\n" * 50_000

    assert PlainText(text, "en", "it", wraps=True, sentences=False).pieces[0].startswith("lorem")


@pytest.mark.parametrize(("words", "sentences"), [("the cat. ", False), ("the cats ", True)])
def test_what_would_keep_others_waiting_is_cut(words: str, sentences: bool) -> None:
    text = words * 2_000 + "a" * 9_000 + " "

    pieces = PlainText(text, "en", "it", sentences=sentences).pieces

    assert "".join(pieces) == text
    assert max(map(len, pieces)) == 4_000
    assert pieces[0].endswith(" ")
    assert PlainText("The cat. A dog.", "en", "it", sentences=False).pieces == ["The cat. A dog."]


def test_a_long_placeholder_is_not_cut() -> None:
    text = "the cats " * 400 + "{{ '" + "a b " * 500 + "' }}" + " the dogs" * 400

    pieces = PlainText(text, "en", "it").pieces

    assert len(pieces) == 2
    assert pieces[0].count("{{") == pieces[0].count("}}") == 1


@given(st.text(alphabet="aB.! {}$'\n", max_size=40))
@example("{{ A. B. }} {{ C. D. }} E. F.")
def test_the_pieces_are_the_text(text: str) -> None:
    pieces = PlainText(text, "en", "it").pieces

    assert "".join(pieces) == text
