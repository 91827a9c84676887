"""Sheets: cells are translated, but for those to which a formula, a table or a filter refers."""

from xml.etree import ElementTree

import pytest
from tests.documents.office_files import packed, pieces, translated, unpacked

from dragoman.documents.archive import count_characters, read_archive
from dragoman.documents.formats import OFFICE_PARTS

MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
SHEET = "xl/worksheets/sheet1.xml"
DRAWING = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
ODS = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"'
)


def xlsx(strings: str, sheet: str = "", **others: str) -> bytes:
    """Pack a workbook: its texts, and a sheet."""
    parts = {
        "xl/workbook.xml": f"<workbook {MAIN}/>",
        "xl/worksheets/sheet1.xml": f"<worksheet {MAIN}>{sheet}</worksheet>",
        "xl/sharedStrings.xml": f"<sst {MAIN}>{strings}</sst>",
        **others,
    }
    return packed({name: part.encode() for name, part in parts.items()})


def shared(content: bytes) -> list[str]:
    """Return the texts of a workbook, as another reader of XML finds them."""
    root = ElementTree.fromstring(unpacked(content)["xl/sharedStrings.xml"])
    return ["".join(item.itertext()) for item in root]


def si(*texts: str) -> str:
    return "".join(f"<si><t>{text}</t></si>" for text in texts)


def test_texts_are_translated_and_sheets_stay() -> None:
    sheet = '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1"><v>2.50</v></c></row>'
    document = xlsx(si("A cat sleeps.", " a dog ", "42"), sheet)
    changed = translated(document)

    assert shared(changed) == ["A CAT SLEEPS.", " A DOG ", "42"]
    before, after = unpacked(document), unpacked(changed)
    assert [name for name in before if before[name] != after[name]] == ["xl/sharedStrings.xml"]


def test_each_line_of_a_cell_is_a_text_and_its_breaks_stay() -> None:
    document = xlsx(si("A cat sleeps\nand a dog\n\nruns"))

    assert pieces(document) == ["A cat sleeps", "and a dog", "runs"]
    assert shared(translated(document)) == ["A CAT SLEEPS\nAND A DOG\n\nRUNS"]


def test_characters_that_excel_writes_as_numbers_are_no_words() -> None:
    document = xlsx(si("A cat_x000D_\nand a dog_x000d_\n_x000D_\nrun_x0007_"))

    assert pieces(document) == ["A cat", "and a dog", "run"]
    changed = shared(translated(document))
    assert changed == ["A CAT_x000D_\nAND A DOG_x000d_\n_x000D_\nRUN_x0007_"]


@pytest.mark.parametrize("typed", ["_x005F_x000D_", "A_x0020_Name"])
def test_what_only_looks_like_such_a_character_is_part_of_its_sentence(typed: str) -> None:
    text = f"See the field {typed} in it"
    assert pieces(xlsx(si(text)))[0] == text


def test_a_format_goes_around_its_words_and_a_pronunciation_goes() -> None:
    bold = "<rPr><b/></rPr>"
    runs = f"<r><t>A </t></r><r><t/></r><r>{bold}<t>cat</t></r><r><t> sle</t></r><r><t>eps.</t></r>"
    document = xlsx(f"<si>{runs}<rPh sb='0' eb='1'><t>neko</t></rPh></si>")

    assert pieces(document)[0] == "A cat sleeps."
    xml = unpacked(translated(document))["xl/sharedStrings.xml"].decode()
    space = ' xml:space="preserve"'
    assert xml.replace(space, "").endswith(
        f"<si><r><t>A </t></r><r>{bold}<t>CAT</t></r><r><t> SLEEPS.</t></r></si></sst>"
    )


def test_texts_in_cells_and_in_drawings_are_translated() -> None:
    inline = '<c t="inlineStr"><is><t>a dog</t></is></c>'
    drawing = f"<wsDr {DRAWING}><a:p><a:r><a:t>a box</a:t></a:r></a:p></wsDr>"
    changed = unpacked(translated(xlsx("", inline, **{"xl/drawings/drawing1.xml": drawing})))

    assert b"A DOG</t></is>" in changed["xl/worksheets/sheet1.xml"]
    assert b"<a:t>A BOX</a:t>" in changed["xl/drawings/drawing1.xml"]


