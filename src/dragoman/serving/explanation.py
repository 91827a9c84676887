"""Dragoman's own interface: how a sentence is translated."""

from typing import TYPE_CHECKING

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field
from starlette.responses import Response

from dragoman.serving.dependencies import RequiresKey, Service
from dragoman.serving.fields import OneSentence, read_fields
from dragoman.serving.insight import MOST_TOKENS
from dragoman.serving.openapi import accepts, refuses

if TYPE_CHECKING:
    from dragoman.visualisation.search_trace import Candidate
    from dragoman.visualisation.stream_trace import StackTrace, SublayerKind
    from dragoman.visualisation.trace import Choice, Trace

router = APIRouter(tags=["Dragoman"], dependencies=[RequiresKey])

NUM_RIVALS = 5
"""How many of the most probable tokens are given at a position."""

DECIMALS = 4
"""Decimal places of an attention weight."""

MOST_CHARACTERS = 2000

Maps = list[list[list[list[float]]]]
"""Weights by layer, head, token that looks and token that is looked at."""


class Sentence(OneSentence):
    """The sentence to explain."""

    text: str = Field(
        max_length=MOST_CHARACTERS,
        description=f"One sentence of at most {MOST_TOKENS} tokens; it is not cut.",
    )


class Token(BaseModel):
    """A token as the vocabulary writes it; ▁ stands for a space."""

    piece: str
    probability: float = Field(ge=0, le=1.0001, description="After the tokens before it.")
    log_probability: float


class ChosenToken(Token):
    """A token of the translation."""

    place: int = Field(ge=1, description="Among all tokens by probability, from 1.")
    others: list[Token] = Field(description="The most probable ones besides it.")


class Attention(BaseModel):
    """Weights by layer, head, row and column; a row is a token that looks, and sums to 1."""

    encoder: Maps = Field(description="Rows and columns are `source_pieces`.")
    decoder: Maps = Field(description="Rows are `tokens`, columns `read_pieces`.")
    cross: Maps = Field(description="Rows are `tokens`, columns `source_pieces`.")


class Extension(BaseModel):
    """A prefix of a translation that the search considered, one token longer than its parent."""

    piece: str = Field(description="Its last token.")
    parent: int | None = Field(
        description="Its place in the step before, from 0; null in the first."
    )
    token_log_probability: float
    log_probability: float = Field(description="Of all its tokens: what candidates are ordered by.")
    score: float = Field(description="Divided by the length penalty: what translations rank by.")
    fate: str = Field(
        description='"lives on", "ended", "below the beam", "ended below the beam" or "over".'
    )
    reason: str = Field(description="What this means.")


class Beam(BaseModel):
    """The search: the candidates of each step, the most probable first."""

    size: int = Field(description="1 is a greedy search, which has no candidates.")
    length_penalty: float
    max_length: int = Field(description="Tokens that a translation may have.")
    steps: list[list[Extension]]
    ending: str = Field(description="Why the search was over; empty if it was greedy.")
    drawing: str = Field(description="The tree as SVG; its classes are for a style of your own.")


class Explanation(BaseModel):
    """One translation, and what was computed on the way to it, in full precision."""

    text: str = Field(description="The sentence as the model reads it.")
    translation: str
    notes: list[str] = Field(
        description="Why the sentence may be translated differently, apart from what is said here."
    )
    score: float
    source_pieces: list[str] = Field(description="What the encoder reads; it ends with EOS.")
    read_pieces: list[str] = Field(description="What the decoder has before it, from BOS on.")
    tokens: list[ChosenToken] = Field(description="What it chose at each of these places.")
    attention: Attention
    beam: Beam


@router.post(
    "/api/v1/explanation",
    response_model=Explanation,
    responses=refuses(400, 403, 413, 504),
    openapi_extra=accepts(Sentence),
)
async def explanation(request: Request, service: Service) -> Response:
    """Show how a sentence is translated: tokens, attention, probabilities, and the search.

    These are the numbers of `dragoman explain`. The model computes in full precision, even where
    translations are made with 8-bit weights, and searches once.
    """
    wanted = await read_fields(request, Sentence)
    content = await service.look(
        (wanted.source, wanted.target),
        (wanted.text,),
        # It is written in the thread that made it, as it may be long.
        lambda insight: _write(*insight.explain(wanted.text)).model_dump_json(),
    )
    return Response(content, media_type="application/json")


def _write(trace: "Trace", notes: list[str]) -> Explanation:
    encoder, decoder = trace.streams.encoder, trace.streams.decoder
    return Explanation(
        text=trace.source.text,
        translation=trace.target.text,
        notes=notes,
        score=trace.search.hypotheses[0].score,
        source_pieces=list(trace.source.pieces),
        read_pieces=list(trace.target.pieces),
        tokens=[_write_choice(choice) for choice in trace.choices(NUM_RIVALS)],
        attention=Attention(
            encoder=_maps(encoder, "self_attention"),
            decoder=_maps(decoder, "self_attention"),
            cross=_maps(decoder, "cross_attention"),
        ),
        beam=_write_beam(trace),
    )


def _write_choice(choice: "Choice") -> ChosenToken:
    return ChosenToken(
        **choice.chosen._asdict(),
        place=choice.place,
        others=[Token(**other._asdict()) for other in choice.others],
    )


def _maps(stack: "StackTrace", kind: "SublayerKind") -> Maps:
    return [
        sublayer.weights.astype("float64").round(DECIMALS).tolist()
        for layer in stack.layers
        for sublayer in layer
        if sublayer.kind == kind and sublayer.weights is not None
    ]


def _write_beam(trace: "Trace") -> Beam:
    from dragoman.visualisation.beam_tree import beam_tree
    from dragoman.visualisation.explain_search import describe_ending

    search = trace.search
    return Beam(
        size=search.config.beam_size,
        length_penalty=search.config.length_penalty,
        max_length=search.max_length,
        steps=[
            [_write_candidate(candidate, trace) for candidate in step.candidates]
            for step in search.steps
        ],
        ending=describe_ending(search) if search.steps else "",
        drawing=beam_tree(search, trace.vocabulary) if search.steps else "",
    )


def _write_candidate(candidate: "Candidate", trace: "Trace") -> Extension:
    from dragoman.visualisation.explain_search import REASONS

    return Extension(
        piece=trace.vocabulary[candidate.ids[-1]],
        parent=candidate.parent,
        token_log_probability=candidate.token_log_probability,
        log_probability=candidate.log_probability,
        score=candidate.score,
        fate=candidate.fate,
        reason=REASONS[candidate.fate].format(beam=trace.search.config.beam_size),
    )
