"""Reading translation memories: the words of two languages arrive, and nothing else does."""

import gzip
import re
import tracemalloc
from pathlib import Path

import pytest
import zstandard
from tests.corpora.texts import LANGUAGES, read, written

from dragoman.corpora.cleaning import CleaningReport, clean
from dragoman.corpora.config import CleaningConfig, CorpusConfig
from dragoman.corpora.parallel_text import has_named_sides, read_pairs
from dragoman.corpora.text_file import CorpusError

HEAD = '<?xml version="1.0" encoding="{}"?>\n<tmx version="1.4"><header srclang="en"/><body>\n'
END = "</body></tmx>\n"


def unit(**texts: str) -> str:
    """Write a unit on one line; `en_GB` stands for the code en-GB."""
    variants = "".join(
        f'<tuv xml:lang="{code.replace("_", "-")}"><prop type="by">me</prop><seg>{text}</seg></tuv>'
        for code, text in texts.items()
    )
    return f"<tu><note>hint</note>{variants}</tu>\n"


def memory(*units: str, encoding: str = "UTF-8") -> str:
    return HEAD.format(encoding) + "".join(units) + END


# What is read


def test_each_unit_is_a_pair_with_the_line_where_it_begins(tmp_path: Path) -> None:
    content = memory(
        unit(en="cat", it="gatto"),
        "<tu>\n<tuv lang='IT'>\n<seg>cane</seg></tuv>\n"
        "<tuv lang='EN'><seg>dog</seg></tuv>\n</tu>\n",
        unit(en="a &lt;b&gt; &amp; c", fr="x", it="caff&#232;"),
    )

    assert read(written(tmp_path / "a.tmx", content)) == [
        ("cat", "gatto", 3),
        ("dog", "cane", 4),
        ("a <b> & c", "caffè", 9),
    ]


def test_the_words_between_native_codes_are_kept_and_the_codes_are_not(tmp_path: Path) -> None:
    source = (
        'Press <bpt i="1">&lt;b&gt;</bpt>the <hi>red <hi type="x">big</hi></hi> button'
        '<ept i="1">&lt;/b&gt;</ept>, <it pos="begin">{i</it>now<ph x="1">&lt;img alt="'
        '<sub>a <ph>deep</ph> picture</sub>"&gt;</ph> <ut>\\par</ut>or\nlater.'
    )
    path = written(tmp_path / "a.tmx", memory(unit(en=source, it="<ph/>Ora.<ph>{0}</ph>")))

    assert read(path) == [("Press the red big button, now or later.", "Ora.", 3)]


def test_a_code_between_words_keeps_them_apart_and_one_around_letters_does_not(
    tmp_path: Path,
) -> None:
    source = 'Line one.<ph x="1">&lt;br/&gt;</ph>Line <bpt i="1">&lt;b&gt;</bpt>t<ept i="1"/>wo'
    target = "Un<ut/>a<ph/><ph/>due<ph/>. 点击<ph/>按钮 हिन्दी<ph/>भाषा<ph/>"
    path = written(tmp_path / "a.tmx", memory(unit(en=source, it=target)))

    assert read(path) == [("Line one. Line two", "Una due. 点击按钮 हिन्दी भाषा", 3)]


@pytest.mark.parametrize(
    ("languages", "pair"),
    [
        (("en", "pt"), ("lorry", "camião")),  # the first of the language
        (("en_US", "pt"), ("truck", "camião")),
        (("EN-us", "pt_br"), ("truck", "caminhão")),
        (("pt_BR", "pt_PT"), ("caminhão", "camião")),
        (("de_CH", "en"), ("Laster", "lorry")),  # for want of a Swiss one
    ],
)
def test_a_region_serves_its_language_and_a_code_that_is_the_same_goes_before(
    tmp_path: Path, languages: tuple[str, str], pair: tuple[str, str]
) -> None:
    texts = {"en_GB": "lorry", "en_US": "truck", "pt_PT": "camião", "pt_BR": "caminhão"}
    path = written(tmp_path / "a.tmx", memory(unit(**texts, de="Laster")))

    (found,) = read(path, languages)

    assert found[:2] == pair