def test_a_text_where_results_stand_is_translated_unless_a_formula_computes_it() -> None:
    sheet = (
        f"<x:worksheet {MAIN.replace('xmlns', 'xmlns:x')}>"
        '<x:c r="A1" t="str"><x:v>{}</x:v></x:c><x:c t="str"><x:v>{}</x:v></x:c>{}</x:worksheet>'
    )
    formula = '<x:c t="str"><x:f>IF(A1="Ready",B1,"")</x:f><x:v>a dog</x:v></x:c>'
    for computed, named in (("", "READY"), (formula, "Ready")):
        book = f"<workbook {MAIN}><sheets><sheet/></sheets></workbook>"
        parts = {"xl/workbook.xml": book, SHEET: sheet.format("A cat\nSleeps", "Ready", computed)}
        document = xlsx("", **parts)
        assert pieces(document)[:2] == ["A cat", "Sleeps"]
        changed = unpacked(translated(document))
        expected = sheet.format("A CAT\nSLEEPS", named, computed)
        assert changed[SHEET].decode().endswith(expected)
        assert (b"fullCalcOnLoad" in changed["xl/workbook.xml"]) is bool(computed)


REFERENCES = {
    "formula": "<f>IF(A1=&quot;Ready&quot;,1,&quot;&quot;)</f>",
    "condition": '<cfRule><formula>$A1="READY"</formula></cfRule>',
    "choice": '<dataValidation><formula1>"Open,Ready,Late"</formula1></dataValidation>',
    "choice of a list": '<f>CHOOSE(A1,"Open;Ready")</f>',
    "later choice": '<x:formula1><xm:f>"Ready"</xm:f></x:formula1>',
    "filter": '<filters><filter val="Ready"/></filters>',
    "filter of one's own": '<customFilters><customFilter val="Ready"/></customFilters>',
    "name": "<definedName name='x'>\"ready\"</definedName>",
    "column": '<tableColumn id="1" name="Ready"/>',
    "field": "<cacheField name='Ready' numFmtId='0'/>",
}


@pytest.mark.parametrize("reference", REFERENCES.values(), ids=REFERENCES)
def test_what_something_refers_to_stays(reference: str) -> None:
    names = 'xmlns:x="x" xmlns:xm="xm"'
    document = xlsx(
        f"{si('A cat', 'Ready')}<si><r><t>Rea</t></r><r><t>dy</t></r></si>",
        f"<extLst {names}>{reference}</extLst>",
    )
    assert shared(translated(document)) == ["A CAT", "Ready", "Ready"]


def test_what_a_table_calls_its_column_stays() -> None:
    table = f'<table {MAIN}><tableColumn id="1" name="Ready"/></table>'
    changed = translated(xlsx(si("Ready", "A cat"), **{"xl/tables/table1.xml": table}))
    assert shared(changed) == ["Ready", "A CAT"]


def test_quotation_marks_and_line_feeds_of_references_are_read() -> None:
    document = xlsx(
        si('the "old" cat', "Cat\nand dog", "Dog\nand cat", "Cat", "old"),
        '<f>A1="the ""old"" cat"</f><tableColumn name="Cat_x000a_and dog"/>'
        '<tableColumn name="Dog_x000A_and cat"/>',
    )
    texts = ['the "old" cat', "Cat\nand dog", "Dog\nand cat", "CAT", "OLD"]
    assert shared(translated(document)) == texts


def test_what_a_criterion_compares_with_stays() -> None:
    document = xlsx(
        si("Ready", "Late", "More", "Old"),
        '<f>COUNTIF(A1:A9,"=Ready")+COUNTIF(A1:A9,"&lt;&gt;Late")+COUNTIF(A1:A9,"&gt;=More")</f>',
    )
    assert shared(translated(document)) == ["Ready", "Late", "More", "OLD"]


