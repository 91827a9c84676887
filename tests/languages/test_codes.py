"""Codes: what has several of them, and those of which nothing is known."""

from pathlib import Path

import pytest

from dragoman.cli import main
from dragoman.corpora.languages import warn_of_unknown
from dragoman.languages import codes
from dragoman.languages.scripts import LANGUAGES, letters_outside, scripts_of
from dragoman.recipe import recipe_from_table
from dragoman.tokenizers.sentences import join_translations


@pytest.mark.parametrize("code", ["zh", "zho", "chi", "cmn", "zho_Hans", "ZH-Hant"])
def test_every_code_of_a_language_decides_the_same(code: str) -> None:
    outside = letters_outside(code)
    settings = {"source_language": "en", "target_language": code}
    recipe = recipe_from_table({**settings, "corpora": {"train": [{"path": "train.tsv"}]}})

    assert outside is not None
    assert (outside.findall("猫a"), recipe.evaluation.tokenize) == (["a"], "zh")
    assert join_translations(["One. ", "Two."], ["一。", "二。"], code) == "一。二。"


@pytest.mark.parametrize(
    ("one", "other"),
    [("sr_RS@latin", "sr-Latn"), ("uz@cyrillic", "uz_Cyrl"), ("in", "id"), ("ji", "yi")],
)
def test_codes_of_locales_and_former_ones_are_of_the_same_language_and_script(
    one: str, other: str
) -> None:
    assert codes.stands_in_for(one, other)
    assert codes.closest_language(["en", other], one) == other
    assert scripts_of(one) == scripts_of(other)


def test_every_code_leads_to_a_language_that_is_known() -> None:
    written = {code for languages in LANGUAGES.values() for code in languages.split()}

    assert written >= set(codes._NAMES_OF)
    assert written >= set(codes._CODE_OF.values())
    assert written.isdisjoint(codes._CODE_OF)
    num_codes = sum(len(entry.split()) - 1 for entry in codes._OTHER_CODES.split(","))
    assert num_codes == len(codes._CODE_OF)


@pytest.mark.parametrize(
    ("code", "hint"), [("jp", "; Japanese is ja"), ("cn_TW", "; Chinese is zh"), ("tlh", "English")]
)
def test_of_an_unknown_code_the_language_that_is_meant_is_named(code: str, hint: str) -> None:
    said: list[str] = []
    warn_of_unknown(("pt_BR", code), said.append)

    (warning,) = said
    assert warning.startswith(f"warning: the language {code} is unknown, so its script")
    assert warning.endswith(hint)


@pytest.mark.parametrize(
    "command",
    [
        ["corpus", "check", "missing.tsv", "--languages", "en-jp"],
        ["plan", "missing.tsv", "--languages", "en-jp"],
        ["train", "my.toml"],
        ["train", "my.toml", "--set", "model.d_model=64"],
    ],
)
def test_commands_warn_of_an_unknown_code(
    command: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my.toml").write_text(
        'source_language = "en"\ntarget_language = "jp"\n[[corpora.train]]\npath = "missing.tsv"\n'
    )

    assert main(command) != 0

    shown = " ".join(capsys.readouterr().err.split())
    assert shown.count("warning: the language jp is unknown") == 1
