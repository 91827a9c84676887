"""Office documents say in which language they are, and in which direction that runs."""

import pytest
from tests.documents.office_files import HEAD, W, docx, packed, paragraph, run, translated, unpacked

from dragoman.markup.text_reader import TextReader

A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
P = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
SHEET = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
ODF = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{uri}:1.0"'
    for name, uri in (
        ("office", "office"),
        ("style", "style"),
        ("fo", "xsl-fo-compatible"),
        ("text", "text"),
    )
)


def part(name: str, xml: str, source: str, target: str) -> str:
    """Return what becomes of a part, whose words are translated into a cat."""
    cat = {"ar": "قط", "he": "חתול"}.get(target, "Cat")
    document = packed({name: f"{HEAD}{xml}".encode()})
    changed = unpacked(translated(document, lambda _: cat, TextReader(source, target)))[name]
    return changed.decode().removeprefix(HEAD).replace(' xml:space="preserve"', "")


def word(body: str) -> str:
    return f"<w:document {W}><w:body>{body}</w:body></w:document>"


def styles(properties: str) -> str:
    return f"<w:styles {W}>{properties}</w:styles>"


@pytest.mark.parametrize(
    ("source", "target", "before", "after"),
    [
        ("en", "pt_BR", 'w:val="en-GB" w:bidi="ar-SA"', 'w:val="pt-BR" w:bidi="ar-SA"'),
        ("en", "he", 'w:val="en-GB" w:bidi="ar-SA"', 'w:val="en-GB" w:bidi="he"'),
        ("en", "ja", 'w:val="en-GB"', 'w:val="en-GB" w:eastAsia="ja"'),
        ("ar", "de", 'w:val="en-GB" w:bidi="ar-SA"', 'w:val="de" w:bidi="ar-SA"'),
        ("en", "de", 'w:val="fr-FR"', 'w:val="fr-FR"'),
        ("en", "de", 'w:val="en"/><lang xmlns="" val="en"', 'w:val="de"/><lang xmlns="" val="de"'),
    ],
)
def test_word_names_the_new_language_for_its_script(
    source: str, target: str, before: str, after: str
) -> None:
    xml = styles("<w:rPr><w:lang {}/></w:rPr>")
    found = part("word/styles.xml", xml.format(before), source, target)
    assert found == xml.format(after)


def test_slides_and_descriptions_name_the_new_language() -> None:
    xml = f'<p:presentation {P} {A}><a:defRPr lang="{{}}"/><a:rPr lang="{{}}"/></p:presentation>'
    found = part("ppt/presentation.xml", xml.format("en-US", "fr-FR"), "en", "it")
    assert found == xml.format("it", "fr-FR")
    core = '<c xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:language>{}</dc:language></c>'
    assert part("docProps/core.xml", core.format("en-US"), "en", "it") == core.format("it")


@pytest.mark.parametrize(
    ("target", "after"),
    [
        ("it", 'fo:language="it" fo:country="none"'),
        ("pt_BR", 'fo:language="pt" fo:country="BR"'),
        ("sr_Latn", 'fo:language="sr" fo:country="none" fo:script="Latn"'),
        (
            "zh_Hant_TW",
            'fo:language="en" fo:country="GB" style:language-asian="zh"'
            ' style:country-asian="TW" style:script-asian="Hant"',
        ),
    ],
)
def test_open_document_names_the_new_language_for_its_script(target: str, after: str) -> None:
    xml = f"<office:styles {ODF}><style:text-properties {{}}/></office:styles>"
    found = part("styles.xml", xml.format('fo:language="en" fo:country="GB"'), "en", target)
    start = xml[: xml.index("{}")].partition("<style:text-properties")[1]
    assert f"{start} {after}/>" in found


