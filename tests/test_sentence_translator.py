"""Terms survive every model, also one that was never trained."""

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
import torch
from tests.alternative import says
from tests.fake_engine import FakeEngine

from dragoman.decoding.config import SearchConfig
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.phrase import Phrase
from dragoman.engines.pytorch import PyTorchEngine
from dragoman.errors import UsageError
from dragoman.faults import Fault
from dragoman.model.config import TransformerConfig
from dragoman.model.transformer import Transformer
from dragoman.sentence_translator import Sentence, SentenceTranslator
from dragoman.terms.finder import TermFinder
from dragoman.terms.glossary import Glossary
from dragoman.terms.protected import find_protected
from dragoman.terms.term import FAULT_OF_GLOSSARY, FAULT_OF_PROTECTED, find_term_faults
from dragoman.tokenizers.config import TokenizerConfig
from dragoman.tokenizers.pair import TokenizerPair
from dragoman.tokenizers.tokenizer import SpecialIds
from dragoman.tokenizers.training import train_tokenizers
from dragoman.translation import Alternative, join, join_alternatives

SENTENCES = [("The cat has 12 files.", "Il gatto ha 12 file."), ("Where?", "Dove?")]
SEARCH = SearchConfig(beam_size=2, max_length_ratio=1.0, max_length_extra=5)
SOURCES = [
    "%s of %s files were copied to {path}.",
    "See http://www.è.it/a?b=1&c=%20 or write to me@mail.example.com!",
    "1,200 pages, 12:30, 7 and 7 and 7",
    "(%(name)s)",
    "nothing to keep",
    "Send AB-00009/X0, 5 m\u00b2 \u00b1 1 of it",
    "\u4f60 {0} \u597d",
]


@pytest.fixture(scope="module")
def tokenizers(tmp_path_factory: pytest.TempPathFactory) -> TokenizerPair:
    config = TokenizerConfig(vocab_size=320)
    return train_tokenizers(config, lambda: iter(SENTENCES), tmp_path_factory.mktemp("t"))


@pytest.fixture
def untrained(tokenizers: TokenizerPair) -> PyTorchEngine:
    size = tokenizers.target.vocab_size
    config = TransformerConfig(
        d_model=16, d_ff=32, num_heads=2, num_encoder_layers=1, num_decoder_layers=1
    )
    transformer = Transformer(config, source_vocab_size=size, target_vocab_size=size, padding_id=0)
    return PyTorchEngine(transformer.eval(), SpecialIds())


class Parrot(FakeEngine):
    """An engine that says the same of everything."""

    name = "parrot"

    def __init__(self, says: list[int]) -> None:
        self._says = tuple(says)

    def search(
        self,
        sources: Sequence[Sequence[int]],
        config: SearchConfig,
        required: Sequence[Sequence[Phrase]] | None = None,
        prefixes: Sequence[Sequence[int]] | None = None,
    ) -> list[list[Hypothesis]]:
        assert required is None
        found = Hypothesis(
            ids=self._says,
            score=-1.0,
            log_probability=-2.0,
            token_log_probabilities=(),
            finished=True,
        )
        return [[found] for _ in sources]

    def log_probabilities(
        self, sources: Sequence[Sequence[int]], translations: Sequence[Sequence[int]]
    ) -> list[tuple[float, ...]]:
        return [(-2.0,) * (len(translation) + 1) for translation in translations]

    def continue_in_ways(self, *_: object, **__: object) -> list[Hypothesis]:
        return []


def sentences(tokenizers: TokenizerPair, texts: list[str]) -> list[Sentence]:
    return list(map(Sentence, texts, tokenizers.source.encode_batch(texts)))


@pytest.mark.parametrize("seed", range(5))
def test_protected_text_survives_a_model_that_knows_nothing(
    tokenizers: TokenizerPair, untrained: PyTorchEngine, seed: int
) -> None:
    torch.manual_seed(seed)
    for parameter in untrained._transformer.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    translator = SentenceTranslator(untrained, tokenizers, TermFinder())
    found = translator.translate(sentences(tokenizers, SOURCES), SEARCH)
    for source, (best, *_) in zip(SOURCES, found, strict=True):
        assert FAULT_OF_PROTECTED not in best.faults
        assert not find_term_faults(find_protected(source), find_protected(best.text), best.text)


