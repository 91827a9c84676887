import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dragoman.languages.scripts import letters_outside
from dragoman.terms import protected
from dragoman.terms.finder import TermFinder
from dragoman.terms.protected import cut_around, find_protected
from dragoman.terms.term import FAULT_OF_PROTECTED, Term, find_term_faults


def found_in(text: str) -> list[tuple[str, str]]:
    return [(term.kind, text[term.start : term.end]) for term in find_protected(text)]


@pytest.mark.parametrize(
    "placeholder",
    [
        *(
            "%s",
            "%d",
            "%1$s",
            "%.2f",
            "%-5.2f",
            "%ld",
            "%(name)s",
            "%(share).1f",
            "%1",
            "%1%",
            "%L2",
            "%%",
        ),
        *("{0}", "{name}", "{percent:.2f}", "${x}", "{$a}", "#{record.name}", "%{count}", "$name"),
        *("${name or 'you'}", "${ x }"),
        *("{% if a % 2 %}", "{#- later -#}", "{{#if new}}", "{{/if}}", '{{< note a="b c" >}}'),
        *("{% set a = {'b': 1} %}", "{# see #2, {{ old }} #}", "{{!-- old {{name}} --}}"),
        *("{{ object.name }}", "{{object.name or 'n/a'}}", "__name__", "%@", "&brandShortName;"),
        *("%count%", "%APPDATA%"),
        *("%#@count@", "%1$#@count@", "%arg"),
        *("%q", "%B", "%1$S", "%1$tY", "%'d", "%,.2f", "%1$,d", "%-H"),
        *("{}", "{{{name}}}", "{ $name }", "{ -brand }", "{0, number}", "{0:d MMMM yyyy}"),
        "{0:d 'de' MMMM}",
        *(
            "@count",
            "@maria.rossi",
            "@scope/name-2",
            "%title",
            ":attribute",
            ":max_2",
            ":thumbs-up:",
        ),
        *("$NAME$", "%%name%%", "*|FNAME|*", "*|IF:A CAT|*"),
        *("$t(a.cat, {'count': 2})", "@:a.cat", "@.lower:cat", "@:{'a cat'}"),
    ],
)
def test_placeholders_are_found_whole(placeholder: str) -> None:
    for text in (
        placeholder,
        f"({placeholder})",
        f"Open {placeholder}, please.",
        f"a {placeholder}",
    ):
        assert found_in(text) == [("placeholder", placeholder)]
    assert found_in("50%%") == [("number", "50"), ("placeholder", "%%")]
    assert found_in("100 %%% of it") == [("number", "100")]
    assert [found for _, found in found_in("$cat$dog$")] == ["$cat", "$dog$"]


def test_tags_of_phrase_are_kept_and_the_words_between_them_are_not() -> None:
    text = "{1>Open {b>file<b}<1}{2}"

    assert [found for _, found in found_in(text)] == ["{1>", "{b>", "<b}", "<1}", "{2}"]
    assert found_in("{b>Open it. ") == [("placeholder", "{b>")]
    assert found_in("file<12}.") == [("placeholder", "<12}")]
    for text in ("{x>0}", "{i>0}"):
        assert found_in(text) == [("placeholder", text)]
    assert found_in("%argument") == [("placeholder", "%argument")]


@pytest.mark.parametrize(
    "address",
    [
        "https://www.a-b.it/x/y.html?q=1&r=%20#top",
        "http://a.it/w/f_(x)",
        "http://a.it/f(x)(y)#z",
        "www.example.org/path",
        "ftp://host/file",
        "file:///home/a/b",
        "first.last+tag@mail.example.co.uk",
    ],
)
def test_addresses_are_found_without_the_punctuation_behind_them(address: str) -> None:
    for text in (address, f"See {address}.", f"({address}), or", f'"{address}"', f"<{address}>"):
        assert found_in(text) == [("address", address)]


@pytest.mark.parametrize(
    "path", ["/etc/hosts", "/home/j\u00fcrgen/.config/", "~/.bashrc", "../a-b/c++", "C:/x"]
)
def test_paths_are_found_without_the_punctuation_behind_them(path: str) -> None:
    for text in (path, f"See {path}.", f"({path}), or", f"[{path}]", f'"{path}"', f"--to={path}"):
        assert found_in(text) == [("address", path)]


