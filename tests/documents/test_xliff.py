"""XLIFF: units without a translation get one, and nothing else changes."""

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.documents.translated import READER, translated

from dragoman.documents.document import DocumentError
from dragoman.documents.xliff import take_xliff_apart

MARKED = 'state="needs-review-translation" state-qualifier="leveraged-mt"'


def old(units: str, languages: str = 'source-language="en" target-language="it"') -> str:
    """Write XLIFF 1.2."""
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">\n'
        f'<file original="a.c" {languages} datatype="plaintext"><body>\n'
        f"{units}\n</body></file></xliff>\n"
    )


def new(units: str, languages: str = 'srcLang="en" trgLang="it"') -> str:
    """Write XLIFF 2."""
    return (
        f'<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0" {languages}>\n'
        f'<file id="f">\n{units}\n</file>\n</xliff>\n'
    )


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        (
            '<trans-unit id="1">\n  <source>A cat</source>\n</trans-unit>',
            '<trans-unit id="1">\n  <source>A cat</source>\n'
            f"  <target {MARKED}>A CAT</target>\n</trans-unit>",
        ),
        (
            "<trans-unit><source>A cat</source><target/></trans-unit>",
            f"<trans-unit><source>A cat</source><target {MARKED}>A CAT</target></trans-unit>",
        ),
        (
            '<trans-unit><source>A cat</source><target xml:lang="it" state = "new" >\n</target>'
            "<note>A note</note><alt-trans><source>b</source><target>B</target></alt-trans>"
            "</trans-unit>",
            f'<trans-unit><source>A cat</source><target xml:lang="it" {MARKED}>A CAT</target>'
            "<note>A note</note><alt-trans><source>b</source><target>B</target></alt-trans>"
            "</trans-unit>",
        ),
        (
            '<trans-unit><source>A &lt;cat&gt; &amp; <g id="1">a dog</g></source></trans-unit>',
            '<trans-unit><source>A &lt;cat&gt; &amp; <g id="1">a dog</g></source>'
            f'<target {MARKED}>A &lt;CAT&gt; &amp; <g id="1">A DOG</g></target></trans-unit>',
        ),
        (
            "<trans-unit><source>A cat. A dog.</source><seg-source>"
            '<mrk mtype="seg" mid="0">A cat.</mrk> <mrk mtype="seg" mid="1">A dog.</mrk>'
            "</seg-source></trans-unit>",
            "<trans-unit><source>A cat. A dog.</source><seg-source>"
            '<mrk mtype="seg" mid="0">A cat.</mrk> <mrk mtype="seg" mid="1">A dog.</mrk>'
            f'</seg-source><target {MARKED}><mrk mtype="seg" mid="0">A CAT.</mrk> '
            '<mrk mtype="seg" mid="1">A DOG.</mrk></target></trans-unit>',
        ),
        (
            "<x:trans-unit><x:source>A cat</x:source></x:trans-unit>",
            f"<x:trans-unit><x:source>A cat</x:source><x:target {MARKED}>A CAT</x:target>"
            "</x:trans-unit>",
        ),
    ],
)
def test_a_unit_of_the_first_version_gets_its_translation(unit: str, expected: str) -> None:
    assert translated(old(unit), take_xliff_apart) == old(expected)


def test_a_segment_of_the_second_version_gets_its_translation() -> None:
    unit = (
        "<unit><segment><source>A <pc id='1'>cat</pc>.</source></segment>"
        "<ignorable><source> b </source></ignorable>"
        "<segment><source>A dog.</source><target></target></segment></unit>"
    )
    expected = unit.replace(
        "</pc>.</source>", "</pc>.</source><target>A <pc id='1'>CAT</pc>.</target>"
    )
    expected = expected.replace("<target></target>", "<target>A DOG.</target>")
    assert translated(new(unit), take_xliff_apart) == new(expected)


def test_native_codes_are_tags_and_placeholders_to_the_model() -> None:
    source = (
        'Press <bpt id="1">&lt;b&gt;</bpt>Save<ept id="1">&lt;/b&gt;</ept> now, {x0} '
        '<ph id="2">{br}</ph>, or <x id="3"/>.'
    )
    document = old(f"<trans-unit><source>{source}</source></trans-unit>")
    assert take_xliff_apart(document, READER).pieces[0] == "Press Save now, {x0} {x1}, or {x2}."
    assert targets(translated(document, take_xliff_apart, str)) == [source]