def test_paragraphs_sections_tables_and_words_of_word_run_from_the_right() -> None:
    before = (
        '<w:p><w:pPr><w:jc w:val="left"/></w:pPr>{}</w:p><w:tbl><w:tblPr><w:tblStyle/><w:tblW/>'
        "</w:tblPr><w:p>{}</w:p></w:tbl><w:sectPr><w:cols/><w:docGrid/></w:sectPr>"
    ).format(run("A cat", '<w:b/><w:sz w:val="40"/><w:lang w:val="en"/>'), run("42"))
    after = (
        '<w:p><w:pPr><w:bidi/><w:jc w:val="left"/></w:pPr>{}</w:p><w:tbl><w:tblPr><w:tblStyle/>'
        "<w:bidiVisual/><w:tblW/></w:tblPr><w:p><w:pPr><w:bidi/></w:pPr>{}</w:p></w:tbl>"
        "<w:sectPr><w:cols/><w:bidi/><w:docGrid/></w:sectPr>"
    ).format(
        run(
            "قط",
            '<w:b/><w:bCs/><w:sz w:val="40"/><w:szCs w:val="40"/><w:rtl/>'
            '<w:lang w:val="en" w:bidi="ar"/>',
        ),
        run("42", "<w:rtl/>"),
    )
    assert part("word/document.xml", word(before), "en", "ar") == word(after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "<w:sectPr><w:textDirection/><w:docGrid/></w:sectPr>",
            "<w:sectPr><w:textDirection/><w:bidi/><w:docGrid/></w:sectPr>",
        ),
        (
            "<w:p><w:pPr><w:textDirection/></w:pPr></w:p>",
            "<w:p><w:pPr><w:bidi/><w:textDirection/></w:pPr></w:p>",
        ),
        (
            '<w:r><w:rPr><w:b/><w:bCs/><new xmlns="n"/></w:rPr><w:t>42</w:t></w:r>',
            '<w:r><w:rPr><w:b/><w:bCs/><w:rtl/><new xmlns="n"/></w:rPr><w:t>42</w:t></w:r>',
        ),
    ],
)
def test_marks_of_direction_stand_where_each_format_has_them(before: str, after: str) -> None:
    assert part("word/document.xml", word(before), "en", "ar") == word(after)


def test_word_runs_from_the_left_again() -> None:
    form = '<w:bCs/><w:sz w:val="22"/><w:szCs w:val="40"/><w:rtl/><w:cs/>'
    before = f"<w:p><w:pPr><w:bidi/><w:jc/></w:pPr>{run('قط', form)}</w:p>"
    form = '<w:b/><w:bCs/><w:sz w:val="22"/><w:szCs w:val="40"/>'
    after = f"<w:p><w:pPr><w:jc/></w:pPr>{run('Cat', form)}</w:p>"
    assert part("word/document.xml", word(before), "ar", "en") == word(after)


@pytest.mark.parametrize(("source", "target"), [("en", "th"), ("ja", "hi"), ("hi", "de")])
def test_bold_and_sizes_of_word_hold_for_the_new_kind_of_script(source: str, target: str) -> None:
    forms = ('<w:b/><w:sz w:val="40"/>', '<w:bCs/><w:szCs w:val="40"/>')
    before = styles(f"<w:rPr>{forms[source == 'hi']}</w:rPr>")
    after = styles('<w:rPr><w:b/><w:bCs/><w:sz w:val="40"/><w:szCs w:val="40"/></w:rPr>')
    assert part("word/styles.xml", before, source, target) == after


@pytest.mark.parametrize(
    ("target", "after"),
    [
        ("ar", ' style:font-weight-complex="bold" style:font-size-complex="20pt"'),
        ("ko", ' style:font-weight-asian="bold" style:font-size-asian="20pt"'),
        ("ru", ""),
    ],
)
def test_bold_and_sizes_of_open_document_hold_for_the_new_kind(target: str, after: str) -> None:
    xml = f"<style:style {ODF}><style:text-properties {{}}/></style:style>"
    said = 'fo:font-weight="bold" fo:font-size="20pt"'
    assert part("styles.xml", xml.format(said), "en", target) == xml.format(said + after)