@pytest.mark.parametrize(
    "text",
    ["and/or", "he /she", "a/b/c", "s/a/b/", "[/b] [/i]", "a // b", "km/h", "~/ /", "x~/y/z"],
)
def test_not_every_slash_is_that_of_a_path(text: str) -> None:
    assert found_in(text) == []


def test_a_path_ends_where_something_else_begins() -> None:
    assert found_in("\u6587\u4ef6/etc/hosts\u7684") == [("address", "/etc/hosts")]
    assert found_in(r"/a/b\n~/c") == [("address", "/a/b")]
    assert found_in("--to=/tmp/%s") == [("address", "/tmp/"), ("placeholder", "%s")]


@pytest.mark.parametrize("number", ["7", "2009", "1,200.50", "10:30", "2009-01-31", "1/2", "4711"])
def test_numbers_are_found_but_not_in_words(number: str) -> None:
    beside = ("{}", "{}%", "-{}.", "({})", "at {}, or", "p.{}", "No.{}", "1st,{}")
    for text in (text.format(number) for text in beside):
        assert found_in(text) == [("number", number)]
    assert found_in(f"x{number}") == [] or number[0] not in found_in(f"x{number}")[0][1]
    assert found_in("1st B2B 3D 5pm v2 128x128px 10:30am 2.4GHz 20,000th 2024-05-01T x2.4,5") == []
    assert found_in(".5 of it, -.5 and $.99") == []


@pytest.mark.parametrize(
    "code",
    [
        *("AB-00009/X0", "INV-0042", "SAJ/0042", "PACK0000007", "SKU1234567", "A5-0001/2001"),
        *("CHE-123.456.788", "CO213.123.432-1", "INV/2021/05/0001", "FURN_8220", "GROUP_A_RULE_1"),
        *("875A7B", "74HC595", "F1F1F1", "v2.3", "V2.10.1"),
        *("2024-05-01T12:00:00Z", "2024-05-01T12:00", "2024-05-01T12:00:00.250+02:00"),
    ],
)
def test_codes_are_found_whole(code: str) -> None:
    for text in ("{}", "Order {}.", "({}),", "#{}", "pre-{}", "{}-Teil", "l'{}", "\u7528{}\u7684"):
        assert found_in(text.format(code)) == [("code", code)]
    assert ("code", code) not in found_in(f"x{code} {code}x")


@pytest.mark.parametrize("text", ["2 million", "1.5-billion", "2 Milliarden", "2 millones"])
def test_millions_are_another_number_where_one_counts_in_ten_or_a_hundred_thousands(
    text: str,
) -> None:
    assert not TermFinder(languages=("en", "ja")).find(text)
    assert not TermFinder(languages=("hi", "en")).find(text)
    assert len(TermFinder(languages=("en", "it")).find(text)) == 1
    assert len(TermFinder(languages=("en", "ja")).find("2 milligrams")) == 1


@pytest.mark.parametrize(
    "text",
    [
        *("MP3-Player, CO2-Emissionen, B12-Mangel, USB-3.0-Anschluss", "CO2-EMISSIONEN, KAPITEL-3"),
        *("ISO9001, ISO-9001-Zertifikat, UTF-8, GS1-128, COVID-19-Impfung, EU-27, F-16, A320",),
        *("EUR1,500, EUR1000000, USD-1000000, EUR/100KG", "128X128PX, 2X4, 10GB at 10AM-5PM, 20TH"),
        *(
            "NATO--1949",
            "ABC-DEF-5, ABC-D5x, AB_12_x",
            "IPv6, iPhone15, win32",
            "2005/60/EC, Q1/Q2",
        ),
        *(
            "DEC-2024, 00009-AB, 2020_01, 24/7, NO.5000, HTTP/2, 1990S, 24H24",
            "Q1/2009, UN/1325/2000",
        ),
    ],
)
def test_words_units_sums_and_numbers_are_no_codes(text: str) -> None:
    assert {kind for kind, _ in found_in(text)} <= {"number"}


