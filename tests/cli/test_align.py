"""`dragoman align` chooses, and `dragoman translate --alignments` goes by it."""

import json
import re
from pathlib import Path

import pytest
from tests.visualisation.small_model import save_small_model

from dragoman.alignment.aligner import Aligner
from dragoman.alignment.choice import Candidate
from dragoman.cli import main
from dragoman.cli.align import align
from dragoman.model_directory import ModelDirectory

PAIRS = "the black cat sees a dog .\tthe cat sees .\na dog\tthe black table\n"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return save_small_model(tmp_path / "model", languages=("en", "de")).path


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.tsv"
    path.write_text(PAIRS)
    return path


def test_without_gold_the_layer_that_agrees_most_is_written_into_the_description(
    model: Path, pairs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = ModelDirectory(model).description

    assert main(["align", str(model), str(pairs), "--json"]) == 0

    written = json.loads(capsys.readouterr().out)
    candidates = [Candidate(**each) for each in written["candidates"]]
    means = [each for each in candidates if each.head is None]
    best = max(means, key=lambda each: each.agreement)
    after = ModelDirectory(model).description
    assert after.alignment is not None
    assert vars(after.alignment) == written["chosen"]
    assert (after.alignment.layer, after.alignment.head) == (best.layer, None)
    assert (after.alignment.text, after.alignment.pairs) == ("pairs", 2)
    assert after.alignment.error_rate is None
    unchanged = {name: value for name, value in vars(after).items() if name != "alignment"}
    assert unchanged == {name: value for name, value in vars(before).items() if name != "alignment"}


def test_pairs_that_every_head_aligns_alike_choose_none(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = tmp_path / "words.tsv"
    pairs.write_text("dog\tthe cat\na cat\tcat\n")

    assert main(["align", str(model), str(pairs)]) == 1

    assert "no pair of words has several words on both sides" in capsys.readouterr().err
    assert ModelDirectory(model).description.alignment is None


def test_with_gold_the_error_rates_stand_in_a_table(
    model: Path, pairs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold = tmp_path / "gold.align"
    gold.write_text("0-0 2-1 3-2 6-3\n0-0 1?2\n")

    assert main(["align", str(model), str(pairs), "--gold", str(gold)]) == 0

    shown = capsys.readouterr().out
    assert shown.startswith("alignment error rate on 2 pairs of pairs\n")
    rates = [float(number) for number in re.findall(r"\d\.\d{3}", shown)]
    assert len(rates) == 3 * (3 + 1)
    chosen = ModelDirectory(model).description.alignment
    assert chosen is not None
    assert chosen.error_rate == pytest.approx(min(rates), abs=5e-4)


def test_italian_is_judged_on_the_embedded_corpus(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = save_small_model(tmp_path / "model").path

    assert main(["align", str(path)]) == 0

    assert "500 pairs of the embedded corpus" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        ([], 1, "the model is en-de; name a file of sentence pairs"),
        (["--gold", "x"], 2, "--gold needs PAIRS, the sentence pairs"),
        (["{empty}"], 1, "empty.tsv: the file is empty"),
        (["{pairs}", "--gold", "{gold}"], 1, "1 line, but"),
        (["{pairs}", "--gold", "{beyond}"], 1, "beyond.align:2: it links word 1 to word 3, but"),
        (["{pairs}", "--gold", "{without}"], 1, "without.align: no line has a link"),
    ],
)
def test_wrong_use_gets_one_sentence(
    arguments: list[str],
    code: int,
    complaint: str,
    model: Path,
    pairs: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "empty.tsv").write_text("")
    (tmp_path / "gold.align").write_text("0-0\n")
    (tmp_path / "beyond.align").write_text("0-0 6-3\n1?3\n")
    (tmp_path / "without.align").write_text("\n\n")
    places = {"empty": tmp_path / "empty.tsv", "pairs": pairs}
    places |= {name: tmp_path / f"{name}.align" for name in ("gold", "beyond", "without")}
    given = [argument.format(**places) for argument in arguments]

    assert main(["align", str(model), *given]) == code

    assert complaint in capsys.readouterr().err
    assert ModelDirectory(model).description.alignment is None


def translate(model: Path, text: str, tmp_path: Path, *options: str) -> tuple[str, str]:
    """Translate a text; give the translations and the file of alignments."""
    (tmp_path / "in.txt").write_text(text)
    output, links = tmp_path / "out.txt", tmp_path / "links.txt"
    arguments = ["translate", str(model), str(tmp_path / "in.txt"), "-o", str(output)]
    assert main([*arguments, "--alignments", str(links), "--device", "cpu", *options]) == 0
    return output.read_text(), links.read_text()


def test_a_line_of_alignments_is_written_for_each_line(
    model: Path, pairs: Path, tmp_path: Path
) -> None:
    align(model, str(pairs))
    lines = ["the cat sees . a dog .", "", "the black table"]

    translations, links = translate(model, "\n".join(lines) + "\n", tmp_path)

    aligner = Aligner(model)
    assert links.count("\n") == translations.count("\n") == 3
    for line, translation, written in zip(
        lines, translations.split("\n"), links.split("\n"), strict=False
    ):
        found = {tuple(map(int, link.split("-"))) for link in written.split()}
        assert {i for i, _ in found} == set(range(len(line.split())))
        assert {j for _, j in found} == set(range(len(translation.split())))
    (expected,) = aligner.align([(lines[2], translations.split("\n")[2])])
    assert links.split("\n")[2] == " ".join(f"{i}-{j}" for i, j in sorted(expected.links))


def test_json_has_the_alignment_too(model: Path, pairs: Path, tmp_path: Path) -> None:
    align(model, str(pairs))

    translations, links = translate(model, "the black table\n", tmp_path, "--json", "--n-best", "2")

    written = json.loads(translations)
    assert " ".join(f"{i}-{j}" for i, j in written["alignment"]) == links.strip()
    assert written["source_words"] == ["the", "black", "table"]
    assert written["target_words"] == written["text"].split()
    assert written["alternatives"][0]["parts"] == [written["text"]]


def test_without_a_choice_nothing_is_translated(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in.txt").write_text("a cat\n")
    links = tmp_path / "links.txt"

    code = main(["translate", str(model), str(tmp_path / "in.txt"), "--alignments", str(links)])

    assert code == 1
    captured = capsys.readouterr()
    assert "it is not known yet which attention" in captured.err
    assert captured.out == ""
    assert not links.exists()