@pytest.mark.parametrize(("target", "lies_down"), [("en", True), ("zh", False)])
def test_columns_of_text_become_lines_in_a_language_that_has_none(
    target: str, lies_down: bool
) -> None:
    before = word('<w:sectPr><w:cols/><w:textDirection w:val="tbRl"/></w:sectPr>')
    after = word("<w:sectPr><w:cols/></w:sectPr>") if lies_down else before
    assert part("word/document.xml", before, "ja", target) == after
    layout = (
        f"<style:page-layout {ODF}>"
        '<style:page-layout-properties style:writing-mode="{}"/></style:page-layout>'
    )
    found = part("styles.xml", layout.format("tb-rl"), "ja", target)
    assert found == layout.format("lr-tb" if lies_down else "tb-rl")


def test_a_language_that_runs_like_the_old_one_turns_nothing() -> None:
    before = f"<w:p><w:pPr><w:bidi/></w:pPr>{run('قط', '<w:rtl/>')}</w:p>{paragraph(run('Cat'))}"
    changed = unpacked(translated(docx(before), str, TextReader("en", "it")))
    assert before.encode() in changed["word/document.xml"].replace(b' xml:space="preserve"', b"")


def test_words_of_another_script_do_not_run_from_the_right() -> None:
    document = docx(paragraph(run("Cat")))
    changed = unpacked(translated(document, lambda _: "Dragoman", TextReader("en", "he")))
    assert b"rtl" not in changed["word/document.xml"]


def test_slides_turn_with_the_styles_that_they_have_their_side_from() -> None:
    styles = (
        f"<p:presentation {P} {A}><p:defaultTextStyle>{{}}</p:defaultTextStyle>"
        "<a:lstStyle>{}</a:lstStyle></p:presentation>"
    )
    before = (
        '<a:lvl1pPr/><a:lvl2pPr algn="ctr" rtl="0"/>',
        '<a:lvl1pPr/><a:lvl2pPr algn="l"/>',
    )
    after = (
        '<a:lvl1pPr algn="r" rtl="1"/><a:lvl2pPr algn="ctr" rtl="1"/>',
        '<a:lvl1pPr/><a:lvl2pPr algn="r" rtl="1"/>',
    )
    name = "ppt/presentation.xml"
    assert part(name, styles.format(*before), "en", "ar") == styles.format(*after)
    slide = f"<p:sld {P} {A}><a:p>{{}}<a:r><a:t>{{}}</a:t></a:r></a:p><a:tblPr{{}}/></p:sld>"
    name = "ppt/slides/slide1.xml"
    turned = slide.format('<a:pPr rtl="1"/>', "قط", ' rtl="1"')
    assert part(name, slide.format("", "Cat", ""), "en", "ar") == turned
    right, left = ('<a:pPr algn="r" rtl="1"/>', '<a:pPr algn="l" rtl="0"/>')
    back = slide.format(left, "Cat", ' rtl="0"')
    assert part(name, slide.format(right, "قط", ' rtl="1"'), "ar", "en") == back


def test_columns_of_a_sheet_run_from_the_right() -> None:
    sheet = f"<worksheet {SHEET}><sheetViews><sheetView{{}}/></sheetViews></worksheet>"
    name = "xl/worksheets/sheet1.xml"
    assert part(name, sheet.format(""), "en", "he") == sheet.format(' rightToLeft="1"')
    assert part(name, sheet.format(""), "en", "it") == sheet.format("")


def test_open_document_runs_from_the_right_and_back() -> None:
    xml = (
        f"<office:styles {ODF}>{{default}}<style:style><style:paragraph-properties"
        ' fo:text-align="{}" style:writing-mode="{mode}"/></style:style>'
        '<style:page-layout-properties style:writing-mode="{mode}"/></office:styles>'
    )
    default = (
        '<style:default-style style:family="paragraph"><style:paragraph-properties'
        ' style:writing-mode="{}"{}/></style:default-style>'
    )
    from_right = xml.format(
        "right", mode="rl-tb", default=default.format("rl-tb", ' fo:text-align="right"')
    )
    before = xml.format("start", mode="lr-tb", default="")
    assert part("styles.xml", before, "en", "ar") == from_right
    from_left = xml.format(
        "left", mode="lr-tb", default=default.format("lr-tb", ' fo:text-align="left"')
    )
    assert part("styles.xml", from_right, "ar", "en") == from_left
