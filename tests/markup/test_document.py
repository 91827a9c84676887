"""HTML, XML and strings: text is translated, tags are kept."""

import re
from functools import partial
from html import unescape

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.alternative import says

from dragoman.markup.document import Markup, is_marked_up, visible_text
from dragoman.markup.passage import PlainText
from dragoman.markup.rules import STRING, Rules

CUT = partial(PlainText, source="en", target="it", lines=False)
XML = Rules(
    untranslated=frozenset({"x"}),
    inline=frozenset(),
    mixed_is_inline=True,
    block=frozenset({"par"}),
    is_xml=True,
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
    "Red apples and a pear.": "Mele rosse e una pera.",
    "apples": "Le mele sono qui.",
    "a pear": "Le pere.",
    "The big cat slept.": "Il grosso gatto ha dormito.",
    "big": "Grossa",
    "slept": "Dormito ha.",
    "Press the key.": "Premere il tasto.",
    "key": "chiave",
    "the": "il",
    "Press the": "Premere il",
    "Run make now.": "Ora eseguire make.",
    "Run": "Eseguire",
    "Run now.": "Ora eseguire.",
    "now.": "ora.",
    "Set {x0} to 5.": "Imposta a 5.",
    "Set {x0} to {x1}.": "{x1} IMPOSTA {x0}.",
    "Run IN now.": "Ora eseguire IN.",
    "Use Key Inc.": "Di Key Inc.",
    "Compare makes.": "Confronta Makes.",
    "Cannot open": "Impossibile aprire",
    "The red %s%s": "Il rosso %s%s",
}


def translated(text: str, rules: Rules | None = None) -> str:
    """Translate by the dictionary; what is not in it is put into capitals."""
    markup = Markup(text, rules or Rules(), CUT)
    return put_together(
        markup, [DICTIONARY.get(piece.strip(), piece.strip().upper()) for piece in markup.pieces]
    )


def put_together(markup: Markup, texts: list[str]) -> str:
    return markup.put_together(list(map(says, texts))).text


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
        ('<p translate="NO">One</p>Two', '<p translate="NO">One</p>TWO'),
        ("<p class translate>One</p>", "<p class translate>ONE</p>"),
        ('<div class="a notranslate"><div>x</div>y</div>Two',
         '<div class="a notranslate"><div>x</div>y</div>TWO'),
        ('<ul><li translate="no">One<li>Two</ul>', '<ul><li translate="no">One<li>TWO</ul>'),
        ('<ul><li translate="no">One <b>two</b></ul>Two',
         '<ul><li translate="no">One <b>two</b></ul>TWO'),
        ('<p translate="no">One<b translate="yes">two<i translate="no">two</i></b>two</p>Two',
         '<p translate="no">One<b translate="yes">TWO<i translate="no">two</i></b>two</p>TWO'),
        ("<p class='notranslate'>One<b translate=yes>two</b><b translate=yes>two</b>one</p>",
         "<p class='notranslate'>One<b translate=yes>TWO</b><b translate=yes>TWO</b>one</p>"),
        ('<p translate="no">One<b translate="yes">one</p>Two</b>',
         '<p translate="no">One<b translate="yes">one</p>TWO</b>'),
        ('<code translate="yes">One</code><p translate="no">One<b translate="yes">one</p>Two',
         '<code translate="yes">ONE</code><p translate="no">One<b translate="yes">one</p>TWO'),
        ('One <b translate="yes">two', 'ONE <b translate="yes">TWO'),
        ("<p>One <kbd>two</p><p>Two</p>", "<p>ONE <kbd>two</p><p>TWO</p>"),
        ('One <p translate="no">two', 'ONE <p translate="no">two'),
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
        ("<em>The <i>red</i> cat sleeps.</em>", "<em>Il gatto <i>rosso</i> dorme.</em>"),
        (
            "<p><em>The <i>red</i> cat sleeps.<br>red",
            "<p><em>Il gatto <i>rosso</i> dorme.<br>rosso",
        ),
        # elements in others, which stay together
        ("Save <u>and <b>Save</b></u>.", "Salva <u>e <b>Salva</b></u>."),
        ("The <u><b>red</b> cat</u> sleeps.", "THE <u><b>rosso</b> gatto</u> SLEEPS."),
        ("Run <code>make</code> now.", "Ora eseguire <code>make</code>."),
        ("Run <code>IN</code> now.", "Ora eseguire <code>IN</code>."),
        ("Use <code>Key Inc.</code>", "Di <code>Key Inc.</code>"),  # with one full stop
        # what was not translated may be a word of the other language, or written otherwise there
        ("Set <code>a</code> to 5.", "SET <code>a</code> TO 5."),
        ("Compare <code>makes</code>.", "COMPARE <code>makes</code>."),
        # found twice: where it is in the source
        ("<b>Save</b> and <i>Save</i>.", "<b>Salva</b> e <i>Salva</i>."),
        ("<b>Save</b> and Save.", "<b>Salva</b> e Salva."),
        ("Save and <b>Save</b>.", "Salva e <b>Salva</b>."),
        # not found to the letter: around what resembles it
        ("Red <b>apples</b> and <i>a pear</i>.", "<b>Mele</b> rosse e una <i>pera</i>."),
        ("The <b>big</b> cat <i>slept</i>.", "Il <b>grosso</b> gatto <i>ha dormito</i>."),
        # or not at all: between tags, each for itself
        ("The red %s<code>%s</code>", "THE RED %S<code>%s</code>"),
        ("Press the <b>key</b>.", "Premere il <b>chiave</b>."),
        # tags that do not close where they should stay in order
        ("Press <b>Save<i></b> to go on.</i>", "Premere <b>Salva<i></b> per continuare.</i>"),
        ("Press <img src=x> Save", "Premere <img src=x> Salva"),
        ("Set <code>a</code> to <img>.", "<img> IMPOSTA <code>a</code>."),
        ("Run <b>IN<b>", "Eseguire <b>IN<b>"),
        # what nobody sees ends no sentence, stays beside its tag, and else between two words
        ("Press <!-- -->Save<!-- --> to go on.", "Per <!-- -->continuare <!-- -->premere salva."),
        ("The <b>red<!-- --></b> cat sleeps.", "Il gatto <b>rosso<!-- --></b> dorme."),
        ("The <b><!-- -->red</b> cat sleeps.", "Il gatto <b><!-- -->rosso</b> dorme."),
        ("<!--a-->Run<!--b--> <!--c-->", "<!--a-->Eseguire<!--b--> <!--c-->"),
        ("Run <!-- a > b -->now. <?php $a->b ?>", "Ora <!-- a > b -->eseguire. <?php $a->b ?>"),
    ],
)
def test_tags_within_a_sentence_find_their_places(html: str, expected: str) -> None:
    assert translated(html) == expected


