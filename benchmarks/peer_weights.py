"""Our weights under the names that other toolkits give them."""

from torch import Tensor, nn

from dragoman.interop.weight_names import marian_block_names, marian_table_names
from dragoman.model.transformer import Transformer

_JOEYNMT_NAMES = {
    "encoder": {
        ".around_self_attention.norm.": ".layer_norm.",
        ".self_attention.": ".src_src_att.",
    },
    "decoder": {
        ".around_self_attention.norm.": ".x_layer_norm.",
        ".around_cross_attention.norm.": ".dec_layer_norm.",
        ".self_attention.": ".trg_trg_att.",
        ".cross_attention.": ".src_trg_att.",
    },
    "both": {
        "coder.norm.": "coder.layer_norm.",
        ".blocks.": ".layers.",
        ".around_feed_forward.norm.": ".feed_forward.layer_norm.",
        ".widen.": ".pwff_layer.0.",
        ".narrow.": ".pwff_layer.3.",
        ".query_projection.": ".q_layer.",
        ".key_projection.": ".k_layer.",
        ".value_projection.": ".v_layer.",
        ".output_projection.": ".output_layer.",
        ".gain": ".weight",
    },
}
"""Parts of our names for weights inside the two stacks, and of JoeyNMT's."""


def for_m2m100(transformer: Transformer) -> dict[str, Tensor]:
    """Name them as M2M100 does: like Marian's, but Marian has no norm at the end of a stack."""
    weights = transformer.state_dict()
    named = {
        theirs: weights[ours] for ours, theirs in marian_block_names(transformer.config).items()
    }
    for ours, names in marian_table_names(transformer.config).items():
        named |= dict.fromkeys(names, weights[ours])
    for stack in ("encoder", "decoder"):
        for ours, theirs in (("gain", "weight"), ("bias", "bias")):
            named[f"model.{stack}.layer_norm.{theirs}"] = weights[f"{stack}.norm.{ours}"]
    return named


def for_joeynmt(transformer: Transformer, tokens: Tensor) -> dict[str, Tensor]:
    """Name them as JoeyNMT does, and order the tokens as it does: `tokens` has our id for each."""
    table = transformer.target_embeddings.table.weight.detach()[tokens]
    tables = ("src_embed.lut.weight", "trg_embed.lut.weight", "decoder.output_layer.weight")
    return dict.fromkeys(tables, table) | {
        _in_joeynmt(name): weight
        for name, weight in transformer.state_dict().items()
        if name.startswith(("encoder.", "decoder."))
    }


def set_epsilon(model: nn.Module, epsilon: float) -> None:
    """Give every layer norm our epsilon; the toolkits hard-code theirs."""
    for module in model.modules():
        if isinstance(module, nn.LayerNorm):
            module.eps = epsilon


def _in_joeynmt(name: str) -> str:
    stack = name.partition(".")[0]
    for ours, theirs in {**_JOEYNMT_NAMES[stack], **_JOEYNMT_NAMES["both"]}.items():
        name = name.replace(ours, theirs)
    return name
