"""The translator: text to text, one out for each in."""

import ast
import copy
import pickle
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
import torch
from tests.fake_engine import FakeEngine
from tests.untrained import (
    ENGLISH_JAPANESE,
    save_to_japanese,
    save_transformer,
    untrained,
)

import dragoman
from dragoman.alignment.aligner import Aligner
from dragoman.decoding.config import SearchConfig
from dragoman.decoding.hypothesis import EMPTY, Hypothesis
from dragoman.decoding.phrase import Phrase
from dragoman.engines.protocol import EngineError
from dragoman.errors import DragomanError, UsageError
from dragoman.interop.ctranslate2 import export_ctranslate2
from dragoman.model_directory import ModelDirectory
from dragoman.terms.finder import TermFinder
from dragoman.tokenizers.config import TokenizerConfig
from dragoman.tokenizers.pair import TokenizerPair
from dragoman.tokenizers.training import train_tokenizers
from dragoman.translator import MarkedUpError, SentenceError, Translator
from dragoman.visualisation.trace import trace_translation

SENTENCES = [
    ("The cat is on the table.", "Il gatto è sul tavolo."),
    ("The dog is under the table.", "Il cane è sotto il tavolo."),
    ("Where is the cat?", "Dov'è il gatto?"),
    ("I see a dog and a cat.", "Vedo un cane e un gatto."),
]
LIMIT = 200  # tokens that the copying model has seen
SEARCH: dict[str, Any] = {"beam_size": 2, "max_length_ratio": 0.1, "max_length_extra": 3}


class Copier(FakeEngine):
    """Translates each sentence to itself, or with a longer end, and remembers what it was asked."""

    name = "copier"

    def __init__(self) -> None:
        self.asked: list[list[list[int]]] = []
        self.configs: list[SearchConfig] = []

    def search(
        self,
        sources: Sequence[Sequence[int]],
        config: SearchConfig,
        required: Sequence[Sequence[Phrase]] | None = None,
        prefixes: Sequence[Sequence[int]] | None = None,
    ) -> list[list[Hypothesis]]:
        self.asked.append([list(source) for source in sources])
        self.configs.append(config)
        return [
            [
                Hypothesis(
                    ids=(*source, *[source[-1]] * place),
                    score=-0.5 * place,
                    log_probability=-1.0 * place,
                    token_log_probabilities=(),
                    finished=place == 0,
                )
                for place in range(config.n_best)
            ]
            if source
            else [EMPTY]
            for source in sources
        ]


@pytest.fixture(scope="module")
def tokenizers(tmp_path_factory: pytest.TempPathFactory) -> TokenizerPair:
    return train_tokenizers(
        TokenizerConfig(vocab_size=320), lambda: SENTENCES, tmp_path_factory.mktemp("tokenizers")
    )


def translating(engine: Copier, tokenizers: TokenizerPair) -> Translator:
    return Translator.from_engine(engine, tokenizers, languages=("en", "it"), max_length=LIMIT)


@pytest.fixture
def copying(tokenizers: TokenizerPair) -> Translator:
    return translating(Copier(), tokenizers)