IN_OTHER_SCRIPTS = {
    "The cat sees the old book.": "猫は古い本を見ます。",
    "The cat": "猫。",
    "Press Save to go on.": "계속하려면 저장을 누르세요.",
    "Save": "저장",
    "old book": "旧书",
    "The cat sees the": "猫看见",
    "It buys BBC NHK": "它买。",
    "It buys BBC": "它买BBC",
    "It": "它",
    "It sleeps.": "它睡觉。",
    "猫は古い本を見ます。": "The cat sees the old book.",
    "猫": "A cat",
    "は古い本を": "an old book",
    "見ます": "look at it",
    "犬は“": "the dog “",
    "”寝る。": "” sleeps.",
    "犬は（": "the dog (",
    "赤い": "red",
    "）寝る。": ") sleeps.",
    "寝た。": "It slept.",
    "犬寝た。": "A dog slept.",
    "犬": "A dog",
    "Stop—": "Halt—",
    "now": "jetzt",
}


@pytest.mark.parametrize(
    ("languages", "string", "expected"),
    [
        ("en ja", "<b>The cat</b> sees the old book.", "<b>猫</b>は古い本を見ます。"),
        ("en ko", "Press <b>Save</b> to go on.", "계속하려면 <b>저장</b>을 누르세요."),
        ("en zh", "The cat sees the <b>old book</b>.", "猫看见<b>旧书</b>."),
        ("en zh", "It buys BBC <b>NHK</b>", "它买BBC <b>NHK</b>"),
        ("en zh", "It sleeps. <b>It</b> sleeps.", "它睡觉。<b>它</b>睡觉。"),
        (
            "ja en",
            "<b>猫</b>は古い本を<i>見ます</i>。",
            "<b>A cat</b> an old book <i>look at it</i>。",
        ),
        ("ja en", "犬は（<b>赤い</b>）寝る。", "the dog (<b>red</b>) sleeps."),
        ("ja en", "犬は“<b>赤い</b>”寝る。", "the dog “<b>red</b>” sleeps."),
        ("ja en", "寝た。<b>犬</b>寝た。", "It slept. <b>A dog</b> slept."),
        ("ja en", "寝た。猫<br>猫<code></code>", "It slept. A cat<br>A cat<code></code>"),
        ("en de", "Stop—<b>now</b>", "Halt—<b>jetzt</b>"),
    ],
)
def test_between_tags_a_language_has_the_spaces_that_it_needs(
    languages: str, string: str, expected: str
) -> None:
    source, target = languages.split()
    markup = Markup(string, STRING, partial(PlainText, source=source, target=target, lines=False))
    table = IN_OTHER_SCRIPTS
    if languages == "en zh":
        table = {**table, "The cat sees the old book.": "猫在看一本书。"}
    assert (
        put_together(markup, [table.get(p.strip(), p.strip()) for p in markup.pieces]) == expected
    )


