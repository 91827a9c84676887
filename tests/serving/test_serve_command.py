"""`dragoman serve`: wrong use is named before anything is served."""

import shutil
import sys
from pathlib import Path

import pytest
import requests

from dragoman.cli import main

from .live_process import process, serve


def outcome(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main(["serve", *arguments, "--port", "0"])
    captured = capsys.readouterr()
    return code, captured.err + captured.out


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "dragoman: name a model to serve\n"),
        (["nowhere"], 1, "nowhere: there is no model here"),
        (["nowhere", "--max-characters", "0"], 2, "--max-characters 0 is not positive"),
        (["nowhere", "--api-key", ""], 2, "an API key is empty"),
        (["nowhere", "--host", "no such host"], 1, "no such host:0: "),
        (["nowhere", "--prot", "1"], 2, "Unknown option: --prot"),
    ],
)
def test_a_mistake_gives_a_sentence(
    arguments: list[str], code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    result, printed = outcome(capsys, *arguments)

    assert result == code
    assert message in printed
    assert "Traceback" not in printed


@pytest.mark.parametrize("package", ["fastapi", "uvicorn", "prometheus_client"])
def test_without_the_packages_a_sentence_says_how_to_install_them(
    package: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in [name for name in sys.modules if name.startswith("dragoman.serving")]:
        monkeypatch.delitem(sys.modules, module)
    for module in [name for name in sys.modules if name.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, package, None)

    assert outcome(capsys, "nowhere") == (
        1,
        f'dragoman: this command needs {package}: pip install --editable ".[serve]" where Dragoman '
        "was cloned installs it\n",
    )


def test_two_models_for_the_same_languages_are_refused(
    english_italian: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, printed = outcome(capsys, str(english_italian), str(english_italian), "--device", "cpu")

    assert code == 2
    assert "both translate from en to it; serve one of them" in printed


def test_terms_without_languages_are_refused_for_models_of_several_pairs(
    english_italian: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    back, glossary = tmp_path / "back", tmp_path / "terms.tsv"
    shutil.copytree(english_italian, back)
    described = (back / "model.toml").read_text()
    swapped = described.replace('source_language = "en"', 'source_language = "it"', 1)
    swapped = swapped.replace('target_language = "it"', 'target_language = "en"', 1)
    (back / "model.toml").write_text(swapped)
    glossary.write_text("file\tincartamento\n")

    code, printed = outcome(
        capsys, str(english_italian), str(back), "--device", "cpu", "--glossary", str(glossary)
    )

    assert code == 2
    assert (
        "terms.tsv: its sides have no languages, and the models translate en-it, it-en; " in printed
    )


@pytest.mark.parametrize("value", ["", " \n"])
def test_an_environment_without_the_key_that_it_promises_opens_nothing(
    value: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRAGOMAN_API_KEY", value)

    code, printed = outcome(capsys, "nowhere")

    assert code == 2
    assert "DRAGOMAN_API_KEY is set but has no key in it" in printed


def test_keys_may_come_from_the_environment(
    english_italian: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRAGOMAN_API_KEY", "sesame other")

    with process(serve(english_italian)) as (_, url):

        def status(**key: str) -> int:
            fields = {"q": "the cat", "source": "en", "target": "it", **key}
            return requests.post(f"{url}/translate", data=fields, timeout=60).status_code

        assert [status(api_key=key) for key in ("sesame", "other")] == [200, 200]
        assert [status(), status(api_key="sesame other")] == [403, 403]
