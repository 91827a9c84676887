"""Office documents: words are translated in their format, and everything else stays."""

import io
import re
import zipfile
from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.documents.office_files import (
    HEAD,
    OTHERS,
    W,
    docx,
    odt,
    packed,
    paragraph,
    pieces,
    run,
    translated,
    unpacked,
)
from tests.documents.translated import READER

from dragoman.documents.archive import count_characters, read_archive
from dragoman.documents.document import DocumentError
from dragoman.documents.formats import OFFICE_PARTS
from dragoman.documents.office import take_office_apart


def body(content: bytes) -> str:
    """Return what stands in the body, without what every text of a run says of its spaces."""
    (xml,) = (part for name, part in unpacked(content).items() if name in CONTENT)
    found = re.search(
        "<(?:w:body|office:text)[^>]*>(.*)</(?:w:body|office:text)>", xml.decode(), re.S
    )
    assert found is not None
    return found[1].replace(' xml:space="preserve"', "")


CONTENT = ("word/document.xml", "content.xml")


def thing(name: str) -> str:
    return f"<w:r><w:{name}/></w:r>"


def test_a_hyphen_at_which_no_line_ends_is_a_letter_of_its_word() -> None:
    hyphen = "<w:r><w:t>A co</w:t><w:noBreakHyphen/><w:t>cat sleeps.</w:t></w:r>"
    document = docx(paragraph(hyphen))
    assert pieces(document) == ["A co\u2011cat sleeps."]
    assert body(translated(document)) == paragraph(run("A CO\u2011CAT SLEEPS."))


def test_a_tabulator_of_open_document_parts_texts_and_a_note_does_not() -> None:
    text = "<text:p>{}<text:tab/>{}<text:note/>{}</text:p>"
    document = odt(text.format("A cat", "A d", "og"))
    assert pieces(document) == ["A cat", "A d{x0}og"]
    assert body(translated(document)) == text.format("A CAT", "A D", "OG")


def test_characters_are_translated_without_how_they_are_read() -> None:
    read = (
        f"<w:r><w:ruby><w:rubyPr/><w:rt>{run('ねこ')}</w:rt><w:rubyBase>{run('猫')}</w:rubyBase>"
        "</w:ruby></w:r>"
    )
    document = docx(paragraph(run("この"), read, run("です")))
    assert pieces(document) == ["この猫です"]
    assert body(translated(document)) == paragraph(run("この猫です"))
    read = (
        "<text:ruby><text:ruby-base>猫</text:ruby-base><text:ruby-text>ねこ</text:ruby-text>"
        "</text:ruby>"
    )
    document = odt(f"<text:p>この{read}です</text:p>")
    assert pieces(document) == ["この猫です"]
    assert body(translated(document)) == "<text:p>この猫です</text:p>"


def test_a_control_is_taken_off_data_that_would_replace_its_translation() -> None:
    control = "<w:sdt><w:sdtPr>{}<w:{}/></w:sdtPr><w:sdtContent>{}</w:sdtContent></w:sdt>"
    bound = '<w:dataBinding w:xpath="/a:{}[1]/a:{}[1]" w:storeItemID="{{1}}"/>'
    summary, title = bound.format("Cover", "title"), bound.format("coreProperties", "title")
    texts = (run(text) for text in ("a cat", "A CAT"))
    before, after = (
        paragraph(
            control.format(summary if text == run("a cat") else "", "text", text),
            control.format(title, "text", text),
            control.format(summary, "dropDownList", text),
            control.format(summary, "showingPlcHdr", text),
            control.format(summary, "text", run("42")),
        )
        for text in texts
    )
    lost = "<w:dataBinding/>"  # in no control
    assert body(translated(docx(before + lost))) == after + lost


@pytest.mark.parametrize("sign", [".", "!", "?", "…", "؟", "।"])
def test_a_sentence_ends_before_the_mark_of_a_note(sign: str) -> None:
    document = docx(paragraph(run(f"A cat{sign}"), thing("footnoteReference"), run(" A dog.")))
    assert pieces(document) == [f"A cat{sign}", "A dog."]