@pytest.mark.parametrize("knows_phrases", [True, False])
@pytest.mark.parametrize(
    ("begun", "missing"), [("", ["%s", "12"]), ("Gatto 12", ["%s"]), ("%s: 12", [])]
)
def test_what_is_begun_keeps_the_terms_that_its_beginning_lacks(
    tokenizers: TokenizerPair,
    untrained: PyTorchEngine,
    monkeypatch: pytest.MonkeyPatch,
    begun: str,
    missing: list[str],
    *,
    knows_phrases: bool,
) -> None:
    monkeypatch.setattr(PyTorchEngine, "knows_phrases", knows_phrases)
    translator = SentenceTranslator(untrained, tokenizers, TermFinder())
    (sentence,) = sentences(tokenizers, ["The cat %s has 12 files."])

    best = translator.complete(sentence, tokenizers.target.encode(begun), SEARCH)[0]

    assert best.text.startswith(begun)
    for term in ("%s", "12"):
        assert best.text[len(begun) :].count(term) == missing.count(term)
    assert FAULT_OF_PROTECTED not in best.faults


def test_each_way_to_go_on_keeps_the_terms(
    tokenizers: TokenizerPair, untrained: PyTorchEngine
) -> None:
    translator = SentenceTranslator(untrained, tokenizers, TermFinder())
    (sentence,) = sentences(tokenizers, ["Where is %s?"])
    begun = tokenizers.target.encode("Dove")

    found = translator.continue_in_ways(sentence, begun, replace(SEARCH, beam_size=1), count=5)

    assert len(found) == 5
    assert all(way.text.startswith("Dove") and "%s" in way.text for way in found)
    assert len({way.text for way in found}) > 1
    with pytest.raises(ValueError, match="count=0 should be 1 or more"):
        translator.continue_in_ways(sentence, begun, SEARCH, count=0)


def test_without_an_engine_for_phrases_the_text_between_them_is_translated(
    tokenizers: TokenizerPair,
) -> None:
    engine = Parrot(tokenizers.target.encode("Dove?"))
    translator = SentenceTranslator(engine, tokenizers, TermFinder())
    found = translator.translate(
        sentences(tokenizers, ["Where is %s (or  {0})?", "%s%s", "Where is it?"]), SEARCH
    )
    assert [best.text for best, *_ in found] == ["Dove? %s Dove?  {0})?", "%s%s", "Dove?"]
    assert [best.faults for best, *_ in found] == [(), (), ()]
    assert [best.score for best, *_ in found] == [-2.0, 0.0, -1.0]


def test_alternatives_with_a_fault_come_behind_those_without(tokenizers: TokenizerPair) -> None:
    class Varied(Parrot):
        def search(self, sources: Sequence[Sequence[int]], *_: object) -> list[list[Hypothesis]]:
            ((found,),) = super().search(sources[:1], SEARCH)
            texts = ["Il gatto ha 12 file.", "Il gatto ha file.", "Gatto: 12 file."]
            ids = [tuple(tokenizers.target.encode(text)) for text in texts]
            return [[replace(found, ids=each, score=-1.0 * i) for i, each in enumerate(ids)]]

    translator = SentenceTranslator(Varied([]), tokenizers, TermFinder())
    (found,) = translator.translate(
        sentences(tokenizers, ["The cat has 12 files."]), SearchConfig(beam_size=3, n_best=3)
    )
    assert [bool(each.faults) for each in found] == [False, False, True]
    assert [each.score for each in found] == [0.0, -2.0, -1.0]


def test_samples_stay_as_many_and_in_the_order_in_which_they_were_drawn(
    tokenizers: TokenizerPair,
) -> None:
    class Drawing(Parrot):
        def search(self, sources: Sequence[Sequence[int]], *_: object) -> list[list[Hypothesis]]:
            ((found,),) = super().search(sources[:1], SEARCH)
            texts = ["Il gatto ha file.", "Il gatto ha 12 file.", "Il gatto ha 12 file."]
            ids = [tuple(tokenizers.target.encode(text)) for text in texts]
            return [[replace(found, ids=each, score=-1.0 * i) for i, each in enumerate(ids)]]

    translator = SentenceTranslator(Drawing([]), tokenizers, TermFinder())
    (found,) = translator.translate(
        sentences(tokenizers, ["The cat has 12 files."]),
        SearchConfig(sampling_temperature=1.0, n_best=3),
    )
    assert [(each.text, each.score) for each in found] == [
        ("Il gatto ha file.", 0.0),
        ("Il gatto ha 12 file.", -1.0),
        ("Il gatto ha 12 file.", -2.0),
    ]


