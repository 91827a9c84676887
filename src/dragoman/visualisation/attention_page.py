"""Attention on a page: a heat map for each head, chosen by buttons, without a script."""

from collections.abc import Sequence
from itertools import groupby

from dragoman.visualisation import heat_map
from dragoman.visualisation.attended_sentence import AttentionKind, HeadMap
from dragoman.visualisation.markup import element, escape
from dragoman.visualisation.page import write_notes, write_page

NAMES: dict[AttentionKind, str] = {
    "encoder": "Encoder self-attention",
    "decoder": "Decoder self-attention",
    "cross": "Cross-attention",
}

EXPLANATIONS: dict[AttentionKind, str] = {
    "encoder": "What each source token (row) looks at in the source (column).",
    "decoder": "What the decoder looks at in its translation so far (column) to choose the token "
    "of a row. It sees nothing that comes later.",
    "cross": "What the decoder looks at in the source (column) to choose the token of a row.",
}

NOTE = (
    "The darker a cell (the brighter, on a dark ground), the larger its weight; each row sums to "
    "one. Point at a cell to read its weight."
)

STYLE = (
    heat_map.STYLE
    + """
fieldset { border: 0; padding: 0; margin: .35rem 0; }
fieldset:not([hidden]) { display: flex; flex-wrap: wrap; gap: .35rem; }
legend { float: left; width: 4rem; color: var(--muted); font-size: .9rem; line-height: 2; }
fieldset label { position: relative; }
fieldset input { position: absolute; opacity: 0; inset: 0; margin: 0; cursor: pointer; }
fieldset span {
  display: block; min-width: 2.2rem; padding: .2rem .7rem; text-align: center; font-size: .9rem;
  border: 1px solid var(--line); border-radius: .4rem; background: var(--surface);
}
fieldset :checked + span {
  background: var(--accent); border-color: var(--accent); color: var(--background);
}
fieldset :focus-visible + span { outline: 2px solid var(--accent); outline-offset: 2px; }
.layer > div { display: flex; flex-wrap: wrap; gap: 1.25rem 2rem; }
figure { margin: .75rem 0 0; max-width: 100%; }
figcaption { color: var(--muted); font-size: .85rem; margin-bottom: .25rem; }
@media print { fieldset:not([hidden]) { display: none; } }
"""
)


def attention_page(
    maps: Sequence[HeadMap], *, languages: tuple[str, str], notes: Sequence[str] = ()
) -> str:
    """Write a page that shows the maps of a sentence.

    Args:
        maps: At least one.
        languages: Of source and target.
        notes: Why `dragoman translate` may give another translation, in a sentence each.
    """
    title = f"Attention, {languages[0]} to {languages[1]}"
    head = element("h1", {}, escape(title)) + write_notes(notes)
    body = head + element("p", {"class": "note"}, NOTE) + attention_chooser(maps)
    return write_page(title, body, style=STYLE)


def attention_chooser(maps: Sequence[HeadMap]) -> str:
    """Write the maps with buttons for kind, layer and head; at first the last map shows.

    Browsers that do not know `:has` show all maps, one below the other.
    """
    kinds = list(dict.fromkeys(each.kind for each in maps))
    layers = sorted({each.layer for each in maps})
    heads = sorted({each.head for each in maps})
    choices = [
        _choice("kind", [(kind, NAMES[kind]) for kind in kinds], kinds[-1]),
        _choice("layer", [(str(i), str(i)) for i in layers], str(maps[-1].layer)),
        _choice("head", [("all", "all"), *((str(i), str(i)) for i in heads)], "all"),
    ]
    sections = [_kind(kind, list(maps), layers) for kind, maps in groupby(maps, lambda m: m.kind)]
    style = element("style", {}, _rules(kinds, layers, heads))
    return element("section", {"class": "attention"}, style, *choices, *sections)


def _choice(name: str, values: list[tuple[str, str]], checked: str) -> str:
    """Write a group of radio buttons, hidden if there is nothing to choose.

    The arrow keys go from one to the next.
    """
    buttons = [
        element(
            "label",
            {},
            element(
                "input",
                {"type": "radio", "name": name, "id": f"{name}-{value}"}
                | ({"checked": "checked"} if value == checked else {}),
            ),
            element("span", {}, escape(shown)),
        )
        for value, shown in values
    ]
    hidden = {"hidden": "hidden"} if len(values) == 1 else {}
    return element("fieldset", hidden, element("legend", {}, name), *buttons)


def _rules(kinds: Sequence[str], layers: Sequence[int], heads: Sequence[int]) -> str:
    """Hide every map whose kind, layer or head is not chosen."""
    names = [f"kind-{kind}" for kind in kinds]
    names += [f"layer-{layer}" for layer in layers] + [f"head-{head}" for head in heads]
    chosen = [(name, name) for name in names] + [("head-all", "head")]
    shown = ",\n".join(f".attention:has(#{button}:checked) .{maps}" for button, maps in chosen)
    return (
        "@supports selector(:has(*)) {\n"
        ".attention :is(.kind, .layer, .head) { display: none; }\n"
        f"{shown} {{ display: block; }}\n}}"
    )


def _kind(kind: AttentionKind, maps: list[HeadMap], layers: Sequence[int]) -> str:
    explanation = element("p", {"class": "note"}, EXPLANATIONS[kind])
    drawn = [_layer(layer, [each for each in maps if each.layer == layer]) for layer in layers]
    return element("div", {"class": f"kind kind-{kind}"}, explanation, *drawn)


def _layer(layer: int, maps: list[HeadMap]) -> str:
    """Write the heads of a layer; if the stack has fewer layers than the other, say so."""
    if not maps:
        return element("p", {"class": f"layer layer-{layer}"}, f"This stack has no layer {layer}.")
    figures = [
        element(
            "figure",
            {"class": f"head head-{each.head}"},
            element("figcaption", {}, f"layer {layer}, head {each.head}"),
            element("div", {"class": "wide"}, _draw(each)),
        )
        for each in maps
    ]
    return element("div", {"class": f"layer layer-{layer}"}, element("div", {}, *figures))


def _draw(each: HeadMap) -> str:
    description = f"{NAMES[each.kind]}, layer {each.layer}, head {each.head}"
    return heat_map.heat_map(each.weights, each.rows, each.columns, description)