def test_a_part_of_a_word_with_its_marks_is_not_a_word() -> None:
    markup = Markup("<b>a</b> house", STRING, partial(PlainText, source="en", target="th"))
    assert put_together(markup, ["ที่บ้าน", "ที", "บ้าน"]) == "<b>ที</b> บ้าน"
    markup = Markup("<b>he</b> sees", STRING, partial(PlainText, source="en", target="fa"))
    assert put_together(markup, ["می\u200cبیند", "می", "بیند"]) == "<b>می</b> بیند"


def test_a_sentence_ends_in_a_tag_whatever_its_sign() -> None:
    markup = Markup("Is he <b>here?</b>", STRING, partial(PlainText, source="en", target="ar"))
    found = put_together(markup, ["هل هو هنا؟", "هل هو", "هنا"])
    assert found == "هل هو <b>هنا؟</b>"


def test_a_tag_never_parts_a_placeholder() -> None:
    markup = Markup('From <b>"%s"</b> now', STRING, CUT)
    assert markup.pieces == ['From "%s" now', "From ", '"%s"', " now"]
    found = put_together(markup, ["Ora da %s", "Da", '"%s"', "ora"])
    assert found == 'Da <b>"%s"</b> ora'


def test_what_people_see_of_a_page_is_its_text() -> None:
    page = "<title>Il gatto</title><script>var the</script><p class='of'>&Egrave; <b>qui</b></p>"

    assert visible_text(page, Rules()).split() == ["Il", "gatto", "È", "qui"]


@pytest.mark.processor_seconds(30)  # in quadratic time it was a minute and a half
def test_a_paragraph_of_many_sentences_is_read_in_reasonable_time() -> None:
    text = "&a." * 150_000

    markup = Markup(text, Rules(), CUT)

    assert put_together(markup, markup.pieces) == text.replace("&", "&amp;")


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
        # names that HTML knows mean nothing
        ("<d><script><l>One.</l></script></d>", "<d><script><l>ONE.</l></script></d>"),
        ('<d><link translate="no">One.</link></d>', '<d><link translate="no">One.</link></d>'),
        (
            "<p>Press <link>Save</link> to go on.</p>",
            "<p>Per continuare premere <link>salva</link>.</p>",
        ),
        ("<?xml version='1.0'?><a>One</a>", "<?xml version='1.0'?><a>ONE</a>"),
        # what a document declares is its own, and HTML's entities without an end are none
        (
            """<!DOCTYPE a [<!ENTITY b "<x>]>"> <!ENTITY c 'd'>\n]><a>&amp; now.</a>""",
            """<!DOCTYPE a [<!ENTITY b "<x>]>"> <!ENTITY c 'd'>\n]><a>&amp; NOW.</a>""",
        ),
        ("<a>&B; &COPYB; &copy; &amp;c; 1</a>", "<a>&B; &COPYB; © &amp;C; 1</a>"),
        ("<a>One\u00a0two</a>", "<a>ONE\u00a0TWO</a>"),
        # names, instructions and declarations that HTML does not have
        ("<_a>Run</_a> <имя>Run</имя>", "<_a>Eseguire</_a> <имя>Eseguire</имя>"),
        ("<p>Press <_x>Save</_x> to go on.</p>", "<p>Per continuare premere <_x>salva</_x>.</p>"),
        ('<?a href="b>c"?><a>Run<?d $e->f ?></a>', '<?a href="b>c"?><a>Eseguire<?d $e->f ?></a>'),
        ('<!DOCTYPE a SYSTEM "b>c"><a>Run</a>', '<!DOCTYPE a SYSTEM "b>c"><a>Eseguire</a>'),
        # CDATA is text, or HTML, in which & and > may stand for themselves
        ("<a><![CDATA[Run & <b>Save</b> > x]]></a>", "<a><![CDATA[RUN & <b>Salva</b> > X]]></a>"),
        ("<a><![CDATA[Press Save &amp; x]]></a>", "<a><![CDATA[PRESS SAVE &amp; X]]></a>"),
        # and no part of a sentence that goes on beside it
        ("<a><![CDATA[Red]]> Run<![CDATA[x]]></a>", "<a><![CDATA[RED]]> Eseguire<![CDATA[X]]></a>"),
        ("<a>Go <![CDATA[Run]]> now.</a>", "<a>GO <![CDATA[Eseguire]]> ora.</a>"),
    ],
)
def test_in_xml_what_has_text_beside_it_stands_within_a_sentence(xml: str, expected: str) -> None:
    assert translated(xml, XML) == expected


