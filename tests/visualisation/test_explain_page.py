"""The figures that the page prints are those that NumPy computes from the weights."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from tests.serving.chromium import CONTRAST_OF_DROPPED, LEAST_CONTRAST, SPACE_IS_LAST, opened
from tests.visualisation.numpy_transformer import Seen, naive_beam_search
from tests.visualisation.small_model import WORDS, save_small_model
from tests.visualisation.test_trace import in_numpy

from dragoman.decoding.config import SearchConfig
from dragoman.model_directory import ModelDirectory
from dragoman.tokenizers.tokenizer import BOS_ID, EOS_ID, PAD_ID
from dragoman.visualisation.attention_grid import attention_grid
from dragoman.visualisation.beam_tree import CLASSES
from dragoman.visualisation.explain_page import explain_page
from dragoman.visualisation.explain_stack import habit, num_cells
from dragoman.visualisation.trace import Tokens, Trace, trace_translation

SENTENCE = "the <b> & black cat sees a dog ."
SEARCH = SearchConfig(beam_size=3, max_length_ratio=1.0, max_length_extra=1)
PIECES = ["<pad>", "<unk>", "<s>", "</s>", *WORDS]
SVG = "{http://www.w3.org/2000/svg}"

Page = ElementTree.Element


@pytest.fixture
def directory(tmp_path: Path) -> ModelDirectory:
    return save_small_model(tmp_path, end_bias=2.0)


@pytest.fixture
def trace(directory: ModelDirectory) -> Trace:
    return trace_translation(directory, SENTENCE, SEARCH)


@pytest.fixture
def page(trace: Trace) -> Page:
    return ElementTree.fromstring(explain_page(trace).partition("\n")[2])


def rows_of(page: Page, place: str) -> list[list[str]]:
    """Read the table that has an identifier, or stands in what has it, without its head."""
    found = page.find(f".//*[@id='{place}']")
    assert found is not None, place
    rows = [["".join(cell.itertext()) for cell in row.findall("td")] for row in found.iter("tr")]
    return [row for row in rows if row]


def numbers(rows: list[list[str]], columns: slice) -> Any:
    return np.array([[float(cell.rstrip("%")) for cell in row[columns]] for row in rows])


def test_the_tokens_are_those_of_the_trace(page: Page, trace: Trace) -> None:
    assert [row[1:] for row in rows_of(page, "tokens-source")] == [
        [PIECES[i], str(i)] for i in trace.source.ids
    ]
    assert [row[1:] for row in rows_of(page, "tokens-target")] == [
        [PIECES[i], str(i)] for i in trace.target.ids
    ]


def seen_in_numpy(directory: ModelDirectory, trace: Trace) -> tuple[Seen, Seen]:
    encoder, decoder, _ = in_numpy(directory)(list(trace.source.ids), list(trace.target.ids))
    return encoder, decoder


def cosine(one: Any, other: Any) -> Any:
    return (one * other).sum(-1) / np.linalg.norm(one, axis=-1) / np.linalg.norm(other, axis=-1)


def test_lengths_of_embeddings_and_positions(
    page: Page, trace: Trace, directory: ModelDirectory
) -> None:
    for place, seen in zip(("source", "target"), seen_in_numpy(directory, trace), strict=True):
        summed = seen.embedded + seen.positions
        expected = [np.linalg.norm(x, axis=1) for x in (seen.embedded, seen.positions, summed)]
        expected.append(cosine(seen.embedded, seen.positions))
        printed = numbers(rows_of(page, f"embeddings-{place}"), slice(1, 5))
        np.testing.assert_allclose(printed, np.transpose(expected), atol=0.0051)


def test_what_each_sublayer_adds(page: Page, trace: Trace, directory: ModelDirectory) -> None:
    for stack, seen in zip(("encoder", "decoder"), seen_in_numpy(directory, trace), strict=True):
        for layer, (streams, added) in enumerate(zip(seen.streams, seen.added, strict=True), 1):
            expected = []
            for x, more in zip(streams, added, strict=True):
                length = np.linalg.norm(x, axis=1)
                expected += [length, np.linalg.norm(more, axis=1) / length, cosine(more, x)]
            printed = numbers(rows_of(page, f"{stack}-{layer}"), slice(1, None))
            np.testing.assert_allclose(printed, np.transpose(expected), atol=0.0051)


def printed_shares(grid: Page) -> set[tuple[int, int, int]]:
    """Read the per cents off a grid: row, column and number, from where they stand."""
    return {
        (
            int(float(each.attrib["y"]) // 18),
            int(float(each.attrib["x"]) // 18),
            int(each.text or ""),
        )
        for each in grid.iter(f"{SVG}text")
        if "share" in each.attrib.get("class", "")
    }


def test_the_maps_print_the_weights_of_every_head(
    page: Page, trace: Trace, directory: ModelDirectory
) -> None:
    for stack, seen in zip(("encoder", "decoder"), seen_in_numpy(directory, trace), strict=True):
        for layer, weights in enumerate(seen.weights, start=1):
            found = page.find(f".//*[@id='{stack}-{layer}']")
            assert found is not None
            grids = [
                each for each in found.iter(f"{SVG}svg") if "head" in each.attrib["aria-label"]
            ]
            heads = [head for of_sublayer in weights for head in of_sublayer]
            for grid, head in zip(grids, heads, strict=True):
                per_cent = np.rint(head * 100).astype(int)
                expected = {(i, j, per_cent[i, j]) for i, j in np.argwhere(per_cent >= 10)}
                assert printed_shares(grid) == expected
    assert "weights in per cent, from 10 on; with the smaller ones" in "".join(page.itertext())


def test_the_shades_of_a_map_are_its_weights(trace: Trace, page: Page) -> None:
    weights = trace.streams.encoder.layers[0][0].weights
    assert weights is not None
    (grid,) = page.findall(f".//{SVG}svg[@aria-label='self-attention, encoder layer 1, head 1']")
    drawn = np.zeros(weights[0].shape)
    for path in grid.iter(f"{SVG}path"):
        level = float(path.attrib["style"].removeprefix("--w:"))
        for x, y in re.findall(r"M(\d+) (\d+)h1v1h-1z", path.attrib["d"]):
            drawn[int(y), int(x)] = level
    np.testing.assert_allclose(drawn, weights[0], atol=0.0251)


def test_each_row_of_a_table_has_a_cell_under_each_heading(page: Page) -> None:
    tables = list(page.iter("table"))
    assert len(tables) > 4
    for table in tables:
        heading, *rows = (
            sum(int(cell.attrib.get("colspan", 1)) for cell in row) for row in table.iter("tr")
        )
        assert rows
        assert {*rows} == {heading}


def test_no_token_of_a_title_turns_around_what_stands_beside_it() -> None:
    drawn = attention_grid(np.array([[0.25, 0.75]]), ["ري"], ["ش", "ت"], "")
    (title,) = re.findall("<title>(.*?)</title>", drawn)
    assert title == "\u2068ري\u2069 → \u2068ت\u2069 0.750, \u2068ش\u2069 0.250"


def test_a_number_on_a_dark_ground_is_bright() -> None:
    drawn = attention_grid(np.array([[0.46, 0.54], [0.44, 0.56]]), ["a", "b"], ["c", "d"], "")
    classes = re.findall(r'class="(share[^"]*)"', drawn)
    assert classes == ["share", "share", "share", "share dark"]


def test_no_prefix_in_the_tree_turns_around_its_numbers(page: Page, trace: Trace) -> None:
    first = trace.search.steps[0].candidates[0]
    title = page.findtext(f".//{SVG}g[@class='beam']/{SVG}g/{SVG}title")
    assert title is not None
    assert title.startswith(f"\u2068{trace.vocabulary[first.ids[0]]}\u2069: log-probability")


def test_the_probability_of_each_token_and_of_the_whole(
    page: Page, trace: Trace, directory: ModelDirectory
) -> None:
    model, source, target = in_numpy(directory), list(trace.source.ids), list(trace.target.ids)
    expected = model.log_probabilities(source, target)
    rows = rows_of(page, "predictions")
    chosen = trace.predicted.ids
    assert [row[1] for row in rows] == [PIECES[i] for i in chosen]
    log_probabilities = np.array([line[i] for line, i in zip(expected, chosen, strict=True)])
    printed = numbers(rows, slice(2, 5))
    np.testing.assert_allclose(printed[:, 0], 100 * np.exp(log_probabilities), atol=0.0051)
    np.testing.assert_allclose(printed[:, 1], log_probabilities, atol=0.000051)
    for row, line, token in zip(rows, expected, chosen, strict=True):
        order = list(np.argsort(-line))
        assert int(row[4]) == order.index(token) + 1
        others = re.findall(r"\u2068(.*?)\u2069 ([\d.]+)%", row[5])
        assert [name for name, _ in others] == [PIECES[i] for i in order[:5] if i != token]
    total = page.find(".//*[@id='total']")
    assert total is not None
    found = [float(number) for number in re.findall(r"-?\d+\.\d+", total.text or "")]
    penalty = ((5 + len(chosen)) / 6) ** 0.6
    expected_total = log_probabilities.sum()
    assert found == pytest.approx([expected_total, penalty, expected_total / penalty], abs=6e-5)


def test_the_steps_of_the_search_and_what_ended(
    page: Page, trace: Trace, directory: ModelDirectory
) -> None:
    model, source = in_numpy(directory), list(trace.source.ids)
    steps, ended = naive_beam_search(
        lambda ids: model.log_probabilities(source, [BOS_ID, *ids])[-1],
        beam=3,
        alpha=0.6,
        limit=trace.search.max_length,
        eos=EOS_ID,
        forbidden=(PAD_ID, BOS_ID),
    )
    for number, candidates in enumerate(steps, start=1):
        rows = rows_of(page, f"step-{number}")
        assert [row[1] for row in rows] == [PIECES[each.ids[-1]] for each in candidates]
        expected = [[each.log_probability, each.score] for each in candidates]
        np.testing.assert_allclose(numbers(rows, slice(4, 6)), expected, atol=6e-5)
    assert page.find(f".//*[@id='step-{len(steps) + 1}']") is None
    rows = rows_of(page, "ended")[: len(ended)]
    assert ended
    assert [int(row[2]) for row in rows] == [len(each.ids) for each in ended]
    tokenizer = directory.load_tokenizers().target
    assert [row[1] for row in rows] == [tokenizer.decode(each.ids) for each in ended]
    expected = [[each.log_probability, each.score] for each in ended]
    np.testing.assert_allclose(numbers(rows, slice(3, 6, 2)), expected, atol=6e-5)


def test_nothing_is_said_to_live_on_after_the_last_step(page: Page, trace: Trace) -> None:
    last = rows_of(page, f"step-{len(trace.search.steps)}")
    assert "below the beam" in {each.fate for each in trace.search.steps[-1].candidates}
    assert not [row[-1] for row in last if re.search("lives? on", row[-1])]


def test_rows_are_named_after_the_token_that_is_chosen_there(page: Page, trace: Trace) -> None:
    assert [row[0] for row in rows_of(page, "encoder-2")] == list(trace.source.pieces)
    assert [row[0] for row in rows_of(page, "decoder-3")] == list(trace.predicted.pieces)


def test_the_tree_has_every_candidate_and_one_line_to_the_translation(
    page: Page, trace: Trace
) -> None:
    tree = page.find(f".//{SVG}g[@class='beam']")
    assert tree is not None
    drawn = [each.attrib["class"].split() for each in tree.findall(f"{SVG}g")]
    fates = [each.fate for step in trace.search.steps for each in step.candidates]
    assert [classes[0] for classes in drawn] == [CLASSES[fate] for fate in fates]
    on_line = [
        each.findtext(f"{SVG}text")
        for each in tree.findall(f"{SVG}g")
        if "best" in each.get("class", "")
    ]
    assert on_line == list(trace.predicted.pieces)
    edges = [each.get("class") for each in tree.findall(f"{SVG}path")]
    assert edges.count("edge best") == len(on_line)
    assert len(edges) == len(fates)


def test_it_is_said_where_the_largest_weight_is_in_most_rows() -> None:
    at_the_same, at_their_own = np.eye(3)[[1, 1, 1]], np.eye(3)[[0, 1, 1]]

    assert habit(at_the_same, "self_attention") == "largest weight 1.00 on average"
    assert habit(at_their_own, "self_attention").endswith("(2 of 3 rows) at its own position")
    assert habit(np.eye(1), "self_attention").endswith("(1 of 1 rows) at its own position")
    half = np.eye(4)[[0, 1, 0, 0]]
    assert habit(half, "self_attention") == "largest weight 1.00 on average"


@pytest.mark.parametrize(
    ("back", "where"),
    [(0, "the token before"), (1, "the one before that"), (2, "3 positions back")],
)
def test_rows_of_a_decoder_are_named_after_what_follows_their_position(
    back: int, where: str
) -> None:
    weights = np.eye(7)[[max(0, row - back) for row in range(7)]]

    assert habit(weights, "self_attention", chosen=True).endswith(f" rows) at {where}")


def test_a_bar_that_is_full_is_explained(page: Page) -> None:
    full = [cell for cell in page.iter("td") if cell.get("style") == "--w:1.000"]

    assert any(float((cell.text or "").rstrip("%")) > 1 for cell in full)
    assert "A bar is full where the result is as long as x, or longer." in "".join(page.itertext())


def test_text_stays_text(page: Page) -> None:
    assert "<b> &" in "".join(page.itertext())
    assert not page.findall(".//script")
    assert {each.text for each in page.iter("b")} >= {"en", "it"}


def test_nothing_is_loaded_from_anywhere(trace: Trace) -> None:
    written = explain_page(trace).replace("http://www.w3.org/2000/svg", "")

    assert not re.findall(r"https?:|url\(|@import|src=|<link|<script", written)


def test_a_large_model_shows_the_mean_of_its_heads(
    trace: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dragoman.visualisation.explain_page.MOST_CELLS", 10)

    written = explain_page(trace)

    assert "mean of 3 heads" in written
    assert "head 1" not in written
    assert "a mean of heads" in written


def test_the_cells_of_all_maps_are_counted(trace: Trace) -> None:
    source, target = len(trace.source.ids), len(trace.target.ids)
    encoder, decoder = 2 * 3 * source**2, 3 * 3 * (target**2 + target * source)

    assert num_cells((trace.streams.encoder, trace.streams.decoder)) == encoder + decoder


def test_a_greedy_search_says_that_it_has_no_tree(directory: ModelDirectory) -> None:
    greedy = trace_translation(directory, SENTENCE, SearchConfig(beam_size=1))

    assert "greedy search takes the most probable token" in explain_page(greedy)


def test_rotary_positions_are_told_and_nothing_is_said_to_be_added(tmp_path: Path) -> None:
    directory = save_small_model(tmp_path, end_bias=2.0, positional_encoding="rotary")
    trace = trace_translation(directory, SENTENCE, SEARCH)

    page = ElementTree.fromstring(explain_page(trace).partition("\n")[2])

    for place, seen in zip(("source", "target"), seen_in_numpy(directory, trace), strict=True):
        lengths = np.linalg.norm(seen.embedded, axis=1)
        printed = numbers(rows_of(page, f"embeddings-{place}"), slice(1, None))
        np.testing.assert_allclose(printed, lengths[:, None], atol=0.0051)
    text = "".join(page.itertext())
    assert "turns its queries and keys" in text
    assert "of the angles by which a pair is turned; one row per position" in text


@pytest.mark.parametrize("convention", ["interleaved", "tensor2tensor"])
def test_the_last_wave_is_as_long_as_the_last_one_drawn(
    convention: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dragoman.visualisation.explain_embeddings.MOST_DIMENSIONS", 3)
    directory = save_small_model(tmp_path, end_bias=2.0, positional_encoding=convention)

    page = explain_page(trace_translation(directory, SENTENCE, SEARCH))

    # Of the sines 0 to 5, the last one drawn is number 4.
    longest = 10_000 ** (4 / (5 if convention == "tensor2tensor" else 6))
    assert "One in 2 sines of the positional encodings" in page
    assert f"the last one {longest:,.0f} · 2π" in page


@pytest.mark.parametrize(
    ("piece", "said"),
    [
        ("<0xE6>", "is one byte of a character that is not in the vocabulary"),
        ("▁the", "▁ stands for a space"),
    ],
)
def test_it_is_said_what_a_byte_and_a_space_are_where_there_is_one(
    piece: str, said: str, trace: Trace
) -> None:
    with_one = replace(trace.source, pieces=(piece, *trace.source.pieces[1:]))

    assert said in explain_page(replace(trace, source=with_one))
    assert said not in explain_page(trace)


def test_the_size_of_one_vocabulary_is_not_said_of_both(tmp_path: Path) -> None:
    trace = trace_translation(save_small_model(tmp_path, end_bias=2.0), SENTENCE, SEARCH)

    tokens, _, rest = explain_page(trace).partition("Embeddings and positions</h2>")

    assert f"a vocabulary of {len(PIECES)}" not in tokens
    assert f"12 by {len(PIECES)}, turns each vector" in rest


def test_on_narrow_paper_a_token_stays_in_one_piece(trace: Trace, tmp_path: Path) -> None:
    written = explain_page(trace).replace("<strong>", "<strong>incomprehensibility")
    with opened(written, tmp_path / "page.html", width=300) as page:
        page.emulate_media(media="print")
        tokens = page.locator("#projection td > strong")
        lines = tokens.evaluate_all("all => all.map(token => token.getClientRects().length)")
    assert lines == [1] * len(trace.predicted.ids)


def test_the_maps_of_heads_stand_in_line_though_more_is_said_of_one(
    trace: Trace, tmp_path: Path
) -> None:
    written = explain_page(trace).replace("head 1:", f"head 1, {'sharp, ' * 40}:")
    with opened(written, tmp_path / "page.html", width=1200) as page:
        maps = page.locator("#encoder-1 .heads svg")
        tops = maps.evaluate_all("all => all.map(map => map.getBoundingClientRect().top)")
    assert len(tops) == 3
    assert len(set(tops)) == 1


def test_a_token_from_right_to_left_has_its_space_at_the_right(
    trace: Trace, tmp_path: Path
) -> None:
    word = "▁ري"
    turned: dict[str, Any] = {
        name: replace(tokens, pieces=(word,) * len(tokens.pieces))
        for name, tokens in vars(trace).items()
        if isinstance(tokens, Tokens)
    }
    written = explain_page(replace(trace, vocabulary=(word,) * len(trace.vocabulary), **turned))
    with opened(written, tmp_path / "page.html", width=1200) as page:
        space_is_last = page.locator("body").evaluate(SPACE_IS_LAST, word)
    assert len(space_is_last) > 100
    assert not any(space_is_last)


def test_the_numbers_of_dropped_candidates_can_be_read(trace: Trace, tmp_path: Path) -> None:
    with opened(explain_page(trace), tmp_path / "page.html", width=1200) as page:
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            assert page.evaluate(CONTRAST_OF_DROPPED, "body") >= LEAST_CONTRAST, scheme