def test_what_one_engine_cannot_draw_another_draws(tokenizers: TokenizerPair) -> None:
    class Searching(Parrot):
        samples = False

        def search(self, *_: object) -> list[list[Hypothesis]]:
            raise UsageError("it does not draw")

    drawing = Parrot(tokenizers.target.encode("Dove?"))
    search = SearchConfig(sampling_temperature=1.0)
    asked = sentences(tokenizers, ["Where?"])
    first = Searching([])

    alone = SentenceTranslator(first, tokenizers, TermFinder())
    ((drawn,),) = SentenceTranslator(
        first, tokenizers, TermFinder(), load_second_engine=lambda: drawing
    ).translate(asked, search)

    assert drawn.text == "Dove?"
    with pytest.raises(UsageError, match="it does not draw"):
        alone.translate(asked, search)


def test_a_term_of_the_glossary_that_is_begun_is_not_asked_for_again(
    tokenizers: TokenizerPair, untrained: PyTorchEngine
) -> None:
    """Whatever else the beginning has: here a placeholder that the term does not have."""
    asked = []

    class Asking(Parrot):
        knows_phrases = True

        def search(
            self,
            sources: Sequence[Sequence[int]],
            config: SearchConfig,
            required: Sequence[Sequence[Phrase]] | None = None,
            prefixes: Sequence[Sequence[int]] | None = None,
        ) -> list[list[Hypothesis]]:
            if required is None:
                return super().search(sources, config)
            asked.append([phrase.longest for phrase in required[0]])
            return untrained.search(sources, config, required, prefixes)

    glossary = Glossary({"cat": ("gatto",)})
    begun = tokenizers.target.encode("Il gatto %s ha")
    translator = SentenceTranslator(Asking(begun), tokenizers, TermFinder(glossary=glossary))
    (sentence,) = sentences(tokenizers, ["The cat %s has 12 files."])

    translator.complete(sentence, begun, SEARCH)

    assert len(asked[0]) == 1  # 12


@pytest.mark.parametrize("strange", ["λόγος", "🐱", "±3", "Cat™"])
def test_a_model_is_not_made_to_spell_what_it_has_never_read(
    tokenizers: TokenizerPair, strange: str
) -> None:
    engine = Parrot(tokenizers.target.encode("Dove?"))
    engine.knows_phrases = True  # it refuses to be asked for any
    translator = SentenceTranslator(engine, tokenizers, TermFinder(languages=("en", "it")))
    ((best, *_),) = translator.translate(
        sentences(tokenizers, [f"Where is {strange}, the cat?"]), SEARCH
    )
    assert best.text == f"Dove? {strange}, Dove?"
    assert not best.faults


@pytest.mark.parametrize(
    ("source", "says"), [("Where is %s now?", "%d"), ("Where:%s(now?)", "Dove?")]
)
def test_where_nothing_helps_the_sentence_stays_as_it_is(
    tokenizers: TokenizerPair, source: str, says: str
) -> None:
    engine = Parrot(tokenizers.target.encode(says))
    translator = SentenceTranslator(engine, tokenizers, TermFinder())
    ((best, *_),) = translator.translate(sentences(tokenizers, [source]), SEARCH)
    assert (best.text, best.faults) == (source, ("copies the source",))
    assert best.num_tokens == len(tokenizers.target.encode(source)) + 1
    assert best.confidence == pytest.approx(math.exp(-2))
    assert best.score == pytest.approx(best.log_probability / SEARCH.penalty(best.num_tokens))