@pytest.mark.parametrize(
    ("string", "expected"),
    [
        # line breaks end sentences, and stay as they are with the spaces about them
        (r"Red.\n\n  Cat.\n", r"RED.\n\n  CAT.\n"),
        (r"red\n- cat\n- key", r"rosso\n- CAT\n- KEY"),
        # so do entities of line breaks: to read them would break the line that the string is on
        ("<b>Red.</b>&#10;Cat.&#xD;&#xA;<i>Cat.</i>", "<b>RED.</b>&#10;CAT.&#xD;&#xA;<i>CAT.</i>"),
        ("Red.&NewLine;Cat.", "RED.&NewLine;CAT."),
        (r"Red.\tCat.&#9;Key.", r"RED.\tCAT.&#9;KEY."),
        (r"In C:\tmp&#10;Cat.", r"IN C:\TMP&#10;CAT."),
        (r"In \\srv\a&Tab;Cat.", r"IN \\SRV\A&Tab;CAT."),
        # but one that wraps a sentence goes between two words, and keeps its order
        (r"The red\n  cat sleeps.", r"Il gatto\n  rosso dorme."),
        (r"Press Save\nto \ngo on.", r"Per continuare\npremere \nsalva."),
        (r"Press <b>Save</b>\nto go on.", r"Per continuare\npremere <b>salva</b>."),
        (r"The red\r\ncat sleeps.", r"Il gatto\r\nrosso dorme."),
        # unless a tag is beside it, as that would go with it
        (r"The <b>red\n</b>cat sleeps.", r"THE <b>rosso\n</b>CAT SLEEPS."),
        (r"The <b>\nred</b> cat sleeps.", r"THE <b>\nrosso</b> CAT SLEEPS."),
        ("The red&#13;&#10;cat sleeps.", "Il gatto&#13;&#10;rosso dorme."),
        # one before all words, or before those of a paragraph, wraps nothing and stays there
        (r"\ncat and key", r"\nCAT AND KEY"),
        (r"<p>key</p>\ncat and key", r"<p>chiave</p>\nCAT AND KEY"),
        # a tag that is never closed is the name of something
        ("Cannot open <object> now.", "Impossibile aprire <object> ora."),
        ("The red <script> tag found.", "THE RED <script> TAG FOUND."),
        ("İ" * 30 + "</script><script> a <i>cat", "İ" * 30 + "</script><script> A <i>gatto"),
        ("One <script>var two</script> now.", "ONE <script>var two</script> ora."),
        ("Run <kbd>one <kbd>two</kbd> now.", "Eseguire <kbd>ONE <kbd>two</kbd> ora."),
        # nor is what has words behind it and no end, but what looks like a tag that is cut off
        ("The <b>red</b> cat, 3 <x cats.", "THE <b>rosso</b> CAT, 3 <X CATS."),
        ('Cat <a href="x. Red', 'CAT <a href="x. Red'),
        ("Cat <br /", "CAT <br /"),
        # an element may have a number for its name; one that is never closed is text
        ("Press <10>Save</10> to go on.", "Per continuare premere <10>salva</10>."),
        ("Press <0>Save</0> to <1/> <2> x", "Premere <0>Salva</0> TO <1/> <2> X"),
        # a translation of one word has no room for it
        (r"the\nkey", r"THE\nKEY"),
        (r"save\nand", r"SAVE\nAND"),
        # there is no line break in a path
        (r"The C:\temp\new is red", r"THE C:\TEMP\NEW IS RED"),
        # entities are written only where there are some
        ("R&D <b>and</b> <3", "R&D <b>e</b> <3"),
        ("R&amp;D <b>and</b> &lt;3", "R&amp;D <b>e</b> &lt;3"),
        ("&quot;R&quot; <b>and</b>", "&quot;R&quot; <b>e</b>"),
        # an entity of the program's own says nothing about the others
        ("R & D &BrandName; <b>and</b>", "R & D &BRANDNAME; <b>e</b>"),
        ("R &amp; &B; <b>and</b>", "R &amp; &B; <b>e</b>"),
        ("R&#xE8; <b>and</b>", "RÈ <b>e</b>"),
        # tags that nobody knows stand within a sentence, if there is text beside them
        ("Press <g id='1'>Save</g> to go on.", "Per continuare premere <g id='1'>salva</g>."),
        ("<p>Press the key.</p><p>key</p>", "<p>Premere il tasto.</p><p>chiave</p>"),
    ],
)
def test_strings_of_programs_keep_tags_and_escapes(string: str, expected: str) -> None:
    assert translated(string, STRING) == expected


@pytest.mark.parametrize(
    ("text", "marked_up"),
    [
        ("a <b>c", True),
        ("</g>", True),
        (r"one\ntwo", True),
        ("one&#10;two", True),
        ("<!-- a -->", True),
        ("<0>a</0>", True),
        ("a<1 />", True),
        ("press <1>", False),
        ("a < b and b > c", False),
        ("<3 & more >", False),
        ("a\nb", False),
    ],
)
def test_what_has_no_tag_is_plain_text(text: str, marked_up: bool) -> None:
    assert is_marked_up(text) is marked_up


