"""The server as a whole: hostile requests, many clients, and nothing given away."""

import builtins
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from tests.serving.live import Copier, serving

from dragoman.serving.models import ServedModel
from dragoman.translator import Translator


def test_thirty_clients_at_once_get_what_each_gets_alone(
    address: str, english_italian: Path
) -> None:
    texts = [
        f"The {['cat', 'dog', 'table'][i % 3]} is on {'the ' * (i % 7)}table." for i in range(30)
    ]
    expected = Translator(english_italian, device="cpu")(texts)

    def ask(text: str) -> str:
        fields = {"q": text, "source": "en", "target": "it"}
        return requests.post(f"{address}/translate", json=fields, timeout=60).json()[
            "translatedText"
        ]

    with ThreadPoolExecutor(30) as clients:
        assert list(clients.map(ask, texts)) == expected


HOSTILE = {
    "empty": '""',
    "blank": '" \\n\\t\\u3000"',
    "nul": '"a \\u0000 cat"',
    "lone surrogate": '"a \\ud800 cat \\udc00"',
    "control characters": '"a\\u0001\\u001b[31m\\u007f\\u0085 cat\\u2028\\ufeff"',
    "right to left": '"a \\u202e cat"',
    "emoji": '"\\ud83d\\ude00 \\ud83d\\udc68\\u200d\\ud83d\\udc69"',
    "combining": '"' + "a\\u0301" * 300 + '"',
    "html": '"<b>a</i> <![x[ cat <!-- <script"',
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("form", ["text", "html"])
def test_any_text_gets_an_answer(copying: tuple[Copier, ServedModel], text: str, form: str) -> None:
    body = f'{{"q": {text}, "source": "auto", "target": "it", "format": "{form}"}}'

    with serving([copying[1]]) as url:
        response = requests.post(f"{url}/translate", data=body, timeout=30)

    assert response.status_code == 200
    assert isinstance(response.json()["translatedText"], str)


def test_ten_thousand_words_get_an_answer(copying: tuple[Copier, ServedModel]) -> None:
    text = "the cat and the dog. " * 2000 + "table" * 2000

    with serving([copying[1]]) as url:
        fields = {"q": text, "source": "en", "target": "it"}
        response = requests.post(f"{url}/translate", json=fields, timeout=60)

    assert response.json()["translatedText"].replace(" ", "") == text.replace(" ", "")


def test_a_newer_model_in_its_place_stops_no_request(
    shipped: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = Path(shutil.copytree(shipped, tmp_path / "en-it"))
    model = ServedModel(path, Translator(path, device="cpu"), whole_lines=False)
    (path / "model.safetensors").write_bytes(b"of a newer model")
    fields = {"q": "the %s cat {x} 4711", "source": "en", "target": "it"}

    with serving([model]) as url:
        answers = [requests.post(f"{url}/translate", json=fields, timeout=60) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [200, 200]
    assert all("%s" in answer.json()["translatedText"] for answer in answers)
    assert caplog.text.count("model.safetensors: not a safetensors file") == 1


def test_a_damaged_model_is_not_the_fault_of_the_client(
    shipped: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = Path(shutil.copytree(shipped, tmp_path / "en-it"))
    model = ServedModel(path, Translator(path, device="cpu"), whole_lines=False)
    (path / "model.safetensors").write_bytes(b"damaged")

    with serving([model]) as url:
        fields = {"text": "a cat", "source": "en", "target": "it"}
        answer = requests.post(f"{url}/api/v1/explanation", json=fields, timeout=60)

    assert answer.status_code == 500
    assert answer.json() == {"error": "the model is damaged; the log of the server says where"}
    assert str(path / "model.safetensors") in caplog.text


@pytest.mark.parametrize("error", [OSError, ImportError, ModuleNotFoundError])
def test_a_damaged_pytorch_stops_no_request_and_is_told_once(
    error: type[Exception],
    shipped: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = ServedModel(shipped, Translator(shipped, device="cpu"), whole_lines=False)
    fields = {"q": "the %s cat {x} 4711", "source": "en", "target": "it"}
    original = builtins.__import__

    def import_module(name: str, *arguments: Any) -> Any:
        if name == "torch":
            raise error("libtorch.so: no such file")
        return original(name, *arguments)

    with serving([model]) as url, monkeypatch.context() as patch:
        patch.setattr(builtins, "__import__", import_module)
        answers = [requests.post(f"{url}/translate", json=fields, timeout=60) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [200, 200]
    assert all("%s" in answer.json()["translatedText"] for answer in answers)
    said = "PyTorch cannot be imported (libtorch.so: no such file); install it again, and start"
    assert caplog.text.count(said) == 1


class Broken(Copier):
    """An engine with a mistake, which names a file."""

    def search(self, *arguments: Any, **named: Any) -> Any:
        raise ZeroDivisionError("/home/secret/model.bin")


def test_a_mistake_of_ours_is_logged_and_not_shown(
    copying: tuple[Copier, ServedModel], caplog: pytest.LogCaptureFixture
) -> None:
    engine, model = copying
    engine.__class__ = Broken
    fields = {"q": "a cat", "source": "en", "target": "it"}

    with serving([model]) as url:
        response = requests.post(
            f"{url}/translate", json=fields, headers={"Origin": "http://a.example"}, timeout=30
        )
        again = requests.get(f"{url}/health", timeout=30)
        numbers = requests.get(f"{url}/metrics", timeout=30).text

    assert response.status_code == 500
    assert 'dragoman_requests_total{path="/translate",status="500"} 1.0' in numbers
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert set(response.json()) == {"error"}
    assert "secret" not in response.text
    assert "Traceback" not in response.text
    number = response.json()["error"].split()[-1]
    assert number in caplog.text
    assert "/home/secret/model.bin" in caplog.text
    assert again.status_code == 200


def test_a_path_or_a_method_that_is_not_there_is_refused_in_the_form_of_the_protocol(
    address: str,
) -> None:
    nowhere = requests.get(f"{address}/nowhere", timeout=30)
    assert nowhere.status_code == 404
    assert nowhere.json() == {
        "error": "there is nothing at /nowhere; /docs describes what there is"
    }
    assert requests.get(f"{address}/v2/nowhere", timeout=30).json() == {
        "message": "there is nothing at /v2/nowhere; /docs describes what there is"
    }
    wrong = requests.get(f"{address}/detect", timeout=30)
    assert (wrong.status_code, wrong.headers["Allow"]) == (405, "POST")
    assert wrong.json() == {"error": "/detect does not take GET; /docs describes what there is"}
    for path in (
        "/static/../application.py",
        "/static/%2e%2e/application.py",
        "/static//etc/passwd",
    ):
        assert requests.get(f"{address}{path}", timeout=30).status_code == 404


@pytest.mark.parametrize("path", ["/", "/health", "/languages", "/static/main.js", "/nowhere"])
def test_the_head_of_an_answer_can_be_asked_for_alone(address: str, path: str) -> None:
    whole = requests.get(address + path, timeout=30)
    head = requests.head(address + path, timeout=30)

    assert head.status_code == whole.status_code
    assert head.headers["Content-Length"] == whole.headers["Content-Length"]
    assert head.content == b""


def test_pages_of_any_origin_may_ask(address: str) -> None:
    response = requests.options(
        f"{address}/translate",
        headers={"Origin": "https://example.org", "Access-Control-Request-Method": "POST"},
        timeout=30,
    )

    assert response.headers["Access-Control-Allow-Origin"] == "*"
    answer = requests.get(f"{address}/languages", headers={"Origin": "https://x.org"}, timeout=30)
    assert answer.headers["Access-Control-Expose-Headers"] == "Retry-After"


@pytest.mark.parametrize("path", ["/", "/docs", "/static/main.js", "/languages", "/nowhere"])
def test_nothing_is_taken_from_a_cache_without_asking_whether_it_has_changed(
    address: str, path: str
) -> None:
    answer = requests.get(address + path, timeout=30)

    assert answer.headers["Cache-Control"] == "no-cache"


def test_a_script_that_has_not_changed_is_not_sent_again(address: str) -> None:
    script = f"{address}/static/main.js"
    tag = requests.get(script, timeout=30).headers["ETag"]

    again = requests.get(script, headers={"If-None-Match": tag}, timeout=30)

    assert (again.status_code, again.content) == (304, b"")


def test_the_description_names_no_status_that_is_never_given(address: str) -> None:
    described = requests.get(f"{address}/openapi.json", timeout=30).json()

    for path in described["paths"].values():
        for operation in path.values():
            assert "422" not in operation["responses"]
    assert "ValidationError" not in "".join(described["components"]["schemas"])
    assert "security" not in str(described)  # there is no key


@pytest.mark.parametrize(
    ("path", "names"), [("/translate", ["q", "langpair", "key"]), ("/v2/languages", ["type"])]
)
def test_the_fields_of_a_query_are_described(address: str, path: str, names: list[str]) -> None:
    described = requests.get(f"{address}/openapi.json", timeout=30).json()

    parameters = described["paths"][path]["get"]["parameters"]
    assert [parameter["name"] for parameter in parameters] == names


def test_requests_made_from_the_description_of_the_interface_never_break_it(address: str) -> None:
    schema = schemathesis.openapi.from_url(f"{address}/openapi.json")
    checks = [
        not_a_server_error,
        status_code_conformance,
        content_type_conformance,
        response_schema_conformance,
    ]
    num_operations = 0
    for result in schema.get_all_operations():
        operation = result.ok()

        @settings(
            max_examples=5, deadline=None, database=None, suppress_health_check=list(HealthCheck)
        )
        @given(case=operation.as_strategy())
        def never_breaks(case: schemathesis.Case) -> None:
            case.call_and_validate(checks=checks)

        never_breaks()
        num_operations += 1
    assert num_operations >= 18
