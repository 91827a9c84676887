"""What the weights of a Transformer are called here and in Hugging Face's Marian."""

from dragoman.model.config import TransformerConfig

ATTENTION = {
    "query_projection": "q_proj",
    "key_projection": "k_proj",
    "value_projection": "v_proj",
    "output_projection": "out_proj",
}
FEED_FORWARD = {"feed_forward.widen": "fc1", "feed_forward.narrow": "fc2"}
ATTENTIONS = {"self_attention": "self_attn", "cross_attention": "encoder_attn"}
NORMS = {
    "around_self_attention.norm": "self_attn_layer_norm",
    "around_cross_attention.norm": "encoder_attn_layer_norm",
    "around_feed_forward.norm": "final_layer_norm",
}
NORM_PARAMETERS = {"gain": "weight", "bias": "bias"}

LOGITS_BIAS = "final_logits_bias"
SOURCE_TABLE = "model.encoder.embed_tokens.weight"
TARGET_TABLE = "model.decoder.embed_tokens.weight"
SHARED_TABLE = "model.shared.weight"
PROJECTION = "lm_head.weight"


def marian_block_names(config: TransformerConfig) -> dict[str, str]:
    """Map the name of every weight inside the two stacks to Marian's."""
    names = {}
    for stack, num_layers in (
        ("encoder", config.num_encoder_layers),
        ("decoder", config.num_decoder_layers),
    ):
        for layer in range(num_layers):
            for ours, theirs in _names_in_block(crosses=stack == "decoder").items():
                names[f"{stack}.blocks.{layer}.{ours}"] = f"model.{stack}.layers.{layer}.{theirs}"
    return names


def marian_table_names(config: TransformerConfig) -> dict[str, tuple[str, ...]]:
    """Map each of our three tables to the names that Marian files may give it.

    Tied tables are one tensor. A file holds it once or several times, under any of its names.
    """
    source: tuple[str, ...] = (SOURCE_TABLE,)
    target: tuple[str, ...] = (TARGET_TABLE,)
    projection: tuple[str, ...] = (PROJECTION,)
    if config.tied_embeddings == "all":
        source = target = projection = (SHARED_TABLE, SOURCE_TABLE, TARGET_TABLE, PROJECTION)
    elif config.tied_embeddings == "target":
        target = projection = (TARGET_TABLE, PROJECTION)
    return {
        "source_embeddings.table.weight": source,
        "target_embeddings.table.weight": target,
        "projection.linear.weight": projection,
    }


def _names_in_block(*, crosses: bool) -> dict[str, str]:
    """Pair the names inside one block, with or without those of cross-attention."""
    linears = FEED_FORWARD | {
        f"{ours}.{our_matrix}": f"{theirs}.{their_matrix}"
        for ours, theirs in ATTENTIONS.items()
        for our_matrix, their_matrix in ATTENTION.items()
    }
    names = {
        f"{ours}.{kind}": f"{theirs}.{kind}"
        for ours, theirs in linears.items()
        for kind in ("weight", "bias")
    }
    names |= {
        f"{ours}.{our_kind}": f"{theirs}.{their_kind}"
        for ours, theirs in NORMS.items()
        for our_kind, their_kind in NORM_PARAMETERS.items()
    }
    return {ours: name for ours, name in names.items() if crosses or "cross_attention" not in ours}