def test_more_spaces_than_a_page_has_are_not_read_as_text() -> None:
    document = odt('<text:p>A<text:s text:c="99999"/>cat</text:p>')
    assert pieces(document) == ["A{x0}cat"]


def test_runs_of_one_format_are_one_text() -> None:
    language = '<w:lang w:val="en-GB"/>'
    split = [run("A c"), '<w:proofErr w:type="x"/>', run("at", language), run(" sleeps.", language)]
    document = docx(paragraph(*split))
    assert pieces(document) == ["A cat sleeps."]
    assert body(translated(document)) == paragraph(run("A CAT SLEEPS."))


def test_the_note_in_which_font_a_sign_stands_is_no_format() -> None:
    fonts, hint = '<w:rFonts w:ascii="A"{}/>', ' w:hint="eastAsia"'
    split = [run("A c", fonts.format("")), run("at sleeps.", fonts.format(hint))]
    assert pieces(docx(paragraph(*split))) == ["A cat sleeps."]
    document = docx(paragraph(run("A c"), run("at sleeps.", f"<w:rFonts{hint}/>")))
    assert pieces(document) == ["A cat sleeps."]
    assert body(translated(document)) == paragraph(run("A CAT SLEEPS."))
    other = [run("A "), run("cat", fonts.format(hint)), run(" sleeps.")]
    assert pieces(docx(paragraph(*other)))[1:] == ["A", "cat", "sleeps."]


@pytest.mark.parametrize(
    "around",
    [
        '<w:smartTag w:element="place"><w:smartTagPr><w:attr/></w:smartTagPr>{}</w:smartTag>',
        "<w:smartTag><w:smartTag><w:smartTagPr/>{}</w:smartTag></w:smartTag>",
        '<w:dir w:val="ltr">{}</w:dir>',
        '<w:bdo w:val="rtl">{}</w:bdo>',
    ],
)
def test_what_only_marks_words_is_left_out(around: str) -> None:
    document = docx(paragraph(run("A r"), around.format(run("ed ") + run("cat")), run(".")))
    assert pieces(document) == ["A red cat."]
    assert body(translated(document)) == paragraph(run("A RED CAT."))
    alone = docx(paragraph(around.format(run("A cat"))))
    assert body(translated(alone)) == paragraph(run("A CAT"))


def test_another_format_is_a_tag_around_its_words() -> None:
    document = docx(paragraph(run("A "), run("cat", "<w:b/>"), run(" sleeps.")))
    assert pieces(document)[0] == "A cat sleeps."
    assert body(translated(document)) == paragraph(run("A "), run("CAT", "<w:b/>"), run(" SLEEPS."))


def test_a_link_stays_around_its_words() -> None:
    link = '<w:hyperlink r="7">{}</w:hyperlink>'
    document = docx(paragraph(run("See "), link.format(run("the cat")), run(" here.")))
    assert pieces(document)[0] == "See the cat here."
    assert body(translated(document)) == paragraph(
        run("SEE "), link.format(run("THE CAT")), run(" HERE.")
    )


@pytest.mark.parametrize("element", ["hyperlink", "ins"])
@pytest.mark.parametrize("inside", ["<w:sdt/>", '<w:fldSimple w:instr="PAGE"/>', "<w:oMath/>"])
def test_what_is_no_run_stays_within_the_element_around_it(element: str, inside: str) -> None:
    around = f'<w:{element} a="7">{{}}</w:{element}>'
    document = docx(
        paragraph(around.format(run("A cat") + inside + run(" sleeps")))
        + paragraph(run("See "), around.format(inside), run(" now."))
    )
    assert body(translated(document)) == paragraph(
        around.format(run("A CAT") + inside + run(" SLEEPS"))
    ) + paragraph(run("SEE "), around.format(inside), run(" NOW."))


def test_text_that_somebody_inserted_into_a_link_is_seen() -> None:
    inside = "<w:ins><w:hyperlink>{}</w:hyperlink></w:ins>"
    document = docx(paragraph(run("See "), inside.format(run("the c") + run("at")), run(".")))
    assert pieces(document)[0] == "See the cat."
    assert body(translated(document)) == paragraph(
        run("SEE "), inside.format(run("THE CAT")), run(".")
    )


