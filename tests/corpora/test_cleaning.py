"""Cleaning: each rule leaves out what it names, and no pair is lost uncounted."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.corpora import cleaning
from dragoman.corpora.cleaning import CleaningReport, clean
from dragoman.corpora.config import CleaningConfig
from dragoman.corpora.parallel_text import Pair
from dragoman.corpora.seen import SeenTexts
from dragoman.languages.scripts import letters_outside

GOOD = ("The cat is on the table.", "Il gatto è sul tavolo.")


def reason_for(
    source: str, target: str, languages: tuple[str, str] = ("en", "it"), **settings: Any
) -> str | None:
    """Clean one pair, and return why it was left out."""
    report = CleaningReport()
    kept = list(
        clean([Pair(source, target, 1)], CleaningConfig(**settings), report, languages=languages)
    )
    assert len(kept) + len(report.dropped) == 1
    return next(iter(report.dropped), None)


def test_a_good_pair_is_kept_as_it_is() -> None:
    pair = Pair("  The cat.\u2028 ", " Il   gatto. ", 7)

    kept = clean([pair], CleaningConfig(), CleaningReport(), languages=("en", "it"))

    assert list(kept) == [pair]


@pytest.mark.parametrize(
    "sides",
    [("", "gatto"), ("cat", ""), (" \u3000\t", "gatto"), ("", ""), ("cat", "\ufeff\u200b \xad")],
)
def test_a_side_without_text_is_empty(sides: tuple[str, str]) -> None:
    assert reason_for(*sides) == "empty"


@pytest.mark.parametrize("letters", ["a", "the cat ", " a", "日"])
def test_a_million_characters_are_too_long(letters: str) -> None:
    assert reason_for(letters * (10**6 // len(letters)), "gatto") == "too long"


@pytest.mark.parametrize("swap", [False, True])
def test_sides_up_to_the_limits_are_not_too_long(swap: bool) -> None:
    def reason(source: str, target: str) -> str | None:
        sides = (target, source) if swap else (source, target)
        return reason_for(*sides, max_characters=30, max_words=5)

    assert reason("a" * 30, "b" * 30) is None
    assert reason("a" * 31, "b" * 30) == "too long"
    assert reason("a b c d e", "b b c d e") is None
    assert reason("a b c d e f", "b b c d e") == "too long"


def test_lengths_may_differ_up_to_the_ratio() -> None:
    assert reason_for("a" * 30, "b" * 10, max_length_ratio=3.0) is None
    assert reason_for("a" * 31, "b" * 10, max_length_ratio=3.0) == "length ratio"
    assert reason_for("b" * 10, "a" * 31, max_length_ratio=3.0) == "length ratio"
    assert reason_for("a" * 900, "b", max_length_ratio=float("inf")) is None


def test_the_ratio_of_short_sides_is_not_measured() -> None:
    assert reason_for("a" * 20, "b", max_length_ratio=3.0) is None
    assert reason_for("a" * 21, "b", max_length_ratio=3.0) == "length ratio"


def test_a_chinese_character_counts_as_three() -> None:
    assert reason_for("The cat is on the table.", "猫在桌子上。", ("en", "zh")) is None
    assert reason_for("a" * 45, "猫" * 5, ("en", "zh"), max_length_ratio=3.0) is None
    assert reason_for("a" * 46, "猫" * 5, ("en", "zh"), max_length_ratio=3.0) == "length ratio"


def test_identical_sides_were_not_translated() -> None:
    assert reason_for("Robinson Crusoe", " Robinson Crusoe") == "identical sides"
    assert reason_for("Robinson Crusoe", "robinson Crusoe") is None
    assert reason_for("OK", "OK", drop_identical=False) is None
    assert reason_for("o gato", "o gato", ("pt_PT", "pt_BR")) is None


@pytest.mark.parametrize(
    "character", list("\x01\x08\x0b\x0c\x0e\x1f\x7f\x80\x85\x9f\ufffd\ud800\udfff")
)
def test_control_characters_are_traces_of_a_broken_conversion(character: str) -> None:
    assert reason_for(f"a{character}b", "c") == "control characters"
    assert reason_for("c", f"a{character}b") == "control characters"
    assert reason_for(f"a{character}b", "c", drop_control_characters=False) is None
    assert reason_for("a", "\ud800\uffff", drop_control_characters=False) == "empty"


@pytest.mark.parametrize("text", ["caffè", "perché no", "l’uomo", "«sì»", "25 °C", "più…"])
def test_utf_8_that_was_read_as_windows_1252_is_left_out(text: str) -> None:
    spoilt = text.encode().decode("windows-1252", errors="ignore")

    assert reason_for(f"a {spoilt} b", "a b") == "encoded twice"
    assert reason_for(f"a {spoilt} b", "a b", drop_control_characters=False) is None
    assert reason_for(f"a {text} b", "a b") is None


@pytest.mark.parametrize("text", ["«CAFÉ»", "“AMANHÔ", "Ânia € 5", "Ça va", "l'Ânesse", "GRÃ-FINA"])
def test_letters_that_stand_by_others_are_not_taken_for_such(text: str) -> None:
    assert reason_for(f"a {text} b", "a b") is None


@pytest.mark.parametrize(
    "character", list("\t\n\r \xa0\xad\u200b\u200d\u2028\u202f\ufeff\U0001f600")
)
def test_other_invisible_characters_are_no_fault(character: str) -> None:
    assert reason_for(f"a{character}b", "c") is None


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "naïve café, ﬁne"),
        ("it", "perché è già così"),
        ("de", "Straße"),
        ("vi", "Tiếng Việt"),
        ("ru", "Кошка на столе"),
        ("uk", "їжак"),
        ("el", "Η γάτα"),
        ("ar", "القطة على الطاولة"),
        ("fa", "گربه"),
        ("he", "החתול על השולחן"),
        ("zh", "猫在桌子上"),
        ("zh-Hant", "貓在桌子上"),
        ("ja", "猫はテーブルの上にいる"),
        ("ko", "고양이가 탁자 위에 있다"),
        ("hi", "बिल्ली मेज़ पर है"),
        ("th", "แมวอยู่บนโต๊ะ"),
        ("ka", "კატა"),
        ("hy", "կատու"),
        ("am", "ድመት"),
        ("ta", "பூனை"),
        ("bn", "বিড়াল"),
        ("sr", "Mačka je na stolu"),
        ("sr_Cyrl", "Мачка је на столу"),
    ],
)
def test_a_language_is_written_in_its_scripts_and_in_no_other(language: str, text: str) -> None:
    other = "кошка на столе" if language not in ("ru", "uk", "sr", "sr_Cyrl") else "ἄνθρωπος"

    assert reason_for(text, "cat", (language, "en"), max_length_ratio=99.0) is None
    assert reason_for("cat", text, ("en", language), max_length_ratio=99.0) is None
    assert reason_for(other, "cat", (language, "en")) == "wrong script"


def test_the_share_of_the_script_is_measured_on_letters_alone() -> None:
    half = "ab вг 12345 !!!"

    assert reason_for(half, "c", min_script_share=0.5) is None
    assert reason_for(half + "д", "c", min_script_share=0.5) == "wrong script"
    assert reason_for(half + "д", "c", min_script_share=0.0) is None
    assert reason_for("12 + 34 = ½²?", "fa 46", min_script_share=1.0) is None


@pytest.mark.parametrize(
    ("source", "target", "languages"),
    [
        (
            "Use the USB-C port of your MacBook Pro.",
            "MacBook ProのUSB-Cポートを使う。",
            ("en", "ja"),
        ),
        ("Install npm on Ubuntu Linux.", "Ubuntu Linuxにnpmをインストール。", ("en", "ja")),
        ("Download the PDF from GitHub using Git.", "用Git从GitHub下载PDF文件。", ("en", "zh")),
    ],
)
def test_a_chinese_or_japanese_letter_counts_as_several_beside_names(
    source: str, target: str, languages: tuple[str, str]
) -> None:
    assert reason_for(source, target, languages) is None
    assert reason_for(source, source.upper(), languages) == "wrong script"


@pytest.mark.parametrize(
    ("source", "target", "languages", "reason"),
    [
        ("Google Chrome settings", "Google Chrome の設定", ("en", "ja"), None),
        ("Open Microsoft Word", "Открыть Microsoft Word", ("en", "ru"), None),
        ("Открыть Microsoft Word", "Open Microsoft Word", ("ru", "en"), None),
        ("Open Mozilla Firefox", "Открыть Microsoft Word", ("en", "ru"), "wrong script"),
        ("Store in My Files", "Store в My Files", ("en", "ru"), None),
        ("Save to store the file", "Нажмите Save to store the file", ("en", "ru"), "wrong script"),
        ("Microsoft Word.", "Microsoft Word", ("en", "ru"), "wrong script"),
    ],
)
def test_names_on_both_sides_are_in_no_wrong_script(
    source: str, target: str, languages: tuple[str, str], reason: str | None
) -> None:
    assert reason_for(source, target, languages, max_length_ratio=9.0) == reason


def test_a_code_may_name_the_script() -> None:
    assert reason_for("the cat", "mačka spava", ("en", "sr")) is None
    assert reason_for("the cat", "mačka spava", ("en", "sr_Cyrl")) == "wrong script"
    assert reason_for("the cat", "мачка спава", ("en", "sr-Latn-RS")) == "wrong script"


def test_a_language_whose_script_is_not_known_is_not_checked() -> None:
    assert letters_outside("tlh") is None
    assert reason_for("кошка", "cat", ("tlh", "en")) is None


def test_a_repeated_pair_is_kept_once_also_across_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cleaning, "BLOCK", 2)
    sides = [("a", "x"), ("a", "x"), ("a", "y"), ("b", "x"), ("a", "x"), ("ax", ""), ("", "ax")]
    pairs = [Pair(*side, line) for line, side in enumerate(sides, start=1)]
    report = CleaningReport()

    kept = list(clean(pairs, CleaningConfig(), report, languages=("en", "it")))

    assert [pair.line for pair in kept] == [1, 3, 4]
    assert report.dropped == {"duplicate": 2, "empty": 2}


def test_the_border_between_the_sides_counts() -> None:
    sides = [("ab", "c"), ("a", "bc"), ("2 a", "b"), ("2", " ab")]
    pairs = [Pair(*side, line) for line, side in enumerate(sides, start=1)]

    assert list(clean(pairs, CleaningConfig(), CleaningReport(), languages=("en", "it"))) == pairs


def test_duplicates_may_stay() -> None:
    pairs = [Pair(*GOOD, line) for line in (1, 2, 3)]
    config = CleaningConfig(drop_duplicates=False)

    assert len(list(clean(pairs, config, CleaningReport(), languages=("en", "it")))) == 3


def test_duplicates_are_found_across_corpora_that_share_what_was_seen() -> None:
    seen, report = SeenTexts(), CleaningReport()
    for _ in range(2):
        list(clean([Pair(*GOOD, 1)], CleaningConfig(), report, languages=("en", "it"), seen=seen))

    assert (report.read, report.dropped) == (2, {"duplicate": 1})


def test_pairs_are_read_as_they_are_asked_for() -> None:
    numbers: list[int] = []

    def endless() -> Iterator[Pair]:
        while True:
            numbers.append(len(numbers))
            yield Pair(f"cat {len(numbers)}", f"gatto {len(numbers)}", len(numbers))

    report = CleaningReport()
    next(clean(endless(), CleaningConfig(), report, languages=("en", "it")))

    assert report.read == len(numbers) <= cleaning.BLOCK


sides = st.text(max_size=40) | st.sampled_from(["", "a", "кошка", "a\x01", "b" * 2000])


@given(st.lists(st.tuples(sides, sides)), st.sampled_from(["en", "ru", "zh", "??"]))
def test_every_pair_is_kept_or_counted(texts: list[tuple[str, str]], language: str) -> None:
    pairs = [Pair(*text, line) for line, text in enumerate(texts, start=1)]
    report = CleaningReport()

    kept = list(clean(pairs, CleaningConfig(), report, languages=(language, "it")))

    assert report.read == len(pairs)
    assert report.read == len(kept) + sum(report.dropped.values())
    assert [pair for pair in pairs if pair in kept] == kept


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("max_characters", 0),
        ("max_words", -3),
        ("max_length_ratio", 0.5),
        ("max_length_ratio", float("nan")),
        ("min_script_share", 1.5),
        ("min_script_share", float("nan")),
    ],
)
def test_a_threshold_out_of_range_is_named(field: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"{field} = {value} should be"):
        CleaningConfig(**{field: value})  # type: ignore[arg-type]
