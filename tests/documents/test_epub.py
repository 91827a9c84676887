"""Books: an archive comes back with its pages, contents and description translated."""

import pytest
from tests.alternative import says
from tests.documents.office_files import packed, unpacked
from tests.documents.translated import READER, in_capitals

from dragoman.documents.archive import read_archive, write_archive
from dragoman.documents.document import DocumentError
from dragoman.documents.epub import take_epub_apart
from dragoman.documents.formats import BOOK_PARTS
from dragoman.markup.text_reader import TextReader

MIMETYPE = b"application/epub+zip"
CONTAINER = b"<container><rootfile full-path='a/b.opf'/>The place.</container>"
PICTURE = bytes(range(256))
STYLE = b"p { color: red }"


def translated(book: bytes) -> bytes:
    passage = take_epub_apart(read_archive(book, BOOK_PARTS), READER)
    translations = [says(in_capitals(piece.strip())) for piece in passage.pieces]
    return write_archive(passage.put_together(translations).text, book, BOOK_PARTS)


def test_a_book_comes_back_as_one() -> None:
    page = (
        '<?xml version="1.0"?>\n<!DOCTYPE html>\n<html xmlns="http://www.w3.org/1999/xhtml" '
        'xml:lang="{}"><head><title>{}</title><link href="a.css"/></head>'
        '<body><p id="p1">{} <a id="p2"/><i>{}</i></p><img src="a.png" alt="{}"/></body></html>'
    )
    contents = (
        '<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/" xml:lang="{}"><head><meta name="a"/>'
        "</head><docTitle><text>{}</text></docTitle><docAuthor><text>Ann</text></docAuthor><navMap>"
        '<navPoint id="n"><navLabel><text>{}</text></navLabel><content src="c.html"/></navPoint>'
        "</navMap><pageList><pageTarget><text>iv</text></pageTarget></pageList></ncx>"
    )
    description = (
        '<package><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        '<dc:title id="t">{}</dc:title><dc:creator>Ann</dc:creator><dc:language>{}</dc:language>'
        "<dc:language>fr</dc:language><dc:description>{}</dc:description></metadata>"
        '<manifest><item href="c.xhtml" media-type="application/xhtml+xml"/></manifest></package>'
    )
    before = ("en", "The cat", "One &amp; two.", "Three.", "A cat"), ("en-US", "The cat", "I. Home")
    after = ("it", "THE CAT", "ONE &amp; TWO.", "THREE.", "A CAT"), ("it", "THE CAT", "I. HOME")
    said = (
        ("Ann's cat", "en-GB", "Of a &lt;b&gt;cat&lt;/b&gt;."),
        (
            "ANN'S CAT",
            "it",
            "OF A &lt;b&gt;CAT&lt;/b&gt;.",
        ),
    )
    book, expected = (
        packed(
            {
                "mimetype": MIMETYPE,
                "META-INF/container.xml": CONTAINER,
                "a/b.opf": description.format(*of_book).encode(),
                "a/c.xhtml": page.format(*of_page[0]).encode(),
                "a/toc.ncx": contents.format(*of_page[1]).encode(),
                "a/old.xml": page.format(*of_page[0]).encode(),
                "a/other.xml": b"<a>One.</a>",
                "a/a.png": PICTURE,
                "a/a.css": STYLE,
            }
        )
        for of_page, of_book in zip((before, after), said, strict=True)
    )

    found = translated(book)

    assert list(unpacked(found).items()) == list(unpacked(expected).items())
    assert found[30:58] == b"mimetype" + MIMETYPE  # first, and not compressed, by which it is known


def test_contents_and_description_may_have_names_with_a_prefix() -> None:
    contents = b"<ncx:ncx><ncx:docAuthor>Ann</ncx:docAuthor><ncx:text>%b</ncx:text></ncx:ncx>"
    book = b"<opf:package><dc:subject>%b</dc:subject></opf:package>"
    found = translated(packed({"toc.ncx": contents % b"A cat", "a.opf": book % b"Cats"}))
    assert unpacked(found) == {"toc.ncx": contents % b"A CAT", "a.opf": book % b"CATS"}


def test_a_name_that_does_not_say_that_it_is_in_utf_8_stays() -> None:
    name = "\xe9.xhtml".encode()
    book = packed({"aa.xhtml": b"<html>A cat.</html>"}).replace(b"aa.xhtml", name)
    found = unpacked(translated(book))
    assert found == {name.decode(): b"<html>A CAT.</html>"}