def test_pictures_and_marks_of_notes_keep_their_places() -> None:
    document = docx(
        paragraph(run("A "), thing("drawing"), run(" sleeps."), thing("note"), run(" B."))
    )
    assert pieces(document) == ["A {x0} sleeps.", "B."]
    turned = translated(document, lambda piece: piece.replace("A {x0}", "{x0} A"))
    assert body(turned) == paragraph(thing("drawing"), run(" A sleeps."), thing("note"), run(" B."))
    lost = translated(document, lambda piece: piece.replace("{x0}", ""))
    assert body(lost).count("<w:drawing/>") == 1


def test_things_that_are_lost_stand_at_the_end_in_their_order() -> None:
    names = [f"thing{i}" for i in range(9)]
    document = docx(paragraph(*(run("A ") + thing(name) for name in names)))
    found = body(translated(document, lambda _: "Un."))
    assert re.findall("<w:(thing.)/>", found) == names


def test_a_tabulator_or_a_line_break_ends_a_sentence() -> None:
    document = docx(paragraph(run("A cat"), thing("tab"), run("a dog"), thing("br"), run("a bird")))
    assert pieces(document) == ["A cat", "a dog", "a bird"]
    assert re.findall("<w:(tab|br|t)/?>", body(translated(document))) == [
        "t",
        "tab",
        "t",
        "br",
        "t",
    ]


