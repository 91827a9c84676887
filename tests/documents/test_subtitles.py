"""Subtitles: times stay, sentences are whole, lines fit."""

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.documents.translated import READER, translated

from dragoman.documents.document import DocumentError
from dragoman.documents.spreading import LINE_WIDTH, spread
from dragoman.documents.subtitles import take_subrip_apart, take_webvtt_apart


def subrip(*cues: str, seconds: int = 1) -> str:
    """Write cues of half a second, one after every so many seconds."""
    times = [f"00:00:{seconds * i:02},000 --> 00:00:{seconds * i:02},500" for i in range(len(cues))]
    numbered = enumerate(zip(times, cues, strict=True), start=1)
    return "".join(f"{number}\n{time}\n{cue}\n\n" for number, (time, cue) in numbered)


def pieces(text: str) -> list[str]:
    return [piece.strip() for piece in take_subrip_apart(text, READER).pieces]


@pytest.mark.parametrize(
    ("cues", "sentences"),
    [
        (["The cat that", "I saw", "is grey."], ["The cat that I saw is grey."]),
        (["A cat.", "A dog!"], ["A cat.", "A dog!"]),
        (["A cat. And a", "dog."], ["A cat.", "And a dog."]),
        (["He said:", "Come."], ["He said: Come."]),
        (["“A cat.”", "A dog."], ["“A cat.”", "A dog."]),
        (["{name} sleeps", "here."], ["{name} sleeps here."]),
        (["Where are", "[a door opens]", "they?"], ["Where are", "[a door opens]", "they?"]),
        (
            ["Where are", "- Here!\n- There!", "they?"],
            ["Where are", "Here!", "There!", "they?"],
        ),
        (["<i>A grey</i>", "<i>cat.</i>"], ["A grey cat."]),
        (["<i>A grey</i>\n<i>cat</i>", "<i>runs.</i>"], ["A grey cat runs."]),
        (["<i>A grey</i>", "cat. A dog."], ["A grey", "cat.", "A dog."]),
        ([r"{\an8}A cat.", "A dog."], ["A cat.", "A dog."]),
        (["A cat", "1984", "It sleeps."], ["A cat 1984", "It sleeps."]),
        (["<v A>A cat?</v>\n<v B>A dog."], ["A cat?", "A dog."]),
        (["<font color=a>Cat.</font>\n<font color=b>Dog.</font>"], ["Cat.", "Dog."]),
        (["「猫です。」", "犬です。"], ["「猫です。」", "犬です。"]),
        (["यह बिल्ली है।", "वह कुत्ता है।"], ["यह बिल्ली है।", "वह कुत्ता है।"]),
        (["هل هذه قطة؟", "نعم."], ["هل هذه قطة؟", "نعم."]),
        (["Είναι γάτα;", "Ναι."], ["Είναι γάτα;", "Ναι."]),
        (["A cat;", "a dog."], ["A cat; a dog."]),
        (["\u202bهل هذه\u202c", "\u202bقطة؟\u202c", "\u200fنعم.\u200f"], ["هل هذه قطة؟", "نعم."]),
        (["\u202b- هل هذه قطة\u202c\n\u202b- نعم.\u202c"], ["هل هذه قطة", "نعم."]),
        (["猫は\n川を", "見る。", "犬。"], ["猫は川を見る。", "犬。"]),
        (["猫（笑）", "犬［笑］", "鳥【笑】", "牛"], ["猫（笑）", "犬［笑］", "鳥【笑】", "牛"]),
    ],
)
def test_a_sentence_over_several_cues_is_one(cues: list[str], sentences: list[str]) -> None:
    assert pieces(subrip(*cues)) == sentences


def test_cues_that_are_far_apart_are_not_joined() -> None:
    assert pieces(subrip("A grey", "cat.", "A dog.", seconds=2)) == ["A grey cat.", "A dog."]
    assert pieces(subrip("A grey", "cat.", "A dog.", seconds=3)) == ["A grey", "cat.", "A dog."]
    for time in ("01:00:01", "00:01:01", "00:00:04"):
        text = f"00:00:00,000 --> 00:00:01,000\nA grey\n\n{time},000 --> {time},500\ncat.\n"
        assert pieces(text) == ["A grey", "cat."]


def test_where_nothing_ends_a_sentence_only_a_small_letter_goes_on() -> None:
    without_points = ["This is", "a cat", "It sleeps", "That is", "a dog"]
    assert pieces(subrip(*without_points)) == ["This is a cat", "It sleeps", "That is a dog"]


def test_no_more_than_six_cues_are_one_sentence() -> None:
    assert list(map(len, map(str.split, pieces(subrip(*["word"] * 14))))) == [6, 6, 2]