@given(
    st.lists(st.sampled_from(["one", "Two", ".", ",", " ", "\\n", "\\t", "<b>", "</b>", "<br/>"]))
)
@settings(max_examples=200, deadline=None, database=None)
def test_no_tag_or_escape_is_lost_whatever_the_translation(pieces: list[str]) -> None:
    text = "".join(pieces)
    kept = re.compile(r"<[^<>]*>|\\[nt]")
    markup = Markup(text, STRING, CUT)

    for translation in ("uno due", "tre", "", "quattro cinque sei."):
        found = put_together(markup, [translation] * len(markup.pieces))
        assert sorted(kept.findall(found)) == sorted(kept.findall(text))


def test_the_score_is_that_of_what_is_written() -> None:
    placed = Markup("Press <b>Save</b> to go on.", STRING, CUT)
    apart = Markup("Press the <b>key</b>.", STRING, CUT)

    whole = placed.put_together([says(DICTIONARY[piece.strip()]) for piece in placed.pieces])
    runs = apart.put_together([says(DICTIONARY.get(p.strip(), "x")) for p in apart.pieces])

    assert whole.score == -1.0
    assert runs.score == -2.0
    assert whole.parts == (whole.text,)


SCRAPS = st.lists(
    st.sampled_from(
        ["<", ">", "</", "<!--", "-->", "<b>", "</b>", "<p>", "</p>", "<i", '="', "'", "&", "&#",
         "&lt;", "<![", "<![CDATA[", "]]>", "<?", "<script>", "</script>", "<br>", "/>", " ", "\n",
         "7", "é", "<code>", "</code>", '<p translate="no">', "<x/>"]
    )
).map("".join)  # fmt: skip


@given(SCRAPS)
@settings(max_examples=100, deadline=None, database=None)
def test_a_document_without_words_is_kept_to_the_letter(text: str) -> None:
    wordless = text.replace("é", "7")
    markup = Markup(wordless, Rules(untranslated=frozenset({"code", "script"})), CUT)
    if not markup.pieces:
        assert put_together(markup, []) == wordless


_NUMBER_WITHOUT_END = re.compile("&(?:amp;)?#7+")


@example("&#7é")
@example("&#77é<b>")
@given(SCRAPS)
@settings(max_examples=100, deadline=None, database=None)
def test_nothing_is_lost_whatever_the_document(text: str) -> None:
    def read(written: str, rules: Rules) -> str:
        """Read as HTML is; to XML a number that has no end is text, and may be escaped."""
        known = _NUMBER_WITHOUT_END.sub("", written) if rules.is_xml else written
        return "".join(unescape(known).split())

    for rules in (Rules(), XML):
        markup = Markup(text, rules, CUT)
        again = put_together(markup, markup.pieces)
        assert read(again, rules) == read(text, rules)


@pytest.mark.parametrize(
    "scrap",
    [
        "<",
        "<!--",
        "<a ",
        '<a b="',
        "<![",
        "<?",
        "<?php",
        "<!-- -->a ",
        "&",
        "&#",
        "<script>",
        "</b>",
    ],
)
def test_a_document_that_never_ends_does_not_take_for_ever(scrap: str) -> None:
    markup = Markup(scrap * 10_000, Rules(), CUT)

    assert put_together(markup, markup.pieces) == scrap * 10_000


@pytest.mark.processor_seconds(10)  # if each needed a pattern of all letters, it would be a minute
def test_many_tags_find_their_places_in_reasonable_time() -> None:
    text = " ".join(f"The cat <b>sees{i}</b> a house." for i in range(2000))
    markup = Markup(text, STRING, CUT)

    assert put_together(markup, [piece.strip() for piece in markup.pieces]) == text