@pytest.mark.parametrize(
    ("text", "signs"),
    [
        ("5 \u00b1 3 m\u00b2, m\u00b3, x \u2265 5", "\u00b1\u00b2\u00b3\u2265"),
        ("A\u00ae, Windows\u2122, \u2514 Height", "\u00ae\u2122\u2514"),
        (
            "\u00a9 2\u00d73 \u2192 18 \u00b0C, n\u00b0 5, \u22125, \u2116 4, \u00bd, \u20ac 5",
            "",
        ),
    ],
)
def test_signs_are_found_but_not_those_that_languages_write_differently(
    text: str, signs: str
) -> None:
    assert "".join(written for kind, written in found_in(text) if kind == "sign") == signs


@pytest.mark.parametrize(
    ("text", "placeholders"),
    [
        ("%dx%d, %dpx of %.1fGB", ["%d", "%d", "%d", "%.1f"]),
        ("%zu of %hhd, %lld", ["%zu", "%hhd", "%lld"]),
        ("%1px, %2GB, %1th", ["%1", "%2", "%1"]),
        ("%1half or %2b", []),
        ("%s%% and %d%%", ["%s", "%%", "%d", "%%"]),
        ("%discount or %section", []),
        ("%1$sRead%2$s %1$-5shere", ["%1$s", "%2$s", "%1$-5s"]),  # with a place it is one
    ],
)
def test_letters_behind_a_placeholder_of_printf_are_units_or_it_is_none(
    text: str, placeholders: list[str]
) -> None:
    assert found_in(text) == [("placeholder", written) for written in placeholders]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("\u6211\u67093\u53ea\u732b", [("number", "3")]),
        ("\u0e21\u0e35 3\u0e15\u0e31\u0e27", [("number", "3")]),
        ("\u5df2\u5220\u9664%d\u4e2a", [("placeholder", "%d")]),
        ("%s\uc744(\ub97c) $name\uc758", [("placeholder", "%s"), ("placeholder", "$name")]),
        ("\u8bbfhttps://a.com\uff0c\u7136", [("address", "https://a.com")]),
        ("\u8bbfhttps://a.com/b\u4fdd\u5b58", [("address", "https://a.com/b")]),
        ("\u53d1\u7ed9a@b.it\u6216", [("address", "a@b.it")]),
        (
            "http://\u043f\u0440\u0438\u043c\u0435\u0440.it/\u044e",
            [("address", "http://\u043f\u0440\u0438\u043c\u0435\u0440.it/\u044e")],
        ),
    ],
)
def test_where_words_have_no_spaces_terms_end_at_them(
    text: str, found: list[tuple[str, str]]
) -> None:
    assert found_in(text) == found
    (first, *_) = find_protected(text)
    assert not first.continues_word
    assert not first.is_continued


def test_a_share_in_turkish_is_no_placeholder() -> None:
    finder = TermFinder(languages=("en", "tr-TR"))
    assert not finder.find_faults(finder.find("50% discount"), "%50 indirim")
    assert finder.find_faults(finder.find("%1 files"), "1 dosya")
    assert TermFinder(languages=("en", "it")).find_faults(finder.find("50% discount"), "%50")


