"""The translator: text to text, one out for each in."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from dragoman.config import DragomanError
from dragoman.decoding.config import SearchConfig
from dragoman.decoding.hypothesis import EMPTY, Hypothesis
from dragoman.model.config import TransformerConfig
from dragoman.model.transformer import Transformer
from dragoman.model_directory import ModelDescription, TokenizerDescription, save_model
from dragoman.tokenizers.config import TokenizerConfig
from dragoman.tokenizers.pair import TokenizerPair
from dragoman.tokenizers.tokenizer import SpecialIds
from dragoman.tokenizers.training import train_tokenizers
from dragoman.translator import CHUNK, MAX_SOURCE_TOKENS, Translator

SENTENCES = [
    ("The cat is on the table.", "Il gatto è sul tavolo."),
    ("The dog is under the table.", "Il cane è sotto il tavolo."),
    ("Where is the cat?", "Dov'è il gatto?"),
    ("I see a dog and a cat.", "Vedo un cane e un gatto."),
]
SEARCH: dict[str, Any] = {"beam_size": 2, "max_length_ratio": 0.1, "max_length_extra": 3}


class Copier:
    """An engine that translates each sentence to itself, and remembers what it was asked."""

    name = "copier"

    def __init__(self) -> None:
        self.asked: list[list[list[int]]] = []
        self.configs: list[SearchConfig] = []

    def search(
        self, sources: Sequence[Sequence[int]], config: SearchConfig
    ) -> list[list[Hypothesis]]:
        self.asked.append([list(source) for source in sources])
        self.configs.append(config)
        return [
            [
                Hypothesis(
                    ids=tuple(source),
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


@pytest.fixture
def copying(tokenizers: TokenizerPair) -> Translator:
    return Translator.from_engine(Copier(), tokenizers)


@pytest.fixture(scope="module")
def saved(tokenizers: TokenizerPair, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model")
    config = TransformerConfig(
        d_model=8, d_ff=12, num_heads=2, num_encoder_layers=1, num_decoder_layers=1
    )
    size = tokenizers.source.vocab_size
    model = Transformer(config, source_vocab_size=size, target_vocab_size=size, padding_id=0)
    description = ModelDescription(
        source_language="en",
        target_language="it",
        model=config,
        tokenizer=TokenizerDescription.of(tokenizers, TokenizerConfig()),
        special_ids=SpecialIds(),
        search=dict(SEARCH),
    )
    save_model(path, description, tokenizers, dict(model.named_parameters()))
    return path


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


def test_line_breaks_and_separators_become_spaces(copying: Translator) -> None:
    assert copying("the cat\r\nthe\u2028dog\x85") == "the cat the dog"


def test_blank_texts_are_translated_to_nothing(copying: Translator) -> None:
    assert copying(["", "a cat", " \t\u3000", "a dog", ""]) == ["", "a cat", "", "a dog", ""]
    (blank,) = copying.translate([" "])
    assert (blank.source, blank.text, blank.score, blank.finished) == (" ", "", 0.0, True)


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
        "cat" * 1000,
        "cat" * 1000 + " dog." + " the" * 2000,
    ],
    ids=["sentences", "words", "one word", "mixed"],
)
def test_a_text_that_is_too_long_is_translated_in_parts_and_nothing_is_lost(
    tokenizers: TokenizerPair, text: str
) -> None:
    engine = Copier()
    translator = Translator.from_engine(engine, tokenizers)

    before, translation, after = translator.translate(["a dog", text, "a cat"])

    assert (before.text, after.text) == ("a dog", "a cat")
    assert translation.source == text
    assert translation.text.replace(" ", "") == text.replace(" ", "")
    assert (before.parts, after.parts) == (1, 1)
    assert translation.parts == len(engine.asked[0]) - 2 > 1
    assert max(map(len, engine.asked[0])) <= MAX_SOURCE_TOKENS


def test_a_text_of_as_many_tokens_as_fit_is_not_cut(tokenizers: TokenizerPair) -> None:
    engine = Copier()
    text = " the" * (MAX_SOURCE_TOKENS // 2)
    assert len(tokenizers.source.encode(text)) == MAX_SOURCE_TOKENS

    (translation,) = Translator.from_engine(engine, tokenizers).translate([text])

    assert translation.parts == 1
    assert len(engine.asked[0]) == 1


def test_a_text_is_cut_between_sentences(tokenizers: TokenizerPair) -> None:
    engine = Copier()
    text = "The cat is on the table. " * 101 + "Where is (the dog?) " * 40

    list(Translator.from_engine(engine, tokenizers).translate([text]))

    parts = [tokenizers.target.decode(ids) for ids in engine.asked[0]]
    assert {part[-1] for part in parts} <= {".", ")"}
    assert {part.split()[0] for part in parts} <= {"The", "Where"}


def test_the_alternatives_of_parts_are_joined_in_order(tokenizers: TokenizerPair) -> None:
    translator = Translator.from_engine(Copier(), tokenizers)

    (translation,) = translator.translate(["the cat " * 600], SearchConfig(n_best=2))

    assert translation.parts == 2
    assert [found.score for found in translation.alternatives] == [0.0, 2 * -0.5]
    assert [found.finished for found in translation.alternatives] == [True, False]
    assert translation.alternatives[1].text == "the cat " * 599 + "the cat"


def test_any_number_of_texts_is_translated_as_they_come(tokenizers: TokenizerPair) -> None:
    engine = Copier()
    translator = Translator.from_engine(engine, tokenizers)
    read = 0

    def texts() -> Iterator[str]:
        nonlocal read
        for number in range(2 * CHUNK + 1):
            read += 1
            yield f"cat {number}"

    translations = translator.translate(texts())
    first = next(translations)

    assert first.text == "cat 0"
    assert read == CHUNK
    assert [found.text for found in translations] == [f"cat {i}" for i in range(1, read)]
    assert [len(sources) for sources in engine.asked] == [CHUNK, CHUNK, 1]


def test_a_saved_model_translates_with_its_own_search(saved: Path) -> None:
    translator = Translator(saved, device="cpu")
    texts = ["The cat.", "", "Where is the dog on the table?"]

    together = translator(texts)

    assert translator.search == SearchConfig(**SEARCH)
    assert together == [translator(text) for text in texts]
    assert together[1] == ""
    assert together[0] != ""


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

    assert run.stdout == 'translating needs PyTorch: pip install "dragoman[train]" installs it\n'


def test_search_settings_that_make_no_sense_name_the_file(saved: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    for path in saved.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    text = (copy / "model.toml").read_text().replace("beam_size = 2", "beam_size = 0")
    (copy / "model.toml").write_text(text)

    with pytest.raises(DragomanError, match=r"model\.toml: search\.beam_size=0 is not positive"):
        Translator(copy)