def test_placeholders_go_where_the_translation_has_them_and_none_is_lost() -> None:
    document = old("<trans-unit><source>A <x id='a'/> of <x id='b'/>.</source></trans-unit>")
    turned = translated(document, take_xliff_apart, lambda _: "{x1} un {x0}.")
    assert targets(turned) == ["<x id='b'/> un <x id='a'/>."]
    lost = translated(document, take_xliff_apart, lambda _: "Un {x1}.")
    assert targets(lost) == ["Un <x id='b'/>.<x id='a'/>"]


def targets(document: str) -> list[str]:
    return re.findall("<target[^>]*>(.*)</target>", document)


def test_a_placeholder_beside_a_word_is_shown_apart_from_it() -> None:
    source = "It is<x id='1'/>late, <x id='2'/>un<x id='3'/>-fair."
    document = old(f"<trans-unit><source>{source}</source></trans-unit>")
    assert take_xliff_apart(document, READER).pieces == ["It is {x0} late, {x1} un {x2}-fair."]
    assert targets(translated(document, take_xliff_apart, str)) == [source]
    source = "<x id='1'/><g id='2'>It</g><x id='3'/><x id='4'/><g id='5'>is</g><x id='6'/>"
    document = old(f"<trans-unit><source>{source}</source><target></target></trans-unit>")
    assert take_xliff_apart(document, READER).pieces[0] == "{x0} It {x1}{x2} is {x3}"
    assert targets(translated(document, take_xliff_apart, str)) == [source]


@pytest.mark.parametrize(
    "line_break",
    [
        "<x id='LINE_BREAK' ctype='lb'/>",
        "<ph id='0' equiv='LINE_BREAK_1' type='fmt' disp='&lt;br/&gt;'/>",
        "<ph id='0' type='fmt' subType='xlf:lb'/>",
    ],
)
def test_a_line_break_is_between_two_sentences(line_break: str) -> None:
    source = f"A cat{line_break}A <g id='1'/> dog"
    document = old(f"<trans-unit><source>{source}</source></trans-unit>")
    assert take_xliff_apart(document, READER).pieces == ["A cat", "A {x0} dog"]
    assert targets(translated(document, take_xliff_apart, str)) == [source]


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        ("<bx id='1'/>", "<ex id='1'/>"),
        ("<sc id='1'/>", "<ec startRef='1'/>"),
        ("<x id='START_LINK'/>", "<x id='CLOSE_LINK'/>"),
    ],
)
def test_empty_elements_that_are_a_pair_are_tags_to_the_model(opening: str, closing: str) -> None:
    document = old(f"<trans-unit><source>A {opening}cat{closing}.</source></trans-unit>")
    assert take_xliff_apart(document, READER).pieces == ["A cat.", "A ", "cat"]
    says = {"A cat.": "Gatto uno.", "A": "Un", "cat": "gatto"}
    turned = translated(document, take_xliff_apart, says.__getitem__)
    assert targets(turned) == [f"{opening}Gatto{closing} uno."]


def test_segments_without_a_translation_get_one_and_the_others_stay() -> None:
    unit = (
        "<trans-unit><source>A cat. A dog.</source><seg-source><g id='1'>"
        "<mrk mtype='seg' mid='0'>A cat.</mrk> <mrk mtype='seg' mid='1'>A dog.</mrk>"
        "</g></seg-source><target><g id='1'>{}</g></target></trans-unit>"
    )
    first, second = "<mrk mtype='seg' mid='0'>{}</mrk> ", "<mrk mtype='seg' mid='1'{}"
    found = translated(
        old(unit.format(first.format("Gatto.") + second.format(" />"))), take_xliff_apart
    )
    both = first.format("Gatto.") + second.format(">A DOG.</mrk>")
    assert found == old(unit.format(both).replace("<target>", f"<target {MARKED}>"))
    empty = unit.replace("<g id='1'>{}</g>", first.format("<!-- -->") + second.format("/>"))
    both = first.format("A CAT.") + second.format(">A DOG.</mrk>")
    assert both in translated(old(empty), take_xliff_apart)
    direct = re.sub("</?g[^>]*>", "", unit)
    filled = direct.format(first.format("A CAT.") + second.format(">Cane.</mrk>"))
    blank = filled.replace(">A CAT.</mrk>", "/>")
    assert targets(translated(old(blank), take_xliff_apart)) == targets(old(filled))


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("Press &lt;b&gt;Save&lt;/b&gt; &amp;amp; go", ["Press Save & go", "Press ", "Save"]),
        ("&lt;p&gt;A cat&lt;/p&gt;&lt;p&gt;A dog&lt;/p&gt;", ["A cat", "A dog"]),
        (r"A cat\n- a dog &gt; 1", ["A cat", "- a dog > 1"]),
        ("{n, plural, other {&lt;i&gt;# cats&lt;/i&gt;}}", ["%d cats"]),
    ],
)
def test_tags_and_escapes_of_a_program_are_those_of_any_string(
    source: str, shown: list[str]
) -> None:
    document = old(f"<trans-unit><source>{source}</source></trans-unit>")
    assert take_xliff_apart(document, READER).pieces[: len(shown)] == shown
    assert targets(translated(document, take_xliff_apart, str)) == [source]
    segment = "<mrk mtype='seg' mid='0'>{}</mrk>"
    unit = f"<trans-unit><source>{source}</source><seg-source>{segment.format(source)}</seg-source>"
    document = old(f"{unit}<target>{segment.format('')}</target></trans-unit>")
    assert targets(translated(document, take_xliff_apart, str)) == [segment.format(source)]


