"""Count the faults in translations of odd lines, and of sentences with an extra word.

    python benchmarks/odd_input.py MODEL TEXT

The odd lines are made up here, by class; any words in them are English. They count as kept if all
runs of digits and all addresses are in the translation as often as in the source, with protection
and without it; all other columns are with it. Lengths are in characters.

Then `SENTENCES` different lines of TEXT are translated as they are, and with one of the `FREQUENT`
most frequent words of TEXT inserted, after Lee et al. (2018, "Hallucinations in Neural Machine
Translation"). They compare with references; here the disturbed translation should resemble the
undisturbed one. The last row compares each with the translation of another sentence, which shows
what the threshold finds when nothing of the source is translated.
"""

import argparse
import random
import re
import string
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from dragoman import Translator
from dragoman.translation import Translation

LINES = 50
MOST_CHARACTERS_FOR_EACH = 3
SENTENCES = 200
FEWEST_WORDS = 4
FREQUENT = 30
LEAST_CHRF = 20

EMOJI = "😀😂🙏🎉🚀❤️👍🔥🌍🍕🐈📎👩‍🚀🇮🇹👋🏽"
SPACES = " \t\v\f\x00\x01\x07\x08\x1b\x7f\x85\xa0\xad\u2003\u200b\u200e\u2028\u3000\ufeff"
SCRIPTS = ("αω", "ая", "את", "بي", "कह", "ぁん", "一龠", "가힣")
"""The first and last letters of ranges."""

WORDS = re.findall(
    r"\w+",
    """anchor basket candle dolphin engine fabric garden hammer island jacket kitchen ladder
    market needle orange pencil quarrel river saddle ticket umbrella valley window yellow
    zipper bread cheese doctor evening forest glass honey iron juice knife lemon mirror
    night ocean paper queen rain school table uncle voice winter butter copper desert eleven
    finger gravel hollow index jungle""",
)
FRAMES = (
    "Please send {} to the office before Friday.",
    "The note on the kitchen door said {}.",
    "I have written {} on the first page.",
    "Nobody could explain why {} was there.",
    "We will talk about {} tomorrow morning.",
    "Did you find {} in the garden?",
)
MUST_STAY = re.compile(r"\w+://\S*\w|[\w.]+@[\w.]*\w|\d+")


def number(chance: random.Random) -> str:
    """Make up an amount, a date, a time, a call number or just digits."""
    forms = ("#", "####", "#,###.##", "##:##", "20##-0#-1#", "+## ### #######", "##.#%", "#" * 30)
    return "".join(chance.choice(string.digits) if c == "#" else c for c in chance.choice(forms))


def address(chance: random.Random) -> str:
    """Make up an address of a page or of a person, at domains reserved for examples."""
    name, place, rest = chance.sample(WORDS, 3)
    if chance.random() < 0.5:
        return f"{name}.{rest}@{place}.example"
    return f"https://{place}.example/{name}/{rest}?id={chance.randrange(10_000)}"


def other_script(chance: random.Random) -> str:
    """Make up words of one script, most of which mean nothing."""
    first, last = map(ord, chance.choice(SCRIPTS))
    lengths = (chance.randint(2, 8) for _ in range(chance.randint(1, 8)))
    return " ".join(
        "".join(chr(chance.randint(first, last)) for _ in range(length)) for length in lengths
    )


def draw(letters: str, chance: random.Random) -> str:
    """Draw one to twenty characters."""
    return "".join(chance.choices(letters, k=chance.randint(1, 20)))


def sentence(chance: random.Random, what: str | None = None) -> str:
    """Make up a sentence about something, or about a word."""
    return chance.choice(FRAMES).format(what or "the " + chance.choice(WORDS))


CLASSES: dict[str, Callable[[random.Random], str]] = {
    "a number alone": number,
    "a number in a sentence": lambda chance: sentence(chance, number(chance)),
    "an address alone": address,
    "an address in a sentence": lambda chance: sentence(chance, address(chance)),
    "punctuation": lambda chance: draw(string.punctuation + "«»…–“”", chance),
    "emoji": lambda chance: draw(EMOJI, chance),
    "a single word": lambda chance: chance.choice(WORDS),
    "a sentence in capitals": lambda chance: sentence(chance).upper(),
    "a sentence as it should be": sentence,
    "another script": other_script,
    "one letter 200 times": lambda chance: chance.choice(string.ascii_letters) * 200,
    "white space and control": lambda chance: draw(SPACES, chance),
    "the same around words": lambda chance: draw(SPACES, chance).join(chance.sample(WORDS, 4)),
}


