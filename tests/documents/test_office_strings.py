"""What office documents say outside paragraphs is translated: to screen readers, and in charts."""

import pytest
from tests.alternative import says
from tests.documents.office_files import HEAD, W, packed, translated, unpacked
from tests.documents.translated import READER

from dragoman.documents.archive import read_archive
from dragoman.documents.formats import OFFICE_PARTS
from dragoman.documents.office import take_office_apart

OPEN_XML = "http://schemas.openxmlformats.org"
P = f'xmlns:p="{OPEN_XML}/presentationml/2006/main"'
A = f'xmlns:a="{OPEN_XML}/drawingml/2006/main"'
C = f'xmlns:c="{OPEN_XML}/drawingml/2006/chart"'
CHART_2016 = 'xmlns:x="http://schemas.microsoft.com/office/drawing/2014/chartex"'
SHEET = f'xmlns="{OPEN_XML}/spreadsheetml/2006/main"'
MICROSOFT = "http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments"
DC = 'xmlns:dc="http://purl.org/dc/elements/1.1/"'
ODP = 'xmlns:p="urn:oasis:names:tc:opendocument:xmlns:presentation:1.0"'
NUMBERED = 'xmlns:t="text" xmlns:s="style" xmlns:l="loext"'
SVG = 'xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0"'


def changed(parts: dict[str, str]) -> dict[str, str]:
    """Return what becomes of parts."""
    packed_parts = packed({name: f"{HEAD}{xml}".encode() for name, xml in parts.items()})
    return {
        name: part.decode().removeprefix(HEAD)
        for name, part in unpacked(translated(packed_parts)).items()
    }


SAID = {
    "word/document.xml": f'<w:p {W} xmlns:d="d"><d:docPr descr="{{}}" title="{{}}"/></w:p>',
    "word/header1.xml": f'<w:p {W}><w:tblCaption w:val="{{}}"/></w:p>',
    "word/footer1.xml": f'<w:p {W}><w:listItem w:displayText="{{}}" w:value="a b"/></w:p>',
    "word/header2.xml": (
        f'<w:p {W}><v:shape xmlns:v="v" alt="{{}}"><v:textpath string="{{}}"/></v:shape></w:p>'
    ),
    "word/footnotes.xml": (
        f'<w:p {W}><w:hyperlink w:tooltip="{{}}"><w:r>'
        '<w:t xml:space="preserve">{}</w:t></w:r></w:hyperlink></w:p>'
    ),
    "word/endnotes.xml": (f'<w:p {W}><w:r><w:t xml:space="preserve">{{}}</w:t></w:r></w:p>'),
    "word/comments2.xml": f'<w:p {W}><w:tblDescription w:val="{{}}"/></w:p>',
    "word/numbering.xml": (
        f'<w:lvl {W}><w:numFmt w:val="decimal"/><w:lvlText w:val="{{}}"/></w:lvl>'
    ),
    "styles.xml": f"<a {ODP}><p:footer-decl>{{}}</p:footer-decl></a>",
    "ppt/slides/slide1.xml": f'<p:sld {P}><p:cNvPr name="a b" descr="{{}}"/></p:sld>',
    "ppt/slides/slide.xml": f'<p:sld {P}><p:cNvPr title="{{}}"/></p:sld>',
    "ppt/comments/comment1.xml": f"<p:cmLst {P}><p:text>{{}}</p:text></p:cmLst>",
    "xl/threadedComments/threadedComment1.xml": (f'<a xmlns="{MICROSOFT}"><text>{{}}</text></a>'),
    "xl/worksheets/sheet1.xml": f'<worksheet {SHEET}><hyperlink tooltip="{{}}"/></worksheet>',
    "xl/worksheets/sheet2.xml": (
        f'<worksheet {SHEET}><dataValidations><dataValidation showInputMessage="1" error="{{}}"'
        ' errorTitle="{}"/><dataValidation promptTitle="{}" prompt="{}"/></dataValidations>'
        "</worksheet>"
    ),
    "xl/worksheets/sheet3.xml": f'<worksheet {SHEET}><dataValidation prompt="{{}}"/></worksheet>',
    "xl/worksheets/sheet.xml": f'<worksheet {SHEET}><hyperlink tooltip="{{}}"/></worksheet>',
    "word/drawings/drawing1.xml": '<d:a xmlns:d="d"><d:cNvPr descr="{}"/></d:a>',
    "ppt/charts/chartEx1.xml": (
        f"<x:chart {CHART_2016}><x:txData><x:v>{{}}</x:v></x:txData><x:strDim><x:lvl>"
        '<x:pt>{}</x:pt></x:lvl></x:strDim><x:strDim type="entityId"><x:lvl><x:pt>a cat</x:pt>'
        "</x:lvl></x:strDim><x:numDim><x:lvl><x:pt>1E5</x:pt></x:lvl></x:numDim>"
        "</x:chart>"
    ),
    "xl/drawings/drawing1.xml": '<d:a xmlns:d="d"><d:cNvPr descr="{}"/></d:a>',
    "content.xml": f"<a {SVG}><svg:title>{{}}</svg:title><svg:desc>{{}}</svg:desc></a>",
    "Object 1/content.xml": (
        f'<t:a {NUMBERED}><t:outline-level-style s:num-prefix="{{}}" s:num-suffix="{{}}"/>'
        '<t:list-level-style-number l:num-list-format="{}" s:num-format="A"/></t:a>'
    ),
    "meta.xml": f"<a {DC}><dc:title>{{}}</dc:title><dc:creator>a b</dc:creator></a>",
    "docProps/core.xml": f"<a {DC}><dc:title>{{}}</dc:title><dc:subject>{{}}</dc:subject></a>",
    "xl/comments1.xml": (
        f"<comments {SHEET}><author>a b</author><text>"
        '<t xml:space="preserve">{}</t></text></comments>'
    ),
}