@pytest.mark.parametrize("words", ["&lt;your name&gt;", "&lt;Ctrl&gt;", "&lt;y and z&gt;"])
def test_words_in_angle_brackets_are_part_of_their_sentence(words: str) -> None:
    document = old(f"<trans-unit><source>Enter {words} here.</source></trans-unit>")
    assert len(take_xliff_apart(document, READER).pieces) == 1
    assert targets(translated(document, take_xliff_apart, str)) == [f"Enter {words} here."]


@pytest.mark.parametrize("place", ["file", "group", "trans-unit", "source"])
def test_line_breaks_that_are_preserved_part_texts(place: str) -> None:
    unit = "<group><trans-unit><source>{}</source></trans-unit></group>"
    targets = re.compile("<target[^>]*>(.*?)</target>", re.DOTALL)
    for source in ("Red cat\nGreen dog", "Red <x id='1'/> cat\n<g id='2'>Green</g> dog"):
        as_spaces = source.replace("\n", " ")
        document = old(unit.format(source) + "<trans-unit><source>Cat\nDog</source></trans-unit>")
        preserving = document.replace(f"<{place}", f'<{place} xml:space="preserve"', 1)
        again = preserving.replace("<source>", '<source xml:space="default">')
        behind = "Cat\nDog" if place == "file" else "Cat Dog"
        for text, expected in (
            (document, [as_spaces, "Cat Dog"]),
            (preserving, [source, behind]),
            (again, [source if place == "source" else as_spaces, "Cat Dog"]),
        ):
            assert targets.findall(translated(text, take_xliff_apart, str)) == expected


@pytest.mark.parametrize(("sign", "space"), [(">", "default"), ("&gt;", "preserve")])
def test_pairs_in_braces_are_tags_to_the_model(sign: str, space: str) -> None:
    opening, closing = f"{{b{sign}{{1{sign}", "&lt;1}&lt;b}"
    unit = f"<trans-unit><source>A {opening}cat{closing} {{2}}.</source></trans-unit>"
    document = old(f"<group xml:space='{space}'>{unit}</group>")
    assert take_xliff_apart(document, READER).pieces[:3] == ["A cat {2}.", "A ", "cat"]
    says = {"A cat {2}.": "Gatto {2} uno.", "cat": "gatto"}
    turned = translated(document, take_xliff_apart, lambda text: says.get(text, text))
    assert targets(turned) == [f"{opening}Gatto{closing} {{2}} uno."]


def test_what_is_half_a_pair_in_braces_is_a_placeholder_to_the_model() -> None:
    source = "{i&gt;A {b&gt;cat&lt;b} is&lt;u} here"
    document = old(f"<trans-unit><source>{source}</source></trans-unit>")
    assert take_xliff_apart(document, READER).pieces[0] == "{i>A cat is<u} here"
    assert targets(translated(document, take_xliff_apart, str)) == [source]


def test_tags_in_braces_part_no_sentence_and_are_in_no_other_tag() -> None:
    source = "{b&gt;One&lt;b} and {i&gt;two&lt;i} &lt;u&gt;three&lt;/u&gt;."
    document = old(f"<trans-unit><source>{source}</source></trans-unit>")

    assert take_xliff_apart(document, READER).pieces[0] == "{b>One<b} and {i>two<i} three."
    assert targets(translated(document, take_xliff_apart, str)) == [source]