def field(instruction: str, result: str) -> str:
    """Write a field as Word does: signs before, within and behind."""
    return (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r>'
        f"<w:r><w:instrText> {instruction} </w:instrText></w:r>"
        f'<w:r><w:fldChar w:fldCharType="separate"/></w:r>{result}'
        '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )


def backwards(text: str) -> str:
    return " ".join(reversed(text.split()))


def test_what_a_program_computes_stays() -> None:
    number = field("PAGE", run("1") + run("2"))
    document = docx(paragraph(run("Page "), number, run(" ends.")))
    assert pieces(document) == ["Page {x0} ends."]
    found = body(translated(document, backwards))
    assert found == paragraph(run("ends. "), number, run(" Page"))


@pytest.mark.parametrize(
    ("kind", "shown"),
    [("IF", "A {x0} ends."), ("HYPERLINK x", "A page {x0} ends."), ("FORMTEXT", "A")],
)
def test_what_a_program_computes_within_another_field_stays(kind: str, shown: str) -> None:
    number = field("PAGE", run("1"))
    outer = field(kind, run("page ") + number)
    document = docx(paragraph(run("A "), outer, run(" ends.")))
    assert pieces(document)[0] == shown
    found = body(translated(document))
    assert number in found
    assert ("page" in found) == (kind == "IF")


@pytest.mark.processor_seconds(20)  # where time grew with the square of the depth it took a minute
def test_fields_within_fields_are_read_in_reasonable_time() -> None:
    begin, end = field("IF", "|").split("|")
    document = docx(paragraph(run("A cat "), begin * 2000, run("x"), end * 2000))
    assert pieces(document) == ["A cat {x0}"]


def test_a_formula_within_a_field_that_is_a_link_stays_within_it() -> None:
    link = field("HYPERLINK a", run("A cat") + "<w:oMath/>" + run(" sleeps"))
    document = docx(paragraph(link))
    assert body(translated(document)) == paragraph(
        f'<w:fldSimple w:instr=" HYPERLINK a ">{run("A CAT")}<w:oMath/>{run(" SLEEPS")}'
        "</w:fldSimple>"
    )


def test_a_field_that_is_a_link_is_one_whatever_the_order_of_words() -> None:
    link = field("HYPERLINK &quot;a&quot;", run("red ") + run("cat"))
    document = docx(paragraph(run("A "), link, run(" sleeps")))
    assert pieces(document) == ["A red cat sleeps", "A", "red cat", "sleeps"]
    written = f'<w:fldSimple w:instr=" HYPERLINK &quot;a&quot; ">{run("cat red")}</w:fldSimple>'
    expected = paragraph(run("sleeps "), written, run(" A"))
    assert body(translated(document, backwards)) == expected
    assert pieces(translated(document)) == ["A RED CAT SLEEPS", "A", "RED CAT", "SLEEPS"]


def test_what_people_type_into_a_form_is_translated() -> None:
    form = field("FORMTEXT", run("a cat"))
    document = docx(paragraph(run("Animal: "), form))
    assert body(translated(document)) == paragraph(run("ANIMAL: "), form.replace("a cat", "A CAT"))


@pytest.mark.parametrize(
    "mark",
    [
        field("XE cat", "").replace('<w:r><w:fldChar w:fldCharType="separate"/></w:r>', ""),
        "<w:del><w:r><w:delText>old </w:delText></w:r></w:del>",
        "<w:moveFrom><w:r><w:t>moved </w:t></w:r></w:moveFrom>",
    ],
)
def test_what_is_in_no_sentence_goes_to_the_end_of_its_paragraph(mark: str) -> None:
    document = docx(paragraph(run("A "), mark, run("cat sleeps.")))
    assert pieces(document) == ["A cat sleeps."]
    assert body(translated(document)) == paragraph(run("A CAT SLEEPS."), mark)


@pytest.mark.parametrize(
    "mark",
    [
        "<w:r><w:drawing><anchor/></w:drawing></w:r>",
        "<w:r><w:AlternateContent><w:drawing><anchor><inline/></anchor></w:drawing>"
        "</w:AlternateContent></w:r>",
        "<w:r><w:footnoteRef/></w:r>",
        "<w:r><w:annotationRef/></w:r>",
    ],
)
def test_what_stands_beside_the_text_goes_to_the_beginning_of_its_paragraph(mark: str) -> None:
    document = docx(paragraph(run("A "), mark, run("cat sleeps.")))
    assert pieces(document) == ["A cat sleeps."]
    assert body(translated(document)) == paragraph(mark, run("A CAT SLEEPS."))


def test_a_picture_in_a_line_stays_in_its_sentence() -> None:
    picture = "<w:r><w:drawing><inline/></w:drawing></w:r>"
    document = docx(paragraph(run("A "), picture, run(" sleeps.")))
    assert pieces(document) == ["A {x0} sleeps."]
    assert body(translated(document)) == paragraph(run("A "), picture, run(" SLEEPS."))


def test_a_table_of_contents_is_translated_in_its_place() -> None:
    number = field("PAGEREF a", run("3"))
    entry = f'<w:hyperlink w:anchor="a">{run("A cat")}{thing("tab")}{number}</w:hyperlink>'
    begin, end = field("TOC", "|").split("|")
    document = docx(paragraph(begin, entry) + paragraph(entry) + paragraph(end))
    found = body(translated(document, backwards))
    assert found == body(document).replace("A cat", "cat A")


def test_what_follows_a_long_link_is_no_part_of_it() -> None:
    link = f'<w:hyperlink w:anchor="a">{run("a very long link")}</w:hyperlink>'
    document = docx(paragraph(run("See "), link, run(" now.")))
    assert body(translated(document, str)) == body(document)


def test_a_space_between_words_of_one_format_has_none_of_its_own() -> None:
    bold = "<w:b/>"
    document = docx(paragraph(run("A", bold), run(" "), run("cat", bold), run(" sleeps.")))
    assert pieces(document)[0] == "A cat sleeps."
    assert body(translated(document)) == paragraph(run("A CAT", bold), run(" SLEEPS."))


def test_a_blank_to_fill_in_keeps_the_line_below_it_and_its_length() -> None:
    line = "<w:u/>"
    blank, red = run("    \u00a0 ", line), "<w:color/>"
    document = docx(paragraph(run("A "), blank, run(" c"), run("at", red), run(", a d"), blank))
    assert pieces(document)[0] == "A {x0} cat, a d{x1}"
    assert body(translated(document)) == paragraph(
        run("A "), blank, run(" C"), run("AT", red), run(", A D"), blank
    )


def test_spaces_whose_format_nobody_sees_are_none_to_fill_in() -> None:
    names = 'xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0"'
    bold = f'<style:style {names} style:name="B"><b style:font-weight="bold"/></style:style>'
    span = '<text:span text:style-name="B"> <text:s text:c="3"/></text:span>'
    document = docx(paragraph(run("A cat."), run("    ", "<w:b/>"), run("A dog.")))
    assert pieces(document) == ["A cat.", "A dog."]
    off = '<w:b/><w:strike w:val="0"/><w:u w:val="none"/><w:shd w:fill="auto" w:val="clear"/>'
    document = docx(paragraph(run("A cat."), run("    ", off), run("A dog.")))
    assert pieces(document) == ["A cat.", "A dog."]
    assert pieces(odt(f"{bold}<text:p>A cat.{span}A dog.</text:p>")) == ["A cat.", "A dog."]


def test_a_blank_of_open_document_to_fill_in_keeps_its_length() -> None:
    blank = '<text:span text:style-name="T"> <text:s text:c="9"/></text:span>'
    document = odt(f"<text:p>A {blank} cat</text:p>")
    assert pieces(document) == ["A {x0} cat"]
    written = blank.replace('> <text:s text:c="9"', '><text:s text:c="10"')
    assert body(translated(document)) == f"<text:p>A {written} CAT</text:p>"


@pytest.mark.parametrize("inside", ["{}<w:footnoteReference/>", "<w:drawing/>{}"])
def test_a_blank_to_fill_in_and_a_thing_in_its_run_stay_together(inside: str) -> None:
    blank = f"<w:r><w:rPr><w:u/></w:rPr>{inside.format('<w:t>    </w:t>')}</w:r>"
    document = docx(paragraph(run("A cat"), blank, run(" here.")))
    assert pieces(document) == ["A cat{x0} here."]
    assert unpacked(translated(document))["word/document.xml"].count(b"<w:u/>") == 2


def test_text_within_text_is_translated_too() -> None:
    box = f"<w:r><w:pict><w:txbxContent>{paragraph(run('a box'))}</w:txbxContent></w:pict></w:r>"
    control = f"<w:sdt><w:sdtContent>{run('a choice')}</w:sdtContent></w:sdt>"
    document = docx(paragraph(run("A cat "), box, control, run(" sleeps.")))
    assert pieces(document) == ["A cat {x0} sleeps.", "a box", "a choice"]
    assert body(translated(document)) == paragraph(
        run("A CAT "),
        box.replace("a box", "A BOX"),
        control.replace("a choice", "A CHOICE"),
        run(" SLEEPS."),
    )


def test_what_stands_in_a_control_of_open_document_is_translated() -> None:
    loext = 'xmlns:l="urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0"'
    control = f'<l:content-control {loext}><l:list-item l:value="b"/>{{}}</l:content-control>'
    paragraph = f"<text:p>{{}}{control}{{}}<text:meta>{{}}</text:meta></text:p>"
    document = odt(paragraph.format("A ", "red cat", " sleeps ", "here"))
    assert pieces(document) == ["A {x0} sleeps {x1}", "red cat", "here"]
    assert body(translated(document)) == paragraph.format("A ", "RED CAT", " SLEEPS ", "HERE")


def test_a_comment_is_about_the_paragraph_that_it_was_in() -> None:
    start, end = '<w:commentRangeStart w:id="1"/>', '<w:commentRangeEnd w:id="1"/>'
    comment = '<w:r><w:commentReference w:id="1"/></w:r>'
    document = docx(paragraph(run("A "), start, run("cat"), end, comment, run(" sleeps.")))
    expected = paragraph(start, run("A CAT SLEEPS."), end, comment)
    assert body(translated(document)) == expected


def test_deleted_text_of_open_document_stays_and_comments_are_translated() -> None:
    deleted = "<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>"
    comment = "<office:annotation><text:p>a comment</text:p></office:annotation>"
    end = "<office:annotation-end/>"
    new = "<text:change-start/>new <text:change-end/>"
    document = odt(
        f"{deleted}<text:p>A {comment}cat{end} sleeps.</text:p><text:p>A {new}cat</text:p>"
    )
    assert body(translated(document)) == (
        f"{deleted}<text:p>{comment.replace('a comment', 'A COMMENT')}A CAT SLEEPS.{end}</text:p>"
        f"<text:p>A {new.replace('new', 'NEW')}CAT</text:p>"
    )


def test_bookmarks_of_open_document_stand_around_their_sentence() -> None:
    start, end = '<text:bookmark-start text:name="b"/>', '<text:bookmark-end text:name="b"/>'
    document = odt(f"<text:p>A {start}cat{end}.</text:p>")
    assert body(translated(document)) == f"<text:p>{start}A CAT.{end}</text:p>"


@pytest.mark.parametrize(
    ("mark", "is_first"),
    [
        ('<text:bookmark text:name="b"/>', True),
        ("<text:alphabetical-index-mark/>", False),
        ("<text:toc-mark-end/>", False),
        ('<d:frame xmlns:d="{}" text:anchor-type="char"/>', True),
    ],
)
def test_marks_and_floating_frames_of_open_document_are_in_no_sentence(
    mark: str, *, is_first: bool
) -> None:
    mark = mark.format("urn:oasis:names:tc:opendocument:xmlns:drawing:1.0")
    document = odt(f"<text:p>A {mark}cat.</text:p>")
    assert pieces(document) == ["A cat."]
    expected = f"{mark}A CAT." if is_first else f"A CAT.{mark}"
    assert body(translated(document)) == f"<text:p>{expected}</text:p>"


def test_a_link_of_open_document_is_one_link() -> None:
    span = '<text:span text:style-name="T1">cat</text:span>'
    link = f'<text:a text:name="a">a {span}<text:tab/>3</text:a>'
    assert body(translated(odt(f"<text:p>{link}</text:p>"), str)) == f"<text:p>{link}</text:p>"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('<text:s text:c="3"/>A <text:s/>cat', '<text:s text:c="3"/>A<text:s text:c="2"/>CAT'),
        ("A\n  cat\n  ", "A CAT "),
        ('<text:s text:c="x"/>A<text:tab/>cat', '<text:s text:c="x"/>A<text:tab/>CAT'),
    ],
)
def test_spaces_of_open_document_stay_where_programs_show_them(before: str, after: str) -> None:
    document = odt(f"<text:p>{before}</text:p>")
    assert body(translated(document)) == f"<text:p>{after}</text:p>"