def keeps(source: str, translation: str) -> bool:
    """Tell whether all numbers and addresses of the source are in the translation."""
    return Counter(MUST_STAY.findall(source)) <= Counter(MUST_STAY.findall(translation))


def share(true: Sequence[bool]) -> str:
    """Write how many of them are true."""
    return f"{sum(true)} of {len(true)}" if true else "-"


def kinds(translations: Sequence[Translation]) -> str:
    """Write how often each fault was reported."""
    found = Counter(fault for each in translations for fault in each.faults)
    return "; ".join(f"{fault}: {count}" for fault, count in found.most_common())


def report_odd_lines(protecting: Translator, plain: Translator) -> None:
    """Print what becomes of the odd lines, one row per class."""
    print(
        "| lines | with a fault | which | over three times as long | numbers and addresses kept |"
        " kept without protection | unchanged |\n|---|---|---|---|---|---|---|"
    )
    for name, make in CLASSES.items():
        chance, lines = random.Random(name), dict[str, None]()
        while len(lines) < LINES:
            lines[make(chance)] = None
        found = list(protecting.translate(lines))
        unprotected = dict(zip(lines, plain(list(lines)), strict=True))
        cells = (
            share([bool(each.faults) for each in found]),
            kinds(found),
            share([len(t.text) > MOST_CHARACTERS_FOR_EACH * len(t.source) for t in found]),
            share([keeps(t.source, t.text) for t in found if MUST_STAY.search(t.source)]),
            share([keeps(s, t) for s, t in unprotected.items() if MUST_STAY.search(s)]),
            share([each.text == each.source for each in found]),
        )
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def report_inserted_words(translator: Translator, text: Path) -> None:
    """Print how much a frequent word changes a translation, one row per place."""
    from sacrebleu.metrics import CHRF

    sentences = [line.split() for line in text.read_text(encoding="utf-8").splitlines()]
    counted = Counter(
        word for words in sentences for word in words if word.isalpha() and word.islower()
    )
    frequent = [word for word, _ in counted.most_common(FREQUENT)]
    long = sorted({" ".join(words) for words in sentences if len(words) >= FEWEST_WORDS})
    chance = random.Random(1)
    chosen = chance.sample(long, SENTENCES)
    undisturbed = list(translator.translate(chosen))
    rows: dict[str, list[Translation]] = {}
    for name, place in {"at the beginning": 0.0, "in the middle": 0.5, "at the end": 1.0}.items():
        disturbed = [line.split() for line in chosen]
        for words in disturbed:
            words.insert(round(place * len(words)), chance.choice(frequent))
        rows[name] = list(translator.translate(map(" ".join, disturbed)))
    rows["(another sentence)"] = undisturbed[1:] + undisturbed[:1]
    print("Words:", *frequent)
    print(
        "| word inserted | unchanged | mean chrF | chrF below 20 | of these with a fault |"
        " with a fault in all |\n|---|---|---|---|---|---|"
    )
    for name, found in rows.items():
        pairs = list(zip(found, undisturbed, strict=True))
        scores = [CHRF().sentence_score(t.text, [other.text]).score for t, other in pairs]
        low = [t for t, value in zip(found, scores, strict=True) if value < LEAST_CHRF]
        cells = (
            share([t.text == other.text for t, other in pairs]),
            f"{sum(scores) / len(scores):.1f}",
            share([value < LEAST_CHRF for value in scores]),
            share([bool(t.faults) for t in low]),
            share([bool(t.faults) for t in found]),
        )
        print(f"| {name} | {' | '.join(cells)} |")


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("text", type=Path, help="sentences in the model's language, one a line")
    arguments = parser.parse_args()
    protecting, plain = (Translator(arguments.model, protect=protect) for protect in (True, False))
    print(f"Engine: {protecting.engine}")
    report_odd_lines(protecting, plain)
    whole = Translator(arguments.model, split_sentences=False)  # a last word stays in its sentence
    report_inserted_words(whole, arguments.text)


if __name__ == "__main__":
    main()