def test_a_second_engine_is_loaded_when_it_is_needed(
    tokenizers: TokenizerPair, untrained: PyTorchEngine
) -> None:
    asked = []

    def load() -> PyTorchEngine:
        asked.append(True)
        return untrained

    first = Parrot(tokenizers.target.encode("Dove?"))
    translator = SentenceTranslator(first, tokenizers, TermFinder(), load)
    translator.translate(sentences(tokenizers, ["Where is it?"]), SEARCH)
    assert not asked
    for _ in range(2):
        ((best, *_),) = translator.translate(sentences(tokenizers, ["Where is %s?"]), SEARCH)
        assert best.text.count("%s") == 1
        assert not best.text.startswith("Dove?")
    assert len(asked) == 1


def test_a_term_of_the_glossary_is_said(
    tokenizers: TokenizerPair, untrained: PyTorchEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Whatever this model says has other faults.
    monkeypatch.setattr("dragoman.sentence_translator.find_faults", lambda *_, **__: ())
    finder = TermFinder(glossary=Glossary({"cat": ("micio",), "file": ("archivio", "documento")}))
    translator = SentenceTranslator(untrained, tokenizers, finder)
    found = translator.translate(
        sentences(tokenizers, ["The cat has a file", "Cat!", "It has files."]), SEARCH
    )
    texts = [best.text.casefold() for best, *_ in found]
    assert "micio" in texts[0]
    assert "archivio" in texts[0] or "documento" in texts[0]
    assert "micio" in texts[1]
    assert all(FAULT_OF_GLOSSARY not in best.faults for best, *_ in found)


def test_a_term_of_the_glossary_is_said_without_an_engine_for_phrases(
    tokenizers: TokenizerPair, untrained: PyTorchEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dragoman.sentence_translator.find_faults", lambda *_, **__: ())
    monkeypatch.setattr(PyTorchEngine, "knows_phrases", False)
    translator = SentenceTranslator(
        untrained, tokenizers, TermFinder(glossary=Glossary({"cat": ("gatto",)}))
    )

    ((best, *_),) = translator.translate(sentences(tokenizers, ["The cat"]), SEARCH)

    assert "gatto" in best.text.casefold()
    assert FAULT_OF_GLOSSARY not in best.faults


def test_a_term_that_no_engine_can_say_is_told(tokenizers: TokenizerPair) -> None:
    finder = TermFinder(glossary=Glossary({"cat": ("micio",)}))
    engine = Parrot(tokenizers.target.encode("Dove?"))
    ((best, *_),) = SentenceTranslator(engine, tokenizers, finder).translate(
        sentences(tokenizers, ["The cat."]), SEARCH
    )
    assert best.faults == (FAULT_OF_GLOSSARY,)


def test_what_is_not_to_be_kept_may_be_lost(tokenizers: TokenizerPair) -> None:
    engine = Parrot(tokenizers.target.encode("Dove?"))
    translator = SentenceTranslator(engine, tokenizers, TermFinder(protects=False))
    ((best, *_),) = translator.translate(sentences(tokenizers, ["Where is %s?"]), SEARCH)
    assert (best.text, best.faults) == ("Dove?", ())


def test_a_placeholder_that_was_not_there_is_told(tokenizers: TokenizerPair) -> None:
    engine = Parrot(tokenizers.target.encode("Dove %s?"))
    ((best, *_),) = SentenceTranslator(engine, tokenizers, TermFinder()).translate(
        sentences(tokenizers, ["Where?"]), SEARCH
    )
    assert best.faults == (FAULT_OF_PROTECTED,)


def test_the_best_of_a_part_with_few_alternatives_stands_in_all_of_the_text() -> None:
    def alternative(text: str) -> Alternative:
        faults: tuple[Fault, ...] = ("copies the source",) if text == "b" else ()
        return replace(says(text, -scores.get(text, 1.0)), faults=faults)

    scores = {"b": 5.0, "c": 2.0, "x": 0.5}

    def put_together(each: Sequence[Alternative]) -> Alternative:
        return join(each, " ".join(part.text for part in each))

    parts = [["a", "b", "c"], ["x"], ["1", "2"]]
    found = join_alternatives([[*map(alternative, part)] for part in parts], put_together)

    assert [joined.text for joined in found] == ["a x 1", "c x 1", "b x 2"]
    (once,) = join_alternatives([[alternative("a")] * 3, [alternative("x")]], put_together)
    assert once.text == "a x"