def test_remarks_in_xml_part_no_text() -> None:
    remarks = "<!-- a remark --><?program a mark?>"
    document = odt(f"<text:p>A {remarks}cat</text:p>")
    assert body(translated(document)) == "<text:p>A CAT</text:p>"
    document = docx(paragraph(run(f"A {remarks}cat")))
    assert body(translated(document)) == paragraph(run("A CAT"))


def test_when_text_was_typed_is_no_format() -> None:
    names = (
        'xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" '
        'xmlns:o="http://openoffice.org/2009/office"'
    )
    styles = "".join(
        f'<style:style {names} style:name="{name}" style:family="text">'
        f'<style:text-properties o:{noted}="1"/></style:style>'
        for name, noted in (("T1", "rsid"), ("T2", "colour"))
    )
    spans = [f'<text:span text:style-name="{name}">cat</text:span>' for name in ("T1", "T2")]
    document = odt(f"{styles}<text:p>A {spans[0]}, a {spans[1]}</text:p>")
    assert pieces(document)[0] == "A cat, a cat"
    expected = f"<text:p>A CAT, A {spans[1].replace('cat', 'CAT')}</text:p>"
    assert body(translated(document)).endswith(expected)


def test_bookmarks_stand_around_the_sentences_that_they_were_in() -> None:
    start, end = '<w:bookmarkStart w:id="1"/>', '<w:bookmarkEnd w:id="1"/>'
    document = docx(paragraph(run("A "), start, run("cat"), end, run(".")))
    assert body(translated(document)) == paragraph(start, run("A CAT."), end)