def test_another_region_is_another_language(tmp_path: Path) -> None:
    path = written(tmp_path / "a.tmx", memory(unit(en="lorry", pt_PT="camião")))

    with pytest.raises(CorpusError, match=r"no unit has both en and pt_BR; .* are en, pt-PT: name"):
        read(path, ("en", "pt_BR"))


def test_one_text_is_not_both_sides(tmp_path: Path) -> None:
    path = written(tmp_path / "a.tmx", memory(unit(en="lorry", pt="camião")))

    with pytest.raises(CorpusError, match=r"no unit has both pt_PT and pt_BR"):
        read(path, ("pt_PT", "pt_BR"))


def test_units_without_a_language_or_a_text_are_counted_as_empty(tmp_path: Path) -> None:
    content = memory(
        unit(en="cat", it="gatto"),
        unit(en="dog", fr="chien"),
        unit(en="", it="vuoto"),
        unit(fr="chat"),
        "<tu><tuv xml:lang='en'><seg>a</seg></tuv><tuv><seg>b</seg></tuv></tu>",
    )
    pairs = read(written(tmp_path / "a.tmx", content))
    report = CleaningReport()

    kept = list(clean(pairs, CleaningConfig(), report, languages=LANGUAGES))

    assert pairs[1:] == [("dog", "", 4), ("", "vuoto", 5), ("", "", 6), ("a", "", 7)]
    assert kept == [("cat", "gatto", 3)]
    assert (report.read, report.dropped["empty"]) == (5, 4)


@pytest.mark.parametrize(
    ("declared", "encoding"),
    [
        ("UTF-16", "utf-16"),
        ("UTF-16", "utf-16-be"),
        ("UTF-8", "utf-8-sig"),
        ("ISO-8859-1", "latin-1"),
        ("windows-1252", "cp1252"),
    ],
)
def test_the_encoding_is_the_one_that_the_file_declares(
    tmp_path: Path, declared: str, encoding: str
) -> None:
    content = memory(unit(en="why", it="perché"), encoding=declared).encode(encoding)

    assert read(written(tmp_path / "a.tmx", content)) == [("why", "perché", 3)]


def test_compressed_memories_are_read(tmp_path: Path) -> None:
    content = memory(unit(en="cat", it="gatto")).encode()

    for name, compressed in {
        "a.tmx.gz": gzip.compress(content),
        "A.TMX.ZST": zstandard.compress(content),
    }.items():
        assert read(written(tmp_path / name, compressed)) == [("cat", "gatto", 3)]


def test_a_memory_says_which_side_is_which(tmp_path: Path) -> None:
    path = written(tmp_path / "a.tmx", memory(unit(en="cat", it="gatto")))

    assert has_named_sides(CorpusConfig(path=str(path)))
    assert read(path, ("it", "en")) == [("gatto", "cat", 3)]


def test_a_definition_elsewhere_is_not_fetched(tmp_path: Path) -> None:
    body = unit(en="cat", it="gatto")
    content = f'<!DOCTYPE tmx SYSTEM "{tmp_path}/nowhere.dtd">\n<tmx><body>{body}</body></tmx>'

    assert read(written(tmp_path / "a.tmx", content)) == [("cat", "gatto", 2)]


def test_nothing_is_kept_of_the_units_that_were_read(tmp_path: Path) -> None:
    text = "word " * 200
    units = "".join(unit(en=f"{n} {text}", it=f"{n} {text}") for n in range(2000))
    path = written(tmp_path / "a.tmx", memory(units))
    assert path.stat().st_size > 4_000_000

    tracemalloc.start()
    try:
        num_pairs = sum(1 for _ in read_pairs(CorpusConfig(path=str(path)), languages=LANGUAGES))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert num_pairs == 2000
    assert peak < 1_000_000


# What is refused


