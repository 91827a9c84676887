"""The tree of a beam search."""

from xml.etree import ElementTree

import pytest

from dragoman.decoding.config import SearchConfig
from dragoman.decoding.hypothesis import EMPTY
from dragoman.visualisation.beam_tree import NODE_WIDTH, beam_tree
from dragoman.visualisation.search_trace import Candidate, SearchStep, SearchTrace
from dragoman.visualisation.svg import width_of

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("piece", ["▁program", "▁somewhere", "ありがとうございます", "W" * 20])
@pytest.mark.parametrize("log_probability", [-0.1, -12.34, -123.45])
def test_a_token_does_not_run_into_its_probability(piece: str, log_probability: float) -> None:
    candidate = Candidate(
        ids=(0,),
        parent=None,
        token_log_probability=log_probability,
        log_probability=log_probability,
        score=log_probability,
        fate="lives on",
    )
    step = SearchStep(candidates=(candidate,), ending=None)
    search = SearchTrace(config=SearchConfig(), max_length=9, steps=(step,), hypotheses=(EMPTY,))

    drawn = ElementTree.fromstring(beam_tree(search, (piece,)))

    node = drawn.find(f".//{SVG}g[@class='beam']/{SVG}g")
    assert node is not None
    box, (token, number) = node.find(f"{SVG}rect"), node.findall(f"{SVG}text")
    assert box is not None
    left = float(box.get("x", ""))
    end = float(token.get("x", "")) + width_of(token.text or "", 12)
    begin = float(number.get("x", "")) - width_of(number.text or "", 11)
    assert left < end < begin < left + NODE_WIDTH
    assert piece.startswith((token.text or "").removesuffix("…"))
