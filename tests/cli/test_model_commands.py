"""`evaluate` and `inspect`, on a model that a test has made."""

import json
import math
import shutil
import sys
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.untrained import save_transformer, untrained

from dragoman.cli import bulk_translation, evaluate, main
from dragoman.corpora.fingerprint import fingerprint_file
from dragoman.corpora.primer.corpus import generate
from dragoman.tokenizers.config import TokenizerConfig
from dragoman.tokenizers.training import train_tokenizers
from dragoman.translator import Translator

PAIRS = [("the cat", "il gatto"), ("the dog", "il cane"), ("a dog", "un cane")]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return build_model(tmp_path)


def build_model(tmp_path: Path, **description: Any) -> Path:
    tokenizer = TokenizerConfig(kind="words", min_frequency=1)
    pair = train_tokenizers(tokenizer, lambda: iter(PAIRS), tmp_path / "tokenizer")
    transformer = untrained(pair, num_decoder_layers=2)
    return save_transformer(tmp_path / "model", transformer, pair, tokenizer, **description).path


@pytest.fixture
def test_set(tmp_path: Path) -> Path:
    path = tmp_path / "test.tsv"
    path.write_text("".join(f"{source}\t{target}\n" for source, target in PAIRS))
    return path


def test_inspect_counts_a_shared_table_once(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["inspect", str(model), "--json"]) == 0

    counts = json.loads(capsys.readouterr().out)["parameters"]
    # By hand: attention 4 * (8*8 + 8) = 288, feed-forward 8*12 + 12 + 12*8 + 8 = 212, a norm 16.
    block = 288 + 212 + 2 * 16
    assert counts["encoder"] == block + 16
    assert counts["decoder"] == 2 * (block + 288 + 16) + 16
    assert counts["source_embeddings"] == 12 * 8  # four specials, four words a language
    assert set(counts) == {"encoder", "decoder", "source_embeddings"}


def test_inspect_is_readable(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["inspect", str(model)])

    shown = capsys.readouterr().out
    assert shown.startswith("en to it\n")
    assert "num_decoder_layers   2" in shown
    assert "\nshortlist\n" not in shown


def test_inspect_writes_as_json_what_only_toml_has(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cleaning = {"max_length_ratio": math.inf, "ratios": [1.5, math.nan]}
    training = {"begun": date(2026, 11, 28), "recipe": {"cleaning": cleaning}}
    model = build_model(tmp_path, training=training)

    assert main(["inspect", str(model), "--json"]) == 0

    read = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)["training"]
    cleaning = {"max_length_ratio": None, "ratios": [1.5, None]}
    assert read == {"begun": "2026-11-28", "recipe": {"cleaning": cleaning}}


def test_inspect_says_what_the_minutes_of_a_training_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = build_model(tmp_path, training={"updates": 1, "target_tokens": 102431, "minutes": 2.9})

    assert main(["inspect", str(model)]) == 0

    told = "1 update, 102,431 target tokens, 2.9 minutes, not counting validations\n"
    assert f"\ntraining  {told}" in capsys.readouterr().out


