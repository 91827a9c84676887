from pathlib import Path

import pytest

from dragoman.corpora.text_file import CorpusError
from dragoman.terms.finder import TermFinder
from dragoman.terms.glossary import Glossary
from dragoman.terms.term import FAULT_OF_GLOSSARY, FAULT_OF_PROTECTED, find_term_faults

LANGUAGES = ("en", "it")
GLOSSARY = Glossary(
    {"file": ("archivio",), "log file": ("registro", "giornale"), "C++": ("C++",), "AI": ("IA",)}
)


def found_in(text: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(text[term.start : term.end], term.writings) for term in GLOSSARY.find(text)]


def test_terms_are_whole_words_and_the_longest_counts() -> None:
    assert [term for term, _ in found_in("A log  file, a file and files of a profile.")] == [
        "log  file",
        "file",
    ]


def test_what_looks_like_a_term_to_the_pattern_alone_is_none() -> None:
    """A dotless i is an i to patterns that ignore case."""
    assert found_in("the f\u0131le, F\u0130LE") == []


def test_a_term_does_not_end_within_a_number() -> None:
    terms = {"version": "v", "version 2.0": "v 2.0", "2 keys": "2 tasti", "door": "porta"}
    glossary = Glossary({source: (target,) for source, target in terms.items()})
    text = "Version 2.0.1, version 2.0. Version 2.0-3, 1.2 keys, 2 keys, 3-door"
    found = [text[term.start : term.end] for term in glossary.find(text)]
    assert found == ["Version", "version 2.0", "Version", "2 keys", "door"]


@pytest.mark.parametrize(
    ("source", "target", "text", "translation"),
    [
        ("type 2 diabetes", "diabete di tipo 2", "Has type 2 diabetes?", "diabete di tipo 2"),
        ("\u534e\u4e3a", "Huawei", "Buy \u534e\u4e3a!", "Huawei"),
    ],
)
def test_a_term_says_how_numbers_and_foreign_words_in_it_are_written(
    source: str, target: str, text: str, translation: str
) -> None:
    finder = TermFinder(glossary=Glossary({source: (target,)}), languages=LANGUAGES)
    (term,) = finder.find(text)
    assert (term.kind, term.writings[0]) == ("glossary", target)
    assert not finder.find_faults([term], translation)
    assert finder.find_faults([term], text) == (FAULT_OF_GLOSSARY,)


def test_a_placeholder_or_half_of_what_stays_is_no_matter_of_a_glossary() -> None:
    glossary = Glossary({"{a} b": ("c",), "5 million": ("d",), "\u534e": ("e",)})
    finder = TermFinder(glossary=glossary, languages=LANGUAGES)
    kinds = [term.kind for term in finder.find("{a} b of 1.5 million, \u534e\u4e3a")]
    assert kinds == ["placeholder", "number", "foreign"]


def test_what_a_term_that_cannot_count_would_prescribe_stays_protected() -> None:
    finder = TermFinder(glossary=Glossary({"page 2 of {n}": ("pagina 2 di {n}",)}))
    terms = finder.find("See page 2 of {n}.")
    assert [term.kind for term in terms] == ["number", "placeholder"]
    assert finder.find_faults(terms, "Vedi pagina 9 di {n}.") == (FAULT_OF_PROTECTED,)


def test_where_words_have_no_spaces_a_term_is_found_between_them() -> None:
    glossary = Glossary({"\u732b": ("cat",), "cat": ("\u732b",)})
    assert [term.start for term in glossary.find("\u0e17\u0e35\u0e48cat")] == [3]  # behind a mark
    assert [term.writings[0] for term in glossary.find("\u8fd9\u53ea\u732b\u5f88")] == ["cat"]
    assert not find_term_faults(glossary.find("a cat"), [], "\u8fd9\u53ea\u732b\u5f88")


def test_apostrophes_are_straight_or_curly() -> None:
    glossary = Glossary({"user's guide": ("guida all'uso",), "dell\u2019arte": ("of art",)})
    for text in ("user's guide, dell'arte", "User\u2019s guide, dell\u2019arte"):
        guide, art = glossary.find(text)
        assert (guide.writings[0], art.writings[0]) == ("guida all'uso", "of art")
    assert not find_term_faults([guide], [], "La guida all\u2019uso")


def test_a_capital_i_with_a_dot_is_an_i() -> None:
    glossary = Glossary({"statistics": ("istatistik",)})
    assert not find_term_faults(glossary.find("statistics"), [], "\u0130statistik ve")


def test_turkish_has_two_pairs_of_i() -> None:
    terms = {"ilaç": ("x",), "ısıtıcı": ("y",), "İzmir": ("z",)}
    text = "İlaç, ISITICI ve izmir; ılaç, isıtıcı, Izmir"
    found = Glossary(terms, languages=("tr", "en")).find(text)
    assert [each.writings[0] for each in found] == ["x", "y", "z"]
    (term,) = Glossary({"it": ("iyi",)}, languages=("en", "tr")).find("IT")
    assert term.writings == ("iyi", "İyi", "İYİ")