@pytest.mark.parametrize(
    "text",
    [
        "100% sure",
        "the 1%'s share",
        "what the %'s are",
        "a 5%-H b",
        "3.5%p more",
        "{1: 'one', 2: 'two'}",
        "2%y/y",
        "50 % discount",
        "a {b c} d",
        "a {b, c} d",
        "It costs $",
        "me @ home",
        "Amig@s",
        "now:later",
        "at :30",
        "start[:end]",
        "note :Deprecated",
        "a :) b ::before",
        "50 %ige",
        "%",
        "x_y",
        "e.g. a",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert not [kind for kind, _ in found_in(text) if kind != "number"]


def test_a_term_knows_what_it_touches() -> None:
    (glued,) = find_protected("file{0}s")
    (free,) = find_protected("file {0} s")
    assert (glued.continues_word, glued.is_continued) == (True, True)
    assert (free.continues_word, free.is_continued) == (False, False)


@pytest.mark.parametrize(
    ("source", "translation", "keeps"),
    [
        ("%s of %s files", "%s di %s file", True),
        ("%s of %s files", "%s file", False),
        ("%s files", "%s file di %s", False),
        ("{a} and {b}", "{b} e {a}", True),
        ("{a} and {b}", "{a} e {a}", False),
        ("two files", "2 file", True),
        ("2 files", "due file", False),
        ("1,200.50 euros", "1.200,50 euro", True),
        ("1,200.50 euros", "1.20,50 euro", False),
        ("12 files", "123 file", False),
        ("1,234 files", "\u0967,\u0968\u0969\u096a \u092b\u093c\u093e\u0907\u0932", True),
        ("12 files", "\u06f1\u06f3 \u0641\u0627\u06cc\u0644", False),
        ("see http://a.it/b.", "vedi http://a.it/b!", True),
        ("see http://a.it/b.", "vedi http://a.it/c.", False),
        ("nothing", "%s", False),
        ("Click %1$shere%2$s", "Fare clic %1$squi%2$s", True),
        ("Click %1$shere%2$s", "$shere %2$s %1", False),
        ("50% of it", "A c\u00e9g 50%-a", True),
        ("1\u00a0200 files", "1 200 file", True),
        ("1\u202f200\u202f300,50 euros", "1,200,300.50 euros", True),
        ("1'000 Franken, 3 Tage", "1,000 francs, 3 days", True),
        ("1\u00a0200 fichiers", "1,300 files", False),
        ("1\u00a0200 fichiers", "200 files", False),
        ("1, 200 fichiers", "1,200 files", False),
        ("4 12 fichiers", "412 files", False),
        ("4 1200 fichiers", "41200 files", False),
        ("1,200,300.50 euros", "1\u202f200\u202f300,50 euros", True),
        ("1,000 francs, 3 days", "1'000 Franken, 3 Tage", True),
        ("1,200 files", "1 300 fichiers", False),
        ("1,200 files", "1, 200 fichiers", False),
        ("1,200 and 1,200 files", "1 200 fichiers", False),
        ("in 2001-2002, 8\u201310 years", "2001\u20132002, 8-10 Jahre", True),
        ("8-10 years", "8\u201311 Jahre", False),
        ("8\u201310 years", "810 Jahre", False),
        ("8-10 years", "8 bis 10 Jahre", False),
        ("at 10:30am, 2.4GHz", "alle 10:30, 2,4 GHz", True),
        ("3 cats", "3\u53ea\u732b", True),
        ("12.5 kilos, 1,200 dinars", "١٢٫٥ كيلو، ١٬٢٠٠ دينار", True),
        ("١٢٫٥ كيلو، ١٬٢٠٠ دينار", "12.5 kilos, 1,200 dinars", True),
        ("١٢٫٥ كيلو، ١٬٢٠٠ دينار", "12,5 Kilo, 1.200 Dinar", True),
        ("١٢٫٥ كيلو", "125 kilos", False),
        ("重さは３．５キロ", "3.5 kg", True),
        ("価格は１，２００円", "1,200 yen", True),
        ("価格は１，２００円", "1 yen and 200", False),
        ("10：30に", "at 10:30", True),
        ("send AB-00009/X0", "mandare AB-00009/X0", True),
        ("send AB-00009/X0", "mandare AB-00009/XO", False),
        ("send AB-00009/X0", "mandare AB-00009", False),
        ("see G8--AB-0009, MP3.AB-0009", "siehe G-8: AB-0009; MP3.AB-0009", True),
        ("it", "AB-00009", True),
        ("AB-0123 or AB-0124", "AB-0124 o AB-0123", True),
        ("AB-0123 or AB-0124", "AB-0123 o AB-0124 o AB-0124", False),
        ("an ISO 9001 certificate", "ein ISO-9001-Zertifikat", True),
        ("Die CO2-Emissionen der EU-27", "les \u00e9missions de CO2 de l'UE-27", True),
        ("5 m\u00b2 \u00b1 1", "\u00b1 1, 5 m\u00b2", True),
        ("5 m\u00b2", "5 m", False),
        ("第1，2章", "chapters 1 and 2", True),
        ("5月3日に来た。", "He came on May 3.", True),
        ("2024년 5월 3일", "May 3, 2024", True),
        ("5月3日に来た。", "He came on May 5.", False),
        ("3.5万人参加了。", "35,000 people took part.", True),
        ("5 लाख लोग", "500,000 people", True),
        ("20世紀、1980年代", "the 20th century, the 1980s", True),
        ("20世紀", "the 21st century", False),
        ("20世紀", "paragraph 1.20b", False),
        ("5-й класс", "5th grade", True),
        ("3 MP3", "MP3", False),
        ("3 cats and 3 dogs", "3 cats and 4 dogs", False),
        ("2 million people", "3 milioni di persone", False),
    ],
)
def test_a_translation_keeps_its_terms_or_has_a_fault(
    source: str, translation: str, keeps: bool
) -> None:
    faults = find_term_faults(find_protected(source), find_protected(translation), translation)
    assert faults == (() if keeps else (FAULT_OF_PROTECTED,))


def test_a_code_that_a_term_of_the_glossary_has_is_not_doubled() -> None:
    audit = Term(kind="glossary", start=0, end=5, writings=("verifica AB-0123",))
    required = [audit, *find_protected("audit: AB-0123")]
    once, twice, often = ("verifica AB-0123" + more for more in ("", " AB-0123", 2 * " AB-0123"))

    assert not find_term_faults(required, find_protected(once), once)
    assert not find_term_faults(required, find_protected(twice), twice)
    assert find_term_faults(required, find_protected(often), often) == (FAULT_OF_PROTECTED,)


@pytest.mark.parametrize(
    "text", ["{a}{{ b }}", "1/http://a.it/\u00e9", "abc\n1", "%s", "\u4f60{0}\u597d", "x{0}y z"]
)
def test_the_pieces_around_terms_are_the_text(text: str) -> None:
    assert "".join(cut_around(text, find_protected(text))) == text


def test_a_line_of_nothing_but_one_character_takes_no_time_to_speak_of() -> None:
    for text in (
        "a" * 50_000,
        "_a" * 25_000,
        "${" * 25_000,
        "${" + "a" * 50_000,
        "{a>" * 10_000,
        "%" + "0" * 50_000,
        "%(a)" + "0" * 50_000,
        *(
            "A-" * 25_000,
            "1-A--" * 10_000,
            "A9." * 17_000,
            "1A" * 25_000,
            "v1" + ".1" * 25_000 + "a",
        ),
    ):
        assert find_protected(f"{text} {{0}}")[-1].writings == ("{0}",)
    assert cut_around("!" * 50_000 + "\u00e9 1", find_protected("!" * 50_000 + "\u00e9 1"))


@given(st.text(alphabet="aA1%s{}$()@.:/, _-<>\u00e8\u00b1", max_size=40))
@example("1{\u00e8}")  # two that touch, of which what belongs to the first is a part of the second
@example("\u00e8.1")  # a number by what stands before what touches it
def test_terms_are_in_order_and_apart_whatever_the_text(text: str) -> None:
    end = 0
    for term in find_protected(text):
        assert end <= term.start < term.end <= len(text)
        assert text[term.start : term.end] == term.writings[0]
        end = term.end
    pieces = cut_around(text, find_protected(text))
    assert "".join(pieces) == text
    terms = [term.writings[0] for term in find_protected(text)]
    for kept in pieces[1::2]:
        assert any(term in kept for term in terms)
    assert not any(find_protected(piece) for piece in pieces[::2])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The word λόγος, not Λόγος.", ["λόγος", "Λόγος"]),
        ("Say «Добрый день» or добрый-вечер", ["Добрый день", "добрый-вечер"]),
        ("कि की means that", ["कि की"]),
        ("5 µm, ½ of it, naïve façade №4 ﬁne", ["µ"]),
        ("http://пример.it/ю and %(имя)s", []),
        ("See http://a.it/ю слово мир %(имя)sю", ["слово мир", "ю"]),
        ("I donʼt know ʻokina", []),
    ],
)
def test_words_in_other_scripts_are_found_whole(text: str, words: list[str]) -> None:
    foreign = letters_outside("en", "it")
    found = [term for term in find_protected(text, foreign) if term.kind == "foreign"]

    assert [text[term.start : term.end] for term in found] == words
    assert not [term for term in find_protected(text) if term.kind == "foreign"]


