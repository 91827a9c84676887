"""LibreTranslate's protocol, spoken by its client, and by programs that are less tidy."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import libretranslatepy
import pytest
import requests
from tests.serving.live import Copier, loaded, serving

from dragoman.documents.formats import DOCUMENT_FORMATS
from dragoman.serving.models import ServedModel
from dragoman.serving.settings import Settings
from dragoman.translator import Translator

TEXT = "The cat is on the table. Where is the dog?"


@pytest.fixture(scope="session")
def expected(english_italian: Path) -> str:
    """Translate the text without a server."""
    return Translator(english_italian, device="cpu")(TEXT)


def post(url: str, **options: Any) -> Any:
    response = requests.post(url, timeout=30, **options)
    return response.status_code, response.json()


def test_the_client_translates_detects_and_lists(address: str, expected: str) -> None:
    client = libretranslatepy.LibreTranslateAPI(address)

    assert client.translate(TEXT, "en", "it") == expected
    assert client.detect("Dov'è il gatto?")[0]["language"] == "it"
    assert client.languages() == [
        {"code": "en", "name": "English", "targets": ["it"]},
        {"code": "it", "name": "Italian", "targets": ["en"]},
    ]


@pytest.mark.parametrize("way", ["json", "data", "params"])
def test_fields_may_come_as_json_form_or_query(address: str, way: str, expected: str) -> None:
    fields = {"q": TEXT, "source": "en", "target": "it"}

    assert post(f"{address}/translate", **{way: fields}) == (200, {"translatedText": expected})


def test_a_multipart_form_and_the_json_of_a_lazy_curl_are_read(address: str, expected: str) -> None:
    fields = {"q": (None, TEXT), "source": (None, "en"), "target": (None, "it")}
    lazy = f'{{"q": "{TEXT}", "source": "en", "target": "it"}}'
    headers = {"Content-Type": "application/x-www-form-urlencoded"}

    assert post(f"{address}/translate", files=fields) == (200, {"translatedText": expected})
    assert post(f"{address}/translate", data=lazy, headers=headers)[0] == 200


def test_a_list_gives_lists(address: str, expected: str) -> None:
    fields = {"q": [TEXT, "", "7"], "source": "auto", "target": "it", "alternatives": 1}

    status, answer = post(f"{address}/translate", json=fields)

    assert status == 200
    assert answer["translatedText"] == [expected, "", "7"]
    assert answer["detectedLanguage"][0] == {"confidence": 100.0, "language": "en"}
    assert [len(others) for others in answer["alternatives"]] == [1, 0, 0]
    assert len(answer["detectedLanguage"]) == 3


def test_text_in_the_target_language_stays_as_it_is(address: str) -> None:
    fields = {"q": "Dov'è il gatto? Non lo so.", "source": "auto", "target": "it"}

    status, answer = post(f"{address}/translate", json=fields)

    assert (status, answer["translatedText"]) == (200, fields["q"])
    assert answer["detectedLanguage"]["language"] == "it"


def test_text_that_may_be_in_the_target_language_is_translated(address: str) -> None:
    assert post(f"{address}/detect", json={"q": "Press the button."})[1][0]["language"] == "it"

    fields = {"q": "Press the button.", "source": "auto", "target": "it"}
    status, answer = post(f"{address}/translate", json=fields)

    assert (status, answer["detectedLanguage"]["language"]) == (200, "en")
    assert answer["translatedText"] != fields["q"]


@pytest.mark.parametrize(
    "text", ["Chúng tôi sẽ đến thăm bà ngoại vào ngày mai.", "Waar is die stasie?"]
)
def test_text_in_a_language_without_a_list_is_translated(
    save: Callable[[str, str], Path], text: str
) -> None:
    with serving([loaded(save("vi", "en"))]) as url:
        fields = {"q": text, "source": "auto", "target": "en"}
        status, answer = post(f"{url}/translate", json=fields)
        assert (status, answer["detectedLanguage"]["language"]) == (200, "vi")

        fields["q"] = "Where is the cat? It was on the table with the other one."
        assert post(f"{url}/translate", json=fields)[1]["translatedText"] == fields["q"]


def test_html_keeps_its_tags(copying: tuple[Copier, ServedModel]) -> None:
    html = '<p class="x">A cat &amp; <b>a dog</b>.</p><script>var cat</script>'

    with serving([copying[1]]) as url:
        fields = {"q": html, "source": "en", "target": "it", "format": "html"}
        status, answer = post(f"{url}/translate", json=fields)

    assert (status, answer["translatedText"]) == (200, html)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"source": "en", "target": "it"}, "q is missing"),
        ({"q": "x", "source": "en"}, "target is missing"),
        (
            {"q": "x", "source": "xx", "target": "it"},
            "'xx' is not served; the languages are en, it",
        ),
        ({"q": "x", "source": "en", "target": "\u0000" * 50}, "is not served"),
        ({"q": {"a": 1}, "source": "en", "target": "it"}, "q: input should be"),
        ({"q": ["x", 1], "source": "en", "target": "it"}, "q: input should be"),
        ({"q": "x", "source": "en", "target": "it", "format": "pdf"}, "format: "),
    ],
)
def test_a_wrong_field_is_named(address: str, fields: dict[str, Any], problem: str) -> None:
    status, answer = post(f"{address}/translate", json=fields)

    assert status == 400
    assert problem in answer["error"]
    assert len(answer["error"]) < 200


@pytest.mark.parametrize("charset", ["", "; charset=ISO-8859-1"])
@pytest.mark.parametrize("text", [b"caff%E8", b"caff\xe8"])
def test_a_form_that_is_not_utf8_is_refused(address: str, text: bytes, charset: str) -> None:
    headers = {"Content-Type": f"application/x-www-form-urlencoded{charset}"}

    status, answer = post(
        f"{address}/translate", data=b"source=it&target=en&q=" + text, headers=headers
    )

    assert (status, answer) == (400, {"error": "the form is not UTF-8"})


def test_a_form_in_parts_that_is_not_utf8_is_refused(address: str) -> None:
    fields = {"q": (None, b"caff\xe8"), "source": (None, "it"), "target": (None, "en")}

    status, answer = post(f"{address}/translate", files=fields)

    assert (status, answer) == (400, {"error": "the form is not UTF-8"})


def test_letters_of_a_form_need_not_be_quoted(copying: tuple[Copier, ServedModel]) -> None:
    """As curl -d sends them."""
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    form = "source=en&target=it&q=a café, λόγος 日本".encode()

    with serving([copying[1]]) as url:
        status, answer = post(f"{url}/translate", data=form, headers=headers)

    assert (status, answer["translatedText"]) == (200, "a café, λόγος 日本")


def test_the_language_of_a_page_is_that_of_what_people_read(address: str) -> None:
    page = (
        "<style>p { content: 'Dove è il gatto, che non lo so' }</style>"
        "<script>// Questo è il gatto, e non è il cane di mia madre</script>"
        "<p class='questo il del non'>Where is the cat?</p>"
    )
    fields = {"q": page, "target": "it", "format": "html"}

    status, answer = post(f"{address}/translate", json=fields)

    assert (status, answer["detectedLanguage"]["language"]) == (200, "en")


def test_a_form_in_parts_may_have_percent_signs(copying: tuple[Copier, ServedModel]) -> None:
    with serving([copying[1]]) as url:
        fields = {"q": (None, "a cat, 50%E8"), "source": (None, "en"), "target": (None, "it")}
        status, answer = post(f"{url}/translate", files=fields)

    assert (status, answer["translatedText"]) == (200, "a cat, 50%E8")


FIELDS = '{"q": "a cat", "source": "en", "target": "it"}'


@pytest.mark.parametrize(
    "body",
    [
        FIELDS.encode("utf-16"),
        FIELDS.encode("utf-32-be"),
        FIELDS.replace("cat", "c\ud800t").encode(errors="surrogatepass"),
    ],
    ids=["utf-16", "utf-32", "surrogate"],
)
def test_json_that_is_not_utf8_is_refused(address: str, body: bytes) -> None:
    status, answer = post(f"{address}/translate", data=body)

    assert status == 400
    assert answer["error"].startswith("the body is neither JSON nor a form: ")


def test_json_with_a_slip_is_told_where_it_is(address: str) -> None:
    status, answer = post(f"{address}/translate", data=b'{"q": "a secret",\n "source": en}')

    assert status == 400
    assert "line 2 column 12" in answer["error"]
    assert "secret" not in answer["error"]


def test_a_file_is_translated_and_fetched(address: str, expected: str) -> None:
    fields = {"source": "en", "target": "it"}
    files = {"file": ("../..\\lètter x.TXT", f"\ufeff{TEXT}\r\n\n{TEXT}\n".encode())}

    status, answer = post(f"{address}/translate_file", data=fields, files=files)
    fetched = requests.get(answer["translatedFileUrl"], timeout=30)

    assert status == 200
    assert fetched.text == f"\ufeff{expected}\r\n\n{expected}\n"
    disposition = "attachment; filename*=UTF-8''l%C3%A8tter%20x.it.txt"
    assert fetched.headers["Content-Disposition"] == disposition
    assert requests.get(f"{address}/download_file/x", timeout=30).status_code == 404


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.xls", b"PK", "end in .xls are not read; save it as .xlsx"),
        ("a.exe", b"MZ", "only files whose names end in .txt, .html, .htm, .xhtml, .md"),
        ("a.pdf", b"%PDF", "end in .pdf are not read; save it as .docx or .odt"),
        (
            "a.ts",
            b"<TS/>",
            "end in .ts are not read; turn it into a .po file and back with ts2po and po2ts",
        ),
        ("a.srt", b"A cat", "line 1: no line has times such as"),
        ("a.txt", b"caf\xe9", "not UTF-8: byte 0xe9 at 3"),
        ("a.txt", b"x" * 1000, "1000 characters are too many; this server takes 500 at once"),
    ],
)
def test_a_file_that_cannot_be_translated_is_refused(
    english_italian: Path, name: str, content: bytes, problem: str
) -> None:
    with serving([loaded(english_italian)], Settings(max_characters=500)) as url:
        fields, files = {"source": "en", "target": "it"}, {"file": (name, content)}
        status, answer = post(f"{url}/translate_file", data=fields, files=files)

    assert status in (400, 413)
    assert problem in answer["error"]


def test_health_and_settings_are_there(address: str) -> None:
    settings = requests.get(f"{address}/frontend/settings", timeout=30).json()

    assert requests.get(f"{address}/health", timeout=30).json() == {"status": "ok"}
    assert settings["language"]["target"] == {"code": "it", "name": "Italian"}
    assert settings["supportedFilesFormat"] == [".txt", *DOCUMENT_FORMATS]


def test_half_a_character_in_a_list_is_replaced(address: str) -> None:
    body = {"q": ["7 \ud800"], "source": "en", "target": "it"}

    answer = requests.post(f"{address}/translate", json=body, timeout=30)

    assert answer.json() == {"translatedText": ["7 \ufffd"]}


def test_a_page_is_told_how_much_text_is_taken(copying: tuple[Copier, ServedModel]) -> None:
    with serving([copying[1]], Settings(max_characters=500)) as url:
        settings = requests.get(f"{url}/frontend/settings", timeout=30).json()

    assert settings["charLimit"] == 500