def test_what_a_mac_adds_to_an_archive_stays() -> None:
    added = {"__MACOSX/._a.xhtml": b"\0\5\x16\7\xff"}
    found = translated(packed({"a.xhtml": b"<html>A cat.</html>", **added}))
    assert unpacked(found) == {"a.xhtml": b"<html>A CAT.</html>", **added}


def test_a_book_names_its_language_as_xml_does() -> None:
    book = '<package xml:lang="en"><dc:language>\nen </dc:language></package>'
    found = take_epub_apart(book, TextReader("en", "pt_BR")).put_together([])
    assert found.text == '<package xml:lang="pt-BR"><dc:language>pt-BR</dc:language></package>'


@pytest.mark.parametrize(
    ("encoding", "said"),
    [
        ("utf-16-le", "UTF-16"),
        ("utf-16-be", "UTF-16"),
        ("iso-8859-1", "ISO-8859-1"),
        ("windows-1252", "windows-1252"),
        ("utf-8", "iso-8859-1"),  # as where there are no letters beyond ASCII
    ],
)
def test_a_part_in_another_encoding_is_written_in_utf_8(encoding: str, said: str) -> None:
    page = '<?xml version="1.0" encoding="{}"?><ncx><text>{} «è».</text></ncx>'
    mark = "\ufeff" if said == "UTF-16" else ""
    content = f"{mark}{page.format(said, 'A cat')}".encode(encoding)
    book = packed({"a.ncx": content, "b.opf": b"<a/>"})
    assert unpacked(translated(book))["a.ncx"].decode() == page.format("UTF-8", "A CAT").replace(
        "è", "È"
    )


def test_an_encoding_that_a_book_writes_of_stays() -> None:
    page = "<ncx><!-- <?xml version='1.0' encoding='latin-1'?> --><text>A cat.</text></ncx>"
    found = translated(packed({"a.ncx": page.encode(), "b.opf": b"<a/>"}))
    assert unpacked(found)["a.ncx"].decode() == page.replace("A cat", "A CAT")


@pytest.mark.parametrize("said", ["iso-8859-99", "punycode", "UTF-8"])
def test_a_part_in_an_unknown_encoding_is_refused(said: str) -> None:
    book = packed({"a.xhtml": f'<?xml version="1.0" encoding="{said}"?><p>è'.encode("latin-1")})
    with pytest.raises(DocumentError, match="damaged"):
        translated(book)


def test_the_numbers_of_printed_pages_stay() -> None:
    page = (
        b'<html><nav epub:type="page-list"><h2>Pages</h2><ol><li>iv</li></ol></nav>'
        b'<p>%b <span epub:type="pagebreak" role="doc-pagebreak" aria-label="iv"/>%b</p></html>'
    )
    found = translated(packed({"a.xhtml": page % (b"A cat", b"sleeps.")}))
    assert unpacked(found)["a.xhtml"] == page % (b"A CAT", b"SLEEPS.")


@pytest.mark.parametrize(
    ("languages", "version", "before", "after"),
    [
        (("en", "ar"), "3.0", "", "rtl"),
        (("en", "ar"), "3.0", "ltr", "rtl"),
        (("he", "en"), "3.0", "rtl", "ltr"),
        (("ja", "en"), "3.0", "rtl", "ltr"),
        (("ja", "ar"), "3.0", "rtl", "rtl"),
        (("ja", "zh"), "3.0", "rtl", "rtl"),
        (("en", "ar"), "2.0", "", ""),
    ],
)
def test_pages_are_turned_to_the_side_to_which_text_runs(
    languages: tuple[str, str], version: str, before: str, after: str
) -> None:
    def write(direction: str) -> str:
        said = f' page-progression-direction="{direction}"' if direction else ""
        return f'<package version="{version}"><spine{said} toc="n"></spine></package>'

    assert take_epub_apart(write(before), TextReader(*languages)).put_together([]).text == (
        write(after)
    )


@pytest.mark.parametrize(
    ("target", "layout", "lies_down"),
    [("en", "reflowable", True), ("zh", "reflowable", False), ("en", "pre-paginated", False)],
)
def test_columns_of_text_become_lines_in_a_language_that_has_none(
    target: str, layout: str, lies_down: bool
) -> None:
    book = (
        f'<package version="3.0"><meta property="rendition:layout">{layout}</meta>'
        '<spine page-progression-direction="rtl"/></package>'
    )
    page = "<html><head><link href='vertical.css'/></head><body/></html>"
    found = take_epub_apart(f"{book}\0{page}", TextReader("ja", target)).put_together([]).text
    assert ("; writing-mode: horizontal-tb !important; }</style></head>" in found) is lies_down
    assert ('page-progression-direction="ltr"' in found) is lies_down
