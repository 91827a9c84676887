"""A page is well formed whatever the text in it, and loads nothing."""

import re
from xml.etree import ElementTree

import pytest

from dragoman.visualisation.markup import element, escape
from dragoman.visualisation.page import table, write_page
from dragoman.visualisation.svg import drawing, standalone, text

AWKWARD = "<b>&amp;\"'$x$</b> 漢字 🦊 \x00\x1b\n\ud800\uffff ]]>"
SHOWN = "<b>&amp;\"'$x$</b> 漢字 🦊 ␀␛␊\ufffd\ufffd ]]>"


def test_awkward_text_is_shown_as_it_is_and_breaks_nothing() -> None:
    body = element("p", {"title": AWKWARD}, escape(AWKWARD)) + table(["a"], [[AWKWARD]])

    root = ElementTree.fromstring(write_page(AWKWARD, body))

    assert root.findtext("head/title") == SHOWN
    paragraph = root.find("body/p")
    assert paragraph is not None
    assert (paragraph.text, paragraph.get("title")) == (SHOWN, SHOWN)
    assert root.findtext(".//td") == SHOWN
    assert root.find(".//td[@dir='auto']") is not None  # of whatever direction


def test_a_page_names_no_address_and_forbids_to_load_any() -> None:
    page = write_page("A page", drawing(10, 10, "a picture", text(0, 5, "a")))

    addresses = set(re.findall(r"https?://[^\"' ]+", page))
    assert addresses == {"http://www.w3.org/2000/svg"}  # a name; nothing is loaded from there
    policy = ElementTree.fromstring(page).find("head/meta[@http-equiv='Content-Security-Policy']")
    assert policy is not None
    assert policy.get("content", "").startswith("default-src 'none';")
    assert "<script" not in page


def test_a_drawing_alone_is_a_file_that_brings_its_colours() -> None:
    root = ElementTree.fromstring(standalone(drawing(10.4, 20, AWKWARD, text(1, 2, AWKWARD))))

    assert root.get("viewBox") == "0 0 10 20"
    assert root.get("aria-label") == SHOWN
    style, label = root
    assert "--most" in (style.text or "")
    assert label.text == SHOWN


@pytest.mark.parametrize(("value", "written"), [(2.0, "2"), (1.005, "1"), (-0.126, "-0.13")])
def test_numbers_are_short(value: float, written: str) -> None:
    assert element("circle", {"r": value}) == f'<circle r="{written}"/>'
