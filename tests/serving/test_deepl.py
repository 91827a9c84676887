"""DeepL's protocol, spoken by its official client and command line."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import deepl
import pytest
import requests
from tests.serving.live import Copier, loaded, serving

from dragoman.serving.models import ServedModel
from dragoman.serving.settings import Settings
from dragoman.translator import Translator

TEXT = "The cat is on the table."


@pytest.fixture
def client(address: str) -> Iterator[deepl.Translator]:
    translator = deepl.Translator("any key", server_url=address)
    yield translator
    translator.close()


@pytest.fixture(scope="session")
def expected(english_italian: Path) -> str:
    return Translator(english_italian, device="cpu")(TEXT)


def test_the_client_translates_texts(client: deepl.Translator, expected: str) -> None:
    one = client.translate_text(TEXT, target_lang="IT")
    two = client.translate_text([TEXT, "7"], source_lang="EN", target_lang="IT")

    assert (one.text, one.detected_source_lang, one.billed_characters) == (expected, "EN", 24)
    assert [found.text for found in two] == [expected, "7"]
    assert client.translate_text("Il gatto", source_lang="IT", target_lang="EN-US").text
    named = client.translate_text("Il gatto", source_lang="EN", target_lang="IT")
    assert named.detected_source_lang == "EN"


def test_the_client_learns_what_there_is(client: deepl.Translator) -> None:
    before = client.get_usage().character.count
    client.translate_text(TEXT, target_lang="IT")

    assert client.get_usage().character.count == before + len(TEXT)
    assert [language.code for language in client.get_source_languages()] == ["EN", "IT"]
    targets = [(language.code, language.name) for language in client.get_target_languages()]
    assert targets == [("IT", "Italian"), ("EN-GB", "English (GB)"), ("EN-US", "English (US)")]
    assert client.get_glossary_languages() == []
    assert client.list_glossaries() == []


def test_the_client_translates_a_document(
    client: deepl.Translator, expected: str, tmp_path: Path
) -> None:
    (tmp_path / "in.html").write_text(f"<p title='1'>{TEXT}</p>\n<!-- a cat -->")

    status = client.translate_document_from_filepath(
        tmp_path / "in.html", tmp_path / "out.html", target_lang="IT"
    )

    assert status.done
    written = (tmp_path / "out.html").read_text()
    assert written == f"<p title='1'>{expected}</p>\n<!-- a cat -->"


def test_a_document_is_its_owners_alone_and_is_fetched_once(
    client: deepl.Translator, expected: str
) -> None:
    handle = client.translate_document_upload(
        TEXT, source_lang="EN", target_lang="IT", filename="a.txt"
    )
    thief = deepl.DocumentHandle(handle.document_id, "0" * 64)

    with pytest.raises(deepl.DeepLException, match="no such document"):
        client.translate_document_get_status(thief)
    client.translate_document_wait_until_done(handle)
    assert client.translate_document_download(handle).text == expected
    with pytest.raises(deepl.DeepLException, match="Not found"):
        client.translate_document_download(handle)


def test_a_document_that_cannot_be_translated_says_why(client: deepl.Translator) -> None:
    handle = client.translate_document_upload(
        TEXT, source_lang="EN", target_lang="EN-GB", filename="a.txt"
    )
    same = client.translate_document_wait_until_done(handle)

    assert same.done
    with pytest.raises(deepl.DeepLException, match="'XX' is not served"):
        client.translate_document_upload(TEXT, target_lang="XX", filename="a.txt")


def test_a_file_has_the_name_that_a_field_gives_it(address: str) -> None:
    answer = requests.post(
        f"{address}/v2/document",
        files={"file": ("-", TEXT)},
        data={"filename": "a.txt", "target_lang": "IT"},
        timeout=30,
    )

    assert answer.status_code == 200


def test_the_command_line_translates(address: str, expected: str) -> None:
    command = [sys.executable, "-m", "deepl", "--server-url", address, "--auth-key", "x"]

    run = subprocess.run(
        [*command, "text", "--to", "IT", TEXT], check=True, capture_output=True, text=True
    )

    assert run.stdout.strip() == expected


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"target_lang": "XX"}, "'XX' is not served; the languages are en, it"),
        ({"target_lang": "IT", "formality": "more"}, "formality is not supported"),
        ({"target_lang": "IT", "source_lang": "EN", "glossary": "7"}, "there is no such glossary"),
        ({"target_lang": "IT", "custom_instructions": ["shout"]}, "custom_instructions is not"),
        ({"target_lang": "IT", "split_sentences": "2"}, "split_sentences: "),
        (
            {"target_lang": "IT", "tag_handling": "xml", "outline_detection": False},
            "outline_detection is not supported",
        ),
    ],
)
def test_what_cannot_be_done_is_refused(
    client: deepl.Translator, options: dict[str, Any], error: str
) -> None:
    with pytest.raises(deepl.DeepLException, match=error):
        client.translate_text(TEXT, **options)


@pytest.mark.parametrize(
    ("fields", "status", "error"),
    [
        ({"style_id": "abc"}, 400, "style_id is not supported here"),
        ({"translation_memory_id": "abc"}, 400, "translation_memory_id is not supported here"),
        ({"glossary_ids": "nope"}, 404, "there is no such glossary"),
        ({"output_format": "html"}, 400, "output_format is not supported here"),
        ({"formality": "more"}, 400, "formality is not supported"),
    ],
)
def test_what_cannot_be_done_for_a_document_is_refused(
    address: str, fields: dict[str, str], status: int, error: str
) -> None:
    languages = {"source_lang": "EN", "target_lang": "IT"}
    files = {"file": ("letter.txt", b"The cat.")}

    answer = requests.post(
        f"{address}/v2/document", data=languages | fields, files=files, timeout=30
    )

    assert answer.status_code == status
    assert error in answer.json()["message"]


def test_a_document_may_name_the_format_that_it_has(address: str) -> None:
    fields = {"source_lang": "EN", "target_lang": "IT", "output_format": "TXT"}

    answer = requests.post(
        f"{address}/v2/document", data=fields, files={"file": ("a.txt", b"The cat.")}, timeout=30
    )

    assert answer.status_code == 200


def test_fields_that_are_null_or_empty_are_as_if_they_were_not_there(
    address: str, expected: str
) -> None:
    fields: dict[str, Any] = {"text": [TEXT], "target_lang": "IT", "source_lang": "EN"}
    unset = {"formality": None, "split_sentences": "", "tag_handling": None, "glossary_id": ""}

    answer = requests.post(f"{address}/v2/translate", json=fields | unset, timeout=30)

    assert answer.json()["translations"][0]["text"] == expected


def test_other_versions_are_refused_in_words_that_the_client_reads(address: str) -> None:
    answer = requests.get(f"{address}/v3/glossaries", timeout=30).json()

    assert answer["message"].startswith("there is nothing at /v3/glossaries")


def test_what_changes_nothing_is_accepted(client: deepl.Translator, expected: str) -> None:
    options: dict[str, Any] = {
        "formality": "prefer_less",
        "context": "A story.",
        "preserve_formatting": True,
        "model_type": "quality_optimized",
    }

    assert client.translate_text(TEXT, target_lang="IT", **options).text == expected


def test_a_wrong_key_is_refused(english_italian: Path) -> None:
    with serving([loaded(english_italian)], Settings(api_keys=("sesame",))) as url:
        right, wrong = (deepl.Translator(key, server_url=url) for key in ("sesame", "open"))
        assert right.translate_text(TEXT, target_lang="IT").text
        with pytest.raises(deepl.AuthorizationException, match="API key is missing or wrong"):
            wrong.translate_text(TEXT, target_lang="IT")
        right.close()
        wrong.close()


def test_forms_with_repeated_texts_are_read(address: str, expected: str) -> None:
    fields = [("text", TEXT), ("text", "7"), ("target_lang", "it"), ("source_lang", "")]

    answer = requests.post(f"{address}/v2/translate", data=fields, timeout=30).json()

    assert [found["text"] for found in answer["translations"]] == [expected, "7"]
    assert "billed_characters" not in answer["translations"][0]
    problem = requests.post(f"{address}/v2/translate", json={"target_lang": "IT"}, timeout=30)
    assert (problem.status_code, problem.json()) == (400, {"message": "text is missing"})


def test_sentences_are_cut_as_asked_for(copying: tuple[Copier, ServedModel]) -> None:
    text = "The Cat\nA Dog. Cat"

    def translate(url: str, split: str | None, tags: str | None = None) -> tuple[str, int]:
        engine.asked.clear()
        client = deepl.Translator("x", server_url=url)
        found = client.translate_text(
            text,
            source_lang="EN",
            target_lang="IT",
            split_sentences=split,
            tag_handling=tags,
        )
        client.close()
        return found.text, engine.asked[0]

    engine, model = copying
    with serving([model]) as url:
        assert translate(url, None) == translate(url, "1") == (text, 3)
        assert translate(url, "nonewlines") == (text.replace("\n", " "), 2)
        assert translate(url, "0") == (text.replace("\n", " "), 1)
        assert translate(url, "1", "html") == (text.replace("\n", " "), 2)
        assert translate(url, "0", "html") == (text.replace("\n", " "), 1)
        text = "猫は\n川を見る"
        assert translate(url, "0", "html") == ("猫は川を見る", 0)  # in no script of the model's


def test_a_block_of_a_page_is_never_within_a_sentence(
    copying: tuple[Copier, ServedModel],
) -> None:
    engine, model = copying
    fields = {"text": "The cat<div>A dog</div>A cat", "target_lang": "IT", "source_lang": "EN"}

    with serving([model]) as url:
        for tags in ("html", "xml"):
            requests.post(f"{url}/v2/translate", json=fields | {"tag_handling": tags}, timeout=30)

    assert engine.asked == [3, 4]  # in XML, the whole and what is between the tags


def test_tags_are_kept_as_translation_memories_send_them(
    copying: tuple[Copier, ServedModel],
) -> None:
    xml = 'The <x id="5"></x> cat, the <b>dog</b> and <x>%s</x>.'

    with serving([copying[1]]) as url:
        client = deepl.Translator("x", server_url=url)
        found = client.translate_text(
            xml, source_lang="EN", target_lang="IT", tag_handling="xml", ignore_tags=["x"]
        )
        client.close()

    assert found.text == xml


@pytest.mark.parametrize(
    ("kind", "option", "num_pieces"),
    [
        ("xml", {}, 4),  # the whole, and what is between the tags
        ("xml", {"splitting_tags": ["p", "x"]}, 3),
        ("xml", {"splitting_tags": "p, X"}, 3),
        ("html", {}, 3),
        ("html", {"non_splitting_tags": ["DIV"]}, 4),
    ],
)
def test_a_client_says_which_tags_separate_sentences(
    copying: tuple[Copier, ServedModel], kind: str, option: dict[str, Any], num_pieces: int
) -> None:
    engine, model = copying
    tag = "x" if kind == "xml" else "div"
    text = f"The cat<{tag}>A dog</{tag}>A cat"
    fields = {"text": text, "target_lang": "IT", "source_lang": "EN", "tag_handling": kind}

    with serving([model]) as url:
        answer = requests.post(f"{url}/v2/translate", json=fields | option, timeout=30)

    assert answer.json()["translations"][0]["text"] == text
    assert engine.asked == [num_pieces]


@pytest.mark.parametrize("name", ["text", "text[]"])
def test_a_form_may_repeat_a_field_often_and_mark_it_as_a_list(address: str, name: str) -> None:
    fields = [(name, number) for number in "7896"]
    languages = [("target_lang", "it"), ("source_lang", "en")]

    answer = requests.post(f"{address}/v2/translate", data=fields + languages, timeout=30).json()

    assert [found["text"] for found in answer["translations"]] == list("7896")