@pytest.mark.processor_seconds(30)  # in quadratic time it would be minutes
@pytest.mark.parametrize("unit", ["a<img> b ", "<b>a cat</b> | ", "{x0} <img> cat "])
def test_a_page_without_full_stops_is_read_in_reasonable_time(unit: str) -> None:
    page = unit * (200_000 // len(unit))
    markup = Markup(page, Rules(), CUT)

    assert put_together(markup, [piece.strip() for piece in markup.pieces]) == page


@pytest.mark.processor_seconds(10)  # if all places of each were compared, it would be a minute
def test_tags_around_the_same_word_find_their_places_in_reasonable_time() -> None:
    text = "<b>A cat</b> " * 8000
    markup = Markup(text, STRING, CUT)

    assert put_together(markup, [piece.strip() for piece in markup.pieces]) == text


@pytest.mark.processor_seconds(10)  # if each were looked for everywhere, it would be a minute
def test_letters_in_tags_that_touch_find_their_places_in_reasonable_time() -> None:
    text = "x " + "<b>x</b>" * 3000
    markup = Markup(text, STRING, CUT)

    assert put_together(markup, [piece.strip() for piece in markup.pieces]) == text


@pytest.mark.processor_seconds(30)  # in quadratic time it would be minutes
@pytest.mark.parametrize(
    "unit", [" ", "\n", r"\n", "🎉", "&a", "&amp;", "<!--", "<!DOCTYPE", "<?", "<![CDATA[", "["]
)
@pytest.mark.parametrize("rules", [STRING, XML])
def test_what_is_repeated_without_end_is_read_in_reasonable_time(unit: str, rules: Rules) -> None:
    text = "<b>a" + unit * (200_000 // len(unit)) + "x"

    markup = Markup(text, rules, CUT)

    again = put_together(markup, markup.pieces)
    assert "".join(unescape(again).split()) == "".join(unescape(text).split())


@pytest.mark.parametrize(
    ("page", "pieces"),
    [
        ("<li><a>Inbox<span>4</span></a></li>", ["Inbox"]),
        ("<b>New</b>Feature", ["New", "Feature"]),
        ("<span>Save</span><!-- a --><span>Cancel</span>", ["Save", "Cancel"]),
        ("<a>Home</a><a>about us</a>", ["Home", "about us"]),
        ("<a>Part 2</a><a>next</a>", ["Part 2", "next"]),
        ("<b>12</b><i>files</i>", ["files"]),
        ("<a>4</a>Drafts", ["Drafts"]),
        # tags within a word
        ("<b>un</b>able", ["unable", "un", "able"]),
        ("<span>I</span>t was", ["It was", "I", "t was"]),
        ("<a>cat</a>s", ["cats", "cat", "s"]),
        ("the <b>3</b>rd", ["the 3rd", "the", "rd"]),
        ("at 60<span>mph</span>", ["at 60mph", "at 60", "mph"]),
        ("Mac<b>Book</b>s", ["MacBooks", "Mac", "Book", "s"]),
        ("Python<b>3</b> here", ["Python3 here", "Python", "here"]),
        ("You<em>Tube</em>", ["YouTube", "You", "Tube"]),
        ("Mac<span>OS</span>", ["MacOS", "Mac", "OS"]),
        ("size 3x<span>4</span>", ["size 3x4", "size 3x"]),
        ("CO<sub>2</sub>", ["CO2", "CO"]),
        ("cat<sup>1</sup>", ["cat1", "cat"]),
    ],
)
def test_words_that_a_page_shows_apart_are_two_though_no_space_is_between(
    page: str, pieces: list[str]
) -> None:
    markup = Markup(page, Rules(), CUT)
    assert [piece.strip() for piece in markup.pieces] == pieces
    kept = put_together(markup, [piece.strip().upper() for piece in markup.pieces])
    assert kept.lower() == page.lower()


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ('The red<sup><a href="a">1</a></sup> cat.', ["The red{x0} cat."]),
        ("The red<a><sup>*</sup></a> cat<sup><a><i>[</i>2<i>&#93;</i></a></sup> sleeps.",
         ["The red{x0} cat{x1} sleeps."]),
        ('The red<a role="doc-noteref" class="x">iv</a> cat.', ["The red{x0} cat."]),
        ("A cat.<sup><a>1</a></sup><sup><a>2</a></sup> A dog.", ["A cat.", "A dog."]),
        ("“A cat.”<sup><a>1</a></sup> A dog.", ["“A cat.”", "A dog."]),
        ("The red<sup><a>112</a></sup> cat.", ["The red{x0} cat."]),
        ("A cat<sup><a>1</a></sup>", ["A cat"]),
        # no notes
        ("CO<sub><a>2</a></sub> and m<sup>2</sup>", ["CO2 and m2"]),
        ("The 2<sup><a>nd</a></sup> cat", ["The 2nd cat"]),
        # places
        ('The <a id="a"></a>red cat.', ["The red cat."]),
        ('The <span id="a"/>red <a name="b"></a>cat.', ["The red cat."]),
        ('The <span epub:type="pagebreak" class="p" id="a">xii</span>red cat.', ["The red cat."]),
        ('Press <span id="a" class="icon"></span> now.', ["Press {x0} now."]),
        ('Press <span id="a" aria-label="c"></span> now.', ["Press {x0} now."]),
        ('Press <span id="a" style="c"></span> now.', ["Press {x0} now."]),
        ('Press <a id="a" href="b"></a> now.', ["Press {x0} now."]),
    ],
)  # fmt: skip
def test_marks_of_notes_and_mere_places_are_no_words_of_a_sentence(
    page: str, expected: list[str]
) -> None:
    markup = Markup(page, Rules(), CUT)
    whole = zip(markup.pieces, markup.are_again, strict=True)
    assert [piece.strip() for piece, again in whole if not again and " " in piece.strip()] == (
        expected
    )
    kept = put_together(
        markup, [re.sub("X(?=[0-9])", "x", p.strip().upper()) for p in markup.pieces]
    )
    assert re.sub(" ", "", kept.lower()) == re.sub(" ", "", page.lower())


