"""What a plan knows of a text is what is in it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from dragoman.corpora.config import CorporaConfig, CorpusConfig
from dragoman.corpora.overlap import OverlapError
from dragoman.corpora.prepared_text import read_tsv
from dragoman.planning import sample, text
from dragoman.planning.text import (
    PROCESS_MIB,
    VOCABULARY_BYTES_PER_CHARACTER,
    PlanError,
    TextMeasure,
    measure_text,
)
from dragoman.tokenizers import training
from dragoman.tokenizers.config import TokenizerConfig
from dragoman.tokenizers.training import train_tokenizers


def write(path: Path, pairs: list[tuple[str, str]]) -> CorpusConfig:
    path.write_text("".join(f"{source}\t{target}\n" for source, target in pairs))
    return CorpusConfig(path=str(path))


def measure(
    corpora: Sequence[CorpusConfig], languages: tuple[str, str], directory: Path
) -> TextMeasure:
    return measure_text(CorporaConfig(train=tuple(corpora)), languages, directory)


def read_sample(measured: TextMeasure) -> list[tuple[str, str]]:
    return [pair for part in measured.sample for pair in read_tsv(Path(str(part.path)))]


def numbered(count: int) -> list[tuple[str, str]]:
    return [(f"the number {n} is here", f"il numero {n} è qui") for n in range(count)]


def test_pairs_are_counted_after_cleaning_over_all_corpora(tmp_path: Path) -> None:
    corpora = [
        write(tmp_path / "a.tsv", [*numbered(300), ("same", "same"), ("", "vuoto")]),
        write(tmp_path / "b.tsv", [("a word", "una parola")]),
    ]

    measured = measure(corpora, ("en", "it"), tmp_path)

    assert measured.pairs == 301
    assert len(read_sample(measured)) == 301
    pieces = train_tokenizers(
        TokenizerConfig(vocab_size=measured.vocab_size),
        lambda: read_sample(measured),
        tmp_path / "again",
    ).target
    targets = [target for _, target in read_sample(measured)]
    assert measured.target_tokens == sum(len(pieces.encode(target)) + 1 for target in targets)
    assert measured.epoch_tokens == measured.target_tokens
    assert measured.max_length == 32


def test_the_one_of_a_few_pairs_that_is_held_out_may_have_many_more_tokens(tmp_path: Path) -> None:
    pairs = [
        ("the quick brown fox jumps over it", "la volpe bruna e veloce ci salta sopra"),
        ("Some words have hardly a letter in common with others", "Vuoi zuppa, gnocchi o pizza?"),
    ]
    measured = measure([write(tmp_path / "two.tsv", pairs)], ("en", "it"), tmp_path)
    held_out = train_tokenizers(TokenizerConfig(), lambda: pairs[:1], tmp_path / "one")

    assert len(held_out.source.encode(pairs[1][0])) < measured.max_length


def test_an_epoch_takes_each_corpus_as_often_as_it_weighs(tmp_path: Path) -> None:
    long = [(f"and now the number {n} is here", f"e ora il numero {n} è qui") for n in range(300)]
    often = replace(write(tmp_path / "often.tsv", numbered(100)), weight=3.0)
    seldom = replace(write(tmp_path / "seldom.tsv", long), weight=0.5)

    together = measure([often, seldom], ("en", "it"), tmp_path)
    vocabulary = train_tokenizers(
        TokenizerConfig(vocab_size=together.vocab_size), lambda: read_sample(together), tmp_path
    )
    few, many = (
        sum(len(vocabulary.target.encode(target)) + 1 for _, target in pairs)
        for pairs in (numbered(100), long)
    )

    assert together.target_tokens == few + many
    assert together.epoch_tokens == round(3 * few + many / 2)
    # What is seen is seen this often in an epoch: three times, or half a time.
    seen = (3 * few * 3 + many / 2 * 0.5) / (3 * few + many / 2)
    assert together.epoch_tokens / together.effective_tokens == pytest.approx(seen, rel=1e-3)
    assert [part.weight for part in together.sample] == [3, 0.5]
    assert [len(list(read_tsv(Path(str(part.path))))) for part in together.sample] == [100, 300]


def test_weights_that_are_alike_repeat_nothing_more_than_another(tmp_path: Path) -> None:
    corpus = write(tmp_path / "a.tsv", numbered(300))
    once, thrice = (
        measure([replace(corpus, weight=weight)], ("en", "it"), tmp_path) for weight in (1.0, 3.0)
    )

    assert thrice.epoch_tokens == 3 * once.epoch_tokens
    assert thrice.effective_tokens == once.effective_tokens == once.target_tokens


def test_a_small_corpus_counts_though_none_of_it_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sample, "SAMPLE_PAIRS", 100)
    large = write(tmp_path / "large.tsv", numbered(2000))
    small = replace(write(tmp_path / "small.tsv", [("a cat", "un gatto")]), weight=1000.0)

    measured = measure([large, small], ("en", "it"), tmp_path)

    assert measured.pairs == 2001
    assert len(measured.sample) == 1
    assert measured.epoch_tokens > 1.4 * measured.target_tokens


def test_an_epoch_of_the_sample_is_no_smaller_than_need_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sample, "SAMPLE_PAIRS", 100)
    corpus = write(tmp_path / "a.tsv", numbered(2000))

    def weight(given: float) -> float:
        (part,) = measure([replace(corpus, weight=given)], ("en", "it"), tmp_path).sample
        return part.weight

    assert weight(0.1) == pytest.approx(1.0)  # 200 pairs an epoch, and 100 are here
    assert weight(0.01) == pytest.approx(0.2)  # 20
    assert weight(2.0) == 2.0


def test_a_corpus_in_small_letters_gets_its_case(tmp_path: Path) -> None:
    cased = write(
        tmp_path / "a.tsv", [(f"We are in Rome {n}", f"Siamo a Roma {n}") for n in range(300)]
    )
    lowered = write(tmp_path / "b.tsv", [(f"from rome {n}", f"da roma {n}") for n in range(300)])

    measured = measure([cased, replace(lowered, truecase=True)], ("en", "it"), tmp_path)

    assert ("From Rome 7", "Da Roma 7") in read_sample(measured)
    assert not any(part.truecase for part in measured.sample)


def test_memory_for_the_vocabulary_grows_with_the_text_that_it_is_learnt_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = write(tmp_path / "a.tsv", numbered(300))
    characters = sum(len(source) + len(target) for source, target in numbered(300))

    def further() -> float:
        measured = measure([corpus], ("en", "it"), tmp_path)
        return (measured.vocabulary_mib - PROCESS_MIB) * 2**20

    assert further() == pytest.approx(VOCABULARY_BYTES_PER_CHARACTER * characters)
    monkeypatch.setattr(training, "MAX_CHARACTERS", characters - 1)  # every second pair
    assert further() == pytest.approx(VOCABULARY_BYTES_PER_CHARACTER * characters / 2)


def test_a_text_of_one_source_is_too_little_to_plan_for(tmp_path: Path) -> None:
    corpus = write(tmp_path / "a.tsv", [("a cat", "un gatto"), ("A cat.", "una gatta")])

    with pytest.raises(PlanError, match="1 source sentence after cleaning is too few to plan for"):
        measure([corpus], ("en", "it"), tmp_path)


def test_a_sample_stands_for_all_of_the_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sample, "SAMPLE_PAIRS", 200)
    corpus = write(tmp_path / "a.tsv", numbered(2000))

    measured = measure([corpus], ("en", "it"), tmp_path)

    drawn = [int(source.split()[2]) for source, _ in read_sample(measured)]
    assert measured.pairs == 2000
    assert len(set(drawn)) == 200
    assert 800 < sum(drawn) / 200 < 1200  # from all over the text, not from its beginning
    monkeypatch.setattr(sample, "SAMPLE_PAIRS", 2000)
    whole = measure([corpus], ("en", "it"), tmp_path)
    assert measured.target_tokens == pytest.approx(whole.target_tokens, rel=0.25)


def test_text_that_cleaning_empties_cannot_be_planned_for(tmp_path: Path) -> None:
    corpus = write(tmp_path / "a.tsv", [("same", "same")])

    with pytest.raises(PlanError, match="cleaning leaves no pair"):
        measure([corpus], ("en", "it"), tmp_path)


def test_a_pair_that_comes_twice_counts_once(tmp_path: Path) -> None:
    corpus = write(tmp_path / "a.tsv", numbered(300))

    assert measure([corpus, corpus], ("en", "it"), tmp_path).pairs == 300


def test_a_script_of_many_characters_gets_the_vocabulary_that_it_needs(tmp_path: Path) -> None:
    characters = [chr(0x4E00 + n) for n in range(2000)]
    pairs = [(f"word {n}", "".join(characters[2 * n : 2 * n + 2]) * 2) for n in range(1000)]
    corpus = write(tmp_path / "a.tsv", pairs)

    assert measure([corpus], ("en", "zh"), tmp_path).vocab_size > 2000


def test_pairs_that_are_too_long_are_not_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short, long = numbered(100), [(f"and {n} " * 90, f"e {n} " * 90) for n in range(20, 40)]
    alone = measure([write(tmp_path / "a.tsv", short)], ("en", "it"), tmp_path)
    monkeypatch.setattr(text, "LONGEST", 64)

    measured = measure([write(tmp_path / "b.tsv", [*short, *long])], ("en", "it"), tmp_path)

    assert measured.pairs == alone.pairs == 100
    assert measured.share_too_long == pytest.approx(20 / 120)
    assert measured.target_tokens < 100 * 15
    with pytest.raises(PlanError, match="every pair has more than 64 tokens"):
        measure([write(tmp_path / "c.tsv", long)], ("en", "it"), tmp_path)


def test_what_would_give_evaluation_text_away_is_said_before_anything_is_planned(
    tmp_path: Path,
) -> None:
    train = write(tmp_path / "train.tsv", numbered(300))
    test = write(tmp_path / "test.tsv", [("The number 7 is here.", "Il numero 7 è qui.")])
    corpora = CorporaConfig(train=(train,), test=(test,))

    with pytest.raises(OverlapError, match=r"/train\.tsv: 1 pair of .* \(line 8\)"):
        measure_text(corpora, ("en", "it"), tmp_path)
    kept = measure_text(replace(corpora, overlap="drop"), ("en", "it"), tmp_path)

    assert kept.pairs == 299


def test_a_heading_is_told(tmp_path: Path) -> None:
    pairs = [("source", "target"), *((f"cat {number}", f"gatto {number}") for number in range(99))]
    corpus = write(tmp_path / "a.tsv", pairs)

    warnings = measure([corpus], ("en", "it"), tmp_path).warnings

    assert f"{corpus.path}: line 1 (source, target) looks like a heading; remove it" in warnings


@pytest.mark.parametrize(("few", "least", "most"), [(1000, 1.25, 1.5), (100, 1.0, 1.25)])
def test_where_there_are_few_pairs_a_sentence_may_have_a_quarter_more_tokens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few: int, least: float, most: float
) -> None:
    monkeypatch.setattr(text, "FEW_PAIRS", few)
    pairs = [(f"the number {n} is here " * 9, f"il numero {n} è qui " * 9) for n in range(300)]

    measured = measure([write(tmp_path / "a.tsv", pairs)], ("en", "it"), tmp_path)

    vocabulary = train_tokenizers(
        TokenizerConfig(vocab_size=measured.vocab_size), lambda: read_sample(measured), tmp_path
    )
    longest = max(len(vocabulary.target.encode(target)) for _, target in read_sample(measured))
    assert 40 < longest < 150
    assert least <= (measured.max_length + 1) / longest < most


def test_one_long_pair_among_many_is_left_out(tmp_path: Path) -> None:
    pairs = [*numbered(1500), ("and one " * 90, "e uno " * 90)]

    measured = measure([write(tmp_path / "a.tsv", pairs)], ("en", "it"), tmp_path)

    assert measured.max_length == 32
    assert measured.pairs == 1500
    assert measured.share_too_long == pytest.approx(1 / 1501)


def test_a_text_that_is_drawn_as_a_whole_takes_no_further_time_for_its_vocabulary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = write(tmp_path / "a.tsv", numbered(300))

    assert measure([corpus], ("en", "it"), tmp_path).further_vocabulary_seconds == 0.0

    monkeypatch.setattr(sample, "SAMPLE_PAIRS", 100)
    assert measure([corpus], ("en", "it"), tmp_path).further_vocabulary_seconds > 0.0