BOMB = """<?xml version="1.0"?>
<!DOCTYPE tmx [
<!ENTITY a "aaaaaaaaaa">
<!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">
]>
<tmx><body><tu><tuv xml:lang="en"><seg>&b;</seg></tuv></tu></body></tmx>
"""
OUTSIDE = """<!DOCTYPE tmx [<!ENTITY secret SYSTEM "file:///etc/hostname">]>
<tmx><body><tu><tuv xml:lang="en"><seg>&secret;</seg></tuv></tu></body></tmx>
"""
ELSEWHERE = """<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx><body><tu><tuv xml:lang="en"><seg>a&nbsp;b</seg></tuv></tu></body></tmx>
"""


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (BOMB, "a.tmx:3: the entity a is not built into XML; write the text that it stands for"),
        (OUTSIDE, "a.tmx:1: the entity secret is not built into XML"),
        (ELSEWHERE, "a.tmx:2: the entity nbsp is not built into XML"),
        (memory(unit(en="a&nbsp;b")), "a.tmx:3: not well-formed XML (undefined entity)"),
        (memory(unit(en="a", it="b"), unit(en="a <b>", it="c")), "a.tmx:4: not well-formed XML"),
        (memory(unit(en="a", it="b")).removesuffix(END), "a.tmx:4: not well-formed XML (no"),
        (memory(unit(en="a", it="b")) + "<x>", "a.tmx:5: not well-formed XML (junk after"),
        (
            memory(*[unit(en="cat", it="gatto")] * 2000, unit(en="cafe")).encode()
            .replace(b"cafe", b"caf\xe9"),
            "a.tmx:2003: not in the encoding that the first line names, or in UTF-8 if it names "
            "none (byte 0xe9); convert the file to UTF-8, as with iconv -f WINDOWS-1252 -t UTF-8",
        ),
        (memory(unit(en="a\x1f")), "a.tmx:3: not well-formed XML (not well-formed (invalid"),
        (memory(unit(en="a <“b”")), "a.tmx:3: not well-formed XML (not well-formed (invalid"),
        ("", "a.tmx:1: not well-formed XML (no element found)"),
        ("cat\tgatto\n", "a.tmx:1: not well-formed XML (syntax error)"),
        (memory(unit(en="日"), encoding="shift_jis").encode("shift_jis"), "a.tmx: its encoding is"),
        (memory(unit(en="a"), encoding="nonsense"), "a.tmx: its encoding is not supported (unkn"),
        (
            memory(unit(de="a", fr_CA="b"), unit(en="c", fr_CA="d")),
            "a.tmx: no unit has both en and it; the languages in it are de, fr-CA, en: name two",
        ),
        (
            memory(unit(English="a", Italian="b")),
            "a.tmx: no unit has both en and it; the languages in it are English, Italian: write "
            "these two codes into the file",
        ),
        (
            memory(unit(en_GB="a"), unit(en_GB="b")),
            "a.tmx: no unit has both en and it; the only language in it is en-GB: name a file "
            "that has translations, too, and says in which language they are",
        ),
        (memory(), "a.tmx: it has no translation unit; is it TMX?"),
        (
            memory(unit(en="a", it="b"), unit(en="a</seg>\n<seg>b", it="c")),
            "a.tmx:5: a <seg> that is not the only one of a <tuv>; join the two, or give each",
        ),
    ],
)  # fmt: skip
def test_what_is_no_memory_of_the_two_languages_is_refused_in_a_sentence(
    tmp_path: Path, content: str | bytes, message: str
) -> None:
    path = written(tmp_path / "a.tmx", content)

    with pytest.raises(CorpusError, match=f"^{re.escape(f'{tmp_path}/{message}')}") as caught:
        read(path)

    assert "\n" not in str(caught.value)


def test_a_missing_memory_and_one_that_is_cut_short_are_named(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"nowhere\.tmx: there is no such file"):
        read(tmp_path / "nowhere.tmx")
    packed = gzip.compress(memory(unit(en="cat", it="gatto")).encode())
    with pytest.raises(CorpusError, match="the compressed file is cut short; copy it again"):
        read(written(tmp_path / "a.tmx.gz", packed[:-9]))
    with pytest.raises(CorpusError, match=r"it is not compressed.* take \.gz off its name"):
        read(written(tmp_path / "b.tmx.gz", b"<tmx/>"))