@pytest.fixture(scope="module")
def saved(tokenizers: TokenizerPair, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model")
    torch.manual_seed(5)  # a fixture of a module may be made before the tests are seeded
    save_transformer(
        path, untrained(tokenizers), tokenizers, TokenizerConfig(), search=dict(SEARCH)
    )
    return path


@pytest.fixture(scope="module")
def with_copy(saved: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the saved model a copy for CTranslate2."""
    path = Path(shutil.copytree(saved, tmp_path_factory.mktemp("copied") / "model"))
    export_ctranslate2(path, quantization="float32")
    return path


def test_products_are_in_bf16_where_it_is_fast_unless_it_is_said(
    with_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torch.cpu.get_capabilities", lambda: {"amx_bf16": True})

    fast = Translator(with_copy, engine="pytorch", device="cpu")
    exact = Translator(with_copy, device="cpu", precision="fp32")

    assert fast.engine.endswith(" on cpu, bfloat16")
    assert exact.engine.endswith(" on cpu, float32")
    (rounded,), (unrounded,) = fast.translate(["the cat"]), exact.translate(["the cat"])
    assert rounded.score != unrounded.score
    assert rounded.score == pytest.approx(unrounded.score, rel=0.05)
    with pytest.raises(UsageError, match="precision bf16 is for PyTorch"):
        Translator(with_copy, engine="ctranslate2", precision="bf16")


@pytest.mark.parametrize(
    "text",
    [
        "The cat is on the table.",
        "</s> <pad> <unk> <s>",
        "▁ <0x41>",
        "日本 🐈‍⬛ ½",
        "a ||| b",
    ],
)
def test_what_looks_like_a_special_token_is_text(copying: Translator, text: str) -> None:
    assert copying(text) == text


def test_a_lone_surrogate_becomes_a_replacement_character(copying: Translator) -> None:
    assert copying("a \ud800 cat") == "a \ufffd cat"


def test_line_breaks_and_separators_inside_a_sentence_become_spaces(copying: Translator) -> None:
    assert copying("cat\r\ndog") == copying("cat\u2028dog") == "cat dog"
    wide = "We flew from London, where it had rained for days, to"
    assert copying(f"{wide}\nParis.") == f"{wide} Paris."


@pytest.mark.parametrize(
    "text",
    [
        "Red\nBlue\nGreen",
        "Size: 5\r\nCode AB-7\r\n\r\nthank you",
        "a\n\nb",
        "a line that is as wide as the margin of a letter is:\n- An item",
        "a line that is as wide as the margin of a letter is\n- An item",
    ],
)
def test_lines_of_a_text_stay_lines(copying: Translator, text: str) -> None:
    assert copying(text) == text


def test_white_space_around_sentences_is_kept(tokenizers: TokenizerPair) -> None:
    engine = Copier()
    text = "\t The cat.  Where is Mr. Rossi?\n\nA dog!\u00a0I  see.\x85\n"

    (translation,) = translating(engine, tokenizers).translate([text])

    assert translation.text == text.replace("I  see", "I see")
    assert translation.parts == ("The cat.", "Where is Mr. Rossi?", "A dog!", "I  see.")
    assert not translation.cut
    assert len(engine.asked[0]) == 4


def test_blank_texts_stay_as_they_are(copying: Translator) -> None:
    blank = " \t\u3000"
    assert copying(["", "a cat", blank, "a dog", ""]) == ["", "a cat", blank, "a dog", ""]
    (found,) = copying.translate([" "])
    assert (found.source, found.text, found.score, found.finished) == (" ", " ", 0.0, True)


@pytest.mark.parametrize(
    "text",
    [
        r"<b>The cat</b> is on\n  the table.\n<br/>Where is the dog?",
        "<i class='x'/> A dog! <a href=\"y z\">the  cat</a>",
        "<p></p>",
        r"\n",
    ],
)
def test_tags_and_escapes_are_not_shown_to_the_model(tokenizers: TokenizerPair, text: str) -> None:
    engine = Copier()
    translator = Translator.from_engine(
        engine, tokenizers, languages=("en", "it"), max_length=LIMIT, terms=TermFinder()
    )

    before, translation, after = translator.translate(["a cat", text, "a dog"])

    assert translation.text == text.replace("  cat", " cat")
    assert translation.parts == (text,)
    assert translation.alternatives[0].parts == (translation.text,)
    assert (before.text, after.text) == ("a cat", "a dog")
    asked = [tokenizers.source.decode(ids) for ids in engine.asked[0]]
    assert not re.search(r"[<>\\]", "".join(asked))


def test_a_long_text_within_tags_is_translated_in_parts(tokenizers: TokenizerPair) -> None:
    engine = Copier()
    text = "<b>" + "the cat, the dog, " * 150 + "the cat</b>"
    translator = Translator.from_engine(
        engine, tokenizers, languages=("en", "it"), max_length=LIMIT, terms=TermFinder()
    )

    (translation,) = translator.translate([text])

    assert translation.text == text
    assert translation.cut
    assert max(map(len, engine.asked[0])) <= LIMIT


def test_a_list_gives_a_list_and_a_text_gives_a_text(copying: Translator) -> None:
    assert copying([]) == []
    assert copying(["a cat"]) == ["a cat"]
    assert copying("a cat") == "a cat"


def test_alternatives_carry_their_scores(copying: Translator) -> None:
    (translation,) = copying.translate(["a cat"], SearchConfig(n_best=3))

    assert [found.score for found in translation.alternatives] == [0.0, -0.5, -1.0]
    assert [found.finished for found in translation.alternatives] == [True, False, False]
    assert translation.score == 0.0


@pytest.mark.parametrize(
    "text",
    [
        "The cat is on the table. Where is the dog? " * 90,
        "the cat and the dog " * 150,
        "the cat, the dog, " * 150,
        "cat" * 1000,
        "cat" * 1000 + " dog." + " the" * 2000,
    ],
    ids=["sentences", "words", "clauses", "one word", "mixed"],
)
def test_a_long_text_is_translated_in_parts_and_nothing_is_lost(
    tokenizers: TokenizerPair, text: str
) -> None:
    engine = Copier()

    before, translation, after = translating(engine, tokenizers).translate(["a dog", text, "a cat"])

    assert (before.text, after.text) == ("a dog", "a cat")
    assert translation.source == text
    assert translation.text.replace(" ", "") == text.replace(" ", "")
    assert (before.parts, after.parts) == (("a dog",), ("a cat",))
    assert len(translation.parts) > 1
    assert len(set(translation.parts)) <= len(engine.asked[0]) - 2  # each once
    assert max(map(len, engine.asked[0])) <= LIMIT


def test_the_same_sentence_is_searched_for_once_unless_it_is_drawn(
    tokenizers: TokenizerPair,
) -> None:
    engine = Copier()
    texts = ["The cat.", "The dog. The cat.", "The cat."]
    translator = translating(engine, tokenizers)

    assert [found.text for found in translator.translate(texts)] == texts
    assert len(engine.asked[0]) == 2
    list(translator.translate(texts, SearchConfig(sampling_temperature=1.0)))
    assert len(engine.asked[1]) == 4


def test_a_sentence_of_as_many_tokens_as_fit_is_not_cut(tokenizers: TokenizerPair) -> None:
    engine = Copier()
    text = " the" * (LIMIT // 2)
    assert len(tokenizers.source.encode(text)) == LIMIT

    fits, too_long = translating(engine, tokenizers).translate([text, text + " the"])

    assert (len(fits.parts), fits.cut) == (1, False)
    assert (len(too_long.parts), too_long.cut) == (2, True)


def test_a_sentence_that_is_too_long_is_cut_behind_a_clause(tokenizers: TokenizerPair) -> None:
    text = "the cat is on the table, " * 30 + "the dog"

    (translation,) = translating(Copier(), tokenizers).translate([text])

    assert all(part.endswith("table,") for part in translation.parts[:-1])
    assert translation.text == text


def test_a_model_of_paragraphs_gets_them_whole(saved: Path) -> None:
    text = "The cat. The dog."

    (whole,) = Translator(saved, device="cpu", split_sentences=False).translate([text])
    (split,) = Translator(saved, device="cpu").translate([text])

    assert whole.parts == (text,)
    assert split.parts == ("The cat.", "The dog.")


def test_the_alternatives_of_parts_are_joined_in_order(tokenizers: TokenizerPair) -> None:
    translator = translating(Copier(), tokenizers)

    (translation,) = translator.translate(["The cat. The dog."], SearchConfig(n_best=2))

    assert [found.score for found in translation.alternatives] == [0.0, 2 * -0.5]
    assert [found.finished for found in translation.alternatives] == [True, False]
    assert translation.alternatives[1].text == "The cat.. The dog.."


def test_any_number_of_texts_is_translated_as_they_come(tokenizers: TokenizerPair) -> None:
    engine = Copier()
    ahead = engine.texts_at_once
    translator = translating(engine, tokenizers)
    read = 0

    def texts() -> Iterator[str]:
        nonlocal read
        for number in range(2 * ahead + 1):
            read += 1
            yield f"cat {number}"

    translations = translator.translate(texts())
    first = next(translations)

    assert first.text == "cat 0"
    assert read == ahead
    assert [found.text for found in translations] == [f"cat {i}" for i in range(1, read)]
    assert [len(sources) for sources in engine.asked] == [ahead, ahead, 1]


def test_a_saved_model_translates_with_its_own_search(saved: Path) -> None:
    translator = Translator(saved, device="cpu")
    texts = ["The cat.", "", "Where is the dog on the table?"]

    together = translator(texts)

    assert translator.search == SearchConfig(**SEARCH)
    assert together == [translator(text) for text in texts]
    assert together[1] == ""
    assert together[0] != ""


@pytest.mark.parametrize("engine", ["pytorch", "ctranslate2"])
def test_threads_can_share_a_translator(
    with_copy: Path, engine: Literal["pytorch", "ctranslate2"]
) -> None:
    translator = Translator(with_copy, engine=engine, device="cpu", threads=1)
    texts = [f"{'the ' * i}cat." for i in range(8)] * 2
    one_by_one = [translator(text) for text in texts]

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(translator, texts)) == one_by_one


def test_what_the_caller_has_set_in_pytorch_changes_no_result(saved: Path) -> None:
    sentence, _ = SENTENCES[0]

    def results() -> list[object]:
        translator = Translator(saved, engine="pytorch", precision="fp32", device="cpu")
        return [
            [found.alternatives for found in translator.translate([sentence])],
            list(translator.judge_pairs([SENTENCES[0]])),
            translator.ways_to_continue(sentence, ""),
            [weights.tolist() for weights in Aligner(saved).attention([SENTENCES[0]])],
            trace_translation(ModelDirectory(saved), sentence, SearchConfig()).search.hypotheses,
        ]

    usual = results()
    dtype = torch.get_default_dtype()
    torch.set_default_dtype(torch.bfloat16)
    try:
        with torch.device("meta"), torch.autocast("cpu", torch.bfloat16):
            assert results() == usual
            assert torch.get_default_device().type == "meta"
            assert torch.is_autocast_enabled("cpu")
        assert torch.get_default_dtype() == torch.bfloat16
    finally:
        torch.set_default_dtype(dtype)


def test_a_copy_for_ctranslate2_leaves_pytorch_its_processors(with_copy: Path) -> None:
    usual = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        Translator(with_copy, engine="ctranslate2", device="cpu", threads=1)("the cat.")
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(usual)


AFTER_A_FORK = """
import multiprocessing, sys
from dragoman import Translator
from dragoman.alignment.aligner import Aligner
translator = Translator(sys.argv[1], engine=sys.argv[2], device="cpu")
translator("The cat.")
aligner = Aligner(sys.argv[1])

def use():
    for way in (
        translator.__call__,
        lambda text: translator.judge(text, text),
        lambda text: next(aligner.attention([(text, text)])),
    ):
        try:
            way("The cat.")
        except ValueError as error:
            print(error, flush=True)

process = multiprocessing.get_context("fork").Process(target=use)
process.start()
process.join()
"""


@pytest.mark.parametrize("send", [pickle.dumps, copy.deepcopy])
@pytest.mark.parametrize("engine", ["pytorch", "ctranslate2"])
def test_a_translator_that_is_sent_to_a_process_says_what_to_send_instead(
    with_copy: Path, engine: Literal["pytorch", "ctranslate2"], send: Callable[[Translator], object]
) -> None:
    translator = Translator(with_copy, engine=engine)

    with pytest.raises(TypeError, match="give the path of its model, and load it there"):
        send(translator)


@pytest.mark.parametrize("engine", ["pytorch", "ctranslate2"])
def test_after_a_fork_a_sentence_says_how_to_start_processes(with_copy: Path, engine: str) -> None:
    program = [sys.executable, "-c", AFTER_A_FORK, str(with_copy), engine]

    run = subprocess.run(program, check=True, capture_output=True, text=True, timeout=60)

    assert run.stdout.count("the model was loaded in another process") == 3
    assert "fork before a model is loaded" in run.stdout


AS_WRITTEN = [
    ("THE CAT IS ON THE TABLE.", str.upper),
    ("- The cat is on the table.", "- {}".format),
    ("2) The c\u00adat is on the table. \U0001f389", "2) {} \U0001f389".format),
]
"""Sentences of which a model is shown the same, and how their translations are written."""


@pytest.mark.parametrize(("text", "write"), AS_WRITTEN)
def test_words_offered_and_translations_begun_are_those_of_the_sentence_that_is_shown(
    saved: Path, text: str, write: Callable[[str], str]
) -> None:
    translator = Translator(saved, device="cpu")
    plain = SENTENCES[0][0]

    for prefix in ("", "Il", "Il gatto"):
        begun = write("{}").partition("{")[0] + (prefix.upper() if write is str.upper else prefix)
        expected = translator.ways_to_continue(plain, prefix, count=60)
        found = translator.ways_to_continue(text, begun, count=60)
        assert expected
        assert {way.translation for way in found} <= {write(way.translation) for way in expected}
        assert found[0].translation == write(expected[0].translation)
        assert found[0].word.confidence == pytest.approx(expected[0].word.confidence)
        completed = translator.complete(text, begun)
        assert completed.text == write(translator.complete(plain, prefix).text)
        assert completed.parts == (completed.text,)


@pytest.mark.parametrize(("text", "write"), AS_WRITTEN)
def test_a_translation_is_judged_as_the_search_has_found_it(
    saved: Path, text: str, write: Callable[[str], str]
) -> None:
    translator = Translator(saved, device="cpu")
    plain, given = SENTENCES[0]

    of_plain, judged, swapped = translator.judge_pairs(
        [(plain, given), (text, write(given)), (plain, write(given))]
    )

    assert of_plain is not None
    assert judged is not None
    assert swapped is not None
    assert judged.log_probability == pytest.approx(of_plain.log_probability, rel=1e-5)
    assert swapped.log_probability < of_plain.log_probability
    words = translator.judge(text, write(given))
    assert [word.text for word in words] == write(given).split()
    sure = [word.confidence for word in words]
    assert sure == [word.confidence for word in judged.words]
    in_between = [word.confidence for word in of_plain.words]
    assert [value for value in sure if value < 1] == pytest.approx(in_between, rel=1e-5)


def test_what_stays_as_it_is_is_judged_so_and_has_no_other_words(saved: Path) -> None:
    translator = Translator(saved, device="cpu")
    pairs = [("12:30 %", "12:30 %"), ("12:30 %", ""), ("12:30 %", "Il gatto")]

    same, empty, other = translator.judge_pairs(pairs)

    (translation,) = translator.translate(["12:30 %"])
    assert same is not None
    assert (same.confidence, same.num_tokens) == (translation.confidence, 0)
    assert [word.text for word in same.words] == ["12:30", "%"]
    assert translator.judge(*pairs[0]) == list(same.words)
    assert empty is not None
    assert (empty.num_tokens, empty.words) == (1, ())
    assert other is not None
    assert other.confidence < 1
    assert translator.ways_to_continue("12:30 %", "") == []
    assert translator.complete("12:30 %", "12:30 %").text == "12:30 %"
    assert translator.complete("12:30 %", "12").text.startswith("12")


def test_what_is_too_long_is_refused_and_not_taken_for_the_sentence(saved: Path) -> None:
    translator = Translator(saved, device="cpu")
    short, long = "The cat.", "Il gatto. " * 300

    for ask in (
        lambda: translator.judge(short, long),
        lambda: translator.judge(long, short),
        lambda: translator.complete(short, long),
        lambda: translator.ways_to_continue(long, ""),
    ):
        with pytest.raises(SentenceError, match="the sentence or its translation has more than"):
            ask()


@pytest.mark.parametrize("blank", ["", " "])
def test_the_beginning_of_a_translation_of_nothing_stays(saved: Path, blank: str) -> None:
    assert Translator(saved, device="cpu").complete(blank, "Il gatto ").text == "Il gatto"


def test_an_emoji_in_a_beginning_is_not_thrown_away(saved: Path) -> None:
    translator = Translator(saved, device="cpu")
    text = "The cat is on the table. \U0001f389 \U0001f389"

    for given in (text, text.removesuffix(" \U0001f389")):
        begun = translator.complete(given, "Il gatto \U0001f389")
        assert begun.text.startswith("Il gatto \U0001f389")
    assert translator.ways_to_continue(text, "Il gatto \U0001f389") == []
    assert translator.complete("\u2728The cat", "\u2728 Il").text.startswith("\u2728 Il")


@pytest.fixture(scope="module")
def to_japanese(tmp_path_factory: pytest.TempPathFactory) -> Translator:
    path = save_to_japanese(tmp_path_factory.mktemp("en-ja"), search=dict(SEARCH))
    return Translator(path, device="cpu")


def test_a_language_without_spaces_has_words_to_judge_and_to_choose(
    to_japanese: Translator,
) -> None:
    text, given = ENGLISH_JAPANESE[0]
    words = to_japanese.target_words(given)

    judged = to_japanese.judge(text, given)
    assert [word.text for word in judged] == words
    assert 1 < len(words) < len(given)
    for count in range(len(words)):
        prefix = "".join(words[:count])
        ways = to_japanese.ways_to_continue(text, prefix, count=60)
        assert len(ways) > 5
        for way in ways:
            assert way.translation.replace(" ", "").startswith(prefix + way.word.text)
            assert to_japanese.target_words(way.translation)[count] == way.word.text


def test_a_word_without_spaces_can_be_chosen_after_a_sign_in_front_of_the_sentence(
    to_japanese: Translator,
) -> None:
    text, _ = ENGLISH_JAPANESE[0]
    (sign,) = to_japanese.ways_to_continue(f"✨{text}", "")
    plain = to_japanese.ways_to_continue(text, "")

    ways = to_japanese.ways_to_continue(f"✨{text}", "✨")

    assert (sign.word.text, sign.word.confidence) == ("✨", 1.0)
    assert [way.word for way in ways] == [way.word for way in plain]
    assert [way.translation for way in ways] == [f"✨{way.translation}" for way in plain]


def test_what_continues_the_word_before_is_no_way_in_a_language_without_spaces(
    to_japanese: Translator,
) -> None:
    text, given = ENGLISH_JAPANESE[0]
    words = to_japanese.target_words(given)
    place = next(i for i, word in enumerate(words) if len(word) > 1)
    begun = "".join(words[:place])

    ways = to_japanese.ways_to_continue(text, begun + words[place][:-1], count=300)

    assert ways
    assert not any(way.translation.startswith(begun + words[place]) for way in ways)


def test_a_sentence_with_tags_has_no_ways_but_says_why(saved: Path) -> None:
    translator = Translator(saved, device="cpu")

    with pytest.raises(MarkedUpError, match="no other words are given for a sentence with tags"):
        translator.ways_to_continue("The <b>cat</b> is on the table.", "Il")

    assert translator.ways_to_continue("a < b and a dog", "Il", count=60)


def test_another_search_can_be_asked_for(saved: Path) -> None:
    search = SearchConfig(beam_size=3, n_best=3, max_length_extra=4)

    (translation,) = Translator(saved, device="cpu", search=search).translate(["The cat."])

    assert len(translation.alternatives) == 3


def test_nothing_loads_pytorch_before_a_model_is_loaded() -> None:
    program = (
        "import sys, dragoman, dragoman.translator, dragoman.model_directory\n"
        "import dragoman.cli.translate, dragoman.decoding.config, dragoman.engines.protocol\n"
        "dragoman.Translator, dragoman.__version__\n"
        "assert 'torch' not in sys.modules and 'jaxtyping' not in sys.modules"
    )

    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_notebook_can_complete_the_names_of_the_package() -> None:
    assert {*dragoman.__all__} <= {*dir(dragoman)}


def test_a_type_checker_does_not_take_a_misspelt_name_for_one_of_the_package() -> None:
    """To it, a module with a function `__getattr__` has every name."""
    statements = ast.parse(Path(dragoman.__file__).read_text()).body
    functions = {each.name for each in statements if isinstance(each, ast.FunctionDef)}
    assert "__getattr__" not in functions
    assert not hasattr(dragoman, "Transaltor")


def test_importing_the_package_loads_none_of_its_parts() -> None:
    program = (
        "import sys, dragoman\n"
        "loaded = [name for name in sys.modules if name.startswith('dragoman.')]\n"
        "assert not loaded, loaded"
    )

    subprocess.run([sys.executable, "-c", program], check=True)


def test_without_pytorch_a_sentence_says_how_to_install_it(saved: Path) -> None:
    program = (
        "import sys\n"
        "sys.modules['torch'] = None\n"
        "from dragoman import Translator\n"
        "try:\n"
        "    Translator(sys.argv[1])\n"
        "except ValueError as error:\n"
        "    print(error)"
    )

    run = subprocess.run(
        [sys.executable, "-c", program, saved], check=True, capture_output=True, text=True
    )

    assert 'pip install --editable ".[train]" installs' in run.stdout
    assert f'"dragoman export {saved} --to ctranslate2" makes' in run.stdout


def test_without_pytorch_what_needs_it_is_named_where_there_is_a_copy(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dragoman.engines.selection.fault_of_copy", lambda directory: None)
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "dragoman.engines.pytorch", raising=False)

    with pytest.raises(EngineError, match="the model's copy for CTranslate2 translates without"):
        Translator(saved, precision="fp32")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ('EngineSettings(engine="foo")', "engine='foo' is none of auto, pytorch, ctranslate2"),
        ('EngineSettings(precision="fp16")', "precision='fp16' is none of auto, fp32, bf16"),
        ("EngineSettings(threads=0)", "threads=0 should be at least 1"),
    ],
)
def test_choices_that_make_no_sense_are_refused(call: str, message: str) -> None:
    """In a process of its own, where nothing checks the types of arguments."""
    program = (
        "from dragoman.engines.selection import EngineSettings\n"
        f"try:\n    {call}\nexcept ValueError as error:\n    print(error)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert run.stdout == f"{message}\n"


def test_one_text_is_not_taken_for_many(saved: Path) -> None:
    with pytest.raises(TypeError, match=r"for one, write \[text\]"):
        next(Translator(saved, device="cpu").translate("The cat."))


@pytest.mark.parametrize("what", [None, float("nan"), b"The dog."])
def test_what_is_no_text_is_named_with_its_place(copying: Translator, what: Any) -> None:
    with pytest.raises(TypeError, match=f"position 1 is {re.escape(repr(what))}"):
        copying(["The cat.", what])


def test_search_settings_that_make_no_sense_name_the_file(saved: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    for path in saved.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    text = (copy / "model.toml").read_text().replace("beam_size = 2", "beam_size = 0")
    (copy / "model.toml").write_text(text)

    with pytest.raises(DragomanError, match=r"model\.toml: search\.beam_size=0 is not between"):
        Translator(copy)


class Stuck(Copier):
    """An engine whose best translation of a long text runs in circles."""

    def __init__(self, *, finds_another: bool) -> None:
        super().__init__()
        self.finds_another = finds_another

    def search(
        self,
        sources: Sequence[Sequence[int]],
        config: SearchConfig,
        required: Sequence[Sequence[Phrase]] | None = None,
        prefixes: Sequence[Sequence[int]] | None = None,
    ) -> list[list[Hypothesis]]:
        found = super().search(sources, config, required)
        return [
            [
                replace(hypothesis, ids=tuple(source[:2]) * 10)
                if len(source) > 5 and (place < 3 or not self.finds_another)
                else replace(hypothesis, ids=tuple(reversed(hypothesis.ids)))
                for place, hypothesis in enumerate(hypotheses)
            ]
            for source, hypotheses in zip(sources, found, strict=True)
        ]


def test_a_faulty_translation_gives_way_to_the_best_without_fault(
    tokenizers: TokenizerPair,
) -> None:
    engine = Stuck(finds_another=True)
    translator = translating(engine, tokenizers)

    short, long = translator.translate(["cat", "The cat is on the table."])

    assert [len(asked) for asked in engine.asked] == [2, 1]  # only the faulty one is searched again
    assert (engine.configs[1].beam_size, engine.configs[1].n_best) == (8, 8)
    assert (short.faults, long.faults) == ((), ())
    assert len(long.alternatives) == 1
    assert long.score == -0.5 * 3


def test_a_translation_whose_fault_nothing_mends_says_so(tokenizers: TokenizerPair) -> None:
    translator = translating(Stuck(finds_another=False), tokenizers)

    (translation,) = translator.translate(["The cat is on the table. The dog."])

    assert translation.faults == ("repeats itself",)
    assert translation.score == 0.0


def test_samples_are_not_exchanged_for_others(tokenizers: TokenizerPair) -> None:
    engine = Stuck(finds_another=True)
    sampling = SearchConfig(sampling_temperature=1.0)

    (translation,) = translating(engine, tokenizers).translate(["The cat is on it."], sampling)

    assert translation.faults == ("repeats itself",)
    assert len(engine.asked) == 1