def test_the_mark_of_a_note_goes_where_the_translation_has_it() -> None:
    markup = Markup('The red<sup><a href="a">1</a></sup> cat.', Rules(), CUT)
    assert put_together(markup, ["Il gatto rosso{x0}.", "Il rosso", "gatto."]) == (
        'Il gatto rosso<sup><a href="a">1</a></sup>.'
    )
    assert put_together(markup, ["Il gatto rosso.", "Il rosso", "gatto."]) == (
        'Il rosso<sup><a href="a">1</a></sup> gatto.'
    )


@pytest.mark.parametrize(
    "page",
    [
        "<a>red</a> | <a>cat</a>",
        "<a>red</a>&nbsp;&raquo; <a>cat</a>",
        "<a>red</a> / <a>cat</a>",
        "<a>red</a> > <a>cat</a>",
        "<a>red</a> <i>·</i> <a>cat</a>",
    ],
)
def test_links_with_a_sign_between_them_are_no_sentence(page: str) -> None:
    assert translated(page) == page.replace("red", "rosso").replace("cat", "gatto")


def test_words_of_the_text_that_look_like_a_placeholder_are_no_picture() -> None:
    markup = Markup("Press {x0} <img> or {x1} <b>now</b>.", Rules(), CUT)
    assert markup.pieces[0] == "Press {x0} {x2} or {x1} now."
    found = put_together(markup, ["Ora {x1} o {x2} {x0}.", "Premere {x0}", "o {x1}", "ora"])
    assert found == "<b>Ora</b> {x1} o <img> {x0}."


def test_tags_of_what_is_partly_translated_belong_together() -> None:
    page = 'A <i translate="no">Dragoman <u>is <b translate="yes">red</b> indeed</u></i> cat.'
    markup = Markup(page, Rules(), CUT)
    assert markup.pieces[0] == "A Dragoman {x0} red indeed cat."
    texts = ["indeed {x0} rosso Dragoman.", *(piece.strip() for piece in markup.pieces[1:])]
    assert put_together(markup, texts) == page
    found = put_together(markup, ["Dragoman {x0} rosso indeed GATTO.", "A", "rosso", "cat"])
    assert found == page.removeprefix("A ").replace("red", "rosso").replace("cat", "GATTO")


@pytest.mark.parametrize(
    ("page", "whole"),
    [
        ("The <ruby>red<rt>RED</rt></ruby> cat.", "The red cat."),
        ("The <ruby>red<rp>(</rp><rt>RED<rp>)</rp></ruby> cat.", "The red cat."),
        (
            "The <ruby><rb>red</rb><rt>RED</rt> cat<rt>CAT</rt></ruby> sleeps.",
            "The red cat sleeps.",
        ),
    ],
)
def test_a_reading_stays_behind_the_characters_that_it_tells(page: str, whole: str) -> None:
    markup = Markup(page, Rules(), CUT)
    assert markup.pieces[0] == whole
    assert put_together(markup, [piece.strip() for piece in markup.pieces]) == page


def test_short_kept_code_keeps_the_space_within_it() -> None:
    assert Markup("Set<code> a </code>to 5.", Rules(), CUT).pieces[0] == "Set {x0} to 5."


def test_white_space_within_what_is_kept_is_not_written_outside_it_again() -> None:
    page = "Press<code> make </code>or<code> cmake</code>."
    markup = Markup(page, Rules(), CUT)
    assert put_together(markup, [piece.strip() for piece in markup.pieces]) == page


def test_all_white_space_at_the_edge_of_what_is_kept_is_its_own() -> None:
    page = "See <code>make  </code>"
    markup = Markup(page, Rules(), CUT)
    assert put_together(markup, markup.pieces) == page


def test_a_note_is_not_put_within_a_word() -> None:
    markup = Markup("The red<sup><a>1</a></sup> cat.", Rules(), CUT)
    found = put_together(markup, ["Il gatto ro{x0}sso.", "Il rosso", "gatto."])
    assert found == "Il rosso<sup><a>1</a></sup> gatto."


def test_a_large_first_letter_is_that_of_the_translation() -> None:
    markup = Markup("“<b>T</b>he red cat", Rules(), CUT)
    found = put_together(markup, ["“Il gatto rosso", "“", "T.", "lui rosso"])
    assert found == "“<b>I</b>l gatto rosso"
    markup = Markup("<b>“T</b>he red cat", Rules(), CUT)
    found = put_together(markup, ["«Il gatto rosso", "«T", "lui rosso"])
    assert found == "<b>«I</b>l gatto rosso"


