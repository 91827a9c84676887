"""Pages of HTML: what their attributes say is translated, too, and nothing else in a tag."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.documents.translated import translated

from dragoman.documents.page import Page
from dragoman.markup.rules import Rules
from dragoman.markup.text_reader import TextReader


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ('<img src="a.png" alt="A cat">', '<img src="a.png" alt="A CAT">'),
        ("<p title='A cat'>One.</p>", "<p title='A CAT'>ONE.</p>"),
        ("<IMG ALT=cat><br>", '<IMG ALT="CAT"><br>'),
        # entities are read, and written again where they must be
        ('<i title="A &quot;cat&quot; &amp; &egrave;">', '<i title="A &#34;CAT&#34; &amp; È">'),
        ("<i title='the cat&#39;s \"own\"'>", "<i title='THE CAT&#39;S \"OWN\"'>"),
        # lists of the standards
        ('<th abbr="Cat"><td abbr="Cat">', '<th abbr="CAT"><td abbr="Cat">'),
        (
            "<option label='a'><track label='b' kind=c>",
            "<option label='A'><track label='B' kind=c>",
        ),
        ('<input type="submit" value="Send">', '<input type="submit" value="SEND">'),
        (
            '<input type="text" value="Rome" name="of">',
            '<input type="text" value="Rome" name="of">',
        ),
        ('<textarea placeholder="a">b</textarea>', '<textarea placeholder="A">b</textarea>'),
        ('<b aria-label="a" aria-owns="b" id="c">', '<b aria-label="A" aria-owns="b" id="c">'),
        ('<meta name="description" content="a">', '<meta name="description" content="A">'),
        ('<meta property="og:title" content="a">', '<meta property="og:title" content="A">'),
        ('<meta name="author" content="Ann">', '<meta name="author" content="Ann">'),
        (
            '<svg aria-label="a"><title>b</title></svg>',
            '<svg aria-label="A"><title>b</title></svg>',
        ),
        ('<iframe title="a"></iframe>', '<iframe title="A"></iframe>'),
        # what is not translated, or nobody could read
        ('<img class="a notranslate" alt="b">', '<img class="a notranslate" alt="b">'),
        ('<p translate="no" title="a">b</p>', '<p translate="no" title="a">b</p>'),
        (
            '<textarea translate="no" placeholder="a"></textarea>',
            '<textarea translate="no" placeholder="a"></textarea>',
        ),
        ('<code title="a">b</code>', '<code title="a">b</code>'),
        ('<!-- <img alt="a"> --><img alt="1">', '<!-- <img alt="a"> --><img alt="1">'),
        ('<p title="<?php a() ?>">b</p>', '<p title="<?php a() ?>">B</p>'),
        ('<img alt=""><img alt>', '<img alt=""><img alt>'),
        ('<p title="a>b', '<p title="a>b'),
        ('<p =title="a" / alt="b">c', '<p =title="a" / alt="b">C'),
    ],
)
def test_attributes_that_people_read_are_translated(page: str, expected: str) -> None:
    assert translated(page, Page) == expected


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ('<html lang="en-GB">', '<html lang="it">'),
        ("<html lang=en xml:lang=en>", '<html lang="it" xml:lang="it">'),
        ('<html lang="de">', '<html lang="it">'),  # it was wrong, or it is wrong now
        ('<p lang="en">a</p><p lang="fr">b</p>', '<p lang="it">A</p><p lang="fr">B</p>'),
        ('<html lang="{{ code }}">', '<html lang="{{ code }}">'),  # of a template
        ('<meta charset="<?= $charset ?>">', '<meta charset="<?= $charset ?>">'),
        ("<meta charset=iso-8859-1>", '<meta charset="utf-8">'),
        ("<meta charset=UTF-8>", "<meta charset=UTF-8>"),
        (
            "<meta http-equiv='Content-Type' content='text/html; charset=windows-1252'>",
            "<meta http-equiv='Content-Type' content='text/html; charset=utf-8'>",
        ),
        (
            '<meta http-equiv="content-type" content="text/html; charset=UTF-8">',
            '<meta http-equiv="content-type" content="text/html; charset=UTF-8">',
        ),
        ('<?xml version="1.0" encoding="latin1"?>', '<?xml version="1.0" encoding="UTF-8"?>'),
        ('<?xml version="1.0" encoding="utf-8"?>', '<?xml version="1.0" encoding="utf-8"?>'),
    ],
)
def test_a_page_says_its_new_language_and_its_encoding(page: str, expected: str) -> None:
    assert translated(page, Page) == expected


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("{% IF A > B AND C < D %}e &amp; f", "{% IF A > B AND C < D %}E &amp; F"),
        ("{{ A > 1 && B ? 'C' : 'D' }} <b>e</b>", "{{ A > 1 && B ? 'C' : 'D' }} <b>E</b>"),
        ("<p>{{ A &lt; B }} c", "<p>{{ A &lt; B }} C"),
        ("<p>{{ A(&quot;B&quot;) }} c", "<p>{{ A(&quot;B&quot;) }} C"),
        ('{{< A B="C" >}} d {{</ A >}}', '{{< A B="C" >}} D {{</ A >}}'),
        ('<p {% if a > "b" %}title="c"{% endif %}>d', '<p {% if a > "b" %}title="c"{% endif %}>D'),
        ('<p title="{% TRANS "A" %}" alt=x>b', '<p title="{% TRANS "A" %}" alt=x>B'),
        ('<p title="a {% URL "B" %} c\'s">', '<p title="A {% URL "B" %} C\'S">'),
        (
            '<p title="<?= t("a > b") ?>" aria-label="c">',
            '<p title="<?= t("a > b") ?>" aria-label="C">',
        ),
        ("<p title=a{% B > C %}d>e", "<p title=a{% B > C %}d>E"),
        ('<% if a > b %>c <%= t("d") %>', '<% if a > b %>C <%= t("d") %>'),
        ("<p>a <% b", "<p>A &lt;% B"),
        # a page about templates
        ("<p>use <b>{{</b> a <b>}}</b>", "<p>USE <b>{{</b> A <b>}}</b>"),
        ("<P>use <B>{{</B> a <B>}}</B>", "<P>USE <B>{{</B> A <B>}}</B>"),
    ],
)
def test_what_a_template_computes_stays_to_the_letter(page: str, expected: str) -> None:
    assert translated(page, Page) == expected


@pytest.mark.parametrize(
    ("source", "target", "page", "expected"),
    [
        ("en", "ar", '<html lang="en"><p id="a">', '<html dir="rtl" lang="ar"><p id="a">'),
        ("en", "ar", "<HTML dir=ltr><body dir='ltr'>", """<HTML dir="rtl"><body dir='rtl'>"""),
        ("en", "ar", '<p dir="ltr">', '<p dir="ltr">'),
        ("he", "en", '<html dir="rtl" lang="he">', '<html dir="ltr" lang="en">'),
        ("he", "fa", '<html lang="he">', '<html lang="fa">'),
        ("ar", "ja", '<p lang="ar" dir="rtl">', '<p lang="ja" dir="ltr">'),
        ("ar", "fr", '<p dir="rtl"><b dir="ltr">', '<p dir="ltr"><b dir="ltr">'),
        (
            "ar",
            "fr",
            "<p dir=RTL style='text-align:right;direction:rtl;unicode-bidi:embed'>",
            "<p dir=\"ltr\" style='text-align:left;direction:ltr;unicode-bidi:embed'>",
        ),
        ("ar", "fr", '<p style="text-align: right">', '<p style="text-align: right">'),
        ("ar", "fr", '<p style="flex-direction: rtl">', '<p style="flex-direction: rtl">'),
        ("ar", "he", '<p style="direction: rtl">', '<p style="direction: rtl">'),
        (
            "en",
            "ar",
            '<body style="direction: ltr; text-align: left"><p style="direction: ltr">',
            '<body style="direction: rtl; text-align: right"><p style="direction: ltr">',
        ),
        ("ar", "ja", '<p lang="en" dir="rtl">', '<p lang="en" dir="rtl">'),
        ("ar", "ja", '<p lang="ar" dir="auto">', '<p lang="ja" dir="auto">'),
        ("en", "pt_BR", '<html lang="en">', '<html lang="pt-BR">'),
    ],
)
def test_a_page_runs_in_the_direction_of_its_new_language(
    source: str, target: str, page: str, expected: str
) -> None:
    assert Page(page, TextReader(source, target)).put_together([]).text == expected


def test_what_a_tag_says_goes_where_the_tag_goes() -> None:
    translations = {
        "Press Save to go on.": "Per continuare premere salva.",
        "Save": "Salva",
        "A cat": "Un gatto",
    }
    page = 'Press <a href="/" title="A cat">Save</a> to go on.'

    found = translated(page, Page, lambda piece: translations.get(piece, piece))

    assert found == 'Per continuare premere <a href="/" title="Un gatto">salva</a>.'


def test_a_page_may_have_the_mark_that_stands_for_attributes() -> None:
    page = '<p title="a">\ufdd0\ufdd00;</p><img alt="b">'
    assert translated(page, Page) == '<p title="A">\ufdd0\ufdd00;</p><img alt="B">'


tags = st.sampled_from(
    [
        "{% a",
        "%}",
        "<% a",
        "%>",
        "<p title=",
        '"',
        "'",
        ">",
        " ",
        "a",
        "&amp;",
        "<img alt=",
        "/>",
        "</p>",
        "=",
        "<",
        "é",
        "\n",
    ]
)


@given(st.lists(tags, max_size=20).map("".join))
def test_attributes_that_stay_are_written_as_they_were(page: str) -> None:
    expected = translated(page, lambda text, reader: reader.read_markup(text, Rules()), str)

    assert translated(page, Page, str) == expected


@pytest.mark.parametrize(
    "page",
    [
        '<a href="/">core</a><span>1.97.0-nightly</span>',
        "<h2><a>the cats</a><small>2nd edition</small></h2>",
    ],
)
def test_elements_that_touch_keep_what_is_in_them(page: str) -> None:
    assert translated(page, Page, str) == page
