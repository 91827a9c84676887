"""Reading XLIFF: translations that somebody confirmed arrive, of either version, and no others."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.corpora.texts import LANGUAGES, read, written

from dragoman.corpora.cleaning import CleaningReport, clean
from dragoman.corpora.config import CleaningConfig, CorpusConfig
from dragoman.corpora.parallel_text import has_named_sides
from dragoman.corpora.text_file import CorpusError

ENGLISH_ITALIAN = 'source-language="en" target-language="it"'


def document(*units: str, languages: str = ENGLISH_ITALIAN) -> str:
    return (
        '<?xml version="1.0"?>\n<xliff xmlns="urn:oasis:names:tc:xliff:document:1.2" version="1.2">'
        f'<file original="a" datatype="html" {languages}><header/><body>\n'
        f"{''.join(units)}</body></file></xliff>\n"
    )


def unit(source: str, target: str | None = None, *, state: str = "", unit: str = "") -> str:
    state = state and f'state="{state}"'
    target = "" if target is None else f"<target {state}>{target}</target>"
    return (
        f'<trans-unit id="1" {unit}><source>{source}</source>{target}<note>a note</note>'
        "<alt-trans><source>no</source><target>nein</target></alt-trans></trans-unit>\n"
    )


def document_2(*units: str, languages: str = 'srcLang="en" trgLang="it"') -> str:
    return (
        '<?xml version="1.0"?>\n<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" '
        f'version="2.0" {languages}><file id="f">\n{"".join(units)}</file></xliff>\n'
    )


def segment(source: str, target: str | None = None, *, attributes: str = "") -> str:
    target = "" if target is None else f"<target>{target}</target>"
    return f"<segment {attributes}><source>{source}</source>{target}</segment>\n"


def unit_2(*segments: str, attributes: str = "") -> str:
    return (
        f'<unit id="u" {attributes}><notes><note>a note</note></notes>{"".join(segments)}</unit>\n'
    )


# What is read


@pytest.mark.parametrize(
    "name", ["a.xlf", "A.XLIFF", "a.sdlxliff", "a.mqxliff", "a.mxliff", "a.txlf"]
)
def test_each_unit_is_a_pair_with_the_line_where_it_begins(tmp_path: Path, name: str) -> None:
    content = document(unit("cat", "gatto"), f"<group>{unit('a &lt;b&gt;', 'caff&#232;')}</group>")

    assert read(written(tmp_path / name, content)) == [("cat", "gatto", 3), ("a <b>", "caffè", 4)]


def test_each_segment_of_version_2_is_a_pair_and_what_stands_between_is_none(
    tmp_path: Path,
) -> None:
    candidates = (
        '<mtc:matches><mtc:match ref="#1"><source>no</source><target>nein</target></mtc:match>'
        "</mtc:matches>\n"
    )
    content = document_2(
        unit_2(
            candidates,
            segment("A cat.", "Un gatto."),
            "<ignorable><source> </source><target> </target></ignorable>\n",
            segment("A dog.", "Un cane."),
        ),
        f"<group id='g'>{unit_2(segment('A cow.', 'Una mucca.'))}</group>",
    )

    assert read(written(tmp_path / "a.xlf", content)) == [
        ("A cat.", "Un gatto.", 4),
        ("A dog.", "Un cane.", 6),
        ("A cow.", "Una mucca.", 8),
    ]


SEGMENTED = """<trans-unit id="1"><source>A cat. <g id="2">A dog.</g></source>
<seg-source><mrk mtype="seg" mid="1">A cat.</mrk>
<g id="2"><mrk mtype="seg" mid="2">A <mrk mtype="x-term">dog</mrk>.</mrk></g></seg-source>
<target><g id="2">{}</g></target></trans-unit>
"""


def test_segments_that_both_sides_have_are_pairs_whatever_their_order(tmp_path: Path) -> None:
    target = '<mrk mtype="seg" mid="2">Un cane.</mrk> <mrk mid="1" mtype="seg">Un gatto.</mrk>'
    path = written(tmp_path / "a.sdlxliff", document(SEGMENTED.format(target)))

    assert read(path) == [("A cat.", "Un gatto.", 4), ("A dog.", "Un cane.", 5)]


@pytest.mark.parametrize(
    ("target", "text"),
    [
        ('<mrk mtype="seg" mid="1">Un gatto</mrk> e un cane.', "Un gatto e un cane."),
        ('<mrk mtype="seg" mid="1">Un gatto</mrk><mrk mtype="seg" mid="3">.</mrk>', "Un gatto."),
        ('<mrk mtype="seg" mid="1">Un</mrk><mrk mtype="seg" mid="1">o</mrk>'
         '<mrk mtype="seg" mid="2">.</mrk>', "Uno."),
        ('<mrk mtype="seg" mid="1">Un gatto</mrk> e <mrk mtype="seg" mid="2">uno.</mrk>',
         "Un gatto e uno."),
        ("Un gatto e un cane.", "Un gatto e un cane."),
        ("", ""),
    ],
)  # fmt: skip
def test_a_unit_of_other_segments_on_either_side_is_one_pair(
    tmp_path: Path, target: str, text: str
) -> None:
    path = written(tmp_path / "a.xlf", document(SEGMENTED.format(target)))

    assert read(path) == [("A cat. A dog.", text, 3)]


def test_what_a_reviser_has_deleted_is_no_part_of_a_translation(tmp_path: Path) -> None:
    target = (
        '<mrk mtype="seg" mid="2">Un <mrk mtype="x-sdl-deleted" id="d"><g id="3">to</g>po</mrk>'
        '<mrk mtype="x-sdl-added" id="a">cane</mrk>.</mrk> <mrk mtype="seg" mid="1">Un gatto.</mrk>'
    )
    path = written(tmp_path / "a.sdlxliff", document(SEGMENTED.format(target)))

    assert read(path) == [("A cat.", "Un gatto.", 4), ("A dog.", "Un cane.", 5)]


def test_the_words_between_native_codes_are_kept_and_the_codes_are_not(tmp_path: Path) -> None:
    source = (
        'Press <bpt id="1">&lt;b&gt;</bpt>the <g id="5">red <mrk mtype="x">big</mrk></g> but<bx/>'
        'ton<ept id="1">&lt;/b&gt;</ept>,<x id="2"/>or<ph id="3">&lt;img alt="<sub>a <ph>deep</ph> '
        'picture</sub>"&gt;</ph>la<it id="4" pos="open">{i</it>ter<ex/>.'
    )
    path = written(tmp_path / "a.xlf", document(unit(source, "<x/>Ora.<ph>{0}</ph>")))

    assert read(path) == [("Press the red big button, or later.", "Ora.", 3)]


def test_codes_of_version_2_leave_the_words_as_they_are(tmp_path: Path) -> None:
    source = (
        'One<ph id="1"/>t<pc id="2">w<mrk id="m" type="term">o</mrk></pc>, <sc id="3"/>t<ec/>en'
    )
    content = document_2(unit_2(segment(source, 'Uno<cp hex="001A"/>due<cp hex="000C"/>.')))

    assert read(written(tmp_path / "a.xlf", content)) == [("One two, ten", "Uno due.", 3)]


def test_tags_around_words_in_braces_are_native_codes(tmp_path: Path) -> None:
    source, target = "A {b&gt;red{i&gt; cat&lt;i}&lt;b} of {1}, {i&gt;0}.", "{12&gt;Un&lt;12} {1}."
    path = written(tmp_path / "a.mxliff", document(unit(source, target)))

    assert read(path) == [("A red cat of {1}, {i>0}.", "Un {1}.", 3)]


def test_what_nobody_translated_or_confirmed_is_counted_as_empty(tmp_path: Path) -> None:
    version_1 = document(
        unit("cat", "gatto", state="translated"),
        unit("dog"),
        unit("cow", "", state="final"),
        *(unit("no", "nein", state=state) for state in ("new", "needs-translation")),
        unit("hen", "gallina", state="needs-review-translation"),
        unit("ok", "va bene", state="x-newest"),
    )
    version_2 = document_2(
        unit_2(segment("cat", "gatto", attributes='state="reviewed"')),
        unit_2(segment("dog"), segment("cow", "")),
        unit_2(*[segment("no", "nein", attributes='state="initial"')] * 2),
        unit_2(segment("hen", "gallina", attributes='state="initial" subState="x:y"')),
        unit_2(segment("ok", "va bene")),
    )
    for content in (version_1, version_2):
        pairs = read(written(tmp_path / "a.xlf", content))
        report = CleaningReport()

        kept = list(clean(pairs, CleaningConfig(), report, languages=LANGUAGES))

        assert [pair[:2] for pair in kept] == [("cat", "gatto"), ("ok", "va bene")]
        assert (report.read, report.dropped["empty"]) == (7, 5)


@pytest.mark.parametrize(
    ("attribute", "is_confirmed"),
    [
        *(('m:confirmed="0"', False), ('m:confirmed="1"', True), ('m:confirmed="2"', True)),
        *(('mq:status="NotStarted"', False), ('mq:status="PreTranslated"', False)),
        *(('mq:status="Pretranslated"', False), ('mq:status="MachineTranslated"', False)),
        *(('mq:status="PartiallyEdited"', False), ('mq:status="Rejected"', False)),
        *(('mq:status="ManuallyConfirmed"', True), ('mq:status="Proofread"', True)),
        *(('mq:status=""', True), ('status="Rejected"', True)),
    ],
)
def test_what_is_not_confirmed_in_memoq_or_phrase_is_no_translation(
    tmp_path: Path, attribute: str, is_confirmed: bool
) -> None:
    namespaces = 'xmlns:m="m" xmlns:mq="q"'
    content = document(unit("cat", "gatto", unit=f"{namespaces} {attribute}"), unit("a", "b"))

    expected = [("cat", "gatto" if is_confirmed else ""), ("a", "b")]
    assert [pair[:2] for pair in read(written(tmp_path / "a.mqxliff", content))] == expected


CONFIRMED, DRAFT, BARE = 'conf="ApprovedSignOff"', 'conf="Draft"', ""


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (CONFIRMED, 'conf="Translated"', ["Un gatto.", "Un cane."]),
        (DRAFT, CONFIRMED, ["", "Un cane."]),
        (CONFIRMED, BARE, ["Un gatto.", ""]),
        ('conf="RejectedTranslation"', 'conf="RejectedSignOff"', ["", ""]),
    ],
)
def test_a_segment_that_is_not_confirmed_in_trados_is_no_translation(
    tmp_path: Path, first: str, second: str, expected: list[str]
) -> None:
    target = '<mrk mtype="seg" mid="2">Un cane.</mrk> <mrk mid="1" mtype="seg">Un gatto.</mrk>'
    marks = (
        f'<sdl:seg-defs xmlns:sdl="s"><sdl:seg id="1" {first}><sdl:rep id="2"/></sdl:seg>'
        f'<sdl:seg id="2" {second}/></sdl:seg-defs></trans-unit>'
    )
    marked = SEGMENTED.replace("</trans-unit>", marks)
    path = written(tmp_path / "a.sdlxliff", document(marked.format(target)))

    assert [pair[1] for pair in read(path)] == expected


def test_a_unit_of_other_segments_is_no_translation_if_one_is_a_draft(tmp_path: Path) -> None:
    marks = '<sdl:seg-defs xmlns:sdl="s"><sdl:seg id="1" {}/></sdl:seg-defs></trans-unit>'
    for said, expected in ((DRAFT, ""), (CONFIRMED, "Un gatto e un cane.")):
        content = SEGMENTED.format("Un gatto e un cane.").replace(
            "</trans-unit>", marks.format(said)
        )
        path = written(tmp_path / "a.sdlxliff", document(content))

        assert [pair[1] for pair in read(path)] == [expected]


def test_a_document_that_nobody_has_begun_is_of_its_languages(tmp_path: Path) -> None:
    for content in (document(unit("cat")), document_2(unit_2(segment("cat")))):
        path = written(tmp_path / "a.xlf", content)

        assert [pair[:2] for pair in read(path)] == [("cat", "")]


def test_copies_of_what_is_not_to_be_translated_are_no_translations(tmp_path: Path) -> None:
    no, yes = 'translate="no"', 'translate="yes"'
    version_1 = document(
        unit("a", "a", unit=no),
        f"<group {no}>{unit('a', 'a')}{unit('b', 'c', unit=yes)}</group>",
        unit("b", "c"),
    )
    version_2 = document_2(
        unit_2(segment("a", "a"), attributes=no),
        f"<group id='g' {no}>{unit_2(segment('a', 'a'))}",
        f"{unit_2(segment('b', 'c'), attributes=yes)}</group>",
        unit_2(segment("b", "c")),
    )
    for content in (version_1, version_2):
        pairs = [pair[:2] for pair in read(written(tmp_path / "a.xlf", content))]

        assert pairs == [("a", ""), ("a", ""), ("b", "c"), ("b", "c")]


def test_a_file_may_say_that_nothing_in_it_is_to_be_translated(tmp_path: Path) -> None:
    content = document_2(
        unit_2(segment("a", "a")), unit_2(segment("b", "c"), attributes="translate='yes'")
    )
    path = written(tmp_path / "a.xlf", content.replace("<file ", "<file translate='no' "))

    assert [pair[:2] for pair in read(path)] == [("a", ""), ("b", "c")]


@pytest.mark.parametrize(
    ("languages", "pair"),
    [
        (("en", "it"), ("lorry", "camion")),
        (("it", "en"), ("camion", "lorry")),
        (("it_IT", "EN-gb"), ("camion", "lorry")),
    ],
)
def test_the_languages_of_the_file_say_which_side_is_which(
    tmp_path: Path, languages: tuple[str, str], pair: tuple[str, str]
) -> None:
    version_1 = document(
        unit("lorry", "camion"), languages='source-language="en-GB" target-language="it"'
    )
    version_2 = document_2(
        unit_2(segment("lorry", "camion")), languages='srcLang="en-GB" trgLang="it"'
    )
    on_texts = document(
        '<trans-unit><source xml:lang="en">lorry</source><target xml:lang="it">camion</target>'
        "</trans-unit>",
        languages='source-language="en-GB"',
    )
    for content in (version_1, version_2, on_texts):
        path = written(tmp_path / "a.xlf", content)

        assert has_named_sides(CorpusConfig(path=str(path)))
        assert read(path, languages)[0][:2] == pair


def test_each_file_in_a_document_has_its_own_languages(tmp_path: Path) -> None:
    first, second = (
        document(unit("cat", text), languages=f'source-language="en" {target}')
        for text, target in (("chat", 'target-language="fr"'), ("gatto", ""))
    )
    third = document(unit("cat", "gatto"))
    files = [
        content.partition("<file")[2].removesuffix("</xliff>\n") for content in (third, second)
    ]
    content = first.replace("</xliff>", "".join(f"<file{text}" for text in files) + "</xliff>")

    pairs = read(written(tmp_path / "a.xlf", content))

    assert [pair[:2] for pair in pairs] == [("cat", ""), ("cat", "gatto"), ("cat", "")]


def test_a_prefix_on_all_elements_says_nothing(tmp_path: Path) -> None:
    content = document(unit("A <x/>cat", "gatto"), '<y:trans-unit xmlns:y="z"/>')
    content = re.sub(r"<(/?)(?=[\w-]+[ />])", r"<\1x:", content).replace("xmlns=", "xmlns:x=")

    assert read(written(tmp_path / "a.xlf", content)) == [("A cat", "gatto", 3)]


@pytest.mark.processor_seconds(60)  # in quadratic time it would be minutes
def test_segments_in_each_other_take_no_longer_than_others(tmp_path: Path) -> None:
    deep = "<g>x<mrk mtype='seg'>" * 100_000 + "</mrk></g>" * 100_000
    path = written(tmp_path / "a.xlf", document(unit(deep, "gatto")))

    assert read(path) == [("x" * 100_000, "gatto", 3)]


# What is refused


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            '<!DOCTYPE xliff [\n<!ENTITY a "aaaa">]><xliff/>',
            "a.xlf:2: the entity a is not built into XML; write the text that it stands for",
        ),
        (
            document(unit("a", "b <g>")),
            "a.xlf:3: not well-formed XML (mismatched tag); export the f",
        ),
        (document(unit("a", "b"))[:-9], "a.xlf:4: not well-formed XML"),
        ("", "a.xlf:1: not well-formed XML (no element found)"),
        (document(), "a.xlf: it has no translation unit; is it XLIFF?"),
        ("<tmx/>", "a.xlf: it has no translation unit; is it XLIFF?"),
        ("<source>a</source>", "a.xlf: it has no translation unit; is it XLIFF?"),
        (
            document(unit("a", "b"), languages='source-language="en" target-language="de-CH"'),
            "a.xlf: no unit has both en and it; the languages in it are en, de-CH: name two",
        ),
    ],
)
def test_what_is_no_translation_of_the_two_languages_is_refused_in_a_sentence(
    tmp_path: Path, content: str, message: str
) -> None:
    path = written(tmp_path / "a.xlf", content)

    with pytest.raises(CorpusError, match=f"^{re.escape(f'{tmp_path}/{message}')}") as caught:
        read(path)

    assert "\n" not in str(caught.value)


NAMES = st.sampled_from(
    [
        *("xliff", "x:xliff", "file", "group", "unit", "trans-unit", "segment", "ignorable"),
        *("source", "seg-source", "target", "mrk", "g", "ph", "bpt", "sub", "x", "alt-trans"),
    ]
)
ATTRIBUTES = st.sampled_from(
    [
        "",
        *("srcLang='en' trgLang='it'", "source-language='en'", "target-language='it'"),
        *("mtype='seg' mid='1'", "mtype='seg'", "translate='no'", "state='new'", "hex='zz'"),
    ]
)
TREES = st.recursive(
    st.sampled_from(["", "word", " ", "\n"]),
    lambda inner: st.tuples(NAMES, ATTRIBUTES, st.lists(inner, max_size=4)).map(
        lambda parts: f"<{parts[0]} {parts[1]}>{''.join(parts[2])}</{parts[0]}>"
    ),
    max_leaves=25,
)


@given(TREES)
def test_elements_anywhere_are_read_or_refused_and_never_crash(
    tmp_path_factory: pytest.TempPathFactory, tree: str
) -> None:
    body = f"<file {ENGLISH_ITALIAN}>{unit('a', 'b')}{tree}</file>"
    path = written(tmp_path_factory.mktemp("tree") / "a.xlf", f"<xliff>{body}</xliff>")

    pairs = read(path)

    assert pairs[0] == ("a", "b", 1)
    assert not any("\n" in source + target for source, target, _ in pairs)