@pytest.mark.parametrize(
    "kept",
    [
        paragraph(run("42 %")),
        paragraph(f"<w:del>{run('deleted')}</w:del>"),
        '<m:oMath xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math">'
        "<m:r><m:t>sin</m:t></m:r></m:oMath>",
    ],
)
def test_what_is_no_text_stays(kept: str) -> None:
    document = docx(kept + paragraph(run("A cat.")))
    assert body(translated(document)) == kept + paragraph(run("A CAT."))


def test_a_document_may_have_a_number_as_programs_on_the_web_give_it() -> None:
    document = unpacked(docx(paragraph(run("A cat"))))
    text = document.pop("word/document.xml")
    assert pieces(packed({**document, "word/document2.xml": text})) == ["A cat"]


def test_all_other_parts_stay_in_their_order() -> None:
    header = f"{HEAD}<w:hdr {W}>{paragraph(run('A &lt;head&gt;'))}</w:hdr>"
    document = docx(paragraph(run("A cat.")), **{"word/header1.xml": header.encode()})
    before, after = unpacked(document), unpacked(translated(document))
    assert list(after) == list(before)
    assert {name: after[name] for name in OTHERS} == OTHERS
    assert "A &lt;HEAD&gt;" in after["word/header1.xml"].decode()


def test_slides_have_paragraphs_too() -> None:
    a = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
    first = '<a:r><a:rPr b="1" dirty="0"/><a:t>A</a:t></a:r>'
    xml = f"{HEAD}<a:p {a}>{first}<a:r><a:t>{{}}</a:t></a:r><a:endParaRPr/></a:p>"
    found = unpacked(translated(packed({"ppt/slides/slide1.xml": xml.format(" cat").encode()})))
    assert found["ppt/slides/slide1.xml"].decode() == xml.format(" CAT")