def test_everything_but_words_stays_to_the_letter() -> None:
    text = (
        "\r\n1\r\n00:00:01,000 --> 00:00:02,000 X1:40 X2:600\r\n{\\an8}<i>A cat.</i>\r\n\r\n"
        " 2 \r\n0:00:03.5 --> 00:00:04,000\r\n\r\n"
        "3\r\n00:00:05,000 --> 00:00:06,000\r\n42%\r\n\r\n\r\n"
    )
    assert translated(text, take_subrip_apart, str) == text
    assert translated(text, take_subrip_apart) == text.replace("A cat", "A CAT")


def test_a_blank_line_within_a_cue_of_subrip_loses_nothing() -> None:
    text = subrip("A cat.\n\nA dog.", "A bird.")
    assert pieces(text) == ["A cat.", "A dog.", "A bird."]
    assert "A DOG." in translated(text, take_subrip_apart)


def test_the_translation_of_a_sentence_is_spread_over_its_cues() -> None:
    text = subrip("When I came home,", "you slept.")
    found = translated(text, take_subrip_apart, lambda _: "Quando sono tornato a casa, dormivi.")
    assert found == subrip("Quando sono tornato a casa,", "dormivi.")


def test_a_long_translation_gets_lines_that_fit() -> None:
    words = "parole che non stanno in una sola riga perché sono davvero molte"
    found = translated(subrip("Words.").replace("\n", "\r\n"), take_subrip_apart, lambda _: words)
    lines = found.split("\r\n")[2:4]
    assert " ".join(lines) == words
    assert max(map(len, lines)) <= LINE_WIDTH


def test_a_tag_is_not_broken_over_lines() -> None:
    text = subrip(
        'It is <font color="#ff0000">red</font>, and it is long, so that a line is too short.'
    )
    tags = re.findall("<[^<>]*>", text)
    assert re.findall("<[^<>]*>", translated(text, take_subrip_apart)) == tags


@pytest.mark.parametrize(
    ("cue", "texts"),
    [
        ("- A cat?\n- A dog.", ["A cat?", "A dog."]),
        ("-A cat?\n-<i>A dog.</i>", ["A cat?", "A dog."]),
        ("A cat?\n- A dog.", ["A cat?", "A dog."]),
        ("- I have\na cat.\n- A dog!", ["I have a cat.", "A dog!"]),
        ("<i>A cat?</i>\n- A dog.", ["A cat?", "A dog."]),
        ("ANN: A cat?\n- BOB B.: A dog.", ["A cat?", "A dog."]),
        ("♪ A cat\n♪ and a dog ♪", ["A cat", "and a dog"]),
        (">> A cat?\n>> ANN: A dog.", ["A cat?", "A dog."]),
        ("&gt;&gt; A cat?\n&gt;&gt;&gt; A dog.", ["A cat?", "A dog."]),
        ("MAN #2: A cat?\nDR. BO (V.O.): A dog.", ["A cat?", "A dog."]),
        ("[door opens]\nA cat.", ["[door opens]", "A cat."]),
        ("A cat\n(a door opens)\nsleeps.", ["A cat", "(a door opens)", "sleeps."]),
        ("A cat\nthat (I think) sleeps\nruns.", ["A cat that (I think) sleeps runs."]),
        ("...and a cat.", ["and a cat."]),
        ("…and a cat.", ["and a cat."]),
        ("A cat\n- a grey one -\nslept.", ["A cat - a grey one - slept."]),
        ("Ann said: a cat.", ["Ann said: a cat."]),
        ("ANN SAID: A CAT.", ["ANN SAID: A CAT."]),
    ],
)
def test_each_speaker_is_translated_alone_and_the_marks_before_the_words_stay(
    cue: str, texts: list[str]
) -> None:
    document = subrip(cue)
    assert pieces(document) == texts
    assert translated(document, take_subrip_apart, str).split() == document.split()
    found = translated(document, take_subrip_apart, lambda text: text)
    assert found.count("\n") == document.count("\n") - cue.count("\n") + len(texts) - 1


@pytest.mark.parametrize(
    ("text", "num_lines"),
    [
        ("猫在桌子上睡觉的时候，", 1),
        ("猫在桌子上睡觉的时候，狗都跑了。", 2),
        ("고양이는 책상에서", 1),
    ],
)
def test_wide_characters_fill_a_line_three_times_as_fast(text: str, num_lines: int) -> None:
    found = translated(subrip("A cat."), take_subrip_apart, lambda _: text)
    assert len(found.strip().split("\n")[2:]) == num_lines


def test_tags_that_nobody_sees_take_no_room_in_a_line() -> None:
    words = "<c.yellow.bg_blue> word</c>" * 6
    text = "WEBVTT\n\n00:01.000 --> 00:02.000\n" + words + "\n"
    assert translated(text, take_webvtt_apart) == text.replace("word", "WORD")


def test_a_cue_whose_sentence_could_not_be_translated_is_empty() -> None:
    found = translated(subrip("A cat.", "A dog."), take_subrip_apart, lambda _: "")
    assert found == subrip("", "")


