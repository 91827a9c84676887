"""What arguments of well-known implementations stand for."""

import pytest

from dragoman.checking.arguments import ATTENTION, CONSTRUCTOR, INSIDE, Roles, roles_of


def roles(names: str, known: Roles) -> list[str | None]:
    """Tell the roles of a constructor that takes these names."""
    function = eval(f"lambda {names}: None")
    return list(roles_of(function, known).values())


@pytest.mark.parametrize(
    ("names", "known", "meant"),
    [
        ("num_embeddings, embedding_dim", CONSTRUCTOR, ["vocab", "d_model"]),
        ("ntoken, d_model, nhead, d_hid", CONSTRUCTOR, ["vocab", "d_model", "heads", "d_ff"]),
        ("ntoken, ninp, nhead, nhid", CONSTRUCTOR, ["vocab", "d_model", "heads", "d_ff"]),
        ("d_hid, n_position", CONSTRUCTOR, ["d_model", "length"]),
        ("num_hiddens, ffn_num_hiddens", CONSTRUCTOR, ["d_model", "d_ff"]),
        ("hidden_size, num_hidden_layers", CONSTRUCTOR, ["d_model", "layers"]),
        ("dim, depth, mlp_dim", CONSTRUCTOR, ["d_model", "layers", "d_ff"]),
        ("n_embd, n_ctx, mlp_ratio", CONSTRUCTOR, ["d_model", "length", "expansion"]),
        ("ffn_num_hiddens, ffn_num_outputs", INSIDE, ["d_ff", "d_model"]),
        ("d, ff", INSIDE, ["d_model", "d_ff"]),
        ("d, h, ff, p", INSIDE, ["d_model", "heads", "d_ff", "dropout"]),
        ("size, attn, ff", INSIDE, ["d_model", "attention", "feed_forward"]),
        ("d_model, attention_layer, ffn", INSIDE, ["d_model", None, "feed_forward"]),
        ("d_in, d_hid", INSIDE, ["d_model", "d_ff"]),
        ("d_in, d_out", INSIDE, ["d_model", "d_model"]),
        ("in_features, hidden_features", INSIDE, ["d_model", "d_ff"]),
        ("num_heads, head_size", INSIDE, ["heads", "head_width"]),
        ("ndim, bias", INSIDE, ["d_model", "bias"]),
        ("dim, pad_value", CONSTRUCTOR, ["d_model", "padding_id"]),
        ("input_Q, input_K, input_V, attn_mask", ATTENTION, ["query", "key", "value", "mask"]),
        ("d_in, d_out", CONSTRUCTOR, [None, None]),  # of which one may be a vocabulary
    ],
)
def test_names_of_well_known_implementations_are_understood(
    names: str, known: Roles, meant: list[str | None]
) -> None:
    assert roles(names, known) == meant
