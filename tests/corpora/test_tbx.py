"""Reading termbases: each term arrives with each translation of it that is to be used."""

import re
from pathlib import Path

import pytest
from tests.corpora.texts import read, written

from dragoman.corpora.config import CorpusConfig
from dragoman.corpora.parallel_text import has_named_sides
from dragoman.corpora.text_file import CorpusError
from dragoman.terms.glossary import Glossary


def entry(**languages: str) -> str:
    """Write an entry on one line, of TBX 2; `en_GB` stands for the code en-GB."""
    sets = "".join(
        f'<langSet xml:lang="{code.replace("_", "-")}"><descrip>a <b>cow</b></descrip>{terms}'
        "</langSet>"
        for code, terms in languages.items()
    )
    return f'<termEntry id="1"><descrip type="subjectField">farm</descrip>{sets}</termEntry>\n'


def term(text: str, status: str = "preferredTerm-admn-sts") -> str:
    """Write a term with its part of speech and its status."""
    return (
        f'<ntig><termGrp><term id="x">{text}</term><termNote type="partOfSpeech">noun</termNote>'
        f'<termNote type="administrativeStatus">{status}</termNote></termGrp></ntig>'
    )


def termbase(*entries: str) -> str:
    return (
        '<?xml version="1.0"?>\n<!DOCTYPE martif SYSTEM "TBXcoreStructV02.dtd">\n'
        '<martif type="TBX" xml:lang="en"><martifHeader/><text><body>\n'
        f"{''.join(entries)}</body></text></martif>\n"
    )


def test_each_term_is_a_pair_with_each_of_its_translations(tmp_path: Path) -> None:
    content = termbase(
        entry(it=term("gatto") + "<tig><term>micio</term></tig>", en_GB=term("cat") + term("puss")),
        entry(fr=term("chien"), en_GB=term("a <hi>red</hi> &amp; dog"), it=term("cane")),
    )
    path = written(tmp_path / "a.TBX", content)

    assert has_named_sides(CorpusConfig(path=str(path)))
    pairs = [("cat", "gatto"), ("cat", "micio"), ("puss", "gatto"), ("puss", "micio")]
    assert read(path) == [*((*pair, 4) for pair in pairs), ("a red & dog", "cane", 5)]
    glossary = Glossary.load(path, languages=("en", "it"), find_protected=lambda text: [])
    assert glossary.preferred == {"cat": "gatto", "puss": "gatto", "a red & dog": "cane"}


@pytest.mark.parametrize("status", ["deprecatedTerm-admn-sts", "supersededTerm-admn-sts"])
def test_a_term_that_is_not_to_be_used_is_left_out(tmp_path: Path, status: str) -> None:
    content = termbase(entry(en=term("cat"), it=term("gatto", status) + term("micio")))

    assert read(written(tmp_path / "a.tbx", content)) == [("cat", "micio", 4)]


def test_an_entry_without_a_term_in_both_languages_is_no_pair(tmp_path: Path) -> None:
    content = termbase(
        entry(en=term("dog"), fr=term("chien")), entry(en=term("cat"), it=term("gatto"))
    )

    assert read(written(tmp_path / "a.tbx", content)) == [("cat", "gatto", 5)]


def test_entries_of_version_3_are_read(tmp_path: Path) -> None:
    content = (
        '<tbx style="dct" type="TBX-Basic" xml:lang="en" xmlns="urn:iso:std:iso:30042:ed-2">\n'
        '<text><body><conceptEntry id="1"><langSec xml:lang="en"><termSec><term>cat</term>'
        '</termSec></langSec><langSec xml:lang="it"><termSec><term>gatto</term>'
        '<min:administrativeStatus xmlns:min="m">deprecatedTerm-admn-sts'
        "</min:administrativeStatus></termSec><termSec><term>micio</term></termSec></langSec>"
        "</conceptEntry></body></text></tbx>"
    )

    assert read(written(tmp_path / "a.tbx", content)) == [("cat", "micio", 2)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (termbase(), "it has no translation unit; is it TBX?"),
        (termbase(entry(en=term("a"), de=term("b"))), "no unit has both en and it; the languages"),
    ],
)
def test_a_termbase_of_other_languages_is_refused(
    tmp_path: Path, content: str, message: str
) -> None:
    path = written(tmp_path / "a.tbx", content)

    with pytest.raises(CorpusError, match=f"^{re.escape(f'{path}: {message}')}"):
        read(path)