@pytest.mark.parametrize(
    "note",
    [
        *('dirty="0"', 'smtClean="0"', 'smtId="4"', 'err="1"', 'kumimoji="1"'),
        *('altLang="ja-JP"', 'lang="en-GB"'),
    ],
)
def test_what_powerpoint_notes_about_words_is_no_format(note: str) -> None:
    a = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
    runs = f"<a:r><a:rPr/><a:t>A c</a:t></a:r><a:r><a:rPr {note}/><a:t>at sleeps.</a:t></a:r>"
    xml = f"{HEAD}<a:p {a}>{runs}</a:p>"
    assert pieces(packed({"ppt/slides/slide1.xml": xml.encode()})) == ["A cat sleeps."]


def test_open_document_has_spans_in_spans_and_notes_in_paragraphs() -> None:
    note = "<text:note><text:p>A note.</text:p></text:note>"
    span = '<text:span text:style-name="B">{}</text:span>'
    document = odt(
        f"<text:h>A title</text:h><text:p>A {span.format('gr' + span.format('ey'))}<text:s/>cat."
        f"{note} A dog<text:tab/>a bird.</text:p>"
    )
    assert pieces(document)[0] == "A title"
    assert "A grey cat." in pieces(document)
    found = body(translated(document))
    assert note.replace("A note", "A NOTE") + " A DOG<text:tab/>A BIRD." in found
    assert "".join(re.sub("<[^>]*>", "", found).split()) == "ATITLEAGREYCAT.ANOTE.ADOGABIRD."
    with zipfile.ZipFile(io.BytesIO(translated(document))) as archive:
        assert archive.infolist()[0].compress_type == zipfile.ZIP_STORED


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"PK\x03\x04", "it is not what its name says, or it is damaged"),
        (b"A cat", "it is not what its name says, or it is damaged"),
        (bytes.fromhex("D0CF11E0A1B11AE1") + bytes(512), "it has a password, or is of an old kind"),
        (packed({"word/document.xml": b"<w:p>"}), "its XML is not well-formed"),
        (packed({"a": b""}), "it has no text that is read"),
        (
            docx(paragraph(run("A cat")) + '<w:altChunk w:id="1"/>'),
            "text of it is in a file within",
        ),
        (
            packed({"content.xml": b"<!DOCTYPE a [<!ENTITY b 'c'>]><p>&b;</p>"}),
            "it declares entities",
        ),
        (packed({"content.xml": b"\xff\x80"}), "it is encrypted or damaged"),
        (packed({"content.xml": b"<p>A\0cat</p>"}), "it is encrypted or damaged"),
        (docx("").replace(b"document.xml", b"document.xm_", 1), "it is encrypted or damaged"),
    ],
)
def test_what_cannot_be_read_is_refused_in_a_sentence(content: bytes, said: str) -> None:
    with pytest.raises(DocumentError, match=f"^{said}"):
        take_office_apart(read_archive(content, OFFICE_PARTS), READER)


