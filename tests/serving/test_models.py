"""The languages that a client means."""

import pytest
from tests.serving.live import Copier, changed

from dragoman.serving.models import Models, ServedModel
from dragoman.serving.refusal import RefusalError


def serve(copier: tuple[Copier, ServedModel], *pairs: str) -> Models:
    languages = [pair.split("-") for pair in pairs]
    return Models(changed(copier[1], source=source, target=target) for source, target in languages)


@pytest.mark.parametrize(
    ("pairs", "wanted", "found"),
    [
        ("en-it it-en", ("EN-gb", "it"), ("en", "it")),
        ("en-it it-en", ("en", "en"), ("en", "en")),
        ("en-pt_BR pt-en", ("en", "pt"), ("en", "pt_BR")),
        ("en-pt_BR pt-en", ("pt-BR", "en"), ("pt", "en")),
        ("en-pt_BR es-pt", ("en", "pt"), ("en", "pt_BR")),
        ("en-pt pt_BR-en", ("en", "pt-BR"), ("en", "pt")),
        ("en-pt en-pt_BR", ("en", "pt-BR"), ("en", "pt_BR")),
        ("en-no nn-en", ("en", "NB"), ("en", "no")),
        ("pt-en en-pt_BR", ("pt", "pt-BR"), ("pt_BR", "pt_BR")),
        ("en-zh_Hant en-zh_Hans zh-en", ("en", "ZH"), ("en", "zh_Hant")),
        ("en-zh_Hant en-zh_Hans zh-en", ("en", "zh-hans"), ("en", "zh_Hans")),
        ("en-zh_Hant en-zh_Hans zh-en", ("zh-Hans", "en"), ("zh", "en")),
        ("zh_Hans-zh_Hant", ("zh", "zh-hant"), ("zh_Hans", "zh_Hant")),
        ("en-zh_Hans en-zh_Hant", ("en", "zh-TW"), ("en", "zh_Hant")),
        ("en-sr_Latn en-sr_Cyrl", ("en", "sr-Cyrl-RS"), ("en", "sr_Cyrl")),
        ("zh_Hans-zh_Hant", ("zh-hant", "zh-hant"), ("zh_Hant", "zh_Hant")),
    ],
)
def test_a_region_that_is_not_served_falls_back_to_what_is_translated(
    copier: tuple[Copier, ServedModel],
    pairs: str,
    wanted: tuple[str, str],
    found: tuple[str, str],
) -> None:
    assert serve(copier, *pairs.split()).find_pair(*wanted) == found


@pytest.mark.parametrize(("pair", "wanted"), [("en-zh_Hans", "zh-Hant"), ("en-sr_Cyrl", "sr-Latn")])
def test_another_script_of_a_language_is_not_served(
    copier: tuple[Copier, ServedModel], pair: str, wanted: str
) -> None:
    with pytest.raises(RefusalError, match=f"'{wanted}' is not served; the languages are en, "):
        serve(copier, pair).find_pair("en", wanted)


def test_a_target_is_looked_for_among_targets_where_no_source_is_named(
    copier: tuple[Copier, ServedModel],
) -> None:
    models = serve(copier, "pt-en", "en-pt_BR")

    assert models.find_target("PT") == "pt_BR"
    with pytest.raises(RefusalError, match="'fr' is not served; the languages are pt, en, pt_BR"):
        models.find_target("fr")