@pytest.mark.processor_seconds(10)  # where time grew with the square of the length it took minutes
def test_signs_that_may_be_the_mark_of_a_note_are_read_in_reasonable_time() -> None:
    page = f"<p>A cat<sup><a>{'-' * 100_000}abc</a></sup> sleeps.</p>"
    assert len(Markup(page, Rules(), CUT).pieces) > 0


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        # between words
        ("The <img src='a'> red cat.", ["The {x0} red cat."]),
        ("The <i class='a'></i> <img> cat <svg><g/></svg>!", ["The {x0} cat {x1}!"]),
        ("The <a><picture><source><img></picture></a> cat.", ["The {x0} cat."]),
        ("The <b><img></b> cat.", ["The {x0} cat."]),
        ("The <b>red</b> <img> <i>cat</i> sleeps.", ["The red {x0} cat sleeps."]),
        ("If <math><mi>x</mi></math> is <var>y</var>, <b>sleep</b>.",
         ["If {x0} is {x1}, sleep."]),
        # beside the words of a tag, with the space between them
        ("See <a>the <b>cat</b> <svg/></a> now.", ["See the cat now."]),
        ("See <a><i class='a'> </i>&nbsp;the cat</a> now.", ["See the cat now."]),
        ("See <a><i class='a'></i>&#160;the cat</a> now.", ["See the cat now."]),
        # beside all words, and behind a full stop
        ("<p><img> A cat <!-- --><img></p>", ["A cat"]),
        ("<b><i class='a'></i> A cat</b>", ["A cat"]),
        ("A cat. <img> A dog.", ["A cat.", "A dog."]),
        # in lists
        ("<a><img> A cat</a> <a><img> A dog</a>", ["A cat", "A dog"]),
        ("<a>A cat</a> <img> <a>A dog</a>", ["A cat", "A dog"]),
        ("A cat<img>A dog", ["A cat", "A dog"]),
        # nothing is shown
        ("The re<wbr>d <b></b>cat.", ["The red cat."]),
        ("The re<wbr class='a'>d cat.", ["The red cat."]),
    ],
)  # fmt: skip
def test_pictures_stand_within_sentences_or_beside_their_words(
    page: str, expected: list[str]
) -> None:
    markup = Markup(page, Rules(), CUT)
    whole = zip(markup.pieces, markup.are_again, strict=True)
    assert [piece.strip() for piece, again in whole if not again and " " in piece.strip()][
        : len(expected)
    ] == expected
    assert put_together(markup, [piece.strip() for piece in markup.pieces]) == page


def test_each_line_break_that_wraps_a_sentence_leaves_a_space_for_the_next() -> None:
    markup = Markup(r"The red and old\ncat\nsleeps", STRING, CUT)

    found = put_together(markup, ["ora dorme qui", *markup.pieces[1:]])

    assert found == r"ora\ndorme\nqui"


def test_comments_keep_their_order_though_the_translation_goes_on_otherwise() -> None:
    markup = Markup("Run now and go <!--a-->then <!--b-->stop.", STRING, CUT)

    found = put_together(markup, ["Run now and go x", *markup.pieces[1:]])

    assert found == "Run now and go <!--a--><!--b-->x"


@pytest.mark.parametrize("before", ["cat", "cat 7", "cat,", "(cat)", '"cat"', "'cat'"])
def test_a_line_break_behind_what_ends_no_sentence_wraps_it(before: str) -> None:
    markup = Markup(rf"The {before}\nsleeps.", STRING, CUT)

    assert markup.pieces[0] == f"The {before} sleeps."


def test_what_is_kept_is_not_found_within_a_name_with_underscores() -> None:
    markup = Markup("Run <code>make</code> now.", STRING, CUT)

    found = put_together(markup, ["Ora make_all eseguire.", "Eseguire", "ora."])

    assert found == "Eseguire <code>make</code> ora."


@pytest.mark.parametrize("full_stop", ".\u3002\uff0e\uff61\u0964")
def test_no_full_stop_of_a_part_is_looked_for_in_the_whole(full_stop: str) -> None:
    cut = partial(PlainText, source="en", target="ja", lines=False)
    markup = Markup("<b>The cat</b> sleeps.", STRING, cut)

    found = put_together(markup, ["猫は寝ます。", f"猫{full_stop}", "寝ます。"])

    assert found == "<b>猫</b>は寝ます。"


def test_the_dots_behind_a_part_of_a_sentence_are_no_full_stop_of_the_model() -> None:
    markup = Markup("Press <b>the key</b> now", STRING, CUT)

    found = put_together(markup, ["Ora si preme.", "Premere", "il tasto...", "ora."])

    assert found == "Premere <b>il tasto...</b> ora"


def test_a_kept_capital_alone_may_be_a_word_of_the_translation_too() -> None:
    assert Markup("Set <code>A</code> to 5.", Rules(), CUT).pieces[0] == "Set {x0} to 5."