@pytest.mark.parametrize("target", ["", "<target><![CDATA[]]></target>"])
def test_literal_text_of_a_unit_stays_literal(target: str) -> None:
    unit = f"<trans-unit><source><![CDATA[{{}} & a <b>{{}}</b>]]></source>{target}</trans-unit>"
    found = targets(translated(old(unit.format("A dog", "cat")), take_xliff_apart))
    assert found == ["<![CDATA[A DOG & A <b>CAT</b>]]>"]


def test_a_copy_of_the_source_that_is_to_be_translated_is_no_translation() -> None:
    unit = "<trans-unit><source>A cat</source><target state='{}'>{}</target></trans-unit>"
    assert targets(translated(old(unit.format("new", "A cat")), take_xliff_apart)) == ["A CAT"]
    for stays in (unit.format("new", "Un gatto"), unit.format("final", "A cat")):
        assert translated(old(stays), take_xliff_apart) == old(stays)
    segment = "<mrk mtype='seg' mid='0'>{}</mrk>"
    unit = (
        f"<trans-unit><source>A cat</source><seg-source>{segment}</seg-source>"
        f"<target state='new'>{segment}</target></trans-unit>"
    ).format("A cat", "A cat")
    assert targets(translated(old(unit), take_xliff_apart)) == [segment.format("A CAT")]
    unit = "<segment state='{}'><source>A cat</source><target>A cat</target></segment>"
    assert targets(translated(new(unit.format("initial")), take_xliff_apart)) == ["A CAT"]
    for stays in (unit.format("translated"), unit.replace(" state='{}'", "")):
        assert translated(new(stays), take_xliff_apart) == new(stays)


def test_many_copies_that_stay_are_told_of() -> None:
    copy = "<trans-unit><source>A cat</source><target>A cat</target></trans-unit>\n"
    other = "<trans-unit><source>A dog</source><target>Un cane</target></trans-unit>\n"
    locked = copy.replace("<trans-unit", "<trans-unit x:locked='true'")
    for units, told in (
        (other + copy, "line 5: this target is a copy of its source; a copy counts"),
        (other * 3 + copy * 3, "line 7: this target is a copy of its source, and so are 2 more; "),
        (other * 2 + copy, ""),
        (locked * 2, ""),
        ("<trans-unit><source/><target/></trans-unit>", ""),
    ):
        document = take_xliff_apart(old(units), READER)
        assert document.warning.startswith(told)
        assert bool(document.warning) == bool(told)


LOCKED = ("m:locked='true'", "mq:locked = 'locked'", 'x:locked="TRUE"')
NOT_LOCKED = ("m:locked='false'", "mq:locked='no'", "x:locked='0'", "id='x:locked=1'")


def test_what_a_program_has_locked_is_not_translated() -> None:
    unit = "<trans-unit {}><source>A cat</source><target></target></trans-unit>"
    for said in LOCKED:
        for units in (unit.format(said), f"<group {said}>{unit.format('')}</group>"):
            assert translated(old(units), take_xliff_apart) == old(units)
    for said in NOT_LOCKED:
        assert targets(translated(old(unit.format(said)), take_xliff_apart)) == ["A CAT"]


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("", "{first}A CAT.</mrk> {second}</mrk>"),
        ("<target>{first}</mrk> {second}</mrk></target>", "{first}A CAT.</mrk> {second}</mrk>"),
        ("<target>{first}</mrk> {second}x</mrk></target>", "{first}A CAT.</mrk> {second}x</mrk>"),
        ("<target>{first}x</mrk> {second}</mrk></target>", "{first}x</mrk> {second}</mrk>"),
    ],
)
def test_a_segment_that_trados_has_locked_is_not_translated(target: str, expected: str) -> None:
    first, second = "<mrk mtype='seg' mid='1'>", "<mrk mtype='seg' mid='2'>"
    target, expected = (each.format(first=first, second=second) for each in (target, expected))
    unit = (
        f"<trans-unit><source>A cat. A dog.</source><seg-source>{first}A cat.</mrk> {second}A dog."
        f"</mrk></seg-source>{target}<sdl:seg-defs><sdl:seg id='1' conf='Draft'/>"
        "<sdl:seg id='2' locked='true'><sdl:rep id='1'/></sdl:seg></sdl:seg-defs></trans-unit>"
    )
    assert targets(translated(old(unit), take_xliff_apart)) == [expected]
    both = unit.replace("conf='Draft'", "locked='true'")
    assert translated(old(both), take_xliff_apart) == old(both)