def test_words_of_either_language_and_latin_ones_are_not_foreign() -> None:
    text = "Привет, world"
    assert not TermFinder(languages=("ru", "zh")).find(text)
    assert not TermFinder(languages=("en", "uk")).find(text)
    assert not TermFinder(languages=("en", "tlh")).find(text)  # whose script is not known
    (term,) = TermFinder(languages=("en", "it")).find(text)
    assert term.writings == ("Привет",)


def test_a_translation_keeps_words_in_other_scripts() -> None:
    finder = TermFinder(languages=("en", "it"))
    required = finder.find("The word λόγος")
    for translation in ("La parola λόγος", "λόγος, 5 µm"):
        assert not finder.find_faults(required, translation)
    for translation in ("La parola logos", "λόγος-λόγος"):
        assert finder.find_faults(required, translation) == (FAULT_OF_PROTECTED,)


def test_pictures_are_found_whole() -> None:
    text = "I \u2764\ufe0f it 🤷\u200d\u2640\ufe0f 1\ufe0f\u20e3 \u2642 C\u266f \u2192 \u00b1"
    found = found_in(text)
    assert [kind for kind, _ in found] == ["picture"] * 3 + ["sign"]
    assert [written for _, written in found[:3]] == [
        "\u2764\ufe0f",
        "🤷\u200d\u2640\ufe0f",
        "1\ufe0f\u20e3",
    ]