def test_inspect_shows_what_was_learnt_besides(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("".join(f"{source}\t{target}\n" for source, target in PAIRS * 2))
    assert main(["shortlist", str(model), str(pairs)]) == 0
    capsys.readouterr()

    main(["inspect", str(model)])

    assert "\nshortlist\n  sha256 " in capsys.readouterr().out


def test_evaluate_scores_a_file_of_translations(
    test_set: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    system = tmp_path / "system.txt"
    system.write_text("il gatto\nil cane\nuna\tcane\n")  # a tab in some line may be text

    assert main(["evaluate", str(system), str(test_set), "--json"]) == 0

    table = json.loads(capsys.readouterr().out)
    assert table["sentences"] == 3
    assert table["engines"] == [None]
    assert table["exact_match"] == pytest.approx(200 / 3)
    assert "tok:13a" in table["scores"]["BLEU"]["signature"]


def test_evaluate_warns_of_text_that_is_no_test_set(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = tmp_path / "pairs.tsv"
    swapped = (f"{pair.target}\t{pair.source}\n" for pair in generate(50, seed=1))
    pairs.write_text(f"it\ten\n{''.join(swapped)}", encoding="utf-8")

    command = ["evaluate", str(model), str(pairs), "--bootstrap-samples", "0", "--lowercase"]

    assert main(command) == 0

    assert capsys.readouterr().err.splitlines() == [
        f"warning: {pairs}: line 1 (it, en) looks like a heading; remove it",
        f"warning: {pairs}: the source should be English (en) and seems to be Italian (it)",
        f"warning: {pairs}: the target should be Italian (it) and seems to be English (en)",
    ]


@pytest.mark.parametrize(
    ("setting", "is_there"), [(None, True), ("from_model", True), ("layers_from", False)]
)
def test_evaluate_warns_of_sentences_that_the_model_was_trained_on(
    *,
    setting: str | None,
    is_there: bool,
    tmp_path: Path,
    test_set: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    learnt = tmp_path / "learnt.tsv"
    learnt.write_text("A dog.\tun cane\nthe table\til tavolo\n")
    recorded = {str(learnt): fingerprint_file(learnt)}
    recipe = {"corpora": {"train": [{"path": str(learnt)}]}}
    model = build_model(tmp_path, training={"recipe": recipe, "sha256": recorded})
    if setting is not None:  # another one began with it
        weights = {f"{model}/model.safetensors": fingerprint_file(model / "model.safetensors")}
        begun = {"recipe": {"training": {setting: str(model)}}, "sha256": weights}
        first, model = model, build_model(tmp_path / "second", training=begun)
        if not is_there:
            (first / "model.toml").unlink()

    assert main(["evaluate", str(model), str(test_set)]) == 0

    said = capsys.readouterr().err
    warning = f"warning: {model} was trained on 1 of 3 sentences, so its scores are too good"
    assert (warning in said) == is_there


def test_evaluate_warns_of_sentences_by_which_the_weights_were_chosen(
    tmp_path: Path, test_set: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded = {str(test_set): fingerprint_file(test_set)}
    corpora = {"train": [{"path": "gone.tsv"}], "validation": [{"path": str(test_set)}]}
    training = {"recipe": {"corpora": corpora}, "sha256": recorded}
    model = build_model(tmp_path, training=training)
    weights = {f"{model}/model.safetensors": fingerprint_file(model / "model.safetensors")}
    later = {"recipe": {"training": {"from_model": str(model)}}, "sha256": weights}
    fine_tuned = build_model(tmp_path / "second", training=later)

    assert main(["evaluate", str(model), str(test_set)]) == 0
    said = capsys.readouterr().err
    assert main(["evaluate", str(fine_tuned), str(test_set)]) == 0

    by = f"warning: 3 of 3 sentences are of the validation text, by which the weights of {model}"
    assert by in said
    assert "validation" not in capsys.readouterr().err  # of weights that were replaced since


@pytest.mark.parametrize(("max_length", "count"), [(2, 0), (1, 3)])
def test_evaluate_warns_of_sentences_that_are_translated_in_pieces(
    max_length: int,
    count: int,
    tmp_path: Path,
    test_set: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    model = build_model(tmp_path, max_length=max_length)

    assert main(["evaluate", str(model), str(test_set)]) == 0

    said = capsys.readouterr().err
    assert said == "" if count == 0 else f"warning: {count} of 3 texts had a sentence of" in said


def test_evaluate_warns_of_a_glossary_that_does_not_apply(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs, terms = tmp_path / "pairs.tsv", tmp_path / "terms.tsv"
    pairs.write_text("cat\tgatto\n" * 20)
    terms.write_text("gatto\tcat\n")

    assert main(["evaluate", str(model), str(pairs), "--glossary", str(terms)]) == 0

    said = capsys.readouterr().err.splitlines()
    assert [line for line in said if "of the glossary" in line] == [
        "warning: no term of the glossary occurs in the text, but translations of its terms do; "
        "exchange its columns"
    ]


def test_evaluate_tells_a_person_who_waits_how_far_it_is(
    model: Path,
    test_set: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(evaluate, "TRANSLATED_AT_ONCE", 2)
    monkeypatch.setattr(bulk_translation, "SECONDS_BETWEEN_LINES", {True: 0, False: 60})
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)

    assert main(["evaluate", str(model), str(test_set), "--json"]) == 0

    printed = capsys.readouterr()
    assert json.loads(printed.out)["sentences"] == 3
    assert "\n2 of 3 lines, " in printed.err
    assert "\n3 of 3 lines, " in printed.err


def test_evaluate_compares_a_model_with_a_file(
    model: Path, test_set: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    perfect = tmp_path / "perfect.txt"
    perfect.write_text("".join(f"{target}\n" for _, target in PAIRS))

    assert main(["evaluate", str(model), str(test_set), "--compare", str(perfect), "--json"]) == 0

    printed = capsys.readouterr()
    few = "warning: so few sentences tell little, whatever their p-values; compare on more"
    assert few in printed.err.splitlines()
    table = json.loads(printed.out)
    assert table["engines"][0].startswith("PyTorch")
    assert table["engines"][1] is None
    comparison = table["comparisons"]["chrF"]
    assert comparison["b"] == pytest.approx(100.0)
    assert comparison["delta"] > 0


@pytest.mark.parametrize("option", [[], ["--engine", "pytorch"]])
def test_two_engines_are_named_below_a_comparison(
    option: list[str],
    model: Path,
    test_set: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    copied = tmp_path / "copied"
    shutil.copytree(model, copied)
    assert main(["export", str(copied), "--to", "ctranslate2"]) == 0
    capsys.readouterr()

    assert main(["evaluate", str(model), str(test_set), "--compare", str(copied), *option]) == 0

    *table, last = capsys.readouterr().out.rstrip("\n").split("\n")
    assert table[0].startswith("metric")
    if option:
        assert last.startswith("TER")
    else:
        assert last.startswith(f"translated by different engines: {model} with PyTorch ")
        assert f" and {copied} with CTranslate2 " in last
        assert last.endswith("; --engine pytorch makes them equal")


def test_evaluate_writes_all_sentences_and_overwrites_nothing_that_it_reads(
    model: Path,
    test_set: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("TEXTS", str(tmp_path))
    pairs = [line.split("\t") for line in test_set.read_text(encoding="utf-8").splitlines()]
    system, out = tmp_path / "system.txt", tmp_path / "sentences.tsv"
    system.write_text("".join(f"{target}\n" for _, target in pairs), encoding="utf-8")
    command = ["evaluate", str(model), str(test_set), "--compare", str(system), "--sentences"]
    for taken in (test_set, system, model / "model.toml"):
        before = taken.read_bytes()
        assert main([*command, str(taken)]) == 2
        assert taken.read_bytes() == before

    of_other = ["evaluate", str(system), str(test_set), "--compare", str(model), "--sentences"]
    assert main([*of_other, str(model / "model.toml")]) == 2
    assert taken.read_bytes() == before

    by_variable = ["evaluate", str(model), "$TEXTS/test.tsv", "--glossary", "$TEXTS/terms.tsv"]
    (tmp_path / "terms.tsv").write_text("cat\tgatto\n")
    for taken in (test_set, tmp_path / "terms.tsv"):
        before = taken.read_bytes()
        assert main([*by_variable, "--sentences", str(taken)]) == 2
        assert taken.read_bytes() == before
    capsys.readouterr()

    assert main([*command, str(out)]) == 0
    assert "engines" not in capsys.readouterr().out  # a file has none that could differ

    head, *rows = [line.split("\t") for line in out.read_text(encoding="utf-8").splitlines()]
    assert (head[4], head[6]) == (f"translation of {model}", f"translation of {system}")
    assert sorted(int(row[0]) for row in rows) == list(range(1, len(pairs) + 1))
    for number, source, reference, _, ours, score, theirs in rows:
        assert [source, reference] == pairs[int(number) - 1]
        assert (score, theirs) == ("100.0", reference)
        assert ours != theirs


@pytest.mark.parametrize(
    ("options", "case", "tokens"),
    [
        ([], "lc", "char"),
        (["--tokenize", "intl"], "lc", "intl"),
        (["--no-lowercase"], "mixed", "char"),
    ],
)
def test_a_model_is_evaluated_as_its_recipe_says_where_no_option_differs(
    options: list[str],
    case: str,
    tokens: str,
    tmp_path: Path,
    test_set: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    settings = {"metrics": ["BLEU"], "lowercase": True, "tokenize": "char", "bootstrap_samples": 0}
    model = build_model(tmp_path, training={"recipe": {"evaluation": settings}})

    assert main(["evaluate", str(model), str(test_set), *options, "--json"]) == 0

    scores = json.loads(capsys.readouterr().out)["scores"]
    assert list(scores) == ["BLEU"]
    assert f"case:{case}|" in scores["BLEU"]["signature"]
    assert f"tok:{tokens}|" in scores["BLEU"]["signature"]


def test_the_recipe_of_a_model_that_is_compared_counts_if_the_other_is_a_file(
    tmp_path: Path, test_set: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = {"metrics": ["BLEU"], "lowercase": True, "bootstrap_samples": 3}
    model = build_model(tmp_path, training={"recipe": {"evaluation": settings}})
    file = tmp_path / "out"
    file.write_text("Il gatto\n" * len(test_set.read_text(encoding="utf-8").splitlines()))
    found = []
    for systems in ((file, model), (model, file)):
        one, other = map(str, systems)
        assert main(["evaluate", one, str(test_set), "--compare", other, "--json"]) == 0
        found.append(json.loads(capsys.readouterr().out)["comparisons"])

    assert [list(comparisons) for comparisons in found] == [["BLEU"]] * 2
    assert found[0]["BLEU"]["signature"] == found[1]["BLEU"]["signature"]


def test_the_metrics_may_be_named(
    tmp_path: Path, test_set: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = build_model(tmp_path)
    named = ["--metrics", "chrF++", "--metrics", "BLEU", "--bootstrap-samples", "0", "--json"]

    assert main(["evaluate", str(model), str(test_set), *named]) == 0

    scores = json.loads(capsys.readouterr().out)["scores"]
    assert list(scores) == ["chrF++", "BLEU"]
    assert "nw:2|" in scores["chrF++"]["signature"]


@pytest.mark.parametrize(
    "recipe", [3, {"evaluation": 3}, {"evaluation": {"tokenize": 3}}, {"evaluation": {"x": 3}}]
)
def test_a_recorded_evaluation_that_makes_no_sense_names_the_file(
    recipe: object, tmp_path: Path, test_set: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = build_model(tmp_path, training={"recipe": recipe})

    assert main(["evaluate", str(model), str(test_set)]) == 1
    assert f"dragoman: {model / 'model.toml'}: " in capsys.readouterr().err


def test_a_comparison_without_samples_is_refused_before_anything_is_translated(
    model: Path, test_set: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "out").write_text("il gatto\nil cane\nun cane\n")
    command = ["evaluate", str(model), str(test_set), "--compare", str(tmp_path / "out")]

    assert main([*command, "--bootstrap-samples", "0"]) == 2

    (error,) = capsys.readouterr().err.splitlines()  # nothing says which engine translates
    assert "there is nothing to compare the systems on; give --bootstrap-samples" in error


def test_evaluate_tells_who_exchanges_its_arguments(
    model: Path, test_set: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", str(test_set), str(model)]) == 2

    said = capsys.readouterr().err
    assert said == f"dragoman: {model}: it is a model, which comes first, and then the test set\n"


@pytest.mark.parametrize(("count", "said"), [(1, "1 line"), (4, "4 lines")])
def test_evaluate_refuses_a_file_of_another_length(
    count: int, said: str, test_set: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    system = tmp_path / "system.txt"
    system.write_text("il gatto\n" * count)

    assert main(["evaluate", str(system), str(test_set)]) == 1
    assert f"{system} has {said} and the test set 3 sentences; " in capsys.readouterr().err


def test_a_test_set_of_two_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, lines in (("src", "a\nb\n"), ("ref", "x\ny\n"), ("out", "x\ny\n")):
        (tmp_path / name).write_text(lines)

    code = main(
        [
            "evaluate",
            str(tmp_path / "out"),
            "--source",
            str(tmp_path / "src"),
            "--reference",
            str(tmp_path / "ref"),
            "--json",
        ]
    )

    assert code == 0
    assert json.loads(capsys.readouterr().out)["exact_match"] == 100.0


def test_a_file_of_translations_is_scored_on_json_lines_of_named_languages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "out").write_text("il gatto\n")
    (tmp_path / "test.jsonl").write_text('{"en": "the cat", "it": "il gatto", "de": "die Katze"}\n')
    command = ["evaluate", str(tmp_path / "out"), str(tmp_path / "test.jsonl"), "--json"]

    assert main([*command, "--languages", "en-it"]) == 0

    assert json.loads(capsys.readouterr().out)["exact_match"] == 100.0


def test_the_languages_are_those_of_the_model_that_is_compared(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "out").write_text("il gatto\nil cane\n")
    lines = '{"en": "the cat", "it": "il gatto"}\n{"en": "the dog", "it": "il cane"}\n'
    (tmp_path / "test.jsonl").write_text(lines)
    command = ["evaluate", str(tmp_path / "out"), str(tmp_path / "test.jsonl"), "--json"]

    assert main([*command, "--compare", str(model)]) == 0

    assert json.loads(capsys.readouterr().out)["sentences"] == 2


def test_the_other_system_is_looked_at_before_the_long_work(
    test_set: Path, tmp_path: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "short").write_text("il gatto\n")
    command = ["evaluate", str(model), str(test_set), "--compare"]

    assert main([*command, str(tmp_path / "short")]) == 1
    assert "short has 1 line and the test set 3 sentences" in capsys.readouterr().err
    assert main([*command, str(tmp_path / "nothing")]) == 1
    assert "nothing: there is no such file" in capsys.readouterr().err


def test_a_list_of_sentences_that_cannot_be_written_is_refused_before_the_long_work(
    test_set: Path,
    tmp_path: Path,
    model: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.delattr(Translator, "__call__")
    listing = tmp_path / "nowhere" / "sentences.tsv"

    assert main(["evaluate", str(model), str(test_set), "--sentences", str(listing)]) == 1

    said = capsys.readouterr().err
    assert said == f"dragoman: {listing}: cannot be written: there is no such folder\n"


def test_pairs_in_the_place_of_translations_are_not_scored(
    test_set: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", str(test_set), str(test_set)]) == 1
    assert f"cut -f 2 {test_set}" in capsys.readouterr().err


def test_options_of_translation_are_refused_where_nothing_is_translated(
    test_set: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "out").write_text("il gatto\nil cane\nun cane\n")
    command = ["evaluate", str(tmp_path / "out"), str(test_set)]

    for option in (["--glossary", "nowhere.tsv"], ["--shortlist"], ["--device", "cuda:7"]):
        assert main([*command, *option]) == 2
        assert "out: it has translations, and --engine, --device" in capsys.readouterr().err


def test_a_system_is_not_compared_with_itself(
    model: Path, test_set: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (model.parent / "again").symlink_to(model)
    command = ["evaluate", str(model), str(test_set), "--compare"]

    for itself in (model, model.parent / "again"):
        assert main([*command, str(itself)]) == 2
        expected = f"--compare {itself}: it is what is scored; name another one"
        assert expected in capsys.readouterr().err


def test_models_of_other_languages_are_not_compared(
    model: Path, test_set: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "fr").mkdir()
    other = build_model(tmp_path / "fr", target_language="fr")

    assert main(["evaluate", str(model), str(test_set), "--compare", str(other)]) == 2

    expected = f"{other} translates en-fr and {model} en-it; compare models of the same languages"
    assert expected in capsys.readouterr().err


@pytest.mark.parametrize("two_files", [True, False])
def test_names_of_fields_need_fields(
    two_files: bool, test_set: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = str(test_set)
    given = ["--source", text, "--reference", text] if two_files else [text]

    assert main(["evaluate", text, *given, "--languages", "it-en"]) == 2

    assert "--languages it-en: it names the sides of JSON lines" in capsys.readouterr().err


def test_what_is_scored_in_another_form_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    (tmp_path / "test.tsv").write_text("the cat\te\u0300 un  gatto\na dog\t\u00e8 un  cane\n")
    out.write_text("\u00e8 un gatto\ne\u0300 un cane\n")

    assert main(["evaluate", str(out), str(tmp_path / "test.tsv")]) == 0

    printed = capsys.readouterr()
    for what in ("references", f"lines of {out}"):
        assert f"warning: 1 of 2 {what} are not in Unicode's composed form" in printed.err
    assert "exact match 100.0 %" in printed.out


def test_blank_lines_at_the_end_of_translations_are_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "test.tsv").write_text("the cat\til gatto\n\n")
    (tmp_path / "out").write_text("il gatto\n\n")

    assert main(["evaluate", str(tmp_path / "out"), str(tmp_path / "test.tsv")]) == 0

    assert "exact match 100.0 %" in capsys.readouterr().out


def test_who_compares_with_lower_case_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "test.tsv").write_text("a cat\tIl gatto\n" * 4)
    (tmp_path / "lower.tsv").write_text("a cat\til gatto\n" * 4)
    (tmp_path / "usual").write_text("Il gatto\n" * 2 + "il gatto\n" * 2)
    (tmp_path / "lower").write_text("il gatto\n" * 4)

    def said(*command: str) -> str:
        names = (str(tmp_path / name) if (tmp_path / name).exists() else name for name in command)
        assert main(["evaluate", *names]) == 0
        return capsys.readouterr().err

    told = said("usual", "lower.tsv")
    assert (
        "the translations have capitals and the references have none, which BLEU and chrF" in told
    )
    assert "the references have capitals and the translations have none" in said(
        "lower", "test.tsv"
    )
    assert not said("usual", "lower.tsv", "--lowercase")
    assert not said("usual", "lower.tsv", "--metrics", "TER")
    assert not said("lower", "lower.tsv")
    (tmp_path / "name").write_text("il Gatto\n" + "il gatto\n" * 3)
    assert not said("name", "lower.tsv")


def test_chinese_is_split_into_its_characters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "out").write_text("\u6211\u4eec\u6765\u4e86\u3002\n")
    (tmp_path / "test.tsv").write_text("We came.\t\u6211\u4eec\u6765\u4e86\u3002\n")
    (tmp_path / "test.jsonl").write_text(
        '{"en": "We came.", "zh": "\u6211\u4eec\u6765\u4e86\u3002"}'
    )
    command = ["evaluate", str(tmp_path / "out"), "--bootstrap-samples", "0"]

    assert main([*command, str(tmp_path / "test.jsonl"), "--languages", "en-zh"]) == 0
    named = capsys.readouterr()
    assert main([*command, str(tmp_path / "test.tsv")]) == 0
    unnamed = capsys.readouterr()
    assert main([*command, str(tmp_path / "test.tsv"), "--metrics", "TER"]) == 0
    edits = capsys.readouterr()

    assert "tok:zh" in named.out
    assert not named.err
    assert "tok:13a" in unnamed.out
    assert "have no spaces between words, and BLEU and TER with 13a would" in unnamed.err
    assert "have no spaces between words, and TER with 13a would" in edits.err


def test_pairs_with_a_blank_side_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "test.tsv").write_text("the cat\til gatto\n" + "a dog\t \n" * 6 + "\til cane\n")
    (tmp_path / "out").write_text("il gatto\n" * 8)

    assert main(["evaluate", str(tmp_path / "out"), str(tmp_path / "test.tsv")]) == 0

    warning = "7 of 8 pairs with a blank side, scored like any other (line 2, 3, 4, 5, 6, …)"
    assert warning in capsys.readouterr().err


def test_a_command_that_is_recommended_can_be_pasted_into_a_shell(
    tmp_path: Path, test_set: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "my models").mkdir()
    model = build_model(tmp_path / "my models")

    assert main(["evaluate", str(model), str(test_set), "--engine", "ctranslate2"]) == 1

    assert f"\"dragoman export '{model}' --to ctranslate2\" makes one" in capsys.readouterr().err


def test_a_model_on_the_gpu_needs_a_gpu(
    model: Path, test_set: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")

    assert main(["evaluate", str(model), str(test_set), "--device", "cuda"]) == 1
    assert "cuda" in capsys.readouterr().err
