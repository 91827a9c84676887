"""HTML and XML: text is translated, tags are kept."""

from functools import partial
from html import unescape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.serving.markup import Markup, Rules
from dragoman.serving.passage import PlainText

CUT = partial(PlainText, source="en", target="it", lines=False)
XML = Rules(
    untranslated=frozenset({"x"}),
    inline=frozenset(),
    mixed_is_inline=True,
    block=frozenset({"par"}),
)
DICTIONARY = {
    "Press Save to go on.": "Per continuare premere salva.",
    "Save": "Salva.",
    "Press": "Premere",
    "to go on.": "per continuare.",
    "The red cat sleeps.": "Il gatto rosso dorme.",
    "red": "rosso",
    "cat": "gatto",
    "Save and Save.": "Salva e Salva.",
    "and": "e",
    "Press the key.": "Premere il tasto.",
    "key": "chiave",
    "the": "il",
    "Press the": "Premere il",
    "Run make now.": "Ora eseguire make.",
    "Run": "Eseguire",
    "now.": "ora.",
}


def translated(text: str, rules: Rules | None = None) -> str:
    """Translate by the dictionary; what is not in it is put into capitals."""
    markup = Markup(text, rules or Rules(), CUT)
    return markup.put_together(
        [DICTIONARY.get(piece.strip(), piece.strip().upper()) for piece in markup.pieces]
    )


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>One.\n <br/>Two</p>", "<p>ONE.\n <br/>TWO</p>"),
        ('<a title="b &amp; c" HREF=x>Go</a>', '<a title="b &amp; c" HREF=x>GO</a>'),
        ("Fish &amp; chips&nbsp;&lt;3 &eacute;", "FISH &amp; CHIPS&nbsp;&lt;3 É"),
        ("&copy; 2024 &mdash; <b>7</b>", "&copy; 2024 &mdash; <b>7</b>"),
        ("<ul>\n  <li>One</li>\n  <li>Two</li></ul>", "<ul>\n  <li>ONE</li>\n  <li>TWO</li></ul>"),
        ("<script>if (a<b) say('x')</script>One", "<script>if (a<b) say('x')</script>ONE"),
        ("<style>p{}</style><pre>a b</pre>One", "<style>p{}</style><pre>a b</pre>ONE"),
        ('<p translate="no">One <b>two</b></p>Two', '<p translate="no">One <b>two</b></p>TWO'),
        ('<div class="a notranslate"><div>x</div>y</div>Two',
         '<div class="a notranslate"><div>x</div>y</div>TWO'),
        ("<!-- a note --><!DOCTYPE html>One", "<!-- a note --><!DOCTYPE html>ONE"),
        ("<p>One<p>Two <i>three", "<p>ONE<p>TWO <i>THREE"),
        ("One &# <b>two</b>", "ONE &amp;# <b>TWO</b>"),
        ("One <![CDATA[x]]> two", "ONE <![CDATA[x]]> TWO"),
    ],
)  # fmt: skip
def test_all_but_the_text_is_kept(html: str, expected: str) -> None:
    assert translated(html) == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        # found in the translation of the whole, wherever it went and however it is written
        ("Press <b>Save</b> to go on.", "Per continuare premere <b>salva</b>."),
        ("The <i><b>red</b></i> cat sleeps.", "Il gatto <i><b>rosso</b></i> dorme."),
        ("The <i>red</i> <b>cat</b> sleeps.", "Il <b>gatto</b> <i>rosso</i> dorme."),
        ("<em>The <i>red</i> cat sleeps.</em>", "<em>THE <i>rosso</i> CAT SLEEPS.</em>"),
        ("Run <code>make</code> now.", "Ora eseguire <code>make</code>."),
        # found twice, or not at all: between tags, each for itself
        ("<b>Save</b> and <i>Save</i>.", "<b>Salva.</b> e <i>Salva.</i>."),
        ("<b>Save</b> and Save.", "<b>Salva.</b> AND SAVE."),
        ("Press the <b>key</b>.", "Premere il <b>chiave</b>."),
        # tags that do not close where they should stay in order
        ("Press <b>Save<i></b> to go on.</i>", "Premere <b>Salva.<i></b> per continuare.</i>"),
        ("Press <img src=x> Save", "Premere <img src=x> Salva."),
    ],
)
def test_tags_within_a_sentence_find_their_places(html: str, expected: str) -> None:
    assert translated(html) == expected


def test_only_the_sentence_of_a_tag_pays_for_it() -> None:
    html = "The red cat sleeps. Press the <b>key</b>. The red cat sleeps."

    found = translated(html)

    assert found == "Il gatto rosso dorme. Premere il <b>chiave</b>. Il gatto rosso dorme."


@pytest.mark.parametrize(
    ("xml", "expected"),
    [
        ("<d><p>One.</p><p>Two.</p></d>", "<d><p>ONE.</p><p>TWO.</p></d>"),
        ("<p>Press <ui>Save</ui> to go on.</p>", "<p>Per continuare premere <ui>salva</ui>.</p>"),
        ("Press <par>Save</par> to go on.", "Premere <par>Salva.</par> per continuare."),
        ('Go <x id="5"></x>, now <x id="6"/>', 'GO <x id="5"></x>, NOW <x id="6"/>'),
        ("<?xml version='1.0'?><a>One</a>", "<?xml version='1.0'?><a>ONE</a>"),
    ],
)
def test_in_xml_what_has_text_beside_it_stands_within_a_sentence(xml: str, expected: str) -> None:
    assert translated(xml, XML) == expected


SCRAPS = st.lists(
    st.sampled_from(
        ["<", ">", "</", "<!--", "-->", "<b>", "</b>", "<p>", "</p>", "<i", '="', "'", "&", "&#",
         "&lt;", "<![", "]]>", "<?", "<script>", "</script>", "<br>", "/>", " ", "\n", "7", "é",
         "<code>", "</code>", '<p translate="no">', "<x/>"]
    )
).map("".join)  # fmt: skip


@given(SCRAPS)
@settings(max_examples=100, deadline=None, database=None)
def test_a_document_without_words_is_kept_to_the_letter(text: str) -> None:
    wordless = text.replace("é", "7")
    markup = Markup(wordless, Rules(untranslated=frozenset({"code", "script"})), CUT)
    if not markup.pieces:
        assert markup.put_together([]) == wordless


@given(SCRAPS)
@settings(max_examples=100, deadline=None, database=None)
def test_nothing_is_lost_whatever_the_document(text: str) -> None:
    for rules in (Rules(), XML):
        markup = Markup(text, rules, CUT)
        again = markup.put_together(list(markup.pieces))
        assert "".join(unescape(again).split()) == "".join(unescape(text).split())


@pytest.mark.parametrize(
    "scrap", ["<", "<!--", "<a ", '<a b="', "<![", "<?", "&", "&#", "<script>", "</b>"]
)
def test_a_document_that_never_ends_does_not_take_for_ever(scrap: str) -> None:
    markup = Markup(scrap * 10_000, Rules(), CUT)

    assert markup.put_together(list(markup.pieces)) == scrap * 10_000
