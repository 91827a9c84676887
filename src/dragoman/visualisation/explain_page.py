"""One translation on a page, in the order of the paper, with the numbers of the model."""

from collections.abc import Sequence

from dragoman.counting import counted
from dragoman.languages.codes import language_tag
from dragoman.visualisation import attention_grid, beam_tree, explain_stack
from dragoman.visualisation.attention_grid import LEAST_WRITTEN
from dragoman.visualisation.explain_embeddings import embeddings_section
from dragoman.visualisation.explain_search import search_section
from dragoman.visualisation.explain_stack import (
    MOST_CELLS,
    bar_cell,
    num_cells,
    number_cell,
    stack_layers,
)
from dragoman.visualisation.markup import element, escape, isolated
from dragoman.visualisation.page import table, write_notes, write_page
from dragoman.visualisation.trace import Choice, Tokens, Trace

NUM_ALTERNATIVES = 5

STYLE = (
    attention_grid.STYLE
    + beam_tree.STYLE
    + explain_stack.STYLE
    + """
nav { display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; margin: 1rem 0; font-size: .95rem; }
a { color: var(--accent); }
blockquote { margin: .5rem 0; font-size: 1.15rem; }
blockquote b { color: var(--muted); font-weight: 600; margin-right: .6rem; font-size: .9rem; }
.side { display: flex; flex-wrap: wrap; gap: .5rem 3rem; }
.side > div { max-width: 100%; }
.others span { white-space: nowrap; margin-right: .9rem; }
@media print { td:first-child, td > strong { overflow-wrap: normal; } }
"""  # on paper too, a token stays in one piece
)


def explain_page(trace: Trace, notes: Sequence[str] = ()) -> str:
    """Write the page of a translation, and why it may differ from that of the text."""
    stacks = (trace.streams.encoder, trace.streams.decoder)
    apart = num_cells(stacks) <= MOST_CELLS
    sections = [
        ("text", "Text to tokens", _text(trace)),
        ("embeddings", "Embeddings and positions", embeddings_section(trace)),
        ("encoder", "Encoder", _encoder(trace, apart)),
        ("decoder", "Decoder", _decoder(trace, apart)),
        ("projection", "Projection and softmax", _projection(trace)),
        ("search", "Beam search", search_section(trace.search, trace.vocabulary, trace.ended)),
    ]
    links = [element("a", {"href": f"#{name}"}, escape(title)) for name, title, _ in sections]
    body = [
        _heading(trace, notes),
        element("nav", {}, *links),
        *(
            element("section", {"id": name}, element("h2", {}, f"{number}. {title}"), content)
            for number, (name, title, content) in enumerate(sections, start=1)
        ),
    ]
    return write_page(f"How “{trace.source.text}” is translated", "".join(body), style=STYLE)


def _heading(trace: Trace, notes: Sequence[str]) -> str:
    model = trace.model
    source, target = trace.languages
    size = (
        f"A Transformer with {counted(model.num_encoder_layers, 'encoder layer')} and "
        f"{counted(model.num_decoder_layers, 'decoder layer')}, each of "
        f"{counted(model.num_heads, 'head')}, d_model = {model.d_model}, d_ff = {model.d_ff}, "
        "translates one sentence. Sections, equations and figures are those of “Attention Is All "
        "You Need” (Vaswani et al. 2017); all numbers are this model’s, computed by PyTorch in "
        "single precision."
    )
    return (
        element("h1", {}, "One translation, step by step")
        + _quote(source, trace.source.text)
        + _quote(target, trace.target.text)
        + write_notes(notes)
        + element("p", {}, escape(size))
    )


def _quote(language: str, text: str) -> str:
    quoted = element("span", {"lang": language_tag(language), "dir": "auto"}, escape(text))
    return element("blockquote", {}, element("b", {}, escape(language)), quoted)


def _paragraph(text: str) -> str:
    return element("p", {}, escape(text))


def _text(trace: Trace) -> str:
    words = (
        "A tokenizer cuts the text into pieces of a vocabulary and gives each its number (section "
        f"5.1); the model sees nothing but these numbers. {trace.source.pieces[-1]} ends the "
        f"sentence, and the decoder begins with {trace.target.pieces[0]}."
    )
    pieces = (*trace.source.pieces, *trace.target.pieces)
    if any("▁" in piece for piece in pieces):
        words += " ▁ stands for a space."
    if any(piece.startswith("<0x") for piece in pieces):
        words += " <0x…> is one byte of a character that is not in the vocabulary."
    sides = [
        element("div", {"id": f"tokens-{name}"}, element("h3", {}, title), _pieces(tokens))
        for name, title, tokens in (
            ("source", "What the encoder reads", trace.source),
            ("target", "What the decoder is given", trace.target),
        )
    ]
    return _paragraph(words) + element("div", {"class": "side"}, *sides)