def test_notes_styles_and_names_of_cues_in_webvtt_stay() -> None:
    text = (
        "WEBVTT - a title\n\nSTYLE\n::cue { color: red }\n\nNOTE a word\n\n"
        "intro\n00:01.000 --> 00:02.000 align:start\n<v Ann>A cat &amp; a dog.\n\n"
        "100:00:03.000 --> 100:00:04.000\nA bird.\n\nNOTE the end\n"
    )
    expected = text.replace("A cat &amp; a dog", "A CAT &amp; A DOG").replace("A bird", "A BIRD")
    assert translated(text, take_webvtt_apart) == expected


def test_times_of_words_are_left_out_as_the_words_of_a_translation_are_others() -> None:
    cue = "00:01.000 --> 00:02.000\n \nthe<00:01.100><c> red</c><00:01.200><c.a> cat</c>\n"
    text = f"WEBVTT\n\n{cue}\n"
    expected = "WEBVTT\n\n00:01.000 --> 00:02.000\n \nTHE RED CAT\n\n"
    assert translated(text, take_webvtt_apart) == expected


ROLLING = """WEBVTT
Kind: captions

00:00.100 --> 00:02.300 align:start position:0%
 
the<00:00.300><c> red</c><00:00.400><c> cat</c>

00:02.300 --> 00:02.310 align:start position:0%
the red cat
 

00:02.310 --> 00:04.700 align:start position:0%
the red cat
sleeps<00:02.500><c> here</c>

00:04.700 --> 00:04.710 align:start position:0%
sleeps here
 

00:04.710 --> 00:06.000 align:start position:0%
sleeps here
&gt;&gt; a<00:05.700><c> dog</c>
"""


def test_lines_that_roll_are_translated_once_and_roll_on() -> None:
    found = take_webvtt_apart(ROLLING, READER).pieces
    assert [piece.strip() for piece in found] == ["the red cat sleeps here", "a dog"]

    one, two = "il gatto rosso che", "dorme qui nella casa di mia nonna e non si sveglia"
    translations = {"the red cat sleeps here": f"{one} {two}", "a dog": "un cane"}
    plain = re.sub(r"<[^<>]*>", "", ROLLING)
    spread_over = spread(f"{one} {two}", [len("the red cat"), len("sleeps here")])
    for line, said in zip(("the red cat", "sleeps here"), spread_over, strict=True):
        plain = plain.replace(line, said)
    plain = plain.replace("a dog", "un cane")
    assert translated(ROLLING, take_webvtt_apart, translations.__getitem__) == plain


def test_a_line_of_a_rolling_caption_without_a_translation_leaves_no_blank_line() -> None:
    found = translated(ROLLING, take_webvtt_apart, lambda _: "")
    assert found.count("\n\n") == ROLLING.count("\n\n")


def test_three_lines_may_roll() -> None:
    lines = ["A cat.", "A dog.", "A bird.", "A fish.", "A cow."]
    text = subrip(*("\n".join(lines[i : i + 3]) for i in range(3)))
    assert pieces(text) == lines
    assert translated(text, take_subrip_apart) == text.upper()


def test_a_refrain_does_not_roll() -> None:
    text = subrip("A cat.", "A cat.", "A dog.", "A bird.", "A fish.")
    assert pieces(text) == ["A cat.", "A cat.", "A dog.", "A bird.", "A fish."]


def test_a_file_without_times_is_refused() -> None:
    with pytest.raises(DocumentError, match="line 1: no line has times such as"):
        take_subrip_apart("A cat.\n", READER)


@pytest.mark.parametrize(
    "times",
    [
        "00:00:05,000 -> 00:00:06,000",
        "00:00:05,000 --> ",
        "00:00:05,000 --> 00:00:06",
        " 00:00:05,000-->00:00:O6,000",
        "00:00:05,000 –> 00:00:06,000",
        "00:00:05:000 --> 00:00:06:000",
        "00:00:05 --> 00:00:06",
        "00:00:05, 000 --> 00:00:06,000",
        "-00:00:05,000 --> 00:00:06,000",
    ],
)
@pytest.mark.parametrize("take_apart", [take_subrip_apart, take_webvtt_apart])
def test_a_slip_in_a_line_of_times_is_named_and_not_translated(
    times: str, take_apart: Callable[..., object]
) -> None:
    text = subrip("A cat.") + f"2\n{times}\nA dog.\n"
    line = text.count("\n", 0, text.index(times)) + 1
    with pytest.raises(DocumentError, match=f"line {line}: its times are not like 00:"):
        take_apart(text, READER)


@given(st.text("ab1.:,-> \n\r<i/>{\\}", max_size=200))
def test_any_text_between_times_comes_back_if_it_is_not_translated(text: str) -> None:
    document = subrip("A cat.", text, "A dog.")
    found = translated(document, take_subrip_apart, str)
    assert re.findall(_TIME, found) == re.findall(_TIME, document)
    kept = "".join(re.sub(r"</(\w+)>(\s+)<\1>", "", document).split())
    assert sorted("".join(found.split())) == sorted(kept)  # words may move to the next cue


_TIME = re.compile(r"[\d:,]{12} --> [\d:,]{12}")