@pytest.mark.parametrize(
    ("said", "target", "says"),
    [
        ('mq:status="NotStarted"', "", 'mq:status="MachineTranslated"'),
        ('m:trans-origin="" m:confirmed="0"', "", 'm:trans-origin="mt" m:confirmed="0"'),
        ("m:trans-origin = ''", "", "m:trans-origin = 'mt'"),
        (
            'mq:status="Rejected" m:trans-origin="tm"',
            "",
            'mq:status="Rejected" m:trans-origin="tm"',
        ),
        ('mq:status="NotStarted"', "Un gatto", 'mq:status="NotStarted"'),
    ],
)
def test_memoq_and_phrase_are_told_of_what_a_program_has_translated(
    said: str, target: str, says: str
) -> None:
    unit = "<trans-unit {} id='1'><source>A cat</source><target>{}</target></trans-unit>"
    found = translated(old(unit.format(said, target)), take_xliff_apart)
    assert f"<trans-unit {says} id='1'>" in found


def test_trados_is_told_which_segments_a_program_has_translated() -> None:
    segments = "".join(f"<mrk mtype='seg' mid='{i}'>{{}}</mrk> " for i in range(5))
    source, target = segments.format(*["A cat."] * 5), segments.format("", "", "", "Un gatto.", "")
    says = (
        "<sdl:seg-defs><sdl:seg{0} id='0'/><sdl:seg{1} id='1' origin='source'><sdl:rep id='x'/>"
        "</sdl:seg><sdl:seg id='2' conf='Draft'/><sdl:seg id='3'/><sdl:seg id='4' locked='true'/>"
        "</sdl:seg-defs>"
    )
    unit = f"<trans-unit><source>A cat.</source><seg-source>{source}</seg-source>"
    unit += f"<target>{target}</target>{says}</trans-unit>"
    found = translated(old(unit.format("", "")), take_xliff_apart)
    assert says.format(' conf="Draft" origin="mt"', ' conf="Draft"') in found


def test_a_mark_within_a_segment_is_part_of_its_sentence() -> None:
    segment = "<mrk mtype='seg' mid='1'>A <mrk mtype='x-sdl-comment'>cat</mrk> here.</mrk>"
    unit = f"<trans-unit><source>A cat here.</source><seg-source>{segment}</seg-source>"
    document = old(f"{unit}</trans-unit>")
    assert take_xliff_apart(document, READER).pieces[0] == "A cat here."
    assert targets(translated(document, take_xliff_apart, str)) == [segment]


def test_elements_without_content_are_part_of_their_sentence() -> None:
    source = "A <g id='1'/> cat <bpt id='2'/>is<ept id='2'/> here."
    document = old(f"<trans-unit><source>{source}</source></trans-unit>")
    assert take_xliff_apart(document, READER).pieces[0] == "A {x0} cat is here."
    assert targets(translated(document, take_xliff_apart, str)) == [source]


def test_carriage_returns_that_are_written_as_entities_stay_so() -> None:
    unit = "<trans-unit xml:space='preserve'><source>A cat{}A dog</source></trans-unit>"
    for line_break, written in (("&#13;&#10;", "&#13;\n"), ("\r\n", "\r\n")):
        found = translated(old(unit.format(line_break)), take_xliff_apart)
        assert f">A CAT{written}A DOG</target>" in found


@pytest.mark.parametrize("encoding", ["ISO-8859-1", "utf-16", "Windows-1252"])
def test_a_file_says_in_which_encoding_it_is_written(encoding: str) -> None:
    document = old("<trans-unit><source>A caf&#233;</source></trans-unit>")
    found = translated(document.replace("UTF-8", encoding), take_xliff_apart)
    assert found == translated(document, take_xliff_apart)


@pytest.mark.parametrize("mark", ["mtype='protected'", "translate='no'"])
def test_words_that_are_marked_as_protected_stay(mark: str) -> None:
    source = f"Press <mrk {mark}>Save Now</mrk> here."
    document = old(f"<trans-unit><source>{source}</source></trans-unit>")
    expected = source.replace("Press", "PRESS").replace("here", "HERE")
    assert targets(translated(document, take_xliff_apart)) == [expected]