def test_an_acronym_is_found_only_in_capitals() -> None:
    (term,) = Glossary({"informatica": ("IT",)}).find("Informatica")
    assert find_term_faults([term], [], "It knows.") == (FAULT_OF_GLOSSARY,)
    assert not find_term_faults([term], [], "The IT team knows.")
    glossary = Glossary({"IT": ("informatica",), "AI model": ("modello di IA",), "X": ("Y",)})
    text = "It tells the IT team about it, the ai model and x."
    found = [text[term.start : term.end] for term in glossary.find(text)]
    assert found == ["IT", "ai model", "x"]
    of_both = Glossary({"US": ("Stati Uniti",), "us": ("noi",)}).find("The US and us, not Us.")
    assert [term.writings[0] for term in of_both] == ["Stati Uniti", "noi", "noi"]


def test_terms_that_differ_in_case_share_their_translations() -> None:
    glossary = Glossary({"File": ("Archivio",), "file": ("documento",), "a  b": ("c",)})
    (found,) = glossary.find("the file")
    assert found.writings[:2] == ("Archivio", "documento")
    assert glossary.find("A b")[0].writings[0] == "c"


def test_the_case_of_the_source_decides_what_is_allowed() -> None:
    assert found_in("the file") == [("file", ("archivio", "Archivio"))]
    assert found_in("THE FILE") == [("FILE", ("archivio", "Archivio", "ARCHIVIO"))]
    (letter,) = Glossary({"x": ("incognita",)}).find("X and y")
    assert letter.writings == ("incognita", "Incognita")


def test_a_term_may_have_several_translations_and_odd_characters() -> None:
    (found,) = found_in("Log file")
    assert found[1] == ("registro", "giornale", "Registro", "Giornale")
    assert [term for term, _ in found_in("in C++, or")] == ["C++"]


@pytest.mark.parametrize(
    ("translation", "keeps"),
    [
        ("Apri l'archivio.", True),
        ("Archivio aperto.", True),
        ("Apri gli archivi.", False),
        ("Apri il sottoarchivio, poi l'archivio.", True),
        ("Apri il sottoarchivio.", False),
    ],
)
def test_a_translation_has_the_term_as_a_word_of_its_own(translation: str, keeps: bool) -> None:
    finder = TermFinder(glossary=GLOSSARY)
    faults = finder.find_faults(finder.find("Open the file."), translation)
    assert faults == (() if keeps else (FAULT_OF_GLOSSARY,))


def test_protected_text_is_not_translated_by_the_glossary() -> None:
    finder = TermFinder(glossary=GLOSSARY)
    kinds = [term.kind for term in finder.find("The file is at http://a.it/file or %(file)s.")]
    assert kinds == ["glossary", "address", "placeholder"]


def test_a_term_may_touch_what_is_protected() -> None:
    finder = TermFinder(glossary=GLOSSARY)
    assert [term.kind for term in finder.find("{n}file{m}")] == [
        "placeholder",
        "glossary",
        "placeholder",
    ]


def load(path: Path, *, protects: bool = True) -> Glossary:
    finder = TermFinder(protects=protects, languages=LANGUAGES)
    return Glossary.load(path, languages=LANGUAGES, find_protected=finder.find_protected)


def test_a_file_of_terms_is_read(tmp_path: Path) -> None:
    path = tmp_path / "terms.tsv"
    path.write_text(
        "log  file\tregistro\nlog file\tgiornale\nmouse\ttopo\ntype 2\ttipo 2\n", encoding="utf-8"
    )
    terms = load(path).find("The mouse and the log file")
    assert [term.writings[0] for term in terms] == ["topo", "registro"]
    assert terms[1].writings[1] == "giornale"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("mouse topo\n", r"terms\.tsv:1: 1 column where 2 are expected"),
        ("mouse\ttopo\ncat\t \n", r"terms\.tsv:2: the target of this term is empty"),
        ("\ttopo\n", r"terms\.tsv:1: the source of this term is empty; fill it in, or remove"),
        (
            "a\t\nmouse\ttopo\n\tb\n" + "c\t\n" * 20,
            r"terms\.tsv:1: the target of this term is empty, and a side of 21 more "
            r"\(line 3, 4, .*, 22, …\); fill them in, or remove the lines$",
        ),
        ("", "is empty"),
        (
            "English\tItalian\ncat\tgatto\n",
            r"terms\.tsv:1: English and Italian look like",
        ),
        ("Term\tTranslation\r\ncat\tgatto\r\n", r"terms\.tsv:1: .*; remove the line"),
        ("cat\tgatto\nsave %s\tsalva\n", r"terms\.tsv:2: the term 'save %s' .* as %s in it is"),
        ("see http://a.it/b\tvedi\n", r"terms\.tsv:1: .* as http://a\.it/b in it is protected"),
        ("file {n} of 2\tarchivio\n", r"terms\.tsv:1: .* as \{n\} in it is protected"),
        (
            "two\t2\nuser\t%s\n",
            r"terms\.tsv:2: the translation '%s' .* no translation has %s unless",
        ),
        (
            "homepage\twww.a.it\n",
            r"terms\.tsv:1: .* no translation has www\.a\.it unless its source",
        ),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "terms.tsv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(CorpusError, match=message):
        load(path)