def test_a_letter_that_is_the_sign_of_a_list_stays() -> None:
    xml = f'<w:lvl {W}><w:numFmt w:val="bullet"/><w:pPr/><w:lvlText w:val="o"/></w:lvl>'
    assert changed({"word/numbering.xml": xml}) == {"word/numbering.xml": xml}


def test_a_picture_described_by_its_file_stays_and_one_described_by_a_sentence_does_not() -> None:
    xml = f'<p:sld {P}><p:cNvPr name="a b" descr="{{}}"/></p:sld>'
    for before, after in (
        ("cat.png", "cat.png"),
        ("red_cat.jpeg", "red_cat.jpeg"),
        ("See a cat.png", "SEE A CAT.PNG"),
    ):
        name = "ppt/slides/slide1.xml"
        assert changed({name: xml.format(before)}) == {name: xml.format(after)}


@pytest.mark.parametrize("name", SAID)
def test_what_people_read_or_hear_is_translated(name: str) -> None:
    xml = SAID[name]
    assert changed({name: xml.replace("{}", "a cat")}) == {name: xml.replace("{}", "A CAT")}


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("xl/worksheets/sheet3.xml", "A cat_x000a_Dog_x000D__x000A_Bird", "A CAT&#10;DOG&#10;BIRD"),
        ("docProps/core.xml", "A cat_x000d_\nDog_x000D_Bird", "A CAT\nDOG\nBIRD"),
        ("docProps/core.xml", "A cat_x005f_x000d_", "A CAT_X005F_X000D_"),
    ],
)
def test_line_breaks_that_are_written_as_numbers_are_no_words(
    name: str, before: str, after: str
) -> None:
    xml = SAID[name]
    assert changed({name: xml.replace("{}", before)}) == {name: xml.replace("{}", after)}


def test_what_is_said_outside_of_sheets_may_be_long() -> None:
    name, said = "word/document.xml", "a cat, " * 50 + "a cat"
    xml = SAID[name]
    assert changed({name: xml.replace("{}", said)}) == {name: xml.replace("{}", said.upper())}


@pytest.mark.parametrize(
    ("place", "said", "longest"),
    [
        ("hyperlink tooltip", "gatti " * 50, "gatti " * 41 + "gatti…"),  # 252 letters
        ("dataValidation error", "gatti " * 50, "gatti " * 41 + "gatti…"),
        ("dataValidation errorTitle", "gatti " * 50, "gatti " * 4 + "gatti…"),  # 30 letters
        ("dataValidation errorTitle", "猫" * 33, "猫" * 31 + "…"),
    ],
)
def test_a_tip_in_a_sheet_is_as_long_as_excel_takes_it(place: str, said: str, longest: str) -> None:
    xml = f'<worksheet {SHEET}><{place}="{{}}"/></worksheet>'
    document = packed({"xl/worksheets/sheet1.xml": xml.format("a cat").encode()})
    office = take_office_apart(read_archive(document, OFFICE_PARTS), READER)
    found = office.put_together([says(said)])
    tip = found.text.partition(f'{place}="')[2].partition('"')[0]
    assert tip == longest
    assert found.faults == ("is far too long",)


