"""Prescribed terms, as the official client of DeepL reads and chooses them."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import deepl
import pytest
import requests
from tests.serving.live import loaded, serving

from dragoman.serving.models import ServedModel
from dragoman.translator import Translator

TERMS = "cat\tmicio\ncat\tgatto\nDog\tcane\n"


@pytest.fixture(scope="module")
def address(
    english_italian: Path, italian_english: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """Where English is translated with terms, and Italian without."""
    terms = tmp_path_factory.mktemp("terms") / "terms.tsv"
    terms.write_text(TERMS, encoding="utf-8")
    translator = Translator(
        english_italian, engine="pytorch", device="cpu", split_sentences=False, glossary=terms
    )
    models = [
        ServedModel(english_italian, translator, whole_lines=False),
        loaded(italian_english),
    ]
    with pytest.MonkeyPatch.context() as patch, serving(models) as url:
        # Whatever these models say has other faults.
        patch.setattr("dragoman.sentence_translator.find_faults", lambda *_, **__: ())
        yield url


@pytest.fixture
def client(address: str) -> Iterator[deepl.Translator]:
    translator = deepl.Translator("any key", server_url=address)
    yield translator
    translator.close()


def test_the_client_reads_what_terms_are_prescribed(client: deepl.Translator) -> None:
    (pair,) = client.get_glossary_languages()
    (listed,) = client.list_glossaries()
    glossary = client.get_glossary(listed.glossary_id)

    assert (pair.source_lang, pair.target_lang) == ("en", "it")
    assert (glossary.source_lang, glossary.target_lang) == ("EN", "IT")
    assert (glossary.entry_count, glossary.ready) == (2, True)
    assert glossary.creation_time <= datetime.now(UTC)
    assert client.get_glossary_entries(glossary) == {"cat": "micio", "Dog": "cane"}


def test_the_terms_hold_whether_the_glossary_is_chosen_or_not(
    client: deepl.Translator, tmp_path: Path
) -> None:
    (glossary,) = client.list_glossaries()
    chosen = client.translate_text("cat", source_lang="EN", target_lang="IT", glossary=glossary)
    source, target = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_text("cat", encoding="utf-8")
    client.translate_document_from_filepath(
        source, target, source_lang="EN", target_lang="IT", glossary=glossary
    )

    assert any(term in chosen.text for term in ("micio", "gatto"))
    assert client.translate_text("cat", target_lang="IT").text == chosen.text
    assert target.read_text(encoding="utf-8") == chosen.text


@pytest.mark.parametrize(
    ("fields", "status", "message"),
    [
        (
            {"source_lang": "EN", "target_lang": "IT", "glossary_id": "7"},
            404,
            "there is no such glossary here",
        ),
        (
            {"source_lang": "IT", "target_lang": "EN", "glossary_id": "en-it"},
            400,
            "the glossary en-it needs source_lang en and target_lang it",
        ),
        (
            {"target_lang": "IT", "glossary_id": "en-it"},
            400,
            "the glossary en-it needs source_lang en and target_lang it",
        ),
    ],
)
def test_a_glossary_for_other_languages_is_refused_for_texts_and_documents(
    address: str, fields: dict[str, str], status: int, message: str
) -> None:
    text = requests.post(f"{address}/v2/translate", json={"text": "A cat"} | fields, timeout=30)
    document = requests.post(
        f"{address}/v2/document", data=fields, files={"file": ("a.txt", b"A cat")}, timeout=30
    )

    assert (text.status_code, text.json()) == (status, {"message": message})
    assert (document.status_code, document.json()) == (status, {"message": message})


@pytest.mark.parametrize("path", ["/v2/glossaries/it-en", "/v2/glossaries/it-en/entries"])
def test_a_model_without_terms_has_no_glossary(address: str, path: str) -> None:
    answer = requests.get(address + path, timeout=30)

    assert (answer.status_code, answer.json()) == (
        404,
        {"message": "there is no such glossary here"},
    )


def test_a_glossary_cannot_be_written(client: deepl.Translator, address: str) -> None:
    with pytest.raises(deepl.DeepLException, match="/v2/glossaries does not take POST"):
        client.create_glossary("mine", "EN", "IT", {"cat": "gatta"})

    assert requests.delete(f"{address}/v2/glossaries/en-it", timeout=30).status_code == 405
    assert client.get_glossary("en-it").entry_count == 2