def test_addresses_in_capitals_are_found() -> None:
    assert found_in("HTTP://A.IT/B, WWW.C.IT") == [
        ("address", "HTTP://A.IT/B"),
        ("address", "WWW.C.IT"),
    ]


def test_digits_of_another_script_may_become_those_of_ascii() -> None:
    (number,) = find_protected("\u0661\u0662\u066b\u0665")
    assert number.writings == ("\u0661\u0662\u066b\u0665", "\u0661\u0662,\u0665", "12.5", "12,5")


_PIECES = st.text(
    "aAbR\u00e8\u00b2\u2460\u00bd\u0645\u732b019%s{}$@_/\\-.,:;)! \n\u00a0", max_size=4
)
_PARTS = st.sampled_from(
    ["word ", "1 ", "\u00b2 ", "www.", "http://a", "a@b.it ", "AB-09", "{% a %}", " ~/a", " /a/"]
)


@given(st.lists(_PIECES | _PARTS, max_size=12).map("".join))
def test_nothing_is_missed_in_words_that_are_read_in_one_go(text: str) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(protected, "_PLAIN", "(?!)")
        slowly = protected._pattern.__wrapped__(percent_first=False, other_millions=False)
    expected = [found.span() for found in slowly.finditer(text) if found.lastgroup]
    assert [(term.start, term.end) for term in find_protected(text)] == expected


@pytest.mark.parametrize("unit", ["ms", "min", "px", "pt", "kB", "MiB", "GHz", "cm", "km", "th"])
def test_a_unit_may_follow_a_placeholder(unit: str) -> None:
    assert found_in(f"%d{unit}, %d") == [("placeholder", "%d"), ("placeholder", "%d")]


@pytest.mark.parametrize("protocol", ["http", "https", "ftp", "ftps", "file"])
def test_addresses_of_all_protocols_are_found(protocol: str) -> None:
    assert found_in(f"See {protocol}://host/file.") == [("address", f"{protocol}://host/file")]


@pytest.mark.parametrize(
    "sign", "\u00ae\u2122\u00b1\u00f7\u00b2\u00b3\u2200\u2211\u2213\u221e\u2260\u23ff\u2500\u25ff"
)
def test_each_sign_that_languages_share_is_found(sign: str) -> None:
    assert found_in(f"a {sign} b") == [("sign", sign)]