def test_names_of_choices_stay() -> None:
    source = "{n, plural, =0 {no cat} one {<x id='1'/> cat} other {# cats of {m}}}"
    document = old(f"<trans-unit><source>{source}</source></trans-unit>")
    assert take_xliff_apart(document, READER).pieces == ["no cat", "{x0} cat", "%d cats of {m}"]
    assert targets(translated(document, take_xliff_apart, str)) == [source]


@pytest.mark.parametrize(
    "unit",
    [
        "<trans-unit><source>A cat</source><target>Un gatto</target></trans-unit>",
        '<trans-unit translate="no"><source>A cat</source></trans-unit>',
        '<group translate="no"><trans-unit><source>A cat</source></trans-unit></group>',
        "<trans-unit><source></source></trans-unit>",
    ],
)
def test_what_needs_no_translation_stays(unit: str) -> None:
    assert translated(old(unit), take_xliff_apart) == old(unit)


def test_what_is_to_be_translated_within_something_untranslated_is() -> None:
    unit = '<trans-unit translate="yes"><source>A cat</source></trans-unit>'
    found = translated(old(f'<group translate="no">{unit}</group>'), take_xliff_apart)
    assert targets(found) == ["A CAT"]


def test_what_follows_something_untranslated_is_translated() -> None:
    units = (
        '<group translate="no"><trans-unit><source>A cat</source></trans-unit></group>'
        "<trans-unit><source>A dog</source></trans-unit>"
    )
    found = translated(old(units), take_xliff_apart)
    assert "A DOG" in found
    assert "A CAT" not in found


def test_the_language_is_named_where_nothing_names_it() -> None:
    unit = "<trans-unit><source>A cat</source></trans-unit>"
    found = translated(old(unit, 'source-language="en-US"'), take_xliff_apart)
    assert 'datatype="plaintext" target-language="it"><body>' in found
    segment = "<unit><segment><source>A cat</source></segment></unit>"
    assert 'srcLang="en" trgLang="it">' in translated(
        new(segment, 'srcLang="en"'), take_xliff_apart
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (old("", 'source-language="de"'), "line 3: it translates from de, and the model from en"),
        (new("", 'srcLang="en" trgLang="fr"'), "line 1: it translates into fr, and the model into"),
        (old(""), "line 1: no <trans-unit>"),
        (old("<trans-unit><source>A cat</source>"), "line 4: <trans-unit> is not closed"),
        (
            old("<trans-unit><source>A cat</source></trans-unit>").partition("</body>")[0],
            "<xliff> is not closed",
        ),
        (old("<trans-unit>\n<source>A cat</trans-unit>"), "line 5: <source> is not closed"),
        ("A cat", "line 1: no <trans-unit>"),
    ],
)
def test_what_cannot_be_translated_is_refused(text: str, said: str) -> None:
    with pytest.raises(DocumentError, match=said):
        take_xliff_apart(text, READER)


SCRAPS = (
    *("A cat ", "sleeps. ", "&amp;", "&lt;b&gt;", "é", "\n", "<!-- c -->", "{x0}"),
    *('<x id="1"/>', '<g id="2">a dog</g>', '<ph id="3">%s</ph>', '<bpt id="4">{</bpt>'),
    *('<mrk mtype="term">word</mrk>', "<it>(</it>", '<bx id="5"/>', '<ex id="5"/>'),
    *('<x id="START_B"/>', "word", "{n, plural, one {a # cat} other {", "}", "#"),
)
CONTENT = st.lists(st.sampled_from(SCRAPS), min_size=1, max_size=8).map(
    lambda scraps: "A" + "".join(scraps)
)


@given(st.lists(CONTENT, min_size=1, max_size=3))
def test_a_target_has_the_tags_and_words_of_its_source(contents: list[str]) -> None:
    units = "".join(f"<trans-unit><source>{each}</source></trans-unit>\n" for each in contents)
    found = translated(old(units), take_xliff_apart, str)
    root = ElementTree.fromstring(found)
    name = "{urn:oasis:names:tc:xliff:document:1.2}"
    for unit in root.iter(f"{name}trans-unit"):
        source, target = unit.find(f"{name}source"), unit.find(f"{name}target")
        assert source is not None
        assert target is not None
        assert sorted(each.tag for each in source.iter() if each is not source) == sorted(
            each.tag for each in target.iter() if each is not target
        )
        texts = ("".join("".join(each.itertext()).split()) for each in (source, target))
        assert sorted(next(texts)) == sorted(next(texts))