@pytest.mark.parametrize("limits", [{"most_bytes": 2**20}, {"most_in_all": 2**20}])
def test_what_unpacks_to_far_more_is_refused(limits: dict[str, int]) -> None:
    with pytest.raises(DocumentError, match="it unpacks to more than 1 MiB"):
        read_archive(docx(paragraph(run("A cat. " * 200_000))), OFFICE_PARTS, **limits)


def test_a_damaged_picture_is_told_before_anything_is_translated() -> None:
    damaged = packed({**OTHERS, "content.xml": b"<a/>"}).replace(b"\x10\x11", b"\x10\x12", 1)
    with pytest.raises(DocumentError, match="it is encrypted or damaged"):
        read_archive(damaged, OFFICE_PARTS)


def test_only_what_people_read_is_counted() -> None:
    body = paragraph(run("A cat"), run(" &lt; a dog")) + "\n  " + paragraph(run(" "))
    assert count_characters(read_archive(docx(body), OFFICE_PARTS)) == len("A cat &lt; a dog")


FORMS = st.sampled_from(["", "<w:b/>", "<w:i/>"])
RUNS = st.lists(
    st.tuples(st.text("ab .{x0}", min_size=1), FORMS).map(lambda each: run(*each))
    | st.sampled_from([thing("tab"), thing("drawing"), '<w:bookmarkEnd w:id="1"/>']),
    max_size=8,
)


@given(RUNS)
@example([run("00"), run("x0", "<w:b/>"), thing("drawing")])
def test_what_is_not_changed_has_its_text_and_things_in_their_order(runs: list[str]) -> None:
    document = docx(paragraph(*runs))
    found = body(translated(document, str))
    things = [each for each in runs if "<w:t>" not in each and "bookmark" not in each]
    assert re.findall("<w:r><w:(?:tab|drawing)/></w:r>", found) == things
    text = "".join(re.sub("<[^>]*>", "", each) for each in runs)
    assert "".join(re.sub("<[^>]*>", "", found).split()) == "".join(text.split())


@given(st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), max_size=4))
def test_a_damaged_archive_is_read_or_refused(changes: list[tuple[float, int]]) -> None:
    content = bytearray(docx(paragraph(run("A cat"), run(" sleeps", "<w:b/>"))))
    for place, value in changes:
        content[int(place * len(content))] = value
    with suppress(DocumentError):
        translated(bytes(content))


@pytest.mark.parametrize("sign", ["\t", "_x000B_", "_x000D_\t"])
def test_a_tab_or_line_break_that_is_written_in_text_parts_texts(sign: str) -> None:
    document = docx(paragraph(run(f"A cat{sign}a dog")))
    assert pieces(document) == ["A cat", "a dog"]
    assert body(translated(document)) == paragraph(run("A CAT"), run(sign), run("A DOG"))


@pytest.mark.parametrize("name", ["data1", "drawing1"])
def test_text_in_smart_art_is_translated_wherever_it_is_kept(name: str) -> None:
    drawing = "http://schemas.openxmlformats.org/drawingml/2006"
    names = f'xmlns:dgm="{drawing}/diagram" xmlns:a="{drawing}/main"'
    drawn = f"{HEAD}<dgm:t {names}><a:p><a:r><a:t>A cat</a:t></a:r></a:p></dgm:t>"
    path = f"ppt/diagrams/{name}.xml"

    found = unpacked(translated(packed({**OTHERS, path: drawn.encode()})))

    assert found[path].decode() == drawn.replace("A cat", "A CAT")