def test_a_cell_of_open_document_says_its_text_once() -> None:
    cell = '<table:table-cell office:value-type="string" office:string-value="a cat">'
    content = (
        f"<office:document-content {ODS}>{cell}<text:p>a cat</text:p></table:table-cell>"
        "</office:document-content>"
    )
    changed = unpacked(translated(packed({"content.xml": content.encode()})))["content.xml"]
    assert b"string-value" not in changed
    assert b"A CAT" in changed


@pytest.mark.parametrize("mark", ['"', "'"])
def test_cells_of_open_document_stay_if_they_are_computed_or_named(mark: str) -> None:
    literal = "&quot;Yes&quot;"
    cells = {
        "a cat": 'office:value-type="string"',
        "a dog": "",
        "yes": 'office:value-type="string"',
        "27 November": 'office:value-type="date" office:date-value="2026-11-27"',
        "no": f"table:formula={mark}of:=IF([.A1]={literal};1;0){mark}",
    }
    row = "".join(
        f"<table:table-cell {form}><text:p>{text}</text:p></table:table-cell>"
        for text, form in cells.items()
    )
    content = f"<office:document-content {ODS}>{row}</office:document-content>"
    changed = unpacked(translated(packed({"content.xml": content.encode()})))["content.xml"]
    texts = [text.text for text in ElementTree.fromstring(changed).iter() if text.text]

    assert texts == ["A CAT", "A DOG", "yes", "27 November", "no"]


@pytest.mark.parametrize(
    "reference",
    [
        'content-validation table:condition="of:cell-content-is-in-list(&quot;Ready&quot;)"',
        'named-expression table:expression="of:=[.A1]=&quot;Ready&quot;"',
        'filter-condition table:value="Ready"',
        'filter-set-item table:value="Ready"',
        'data-pilot-field table:orientation="row" table:source-field-name="Ready"',
        'map xmlns:style="s" style:condition="cell-content()=&quot;Ready&quot;"',
        'condition xmlns:calcext="c" calcext:value="=&quot;Ready&quot;"',
    ],
)
def test_what_something_refers_to_in_open_document_stays(reference: str) -> None:
    cell = "<table:table-cell><text:p>Ready</text:p></table:table-cell>"
    content = f"<office:document-content {ODS}>{cell}{{}}</office:document-content>"
    for xml, text in ((f"<table:{reference}/>", b">Ready<"), ("", b">READY<")):
        document = packed({"content.xml": content.format(xml).encode()})
        assert text in unpacked(translated(document))["content.xml"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<extLst/>", '<calcPr fullCalcOnLoad="1"/><extLst/>'),
        ('<calcPr calcId="1"/>', '<calcPr calcId="1" fullCalcOnLoad="1"/>'),
    ],
)
def test_a_text_that_a_formula_shows_is_computed_again(before: str, after: str) -> None:
    workbook = f"<workbook {MAIN}><sheets><sheet/></sheets>{{}}</workbook>"
    sheet = '<row><c r="A1" t="{}"><f>B1</f><v>a cat</v></c></row>'
    for kind, expected in (("str", after), ("n", before)):
        book = {"xl/workbook.xml": workbook.format(before)}
        changed = unpacked(translated(xlsx(si("a cat"), sheet.format(kind), **book)))
        assert changed["xl/workbook.xml"].decode().endswith(workbook.format(expected))


def test_a_sheet_counts_what_is_read_of_it() -> None:
    document = xlsx(si("A cat"), "<row><c><v>12</v></c></row>")
    assert count_characters(read_archive(document, OFFICE_PARTS)) == len("A cat12")


def test_a_strict_workbook_is_read_too() -> None:
    usual, strict = (
        b"schemas.openxmlformats.org/spreadsheetml/2006",
        b"purl.oclc.org/ooxml/spreadsheetml",
    )
    parts = unpacked(xlsx(si("A cat")))
    document = packed({name: part.replace(usual, strict) for name, part in parts.items()})
    assert shared(translated(document)) == ["A CAT"]
