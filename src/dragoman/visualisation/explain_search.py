"""The beam search of a translation on a page: the tree, what ended, and every step."""

from collections.abc import Sequence

from dragoman.counting import counted
from dragoman.visualisation.beam_tree import CLASSES, beam_tree
from dragoman.visualisation.markup import element, escape
from dragoman.visualisation.page import table
from dragoman.visualisation.search_trace import Candidate, Fate, SearchTrace

LAST_SHOWN = 3
"""Last tokens that are shown of the prefix that a candidate extends."""

REASONS: dict[Fate, str] = {
    "lives on": "lives on: among the first {beam} that do not end",
    "ended": "ended among the first {beam}: kept apart with its score",
    "below the beam": "dropped: {beam} that do not end are more probable",
    "ended below the beam": "dropped: it ends, but {beam} candidates are more probable",
    "over": "not followed: the search is over",
}


def search_section(search: SearchTrace, vocabulary: tuple[str, ...], ended: Sequence[str]) -> str:
    """Write what was considered, what was kept, and why the search ended.

    Args:
        search: What was recorded.
        vocabulary: The text of each id.
        ended: The text of each translation that ended.
    """
    config = search.config
    if not search.steps:
        return element(
            "p", {}, "The beam is 1: greedy search takes the most probable token at each position."
        )
    introduction = (
        f"At each step the {config.beam_size} live prefixes are extended by every token, and the "
        f"{2 * config.beam_size} most probable extensions are candidates (section 6.1). The first "
        f"{config.beam_size} that do not end live on. One that ends among the first "
        f"{config.beam_size} is kept apart with its score, log P / ((5 + n) / 6)^α, where n counts "
        f"its tokens and its end, and α is {config.length_penalty:g} (Wu et al. 2016, equation "
        "14): without a penalty every further token would count against a translation."
    )
    return "".join(
        [
            element("p", {}, escape(introduction)),
            _legend(config.beam_size),
            element("div", {"class": "wide"}, beam_tree(search, vocabulary)),
            element("h3", {}, "What ended"),
            element("p", {}, escape(describe_ending(search))),
            _ended(search, ended),
            element(
                "details",
                {},
                element("summary", {}, element("b", {}, "Every candidate, step by step")),
                *(_step(number, search, vocabulary) for number in range(len(search.steps))),
            ),
        ]
    )


def _legend(beam: int) -> str:
    """Say what each kind of box means."""
    entries = {CLASSES[fate]: reason.format(beam=beam) for fate, reason in REASONS.items()}
    entries["dropped"] = "dropped: not probable enough"
    entries["best"] = "on the way to the translation"
    items = [
        element("li", {}, element("i", {"class": name}), escape(reason))
        for name, reason in entries.items()
    ]
    return element("ul", {"class": "legend"}, *items)


def describe_ending(search: SearchTrace) -> str:
    """Say in numbers which rule ended the search."""
    step, config = search.steps[-1], search.config
    after = f"The search is over after {counted(len(search.steps), 'step')}"
    if step.ending == "enough have ended":
        ended = sum(c.fate == "ended" for step in search.steps for c in step.candidates)
        enough = (
            f"{config.patience * config.beam_size}, {config.patience} times the beam, are enough"
        )
        return f"{after}, because {ended} translations have ended; {enough}."
    if step.ending == "the length limit is reached":
        limit = counted(search.max_length, "token")
        return f"{after}, because a translation may have {limit} here."
    if step.ending is None:
        return f"{after}, because no live prefix is left."
    best = max(c.log_probability for c in step.candidates if c.fate == "over")
    bound = best / config.penalty(search.max_length)
    number = config.n_best
    wanted = "the best translation has" if number == 1 else f"{number} translations have at least"
    return (
        f"{after}: {wanted} a score of {search.hypotheses[-1].score:.4f}, and the most probable "
        f"live prefix cannot surpass it. Its log-probability is {best:.4f}; even if it lost "
        f"nothing more up to the limit of {search.max_length} tokens, its score would be "
        f"{bound:.4f}."
    )


def _ended(search: SearchTrace, texts: Sequence[str]) -> str:
    """Rank the translations that ended."""
    rows = [
        [
            str(rank),
            text,
            str(len(candidate.ids)),
            f"{candidate.log_probability:.4f}",
            f"{search.config.penalty(len(candidate.ids)):.4f}",
            f"{candidate.score:.4f}",
        ]
        for rank, (candidate, text) in enumerate(zip(search.ended, texts, strict=True), start=1)
    ]
    head = ["rank", "translation", "tokens", "log P", "penalty", "score"]
    return element("div", {"id": "ended"}, table(head, rows, numbers=frozenset({2, 3, 4, 5})))


def _step(number: int, search: SearchTrace, vocabulary: tuple[str, ...]) -> str:
    """Write the candidates of a step."""
    before = search.steps[number - 1].candidates if number else ()
    rows = [
        [
            str(rank),
            vocabulary[candidate.ids[-1]],
            _extended(candidate, before, vocabulary),
            f"{candidate.token_log_probability:.4f}",
            f"{candidate.log_probability:.4f}",
            f"{candidate.score:.4f}",
            REASONS[candidate.fate].format(beam=search.config.beam_size),
        ]
        for rank, candidate in enumerate(search.steps[number].candidates, start=1)
    ]
    head = ["place", "token", "after", "its log P", "sum", "score", "what becomes of it"]
    return element(
        "div",
        {"id": f"step-{number + 1}"},
        element("h3", {}, f"Step {number + 1}"),
        table(head, rows, numbers=frozenset({3, 4, 5})),
    )


def _extended(
    candidate: Candidate, before: tuple[Candidate, ...], vocabulary: tuple[str, ...]
) -> str:
    """Name the prefix that a candidate extends by its rank and its last tokens."""
    if candidate.parent is None:
        return "the beginning"
    ids = before[candidate.parent].ids
    last = " ".join(vocabulary[i] for i in ids[-LAST_SHOWN:])
    return f"{candidate.parent + 1}: {'… ' if len(ids) > LAST_SHOWN else ''}{last}"