def test_a_translated_comment_does_not_say_where_the_old_one_had_a_name() -> None:
    xml = f"<a xmlns='{MICROSOFT}'><text>{{}}</text>{{}}</a>"
    name = "xl/threadedComments/threadedComment1.xml"
    found = changed({name: xml.format("@Ann, look", '<mentions><mention length="4"/></mentions>')})
    assert found[name] == xml.replace("'", '"').format("@ANN, LOOK", "")


CHART = (
    f"<c:chartSpace {C} {A}><c:title><a:p><a:r><a:t>{{0}}</a:t></a:r></a:p></c:title>"
    "<c:tx><c:v>{0}</c:v></c:tx><c:tx><c:strRef><c:f>Cats!$A$1</c:f><c:strCache><c:pt><c:v>{0}</c:v>"
    "</c:pt></c:strCache></c:strRef></c:tx><c:cat><c:strLit><c:pt><c:v>{1}</c:v></c:pt></c:strLit>"
    "</c:cat><c:dlblRangeCache><c:pt><c:v>{1}</c:v></c:pt></c:dlblRangeCache><c:numCache><c:formatCode>General</c:formatCode><c:pt><c:v>1E5</c:v></c:pt>"
    "</c:numCache></c:chartSpace>"
)


@pytest.mark.parametrize("program", ["word", "ppt", "xl"])
def test_titles_series_and_categories_of_charts_are_translated(program: str) -> None:
    name = f"{program}/charts/chart1.xml"
    before, after = CHART.format("a cat", "a dog"), CHART.format("A CAT", "A DOG")
    assert changed({name: before}) == {name: after}


def test_names_in_a_chart_stay_if_their_cells_do() -> None:
    chart = (
        f"<c:strCache {C}><c:pt><c:v>{{}}</c:v></c:pt><c:pt><c:v>Ready</c:v></c:pt></c:strCache>"
    )
    sheet = f'<worksheet {SHEET}><f>A1="ready"</f></worksheet>'
    names = ("xl/charts/chart1.xml", "xl/worksheets/sheet1.xml")
    found = changed(dict(zip(names, (chart.format("a cat"), sheet), strict=True)))
    assert found[names[0]] == chart.format("A CAT")


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("sldMaster", "ppt/slideMasters/slideMaster1.xml"),
        ("sldLayout", "ppt/slideLayouts/slideLayout1.xml"),
        ("notesMaster", "ppt/notesMasters/notesMaster1.xml"),
    ],
)
def test_masters_are_translated_where_slides_show_them(kind: str, name: str) -> None:
    shape = "<p:sp>{}<a:p><a:r><a:t>{}</a:t></a:r></a:p></p:sp>"
    master = f"<p:{kind} {P} {A}>{shape}{shape}</p:{kind}>"
    found = changed({name: master.format("<p:nvPr><p:ph/></p:nvPr>", "a title", "", "our house")})
    assert found[name] == master.format("<p:nvPr><p:ph/></p:nvPr>", "a title", "", "OUR HOUSE")


def test_comments_are_translated_behind_their_marks() -> None:
    comment = f"<w:comments {W}><w:p><w:r><w:annotationRef/></w:r>{{}}</w:p></w:comments>"
    name = "word/comments.xml"
    texts = (f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>' for text in ("a cat", "A CAT"))
    before, after = (comment.format(text) for text in texts)
    assert changed({name: before}) == {name: after}


def test_charts_and_formulas_within_open_document_are_read() -> None:
    text = 'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"'
    office = 'xmlns:o="urn:oasis:names:tc:opendocument:xmlns:office:1.0"'
    chart = f"<o:document-content {office} {text}><text:p>{{}}</text:p></o:document-content>"
    formula = '<!DOCTYPE math PUBLIC "-//W3C//DTD MathML 2.0//EN" "m.dtd">\n<math><mi>a</mi></math>'
    names = ("Object 1/content.xml", "Object 2/content.xml")
    found = changed(dict(zip(names, (chart.format("a cat"), formula), strict=True)))
    assert found == dict(zip(names, (chart.format("A CAT"), formula), strict=True))