def test_where_nothing_is_protected_a_placeholder_is_part_of_a_term(tmp_path: Path) -> None:
    path = tmp_path / "terms.tsv"
    path.write_text("save %s	salva %s\n", encoding="utf-8")
    (term,) = load(path, protects=False).find("Save %s?")
    assert term.writings[0] == "salva %s"


@pytest.mark.parametrize(
    ("term", "text", "found"),
    [
        ("caff\u00e8", "un caffe\u0300 nero", ["caffe\u0300"]),
        ("caffe\u0300", "un CAFF\u00c8 nero", ["CAFF\u00c8"]),
        ("cafe", "il cafe\u0301", []),
        ("cafe", "\u2615\ufe0fcafe\u2615\ufe0f", ["cafe"]),
        ("cafe", "1\ufe0f\u20e3cafe", ["cafe"]),
        ("\u0130stanbul", "\u0130stanbul, oggi", ["\u0130stanbul"]),
        ("\u0915\u092e", "\u092f\u0939 \u0915\u092e\u0940 \u0939\u0948", []),
        (
            "\u0915\u092e\u0940",
            "\u092f\u0939 \u0915\u092e\u0940 \u0939\u0948",
            ["\u0915\u092e\u0940"],
        ),
        ("\u0915\u092e\u0940", "\u092f\u0939 \u0915\u092e\u0940\u0915", []),
        ("\u092e\u0940", "\u0915\u0940\u092e\u0940", []),
        ("\u062e\u0627\u0646\u0647", "\u062e\u0627\u0646\u0647\u200c\u0647\u0627", []),
        ("บ้าน", "ฉันอยู่ที่บ้าน", ["บ้าน"]),
        ("ที", "ฉันอยู่ที่บ้าน", []),
        ("ផ្ទះ", "ទៅផ្ទះ", ["ផ្ទះ"]),
        ("ទះ", "ទៅផ្ទះ", []),
        ("အိမ်", "သူ့အိမ်", ["အိမ်"]),
    ],
)
def test_a_letter_and_its_mark_are_one(term: str, text: str, found: list[str]) -> None:
    glossary = Glossary({term: ("x",)})
    assert [text[each.start : each.end] for each in glossary.find(text)] == found


def test_a_shorter_term_counts_where_a_longer_one_would_end_before_a_mark() -> None:
    glossary = Glossary({"มา": ("come",), "มาก": ("much",)})
    assert [term.writings[0] for term in glossary.find("มาก็ มาก")] == ["come", "much"]


def test_a_writing_is_not_found_before_a_mark() -> None:
    (term,) = Glossary({"coffee": ("caffe",)}).find("a coffee")
    assert find_term_faults([term], [], "un caffe\u0300") == (FAULT_OF_GLOSSARY,)
    assert find_term_faults([term], [], "un caffe") == ()


def test_a_writing_that_begins_or_ends_in_a_sign_may_touch_a_word() -> None:
    (term,) = Glossary({"framework": (".NET", "C#")}).find("a framework")
    assert find_term_faults([term], [], "ASP.NET") == ()
    assert find_term_faults([term], [], "il C#11") == ()
    assert find_term_faults([term], [], "ASP.NETTO") == (FAULT_OF_GLOSSARY,)


def test_terms_of_any_bounds_stand_beside_each_other() -> None:
    """C is a whole word, C++ is none at its end, and a longer one counts first."""
    glossary = Glossary({name: (name,) for name in ("C", "C++", "-x", "C++ library", "gcc -x")})

    text = "C, C++ and a C++ library; Cx, gcc -x, -xc and a -x; C++20, y-x"

    found = glossary.find(text)

    assert [text[term.start : term.end] for term in found] == [
        "C",
        "C++",
        "C++ library",
        "gcc -x",
        "-x",
        "C++",
        "-x",
    ]


def test_the_other_way_round_the_letters_are_those_of_the_other_language() -> None:
    back = Glossary({"it": ("iyi",)}, languages=("en", "tr")).reversed()
    (term,) = back.find("İYİ")
    assert term.writings == ("it", "It", "IT")