def _pieces(tokens: Tokens) -> str:
    rows = [
        [str(position), piece, str(i)]
        for position, (piece, i) in enumerate(zip(tokens.pieces, tokens.ids, strict=True))
    ]
    return table(["position", "piece", "id"], rows, numbers=frozenset({0, 2}))


def _how_to_read(trace: Trace) -> str:
    """Explain the table of what sublayers add."""
    rule = (
        "x + Sublayer(LayerNorm(x)), with one more norm at the end of the stack, where section 3.1 "
        "has LayerNorm(x + Sublayer(x))"
        if trace.model.norm == "before"
        else "LayerNorm(x + Sublayer(x)) (section 3.1)"
    )
    return (
        f"Around every sublayer the stream x is carried past and added: {rule}. "
        "“adds” is the length of Sublayer’s result divided by the length of x, and the cosine "
        "says whether it points along the stream (1), across (0) or against it (−1). A bar is full "
        "where the result is as long as x, or longer."
    )


def _mean_of_heads(apart: bool) -> str:
    return "" if apart else " The sentence is long for this page: each map is a mean of heads."


def _encoder(trace: Trace, apart: bool) -> str:
    words = (
        "Each layer has two sublayers (figure 1, left; section 3.1). In self-attention each token "
        "compares its query with the keys of all tokens, softmax(QKᵀ / √d_k), and takes the mean "
        "of their values with these weights (equation 1), differently in each head (section "
        f"3.2.2). The numbers in the maps are weights in per cent, from {LEAST_WRITTEN} on; with "
        "the smaller ones, which are only shaded, a row sums to 100. The feed-forward network then "
        f"works on each position by itself (equation 2).{_mean_of_heads(apart)}"
    )
    layers = stack_layers(
        trace.streams.encoder,
        tokens=trace.source.pieces,
        looks_at={"self_attention": trace.source.pieces},
        heads_apart=apart,
        name="encoder",
    )
    return _paragraph(words) + _paragraph(_how_to_read(trace)) + layers


def _decoder(trace: Trace, apart: bool) -> str:
    words = (
        "The decoder (figure 1, right) works on what is translated so far. Self-attention sees no "
        "later position (section 3.2.3); cross-attention takes its queries from the decoder, its "
        "keys and values from the output of the encoder. A row is labelled with the token that is "
        f"to be chosen there.{_mean_of_heads(apart)}"
    )
    layers = stack_layers(
        trace.streams.decoder,
        tokens=trace.predicted.pieces,
        looks_at={"self_attention": trace.target.pieces, "cross_attention": trace.source.pieces},
        heads_apart=apart,
        name="decoder",
    )
    return _paragraph(words) + layers


def _projection(trace: Trace) -> str:
    """Write how probable each token was, and which others were."""
    best, choices = trace.search.hypotheses[0], trace.choices(NUM_ALTERNATIVES)
    total = sum(choice.chosen.log_probability for choice in choices)
    words = (
        f"One more matrix, {trace.model.d_model} by {len(trace.vocabulary):,}, turns each vector "
        "into a logit for every entry of the vocabulary, and the softmax into probabilities "
        "(section 3.4)."
    )
    if trace.model.tied_embeddings != "none":
        words += " The matrix is the embedding table itself."
    penalty = trace.search.config.penalty(len(trace.predicted.ids))
    result = (
        f"The logarithms sum to {total:.4f}. Divided by the length penalty of "
        f"{len(trace.predicted.ids)} tokens, {penalty:.4f}, that is the score {best.score:.4f}."
    )
    head = ["after", "token", "probability", "log P", "place", "most probable others"]
    rows = [
        _prediction(given, choice)
        for given, choice in zip(trace.target.pieces, choices, strict=True)
    ]
    heading = element("tr", {}, *(element("th", {}, name) for name in head))
    predictions = element("table", {"id": "predictions"}, heading, *rows)
    return (
        _paragraph(words)
        + element("div", {"class": "wide"}, predictions)
        + element("p", {"id": "total"}, escape(result))
    )


def _prediction(given: str, choice: Choice) -> str:
    """Write one position: the chosen token and its most probable rivals."""
    chosen = choice.chosen
    named = [
        element("span", {}, escape(f"{isolated(other.piece)} {other.probability:.2%}"))
        for other in choice.others
    ]
    return element(
        "tr",
        {},
        element("td", {"dir": "auto"}, escape(given)),
        element("td", {"dir": "auto"}, element("strong", {}, escape(chosen.piece))),
        bar_cell(f"{chosen.probability:.2%}", chosen.probability),
        number_cell(f"{chosen.log_probability:.4f}"),
        number_cell(str(choice.place)),
        element("td", {"class": "others"}, *named),
    )
