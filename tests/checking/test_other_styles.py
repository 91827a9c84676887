"""Right code of other styles is not blamed, and one mistake is not told as many."""

import pytest
import torch
from tests.checking.mutations.mutation import exchanged, source_of

from dragoman.checking.cells import Cell
from dragoman.checking.examiner import Examiner, Wishes
from dragoman.checking.report import PartReport

HEAD = """
import math
import torch
from torch import nn
"""

FEED_FORWARD = """
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w1 = nn.Linear(d_model, d_ff{0})
        self.w2 = nn.Linear(d_ff, d_model{0})
    def forward(self, x):
        return self.w2(torch.relu(self.w1(x)))
"""

POSITIONS = """
class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=500):
        super().__init__()
        position = torch.arange(max_len)[:, None]
        term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        table = torch.zeros(max_len, d_model)
        table[:, 0::2], table[:, 1::2] = torch.sin(position * term), torch.cos(position * term)
        self.register_buffer("table", table)
    def forward(self, x):
        return {}
"""

ENCODER_BLOCK = """
class EncoderBlock(nn.Module):
    def __init__(self, d_model, nhead, d_ff, dropout=0.1):
        super().__init__()
        self.attention = nn.MultiheadAttention(d_model, nhead, dropout=dropout, batch_first=True)
        self.w1, self.w2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
    def forward(self, src, src_mask=None):
        seen = self.attention(src, src, src, attn_mask=src_mask)[0]
        x = self.norm1(src + self.dropout(seen))
        return self.norm2(x + self.dropout(self.w2(torch.relu(self.w1(x)))))
"""

ATTENTION = """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.h, self.d_k = heads, d_model // heads
        self.q, self.k, self.v, self.o = (nn.Linear(d_model, d_model) for _ in range(4))
    def forward(self, query, key, value, mask=None):
        q, k, v = (
            layer(x).unflatten(-1, (self.h, self.d_k)).transpose(1, 2)
            for layer, x in ((self.q, query), (self.k, key), (self.v, value))
        )
        scores = q @ k.transpose(-1, -2) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        return self.o((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
"""

DECODER_BLOCK = """
class DecoderBlock(nn.Module):
    def __init__(self, d_model, heads, d_ff):
        super().__init__()
        self.attention = MultiHeadAttention(d_model, heads)
        self.cross_attention = MultiHeadAttention(d_model, heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norms = nn.ModuleList(nn.LayerNorm(d_model) for _ in range(3))
    def forward(self, x, memory, {0}, {1}):
        x = self.norms[0](x + self.attention(x, x, x, {2}))
        x = self.norms[1](x + self.cross_attention(x, memory, memory, {3}))
        return self.norms[2](x + self.feed_forward(x))
"""


def decoder_block(target_mask: str, source_mask: str, optional: str = "") -> PartReport:
    """Examine a right decoder block whose masks have these names."""
    names = (f"{target_mask}{optional}", f"{source_mask}{optional}", target_mask, source_mask)
    source = HEAD + ATTENTION + FEED_FORWARD.format("") + DECODER_BLOCK.format(*names)
    return report(source, "DecoderBlock")[1]


def report(source: str, part: str) -> tuple[PartReport, PartReport]:
    """Examine one part; return what concerns the file, and what concerns the part."""
    parts = Examiner([Cell(source=source)], Wishes()).report("learner.py", (part,)).parts
    return parts[0], parts[1]


def mistakes(*parts: PartReport) -> list[str]:
    return [finding.name for part in parts for finding in part.mistakes]


def notes(part: PartReport) -> list[str]:
    return [finding.name for finding in part.notes]


def test_a_relu_without_biases_is_a_relu() -> None:
    part = report(HEAD + FEED_FORWARD.format(", bias=False"), "FeedForward")[1]

    assert mistakes(part) == []
    assert "feed-forward-activation" in part.passed


@pytest.mark.parametrize(
    "returned", ["{'loss': None, 'logits': y}", "(None, y)", "(y.mean(), y)", "[[y, None], x]"]
)
def test_an_output_may_come_by_name_or_behind_a_loss(returned: str) -> None:
    ends = f"y = self.w2(torch.relu(self.w1(x)))\n        return {returned}"
    source = FEED_FORWARD.format("").replace("return self.w2(torch.relu(self.w1(x)))", ends)

    part = report(HEAD + source, "FeedForward")[1]

    assert mistakes(part) == []
    assert "feed-forward-activation" in part.passed


def test_a_stack_that_reads_words_is_not_told_that_it_does_not_run() -> None:
    encoder = """
class Encoder(nn.Module):
    def __init__(self, input_dim, d_model):
        super().__init__()
        self.embedding, self.out = nn.Embedding(input_dim, d_model), nn.Linear(d_model, d_model)
    def forward(self, src, src_mask):
        batch, length = src.shape
        return self.out(self.embedding(src))
"""
    part = report(HEAD + encoder, "Encoder")[1]

    assert mistakes(part) == []
    assert part.not_checked[0].startswith("it takes words, not vectors")


def test_positions_of_a_length_first_program_are_no_mistake() -> None:
    positions = POSITIONS.format("x + self.table[: x.size(0), None]")
    attention = """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
    def forward(self, q, k, v, mask=None):
        return q
"""
    alone = report(HEAD + positions, "PositionalEncoding")[1]
    beside_batch_first = report(HEAD + positions + attention, "PositionalEncoding")[1]

    assert "positions-formula" not in mistakes(alone)
    assert any("it counts positions along the first dimension" in why for why in alone.not_checked)
    assert "positions-formula" in mistakes(beside_batch_first)


def test_positions_that_somebody_else_adds_are_a_note() -> None:
    part = report(HEAD + POSITIONS.format("self.table[: x.size(1)]"), "PositionalEncoding")[1]

    assert mistakes(part) == []
    assert "positions-alone" in notes(part)
    assert "positions-formula" in part.passed


def test_a_block_of_pytorch_s_attention_runs() -> None:
    part = report(HEAD + ENCODER_BLOCK, "EncoderBlock")[1]

    assert mistakes(part) == []
    assert "evaluation-is-random" in part.passed


def test_weights_may_begin_with_nothing() -> None:
    small = "        for p in self.parameters():\n            nn.init.zeros_(p)\n    def forward"
    attention = ATTENTION.replace("    def forward", small)
    feed_forward = FEED_FORWARD.format(", bias=False").replace("    def forward", small)
    block = DECODER_BLOCK.format("mask", "src_mask", "mask", "src_mask")
    program = HEAD + attention + feed_forward + block

    for part in ("MultiHeadAttention", "FeedForward", "DecoderBlock"):
        assert mistakes(*report(program, part)) == [], part


@pytest.mark.parametrize("std", [0.02, 0.005])
def test_a_model_may_begin_with_weights_that_are_for_larger_widths(std: float) -> None:
    """BART and Marian begin with 0.02, at 1,024 and 512."""
    start = f"""
        for layer in self.modules():
            if isinstance(layer, nn.Linear | nn.Embedding):
                nn.init.normal_(layer.weight, std={std})"""
    end = "self.fc_out = nn.Linear(emb_dim, trg_vocab_size)"
    small = source_of("sized", (end, f"{end}{start}"))

    assert mistakes(report(small, "Transformer")[1]) == []


@pytest.mark.parametrize("start", ["0.0", "0.002"])
def test_learned_positions_may_begin_with_next_to_nothing(start: str) -> None:
    """GPT-2 and vision transformers begin with 0.02 or 0, where words may begin with 1."""
    table = 'self.register_buffer("table", torch.cat([angles.sin(), angles.cos()], dim=1))'
    learned = f"self.table = nn.Parameter({start} * torch.randn(max_len, emb_dim))"
    of_words = ("self.table.weight.data.normal_(std=emb_dim**-0.5)", "pass")
    source = source_of("sized", (table, learned), of_words)

    positions = report(source, "PositionalEncoding")[1]

    assert mistakes(positions, report(source, "Transformer")[1]) == []
    assert "positions-learned" in notes(positions)


@pytest.mark.parametrize("hidden", ["-9", "-10"])
def test_a_mask_that_leaves_a_little_weight_is_told(hidden: str) -> None:
    part = report(HEAD + ATTENTION.replace("-1e9", hidden), "MultiHeadAttention")[1]

    (finding,) = part.mistakes
    assert finding.name == "attention-mask"
    assert "hidden scores are not low enough" in str(finding)


def test_annotations_may_be_of_later_names() -> None:
    source = "from __future__ import annotations\n" + HEAD + FEED_FORWARD.format("")
    source = source.replace("def forward(self, x):", "def forward(self, x: Unknown) -> Later:")

    assert mistakes(*report(source, "FeedForward")) == []


def test_a_package_that_is_not_here_is_no_mistake() -> None:
    source = "import a_package_of_elsewhere\n" + HEAD + FEED_FORWARD.format("")
    of_file, part = report(source, "FeedForward")

    assert mistakes(of_file, part) == []
    assert "imports a_package_of_elsewhere, which is not installed here" in of_file.not_checked[0]


def test_a_class_of_a_package_that_is_not_here_is_no_mistake() -> None:
    lit = "class Lit(elsewhere.Module):\n    pass\nclass More(Lit):\n    pass\n"
    source = "import elsewhere\n" + HEAD + lit + FEED_FORWARD.format("")
    of_file, part = report(source, "FeedForward")

    assert mistakes(of_file, part) == []
    assert len(of_file.not_checked) == 1 + 2  # the import and both classes


def test_a_part_whose_sizes_are_in_the_code_is_not_told_that_it_does_not_run() -> None:
    source = FEED_FORWARD.format("").replace("(self, d_model, d_ff)", "(self, d_model=32)")
    source = source.replace("d_model", "32").replace(", 32=32", "").replace("d_ff", "64")
    of_file, part = report(HEAD + source, "FeedForward")

    assert mistakes(of_file, part) == []
    assert part.not_checked[0].startswith("its constructor has no argument for its sizes")


@pytest.mark.parametrize("sizes", ["d_model, d_ff = 32, 64", "d_model = 32\nd_ff = len(no_text)"])
def test_sizes_that_are_global_are_those_of_the_check(sizes: str) -> None:
    """Also one that the program could not compute, as a vocabulary of a text that is not here."""
    source = FEED_FORWARD.format("").replace("(self, d_model, d_ff)", "(self)")
    of_file, part = report(f"{HEAD}{sizes}\n{source}", "FeedForward")

    assert mistakes(of_file, part) == []
    assert "feed-forward-activation" in part.passed


def test_a_global_in_the_place_of_a_size_that_was_told_is_still_a_mistake() -> None:
    source = FEED_FORWARD.format("").replace("(self, d_model, d_ff)", "(self, emb_dim, d_ff)")
    part = report(HEAD + "d_model = 32\n" + source, "FeedForward")[1]

    assert "width-ignored" in mistakes(part)


def test_a_block_is_not_blamed_for_masks_that_its_attention_does_not_obey() -> None:
    attention = ATTENTION.replace("mask == 0", "~mask")  # takes bool only
    attention = attention.replace("scores.softmax(-1)", "scores.softmax(-2)")
    block = DECODER_BLOCK.format("tgt_mask", "src_mask", "tgt_mask", "src_mask")
    part = report(HEAD + attention + FEED_FORWARD.format("") + block, "DecoderBlock")[1]

    assert mistakes(part) == []
    assert "masks: MultiHeadAttention has to obey them first" in part.not_checked


@pytest.mark.parametrize(
    "shared",
    [
        "self.trg_embedding = self.src_embedding; assert src_vocab_size == trg_vocab_size",
        "self.trg_embedding.table.weight = self.src_embedding.table.weight",
        "self.src_embedding.table.weight = self.trg_embedding.table.weight",
    ],
)
def test_source_and_target_may_share_a_vocabulary(shared: str) -> None:
    end = "self.positions = PositionalEncoder(emb_dim)"
    part = report(source_of("sized", (end, f"{shared}; {end}")), "Transformer")[1]

    assert mistakes(part) == []
    assert "source-is-read" in part.passed


def test_an_id_without_a_row_is_told_in_words() -> None:
    embeddings = """
class InputEmbeddings(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.table = nn.Embedding(vocab_size // 2, d_model)
    def forward(self, words):
        return self.table(words)
"""
    part = report(HEAD + embeddings, "InputEmbeddings")[1]

    (mistake,) = part.mistakes
    assert mistake.measured.startswith("line 11: IndexError: index out of range in self")
    assert "an nn.Embedding has no row for an id" in mistake.measured


def test_a_table_without_cosines_is_said_to_have_none() -> None:
    positions = POSITIONS.format("x + self.table[: x.size(1)]").replace("torch.cos", "torch.sin")
    part = report(HEAD + positions, "PositionalEncoding")[1]

    (mistake,) = part.mistakes
    assert mistake.measured.startswith("there are sines only, and no cosines")


@pytest.mark.parametrize(
    ("before", "old", "new", "told"),
    [
        (
            "",
            "def forward(self, x):",
            "def forward(self, x)",
            "line 11: is not Python (expected ':')",
        ),
        ("x = 1\n    y = 2\n    z = 3\n    if z:\n        y = 3\n", "", "", "unexpected indent"),
        ("def later():\n\nx = 1\n", "", "", "expected an indented block after function"),
        ("", "        return", "\treturn", "inconsistent use of tabs and spaces"),
    ],
)
def test_what_is_not_python_is_one_mistake_and_the_rest_is_examined(
    before: str, old: str, new: str, told: str
) -> None:
    of_file, part = report(HEAD + before + FEED_FORWARD.format("").replace(old, new), "FeedForward")

    (mistake,) = of_file.mistakes
    assert told in mistake.measured
    assert "feed-forward-activation" in part.passed


def test_of_an_output_that_is_random_nothing_else_is_said() -> None:
    block = ENCODER_BLOCK.replace("self.norm2(x +", "self.norm2(nn.functional.dropout(x, 0.3) +")
    part = report(HEAD + block, "EncoderBlock")[1]

    assert mistakes(part) == ["evaluation-is-random"]
    assert "what its output depends on, because the output is random" in part.not_checked


def test_a_norm_over_the_words_is_not_said_to_divide_by_nan() -> None:
    norm = """
class LayerNormalization(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.a, self.b = nn.Parameter(torch.ones(features)), nn.Parameter(torch.zeros(features))
    def forward(self, x):
        return self.a * (x - x.mean(1, keepdim=True)) / (x.std(1, keepdim=True) + 1e-6) + self.b
"""
    part = report(HEAD + norm, "LayerNormalization")[1]

    assert mistakes(part) == ["norm-formula"]
    assert "norm-epsilon" not in notes(part)


def test_a_part_that_runs_once_only_does_not_end_the_examination() -> None:
    once = FEED_FORWARD.format("").replace("        return", "        self.count()\n        return")
    once += "    calls = 0\n    def count(self):\n        FeedForward.calls += 1\n"
    once += "        if FeedForward.calls > 1:\n            raise OSError('only once')\n"
    part = report(HEAD + once, "FeedForward")[1]

    assert any("only once" in why for why in part.not_checked)


@pytest.mark.parametrize(
    ("target_mask", "source_mask"),
    [
        ("mask", "context_mask"),
        ("tgt_attn_mask", "src_attn_mask"),
        ("slf_attn_mask", "dec_enc_attn_mask"),
        ("causal_mask", "pad_mask"),
        ("future_mask", "enc_dec_attn_mask"),
        ("combined_mask", "mask_src"),
        ("dec_self_attn_mask", "cross_attn_mask"),
    ],
)
def test_the_masks_of_a_decoder_may_have_many_names(target_mask: str, source_mask: str) -> None:
    part = decoder_block(target_mask, source_mask, "=None")

    assert mistakes(part) == []
    assert {"future-is-invisible", "padding-is-invisible"} <= set(part.passed)


def test_the_decoder_block_of_a_model_of_one_sequence_is_not_blamed_for_reading_no_source() -> None:
    block = DECODER_BLOCK.format("tgt_mask=None", "pad_mask=None", "tgt_mask", "")
    cross = "        x = self.norms[1](x + self.cross_attention(x, memory, memory, ))\n"
    assert cross in block
    block = block.replace(cross, "").replace("memory, ", "").replace("range(3)", "range(2)")
    block = block.replace("norms[2]", "norms[1]")
    block = block.replace("        self.cross_attention = MultiHeadAttention(d_model, heads)\n", "")
    program = HEAD + ATTENTION + FEED_FORWARD.format("") + block

    right = report(program, "DecoderBlock")[1]
    unmasked = report(program.replace("x, x, x, tgt_mask", "x, x, x"), "DecoderBlock")[1]

    assert mistakes(right) == []
    assert {"past-is-visible", "future-is-invisible", "residual-input"} <= {*right.passed}
    assert not {"source-is-read", "cross-attention-roles", "padding-is-invisible"} & {*right.passed}
    assert mistakes(unmasked) == ["future-is-invisible"]


@pytest.mark.parametrize(
    ("target_mask", "source_mask", "optional", "why"),
    [
        *(
            (
                "first_mask",
                "second_mask",
                optional,
                "what `first_mask` of its forward stands for is not known",
            )
            for optional in ("", "=None")
        ),
        ("memory_mask", "src_mask", "", "`memory_mask` and `src_mask` look like the same thing"),
    ],
)
def test_a_block_is_not_blamed_for_a_mask_whose_name_leaves_a_doubt(
    target_mask: str, source_mask: str, optional: str, why: str
) -> None:
    part = decoder_block(target_mask, source_mask, optional)

    assert mistakes(part) == []
    assert part.not_checked == (why,)


def test_a_pad_mask_is_given_to_an_encoder() -> None:
    block = ENCODER_BLOCK.replace("nn.MultiheadAttention", "MultiHeadAttention")
    block = block.replace(", dropout=dropout, batch_first=True", "")
    block = block.replace("attn_mask=src_mask)[0]", "pad_mask)").replace("src_mask", "pad_mask")
    part = report(HEAD + ATTENTION + block, "EncoderBlock")[1]

    assert mistakes(part) == []
    assert "padding-is-invisible" in part.passed


WRAPPER = """
class Transformer(nn.Module):
    def __init__(self, vocab_size, d_model, nhead, num_layers, d_ff):
        super().__init__()
        self.embed, self.positions = nn.Embedding(vocab_size, d_model), nn.Embedding(50, d_model)
        self.transformer = nn.Transformer(
            d_model, nhead, num_layers, num_layers, d_ff, dropout=0.0, batch_first=True
        )
        self.out = nn.Linear(d_model, vocab_size)
    def look_up(self, words):
        return self.embed(words) + self.positions(torch.arange(words.size(1)))
    def forward(self, src, tgt, tgt_mask{0}, src_padding_mask=None):
        {1}
        return self.out(self.transformer(
            self.look_up(src), self.look_up(tgt), tgt_mask={2}, src_is_causal=False,
            src_key_padding_mask=src_padding_mask, memory_key_padding_mask=src_padding_mask
        ))
"""
NESTED = pytest.mark.filterwarnings("ignore:enable_nested_tensor")  # 3 heads, which are odd
MAKES_ITS_OWN = """if tgt_mask is None:
            tgt_mask = nn.Transformer.generate_square_subsequent_mask(tgt.size(1))
"""


@NESTED
@pytest.mark.parametrize(("optional", "makes"), [("=None", MAKES_ITS_OWN), ("=None", ""), ("", "")])
def test_a_model_of_pytorch_s_transformer_gets_the_masks_that_it_takes(
    optional: str, makes: str
) -> None:
    part = report(HEAD + WRAPPER.format(optional, makes, "tgt_mask"), "Transformer")[1]

    assert mistakes(part) == []
    assert "future-is-invisible" in part.passed
    assert any(why.startswith("what it does with padding") for why in part.not_checked)


@NESTED
def test_a_model_that_drops_its_mask_is_told_that_it_sees_the_future() -> None:
    part = report(HEAD + WRAPPER.format("=None", "", "None"), "Transformer")[1]

    assert mistakes(part) == ["future-is-invisible"]


@NESTED
def test_a_model_that_stops_whatever_mask_it_gets_does_not_run() -> None:
    source = HEAD + WRAPPER.format("=None", "tgt = tgt.view(1, 2, 3)", "tgt_mask")

    assert mistakes(report(source, "Transformer")[1]) == ["does-not-run"]


def test_a_decoder_block_of_pytorch_s_attention_runs() -> None:
    block = DECODER_BLOCK.format("tgt_mask=None", "unused=None", "tgt_mask", "None")
    block = block.replace("MultiHeadAttention(d_model, heads)", "Attention(d_model, heads)")
    attention = """
class Attention(nn.MultiheadAttention):
    def __init__(self, d_model, heads):
        super().__init__(d_model, heads, batch_first=True)
    def forward(self, query, key, value, mask):
        return super().forward(query, key, value, attn_mask=mask)[0]
"""
    part = report(HEAD + attention + FEED_FORWARD.format("") + block, "DecoderBlock")[1]
    leaking = block.replace("x, x, x, tgt_mask", "x, x, x, None")
    other = report(HEAD + attention + FEED_FORWARD.format("") + leaking, "DecoderBlock")[1]

    assert mistakes(part) == []
    assert "future-is-invisible" in part.passed
    assert mistakes(other) == ["future-is-invisible"]


def test_inside_a_block_the_input_s_width_is_no_vocabulary() -> None:
    named = FEED_FORWARD.replace("d_model", "input_dim").replace("d_ff", "hidden_dim").format("")

    for source, name in ((named, "FeedForward"), (ENCODER_BLOCK, "EncoderBlock")):
        part = report(HEAD + source.replace("d_model", "input_dim"), name)[1]

        assert mistakes(part) == []
        assert "weights-without-gradient" in part.passed


def test_a_width_is_not_taken_for_a_module() -> None:
    part = report(HEAD + ENCODER_BLOCK.replace("d_ff", "d_feedforward"), "EncoderBlock")[1]

    assert mistakes(part) == []
    assert part.passed


def test_a_network_may_call_its_width_ff_and_itself_ff() -> None:
    named = FEED_FORWARD.replace("FeedForward", "FF").replace("d_ff", "ff").format("")
    part = report(HEAD + named, "FeedForward")[1]

    assert part.found_as == "FF"
    assert mistakes(part) == []
    assert part.not_checked == ()


@pytest.mark.parametrize(
    ("part", "name"),
    [
        ("PositionalEncoding", "PosEnc"),
        ("PositionalEncoding", "Positions"),
        ("PositionalEncoding", "Sinusoid"),
        ("EncoderBlock", "EncLayer"),
        ("DecoderBlock", "DecLayer"),
        ("InputEmbeddings", "TokEmb"),
        ("DecoderBlock", "TransformerDecoderBlock"),
        ("Transformer", "Translator"),
        ("Transformer", "GPTLanguageModel"),
        ("EncoderBlock", "Block"),
        ("FeedForward", "FeedFoward"),
        ("LayerNormalization", "RMSNorm"),
    ],
)
def test_parts_are_found_by_their_short_names(part: str, name: str) -> None:
    found = report(HEAD + f"class {name}(nn.Module): pass", part)[1]

    assert found.found_as == name


def test_a_name_that_also_other_things_have_gives_way_to_a_part_s_own() -> None:
    both = "class EncoderLayer(nn.Module):\n    pass\nclass Block(nn.Module):\n    pass\n"

    assert report(HEAD + both, "EncoderBlock")[1].found_as == "EncoderLayer"


def test_a_softmax_over_positions_is_not_told_as_a_mask_that_is_missing() -> None:
    over_positions = source_of(
        "sized",
        ("return self.fc_out(x)", "return self.fc_out(x).softmax(dim=1)"),
    )
    part = report(over_positions, "Transformer")[1]

    assert mistakes(part) == ["projection-softmax-dimension"]


def test_a_model_whose_masks_its_attention_reads_the_other_way_is_told_how_it_reads_them() -> None:
    inverted = source_of(
        "sized",
        ("scores.masked_fill(attn_mask", "scores.masked_fill(~attn_mask"),
    )
    part = report(inverted, "Transformer")[1]
    measured = {finding.name: finding.measured for finding in part.mistakes}

    for name in ("future-is-invisible", "padding-is-invisible"):
        assert measured[name].endswith("MultiHeadAttention sees what a mask marks with 1 or True")


def test_positions_that_are_filled_one_by_one_are_told_of_an_odd_width() -> None:
    one_by_one = POSITIONS.replace(
        "table[:, 0::2], table[:, 1::2] = torch.sin(position * term), torch.cos(position * term)",
        "for pos in range(max_len):\n"
        "            for i in range(0, d_model, 2):\n"
        "                angle = pos / 10000 ** (i / d_model)\n"
        "                table[pos, i], table[pos, i + 1] = math.sin(angle), math.cos(angle)",
    )
    part = report(HEAD + one_by_one.format("x + self.table[: x.size(1)]"), "PositionalEncoding")[1]

    assert mistakes(part) == []
    assert "positions-odd-width" in notes(part)
    assert part.not_checked == ()


def test_classes_that_are_no_part_by_their_names_are_listed() -> None:
    network = FEED_FORWARD.format("")
    source = HEAD + network + network.replace("FeedForward", "Think")
    whole = Examiner([Cell(source=source)], Wishes()).report("learner.py")

    assert whole.unknown == ("Think",)


CONFIGURED = """
from dataclasses import dataclass

@dataclass
class Settings:
    d_model: int = 64
    d_ff: int = 256
    num_layers: int = 3

class FeedForward(nn.Module):
    def __init__(self, config{}):
        super().__init__()
        self.w1 = nn.Linear(config.d_model, config.d_ff)
        self.w2 = nn.Linear(config.d_ff, config.d_model)
    def forward(self, x):
        return self.w2(torch.relu(self.w1(x)))
"""


@pytest.mark.parametrize("annotation", ["", ": Settings", ": 'Settings'"])
def test_a_configuration_is_built_from_the_program_s_dataclass(annotation: str) -> None:
    part = report(HEAD + CONFIGURED.format(annotation), "FeedForward")[1]

    assert mistakes(part) == []
    assert "feed-forward-activation" in part.passed


SETTINGS = CONFIGURED[CONFIGURED.index("@dataclass") : CONFIGURED.index("class FeedForward")]


@pytest.mark.parametrize(
    "holder",
    [
        SETTINGS.replace("@dataclass\n", "").replace("Settings:", "Settings(NamedTuple):"),
        SETTINGS.replace("@dataclass\n", ""),
        "class Settings:\n    def __init__(self, d_model=64, d_ff=256):\n"
        "        self.d_model, self.d_ff = d_model, d_ff\n",
        "class Settings:\n    def __init__(self):\n        self.d_model, self.d_ff = 64, 256\n",
        "settings = SimpleNamespace(d_model=64, d_ff=256)\n",
        "parser = argparse.ArgumentParser()\nparser.add_argument('--d_model', default=64)\n"
        "parser.add_argument('--d_ff', default=256)\nsettings = parser.parse_args([])\n",
        "SETTINGS = {'d_model': 64, 'd_ff': 256, 'lr': 0.1, '--path': None}\n"
        "words = dict.fromkeys(['d_model', 'heads', 'depth', *map(chr, range(200))], 0)\n",
    ],
    ids=[
        "named tuple",
        "class",
        "made with",
        "made without",
        "namespace",
        "argparse",
        "dictionary",
    ],
)
def test_settings_may_be_held_by_what_is_no_dataclass(holder: str) -> None:
    imports = "import argparse\nfrom types import SimpleNamespace\nfrom typing import NamedTuple\n"
    source = HEAD + imports + CONFIGURED.format("").replace(SETTINGS, holder)
    if "{'d_model'" in holder:
        source = source.replace("config.d_model", "config['d_model']")
        source = source.replace("config.d_ff", "config['d_ff']")
    right = report(source, "FeedForward")[1]
    wrong = report(source.replace("torch.relu(self.w1(x))", "self.w1(x)"), "FeedForward")[1]

    assert mistakes(right) == []
    assert {"feed-forward-activation", "feed-forward-positions"} <= {*right.passed}
    assert mistakes(wrong) == ["feed-forward-activation"]


def test_of_two_configurations_with_as_many_sizes_none_is_guessed() -> None:
    other = (
        "@dataclass\nclass Other:\n    {}: int = 2\n    vocab_size: int = 9\n    heads: int = 3\n"
    )
    source = HEAD + CONFIGURED.format("")
    exits = "class Arguments:\n    def __init__(self):\n        raise SystemExit(2)\n"
    of_training = report(source + other.format("batch_size") + exits, "FeedForward")[1]
    part = report(source + other.format("d_model"), "FeedForward")[1]

    assert "feed-forward-activation" in of_training.passed
    assert mistakes(part) == []
    assert part.not_checked[0].startswith("its argument `config` is a configuration")


def test_a_stack_may_hand_on_the_arguments_of_its_blocks() -> None:
    stack = """
class Encoder(nn.Module):
    def __init__(self, num_layers, **block):
        super().__init__()
        self.layers = nn.ModuleList(EncoderBlock(**block) for _ in range(num_layers))
    def forward(self, x, mask=None):
        for layer in self.layers:
            x = layer(x, mask)
        return x
"""
    part = report(HEAD + ENCODER_BLOCK + stack, "Encoder")[1]

    assert mistakes(part) == []
    assert {"padding-is-invisible", "any-argument"} <= {*part.passed}


GENERAL_BLOCK = """
class TransformerBlock(nn.Module):
    def __init__(self, d_model, heads, d_ff):
        super().__init__()
        self.attention = MultiHeadAttention(d_model, heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
    def forward(self, value, key, query, mask):
        x = self.norm1(query + self.attention(query, key, value, mask))
        return self.norm2(x + self.feed_forward(x))
class DecoderBlock(nn.Module):
    def __init__(self, d_model, heads, d_ff):
        super().__init__()
        self.attention, self.norm = MultiHeadAttention(d_model, heads), nn.LayerNorm(d_model)
        self.block = TransformerBlock(d_model, heads, d_ff)
    def forward(self, x, value, key, src_mask, trg_mask):
        return self.block(value, key, self.norm(x + self.attention(x, x, x, trg_mask)), src_mask)
"""


@pytest.mark.parametrize("part", ["EncoderBlock", "DecoderBlock"])
def test_blocks_may_take_queries_keys_and_values(part: str) -> None:
    source = HEAD + ATTENTION + FEED_FORWARD.format("") + GENERAL_BLOCK
    right = report(source, part)[1]
    wrong = report(source.replace("norm2(x + ", "norm2("), part)[1]

    assert mistakes(right) == []
    assert {"padding-is-invisible", "residual-input"} <= set(right.passed)
    assert mistakes(wrong) == ["residual-input"]


@pytest.mark.parametrize(("base", "expected"), [("10000.0", []), ("50.0", ["positions-formula"])])
@pytest.mark.parametrize(
    "forward",
    ["(self, x):\n        batch, length = x.size()", "(self, length):"],
    ids=["words", "n"],
)
def test_positions_of_words_or_of_a_length_are_compared(
    forward: str, base: str, expected: list[str]
) -> None:
    positions = POSITIONS.replace("10000.0", base).format("self.table[:length]")
    part = report(HEAD + positions.replace("(self, x):", forward), "PositionalEncoding")[1]

    assert mistakes(part) == expected
    assert "positions-alone" in notes(part)


def test_a_rate_that_is_written_in_the_code_is_found_beside_an_argument() -> None:
    block = ENCODER_BLOCK.replace("nn.Dropout(dropout)", "nn.Dropout(0.1)")
    half = report(HEAD + block, "EncoderBlock")[1]
    whole = report(HEAD + block.replace("dropout=dropout", "dropout=0.1"), "EncoderBlock")[1]

    assert mistakes(half) == []
    assert mistakes(whole) == ["dropout-ignored"]


def test_of_two_states_none_is_guessed() -> None:
    block = DECODER_BLOCK.format("tgt_mask", "src_mask", "tgt_mask", "src_mask")
    block = block.replace("x, memory, tgt", "y, x, tgt")
    part = report(HEAD + ATTENTION + FEED_FORWARD.format("") + block, "DecoderBlock")[1]

    assert part.not_checked == ("`y` and `x` look like the same thing",)


LENGTH_FIRST_ATTENTION = f"""
{ATTENTION.replace("class MultiHeadAttention", "class BatchFirst")}
class MultiHeadAttention(BatchFirst):
    def forward(self, query, key, value, mask=None):
        query, key, value = (x.transpose(0, 1) for x in (query, key, value))
        return super().forward(query, key, value, mask).transpose(0, 1)
"""


@NESTED
def test_what_reads_the_length_first_is_left_alone() -> None:
    file, attention = report(HEAD + LENGTH_FIRST_ATTENTION, "MultiHeadAttention")
    assert not mistakes(file, attention)
    assert "(length, batch, d_model)" in attention.not_checked[0]

    block = ENCODER_BLOCK.replace(", batch_first=True", "")
    file, encoder = report(HEAD + block, "EncoderBlock")
    assert not mistakes(file, encoder)
    assert "(length, batch, d_model)" in encoder.not_checked[0]

    model = WRAPPER.format("", "", "tgt_mask").replace(", batch_first=True", "")
    file, whole = report(HEAD + LENGTH_FIRST_ATTENTION + model, "Transformer")
    assert not mistakes(file, whole)
    assert "(length, batch, d_model)" in whole.not_checked[0]


_CUT = "layer(x).unflatten(-1, (self.h, self.d_k))"


@pytest.mark.parametrize(
    ("exchanges", "expected"),
    [
        ({"softmax(-1)": "softmax(1)"}, "attention-softmax"),
        (
            {
                "range(4))\n": "range(4))\n        self.q, self.k, self.v = (\n"
                "            nn.Linear(self.d_k, self.d_k) for _ in range(3)\n        )\n",
                _CUT: "layer(x.unflatten(-1, (self.h, self.d_k)))",
            },
            "attention-projections",
        ),
        (  # heads are cut along the batch, where the length might come first
            {f"{_CUT}.transpose(1, 2)": "layer(x).view(-1, self.h, x.size(1), self.d_k)"},
            "attention-heads",
        ),
    ],
)
def test_one_mistake_in_an_attention_is_told_as_one(
    exchanges: dict[str, str], expected: str
) -> None:
    source = HEAD + exchanged(ATTENTION, *exchanges.items())

    assert mistakes(*report(source, "MultiHeadAttention")) == [expected]


def test_a_mask_may_be_of_keys_alone() -> None:
    attention = ATTENTION.replace("mask == 0", "mask[:, None, None, :] == 0")

    found = report(HEAD + attention, "MultiHeadAttention")[1]

    assert "attention-mask" in found.passed
    assert not found.mistakes


def test_a_model_that_ends_with_the_source_s_vocabulary_is_told_so() -> None:
    model = """
class Transformer(nn.Module):
    def __init__(self, src_vocab_size, tgt_vocab_size, d_model):
        super().__init__()
        self.words = nn.Embedding(tgt_vocab_size, d_model)
        self.out = nn.Linear(d_model, src_vocab_size)
    def forward(self, src, tgt):
        return self.out(self.words(tgt))
"""

    assert "projection-vocabulary" in mistakes(*report(HEAD + model, "Transformer"))


def test_a_norm_before_the_sum_is_not_hidden_by_an_attention_without_biases() -> None:
    block = """
class EncoderBlock(nn.Module):
    def __init__(self, d_model, heads, d_ff):
        super().__init__()
        self.attention = MultiHeadAttention(d_model, heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
    def forward(self, x, mask):
        x = {}
        return self.norm2(x + self.feed_forward(x))
"""
    attention = ATTENTION.replace(
        "nn.Linear(d_model, d_model)", "nn.Linear(d_model, d_model, bias=False)"
    )
    program = HEAD + attention + FEED_FORWARD.format("")

    right, wrong = (
        report(program + block.format(first), "EncoderBlock")[1]
        for first in (
            "self.norm1(x + self.attention(x, x, x, mask))",
            "x + self.norm1(self.attention(x, x, x, mask))",
        )
    )

    assert "residual-input" in right.passed
    assert "residual-input" not in wrong.passed


def test_what_needs_an_import_that_failed_is_not_checked() -> None:
    for line in ("from layers import MultiHeadAttention", "from .layers import MultiHeadAttention"):
        block = DECODER_BLOCK.format("source_mask", "target_mask", "target_mask", "source_mask")
        file, decoder = report(f"{HEAD}{line}\n{FEED_FORWARD.format('')}{block}", "DecoderBlock")

        assert not mistakes(file, decoder)
        assert decoder.not_checked == ("it needs MultiHeadAttention, which is missing here",)


def test_what_needs_the_program_s_data_is_not_checked() -> None:
    data = "text = open('corpus.txt').read()\nwidth = len(text)\n"
    told = FEED_FORWARD.format("").replace("d_ff):", "d_ff=width):")
    file, part = report(HEAD + data + told, "FeedForward")

    assert not mistakes(file, part)
    assert file.not_checked[-1] == "line 9: NameError: name 'width' is not defined"


def test_a_function_in_the_place_of_a_class_is_named() -> None:
    cells = [Cell(source="def positions(x):\n    return x\n")]
    wishes = Wishes(classes={"PositionalEncoding": "positions"})

    part = Examiner(cells, wishes).report("learner.py", ("PositionalEncoding",)).parts[1]

    assert part.not_checked == (
        "positions is no class; this part is examined as one (an nn.Module)",
    )


CAUSAL_ATTENTION = """
class SelfAttention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.h = heads
        self.joint, self.out = nn.Linear(d_model, 3 * d_model), nn.Linear(d_model, d_model)
    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (
            y.view(batch, length, self.h, width // self.h).transpose(1, 2)
            for y in self.joint(x).split(width, dim=2)
        )
        scores = q @ k.transpose(-1, -2) / {0}
        future = torch.ones(length, length).triu(1) == 1
        scores = scores.masked_fill(future, -torch.inf)
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, width))
"""


@pytest.mark.parametrize(
    ("divisor", "expected"),
    [
        ("math.sqrt(width // self.h)", []),
        ("math.sqrt(width)", ["attention-scale"]),
        ("3.0", ["attention-formula"]),
    ],
)
def test_an_attention_that_hides_the_future_itself_is_compared(
    divisor: str, expected: list[str]
) -> None:
    part = report(HEAD + CAUSAL_ATTENTION.format(divisor), "MultiHeadAttention")[1]

    assert mistakes(part) == expected
    assert "attention-transpose" in part.passed or "attention-formula" in expected


TWO_IN_ONE = """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.h, self.{0} = heads, nn.Linear(d_model, {1} * d_model)
        self.{2} = nn.Linear(d_model, {3} * d_model)
        self.o = nn.Linear(d_model, d_model)
    def forward(self, x):
        q, k, v = (
            y.unflatten(-1, (self.h, -1)).transpose(1, 2)
            for y in torch.cat([self.{4}(x), self.{5}(x)], -1).chunk(3, -1)
        )
        weights = (q @ k.mT / q.size(-1) ** 0.5).softmax(-1)
        return self.o((weights @ v).transpose(1, 2).flatten(2))
"""


@pytest.mark.parametrize(
    "layers",
    [("q", 1, "kv", 2, "q", "kv"), ("kv", 2, "q", 1, "q", "kv"), ("v", 1, "qk", 2, "qk", "v")],
)
def test_two_projections_may_be_one_layer(layers: tuple[str | int, ...]) -> None:
    source = HEAD + TWO_IN_ONE.format(*layers)
    right = report(source, "MultiHeadAttention")[1]
    wrong = report(exchanged(source, ("q.size(-1)", "x.size(-1)")), "MultiHeadAttention")[1]

    assert mistakes(right) == []
    assert "attention-projections" in right.passed
    assert mistakes(wrong) == ["attention-scale"]


def test_heads_that_nothing_mixes_are_told_unless_a_block_mixes_them() -> None:
    without = exchanged(
        ATTENTION, ("self.o(", "("), ("self.v, self.o =", "self.v ="), ("(4)", "(3)")
    )
    block = ENCODER_BLOCK.replace("nn.MultiheadAttention(d_model, nhead, dropout=dropout, ", "(")
    block = exchanged(
        block,
        ("(batch_first=True)", "MultiHeadAttention(d_model, nhead)"),
        ("        self.w1,", "        self.output = nn.Linear(d_model, d_model)\n        self.w1,"),
        ("self.attention(src, src, src, attn_mask=src_mask)[0]", "self.attention(src, src, src)"),
        ("self.dropout(seen)", "self.dropout(self.output(seen))"),
    )

    assert mistakes(report(HEAD + without, "MultiHeadAttention")[1]) == ["attention-output"]
    assert mistakes(report(HEAD + without + block, "MultiHeadAttention")[1]) == []


@pytest.mark.parametrize("name", ["ctx_mask", "tgt_mask", "key_padding_mask"])
def test_the_only_mask_of_an_attention_is_its_mask(name: str) -> None:
    attention = exchanged(
        ATTENTION,
        ("mask=None", f"{name}=None, use_mask=True"),
        ("if mask is", f"if use_mask and {name} is"),
        ("mask == 0", f"{name} == 0"),
    )
    inverted = attention.replace(f"{name} == 0, -1e9", f"{name} == 0, 0")

    assert "attention-mask" in report(HEAD + attention, "MultiHeadAttention")[1].passed
    assert mistakes(report(HEAD + inverted, "MultiHeadAttention")[1]) == ["attention-mask"]


ROTATE = """def rotate(x):
    angles = torch.arange(x.size(-2))[:, None] * 0.3
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.cat([a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()], -1)
"""
_SCORES = "scores = q @ k.transpose(-1, -2) / math.sqrt(self.d_k)"


@pytest.mark.parametrize(
    ("exchanges", "why"),
    [
        ({", mask=None": "", "if mask is not None": "if False"}, "with masks: it takes none"),
        ({"mask=": "occulto=", "if mask": "if occulto"}, "whether `occulto` is one is not known"),
        ({"mask == 0": "mask.cuda() == 0"}, "asks for a GPU, and programs"),
        (
            {"scores = q": "scores = torch.zeros(1, device='mps') + q"},
            "asks for a GPU, and programs",
        ),
        ({"(d_model, d_model)": "(d_model, d_model).to('cuda:0')"}, "asks for a GPU, and programs"),
        (
            {
                "class Multi": f"{ROTATE}class Multi",
                _SCORES: _SCORES.replace("q @ k", "rotate(q) @ rotate(k)"),
            },
            "its scores tell positions apart, as with rotary",
        ),
        (
            {_SCORES: f"{_SCORES} - torch.arange(k.size(2)) * 0.3"},
            "its scores tell positions apart",
        ),
        (
            {_SCORES: "scores = nn.functional.normalize(q, dim=-1) @ k.mT"},
            "it has a norm of its own",
        ),
        (
            {
                "        self.h,": "        self.norm = nn.LayerNorm(d_model)\n        self.h,",
                "self.o(": "self.norm(query + self.o(",
                "flatten(2))": "flatten(2)))",
            },
            "it has a norm of its own",
        ),
    ],
)
def test_an_attention_that_cannot_be_compared_is_not_blamed(
    exchanges: dict[str, str], why: str
) -> None:
    part = report(HEAD + exchanged(ATTENTION, *exchanges.items()), "MultiHeadAttention")[1]

    assert mistakes(part) == []
    assert any(why in reason for reason in part.not_checked)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("scores = q @", "q = self.q(query).reshape(q.shape)\n        scores = q @"),
        ("scores = q @", "k = self.k(key).reshape(k.shape)\n        scores = q @"),
        ("k.transpose(-1, -2)", "k.roll(1, 2).transpose(-1, -2)"),
        ("/ math.sqrt(self.d_k)", "/ self._norm_fact"),
        ("/ math.sqrt(self.d_k)", "/ self.norm_factor"),
    ],
)
def test_scores_are_excused_only_by_a_norm_or_positions_in_their_code(
    right: str, wrong: str
) -> None:
    """Heads that are cut wrongly tell positions apart, too, and a scale may be called a norm."""
    attention = ATTENTION.replace(
        "        self.h,",
        "        self._norm_fact = (d_model // heads) ** -0.3\n"
        "        self.register_buffer('norm_factor', torch.tensor(0.3))\n"
        "        self.h,",
    )
    part = report(HEAD + attention.replace(right, wrong), "MultiHeadAttention")[1]

    assert "attention-formula" in mistakes(part)


ADD_AND_NORM = """
class AddNorm(nn.Module):
    def __init__(self, d_model, dropout=0.1):
        super().__init__()
        self.norm, self.dropout = nn.LayerNorm(d_model), nn.Dropout(dropout)
    def forward(self, x, sublayer_output):
        return {}
"""


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        ("self.norm(x + self.dropout(sublayer_output))", []),
        ("x + self.dropout(sublayer_output)", ["residual-norm"]),
        ("self.norm(self.dropout(sublayer_output))", ["residual-input"]),
    ],
)
def test_a_residual_connection_may_take_what_the_sublayer_gives(
    returned: str, expected: list[str]
) -> None:
    part = report(HEAD + ADD_AND_NORM.format(returned), "ResidualConnection")[1]

    assert [name for name in mistakes(part) if name.startswith("residual")] == expected
    assert "does-not-run" not in mistakes(part)


def test_an_attention_that_cannot_do_without_a_mask_gets_one_that_hides_nothing() -> None:
    attention = ATTENTION.replace("mask=None", "mask").replace("mask is not None", "True")
    hiding = attention.replace("mask == 0", "mask.unsqueeze(1)").replace("-1e9", "-torch.inf")
    for source in (attention.replace("mask == 0", "mask.unsqueeze(1) == 0"), hiding):
        part = report(HEAD + source, "MultiHeadAttention")[1]

        assert mistakes(part) == []
        assert {"attention-scale", "attention-mask"} <= set(part.passed)


def test_of_an_attention_that_has_to_be_given_a_mask_the_mistake_is_named() -> None:
    """Its mask hides nothing properly, so what it means has to be found out in another way."""
    attention = ATTENTION.replace("mask=None", "mask").replace("mask is not None", "True")
    attention = attention.replace("mask == 0, -1e9)", "mask.bool(), -1e9).transpose(-1, -2)")
    attention = attention.replace("softmax(-1)", "softmax(-1).transpose(-1, -2)")
    part = report(HEAD + attention, "MultiHeadAttention")[1]

    assert "attention-softmax" in mistakes(part)


def test_layers_that_find_their_width_themselves_are_no_reason_to_leave_a_part() -> None:
    lazy = FEED_FORWARD.format("").replace("nn.Linear(d_model, ", "nn.LazyLinear(")
    part = report(HEAD + lazy.replace("nn.Linear(d_ff, ", "nn.LazyLinear("), "FeedForward")[1]

    assert mistakes(part) == []
    assert part.not_checked == ()


def test_a_model_that_hands_on_arguments_of_no_name_is_not_told_that_it_does_not_run() -> None:
    """Its parts may need them, as the number of words of each sentence."""
    handed = STACKED.replace("def forward(self, src, tgt):", "def forward(self, src, tgt, *args):")
    handed = handed.replace("self.root)))", "self.root), *args))")
    handed = handed.replace("x, mask=None):\n        for", "x, mask):\n        for")

    part = report(handed, "Transformer")[1]

    assert mistakes(part) == []
    assert part.not_checked == ("what `*args` of its forward stands for is not known",)


def test_a_model_that_takes_a_pair_apart_is_examined_with_source_and_target() -> None:
    takes = "def forward(self, {}):\n        memory"
    paired = takes.format("batch").replace("memory", "src, tgt = batch\n        memory")
    of_two, of_pair = (
        report(model, "Transformer")[1]
        for model in (STACKED, STACKED.replace(takes.format("src, tgt"), paired))
    )

    assert mistakes(of_pair) == mistakes(of_two)
    assert of_pair.not_checked == of_two.not_checked


@pytest.mark.parametrize("given", ["batch.src, batch.trg", "batch['src'], batch['tgt']"])
def test_a_model_that_takes_a_whole_batch_is_not_told_that_it_does_not_run(given: str) -> None:
    takes = "def forward(self, {}):\n        memory"
    batched = takes.format("batch").replace("memory", f"src, tgt = {given}\n        memory")
    part = report(STACKED.replace(takes.format("src, tgt"), batched), "Transformer")[1]

    assert mistakes(part) == []
    assert part.not_checked == ("what `batch` of its forward holds is not known",)


def test_a_function_of_masks_may_be_told_a_device() -> None:
    function = "def causal_mask(size, device):\n    return torch.ones(size, size, device=device)"
    right, wrong = (report(HEAD + function + end, "causal_mask")[1] for end in (".tril()", ""))

    assert "causal-mask" in right.passed
    assert mistakes(wrong) == ["causal-mask"]


def test_a_switch_is_no_part_whatever_its_name_resembles() -> None:
    switch = STACKED.replace(
        "heads, d_ff, num_layers):\n        super().__init__()\n        self.source",
        "heads, d_ff, num_layers, src_embeds=False):\n        super().__init__()\n"
        "        assert not src_embeds\n        self.source",
    )
    assert "src_embeds" in switch
    assert "does-not-run" not in mistakes(report(switch, "Transformer")[1])


LANGUAGE_MODEL = """
class Transformer(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.words, self.out = nn.Embedding(vocab_size, d_model), nn.Linear(d_model, vocab_size)
    def forward(self, {}):
        return self.out(self.words({}))
"""


@pytest.mark.parametrize("words", ["src", "tgt", "tokens"])
def test_a_transformer_of_one_sequence_that_predicts_no_words_is_not_checked(words: str) -> None:
    model = LANGUAGE_MODEL.format(words, words).replace("(words))", "(words)).mean(1)")
    part = report(HEAD + model.replace(f"({words}))", f"({words})).mean(1)"), "Transformer")[1]

    assert mistakes(part) == []
    assert part.not_checked[0].startswith("its forward takes no source and target")
    assert "source-is-read" in mistakes(
        report(HEAD + LANGUAGE_MODEL.format("src, tgt", "tgt"), "Transformer")[1]
    )


STACKED = (
    HEAD
    + ATTENTION
    + FEED_FORWARD.format("")
    + """
class TokenEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.table = nn.Embedding(vocab_size, d_model)
    def forward(self, words):
        return self.table(words)
class EncoderBlock(nn.Module):
    def __init__(self, d_model, heads, d_ff):
        super().__init__()
        self.attention = MultiHeadAttention(d_model, heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norms = nn.ModuleList(nn.LayerNorm(d_model) for _ in range(2))
    def forward(self, x, mask=None):
        y = self.norms[0](x)
        x = x + self.attention(y, y, y, mask)
        return x + self.feed_forward(self.norms[1](x))
class Encoder(nn.Module):
    def __init__(self, d_model, heads, d_ff, num_layers):
        super().__init__()
        self.layers = nn.ModuleList(EncoderBlock(d_model, heads, d_ff) for _ in range(num_layers))
    def forward(self, x, mask=None):
        for layer in self.layers:
            x = layer(x, mask)
        return x
"""
    + POSITIONS.format("x + self.table[: x.size(1)]")
    + """
class Transformer(nn.Module):
    def __init__(self, src_vocab_size, tgt_vocab_size, d_model, heads, d_ff, num_layers):
        super().__init__()
        self.source = TokenEmbedding(src_vocab_size, d_model)
        self.target = TokenEmbedding(tgt_vocab_size, d_model)
        self.positions, self.root = PositionalEncoding(d_model), math.sqrt(d_model)
        self.encoder, self.norm = Encoder(d_model, heads, d_ff, num_layers), nn.LayerNorm(d_model)
        self.out = nn.Linear(d_model, tgt_vocab_size)
    def forward(self, src, tgt):
        memory = self.norm(self.encoder(self.positions(self.source(src) * self.root)))
        return self.positions(self.target(tgt) * self.root) + memory.mean(1, keepdim=True)
    def logits(self, states):
        return self.out(states)
"""
)


def test_a_norm_after_the_stack_may_stand_in_the_model() -> None:
    within = report(STACKED, "Encoder")[1]
    nowhere = report(
        STACKED.replace("nn.LayerNorm(d_model)\n        self.out", "None\n        self.out"),
        "Encoder",
    )[1]

    assert mistakes(within) == []
    assert "whether a norm ends the stack: Transformer has it outside of it" in within.not_checked
    assert mistakes(nowhere) == ["stack-last-norm"]


def test_a_norm_before_the_stack_is_not_its_last() -> None:
    before = STACKED.replace("self.norm(self.encoder(", "self.encoder(self.norm(")

    assert mistakes(report(before, "Encoder")[1]) == ["stack-last-norm"]


def test_embeddings_may_be_scaled_in_the_model() -> None:
    scaled = report(STACKED, "InputEmbeddings")[1]
    not_scaled = report(STACKED.replace(" * self.root", ""), "InputEmbeddings")[1]
    unknown = report(STACKED.replace("self.root)", "self.root * 1.5)"), "InputEmbeddings")[1]

    assert "embeddings-scaled" in scaled.passed
    assert mistakes(not_scaled) == ["embeddings-scaled"]
    assert mistakes(unknown) == []
    assert any(why.startswith("whether they are multiplied by") for why in unknown.not_checked)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("self.positions(", "(self.positions.table[0] + "),
        ("self.positions(", "self.positions(1.5 * "),
        ("memory = ", "memory = src.nowhere + "),
    ],
)
def test_unscaled_embeddings_are_found_where_the_model_has_no_root_in_its_code(
    right: str, wrong: str
) -> None:
    without = STACKED.replace(" * self.root", "").replace(", self.root", "")
    without = without.replace(", math.sqrt(d_model)", "").replace(right, wrong)

    assert mistakes(report(without, "InputEmbeddings")[1]) == ["embeddings-scaled"]


def test_a_head_that_is_applied_outside_of_forward_is_used() -> None:
    assert "weights-without-gradient" in report(STACKED, "Transformer")[1].passed


def test_a_head_that_no_method_uses_is_forgotten() -> None:
    forgotten = STACKED.replace("return self.out(states)", "return states")
    left_to_others = forgotten.replace("self.out", "self.generator")

    assert "weights-without-gradient" in mistakes(report(forgotten, "Transformer")[1])
    assert "weights-without-gradient" in report(left_to_others, "Transformer")[1].passed
    with torch.enable_grad():  # as it is now, afterwards
        for_translating = forgotten + "torch.set_grad_enabled(False)\n"
        assert "weights-without-gradient" in mistakes(report(for_translating, "Transformer")[1])


CUTS = """
class Transformer(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.words, self.positions = nn.Embedding(vocab_size, d_model), nn.Embedding(50, d_model)
        self.out = nn.Linear(d_model, vocab_size)
    def look_up(self, words):
        return self.words(words) + self.positions(torch.arange(words.size(1))).cos()
    def forward(self, src, tgt):
        seen = self.look_up(tgt[:, :-1])
        past = {}
        return self.out(past.tanh() + seen + self.look_up(src).tanh().sum(1, keepdim=True))
"""


@pytest.mark.parametrize(
    ("past", "expected"),
    [
        ("seen.cumsum(1)", []),
        ("seen.flip(1).cumsum(1).flip(1)", ["future-is-invisible", "past-is-visible"]),
    ],
)
def test_a_model_that_leaves_out_the_last_word_itself_is_examined(
    past: str, expected: list[str]
) -> None:
    part = report(HEAD + CUTS.format(past), "Transformer")[1]

    of_the_target = ("future-is-invisible", "past-is-visible")
    assert [name for name in mistakes(part) if name in of_the_target] == expected
    assert not any(reason.startswith("start") for reason in part.not_checked)


@pytest.mark.parametrize(
    ("part", "source"),
    [
        ("FeedForward", FEED_FORWARD.format("").replace("(self, x)", "(self, x, /)")),
        ("MultiHeadAttention", ATTENTION.replace("mask=None)", "bias=None, mask=None, /)")),
        ("Transformer", CUTS.format("seen.cumsum(1)").replace("src, tgt)", "src, tgt, /)")),
    ],
)
def test_arguments_may_be_those_that_are_given_by_position(part: str, source: str) -> None:
    assert "does-not-run" not in mistakes(report(HEAD + source, part)[1])


def test_an_output_may_be_flat_for_the_loss() -> None:
    end = "return self.fc_out(x)"
    for flat in (".flatten(0, 1)", "[:, :-1].flatten(0, 1)"):
        source = source_of("sized", (end, f"{end}{flat}"))
        part = report(source, "Transformer")[1]

        assert mistakes(part) == []
        assert {"sentences-are-independent", "future-is-invisible", "model-start"} <= {*part.passed}


def test_an_output_that_is_no_number_is_one_mistake() -> None:
    of_itself_alone = source_of(
        "sized",
        (".triu(diagonal=1)", ".triu()"),
        ("torch.finfo(scores.dtype).min", "-torch.inf"),
    )
    mask = "def causal_mask(size):\n    return torch.ones(size, size).triu(1) * -torch.inf\n"

    for source, part in ((of_itself_alone, "Transformer"), (HEAD + mask, "causal_mask")):
        assert mistakes(*report(source, part)) == ["output-is-nan"]


def test_a_block_is_not_blamed_for_masks_that_are_read_in_an_unknown_way() -> None:
    attention = ATTENTION.replace("mask == 0, -1e9", "mask == 1, -torch.inf")
    attention = attention.replace("softmax(-1)", "softmax(-2)")
    block = ENCODER_BLOCK.replace("nn.MultiheadAttention", "MultiHeadAttention")
    block = block.replace(", dropout=dropout, batch_first=True", "").replace("_mask)[0]", "_mask)")
    block = block.replace("attn_mask=", "")

    part = report(HEAD + attention + block, "EncoderBlock")[1]

    assert mistakes(part) == []
    assert part.not_checked == ("masks: MultiHeadAttention has to obey them first",)


def test_the_order_of_a_source_that_does_little_at_the_start_is_visible() -> None:
    right = CUTS.format("seen").replace("[:, :-1]", "")
    right = right.replace(".tanh().sum(1", ".cumsum(1).mul(1e-5).sum(1")
    wrong = right.replace(".cumsum(1)", "")

    assert "order-is-visible" in report(HEAD + right, "Transformer")[1].passed
    assert "order-is-visible" in mistakes(report(HEAD + wrong, "Transformer")[1])


def test_layers_in_a_plain_list_are_one_mistake_that_names_the_list() -> None:
    """Dropout in them is not switched off either, for the same reason."""
    stack = """
class Encoder(nn.Module):
    def __init__(self, num_layers, d_model, heads, d_ff, dropout):
        super().__init__()
        self.blocks = [EncoderBlock(d_model, heads, d_ff, dropout) for _ in range(num_layers)]
        self.norm = nn.LayerNorm(d_model)
    def forward(self, x, mask=None):
        for block in self.blocks:
            x = block(x, mask)
        return self.norm(x)
"""
    (mistake,) = report(HEAD + ENCODER_BLOCK + stack, "Encoder")[1].mistakes

    assert mistake.name == "weights-from-outside"
    assert mistake.measured.endswith("`blocks` is a plain list, and should be an nn.ModuleList")


def test_what_stops_a_part_is_said_once() -> None:
    forgotten = FEED_FORWARD.format("").replace("super().__init__()", "pass")
    part = report(HEAD + forgotten, "FeedForward")[1]

    assert "cannot assign module before" in part.mistakes[0].measured
    assert part.not_checked == ()


def test_layers_that_a_list_holds_once_more_do_not_hide_dropout_that_is_never_off() -> None:
    source = FEED_FORWARD.format("").replace(
        "self.w2(torch.relu(self.w1(x)))", "nn.functional.dropout(self.both[1](self.w1(x)), 0.5)"
    )
    source = source.replace(
        "    def forward", "        self.both = [self.w1, self.w2]\n    def forward"
    )

    assert mistakes(report(HEAD + source, "FeedForward")[1]) == ["evaluation-is-random"]


@pytest.mark.parametrize(
    "loop",
    [
        "def train(model, src, tgt):\n    return model.out(model(src, tgt))\n",
        "if __name__ == '__main__':\n    logits = Transformer(9, 9, 8, 2, 9, 1).out(None)\n",
    ],
)
def test_a_head_that_only_a_training_loop_uses_is_used(loop: str) -> None:
    program = STACKED.replace("return self.out(states)", "return states") + loop

    assert "weights-without-gradient" in report(program, "Transformer")[1].passed


def test_a_linear_layer_of_one_s_own_is_no_projection_to_the_vocabulary() -> None:
    linear = """
class Linear(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(out_features, in_features))
    def forward(self, x):
        return x @ self.weight.T
"""
    assert mistakes(*report(HEAD + linear, "ProjectionLayer")) == []


def test_a_feed_forward_with_a_norm_is_not_told_that_its_activation_is_another() -> None:
    source = FEED_FORWARD.format("").replace("return ", "return self.norm(x + ") + ")\n"
    source = source.replace("\n)", ")").replace(
        "        self.w1", "        self.norm = nn.LayerNorm(d_model)\n        self.w1"
    )
    part = report(HEAD + source, "FeedForward")[1]

    assert mistakes(part) == []
    assert "feed-forward-other-activation" not in notes(part)
    assert any("it has a norm of its own" in why for why in part.not_checked)


@pytest.mark.parametrize(
    ("head", "layers"),
    [
        ("torch.set_default_dtype(torch.bfloat16)", ""),
        ("", ", dtype=torch.bfloat16"),
        ("", ", dtype=torch.float64"),
    ],
)
def test_a_program_of_another_precision_is_examined_in_float32(head: str, layers: str) -> None:
    """The rounding of bfloat16 would look like mistakes."""
    attention = ATTENTION.replace("(d_model, d_model)", f"(d_model, d_model{layers})")
    part = report(f"{HEAD}{head}\n{attention}", "MultiHeadAttention")[1]

    assert mistakes(part) == []
    assert "attention-formula" in part.passed


def test_a_table_of_doubles_stops_the_layers_behind_it() -> None:
    table = 'self.register_buffer("table", torch.cat([angles.sin(), angles.cos()], dim=1)'
    source = source_of("sized", (table, f"{table}.double()"))
    assert mistakes(report(source, "Transformer")[1]) == ["does-not-run"]


@pytest.mark.parametrize(
    ("others", "told"), [("zeros", True), ("eye", False)], ids=["all", "of the output"]
)
def test_matrices_of_zeros_are_told_if_they_never_learn(others: str, told: bool) -> None:
    exchanges = {
        "nn.Linear(d_model, d_model)": f"nn.Parameter(torch.{others}(d_model, d_model))",
        "range(4))\n": "range(4))\n        nn.init.zeros_(self.o)\n",
        "layer(x)": "(x @ layer)",
        "self.o(": "(lambda x: x @ self.o)(",
    }
    part = report(HEAD + exchanged(ATTENTION, *exchanges.items()), "MultiHeadAttention")[1]
    assert ("weights-without-gradient" in mistakes(part)) == told
    assert ("attention-mask" in mistakes(part)) == told


VECTORS = """
class Transformer(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.norm, self.out = nn.LayerNorm(d_model), nn.Linear(d_model, d_model)
    def forward(self, {}):
        return self.out(self.norm({}))
"""


@pytest.mark.parametrize(("given", "used"), [("x", "x"), ("src, tgt", "src.mean() + tgt")])
def test_a_model_that_reads_vectors_is_not_told_that_it_does_not_run(given: str, used: str) -> None:
    part = report(HEAD + VECTORS.format(given, used), "Transformer")[1]

    assert mistakes(part) == []
    assert part.not_checked == (
        "it reads vectors and has no embeddings, and only models of words are examined",
    )


def test_a_model_that_forgets_its_embeddings_does_not_run() -> None:
    source = VECTORS.format("x", "x").replace("self.norm,", "self.words, self.norm,")
    source = source.replace("= nn.LayerNorm", "= nn.Embedding(9, d_model), nn.LayerNorm")

    assert mistakes(report(HEAD + source, "Transformer")[1]) == ["does-not-run"]


def test_a_block_that_stops_is_not_told_that_its_attention_is_not_its_own() -> None:
    source = HEAD + ATTENTION.replace("query, key, value, mask=None", "query").replace(
        "((self.q, query), (self.k, key), (self.v, value))",
        "((self.q, query), (self.k, query), (self.v, query))",
    ).replace(
        "        if mask is not None:\n            scores = scores.masked_fill(mask == 0, -1e9)\n",
        "",
    )
    block = """
class Block(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.attention = MultiHeadAttention(d_model, heads)
        self.network = nn.Linear(d_model, d_model + 1)
    def forward(self, x):
        x = x + self.attention(x)
        return x + self.network(x)
"""
    assert mistakes(report(source + block, "EncoderBlock")[1]) == ["does-not-run"]


def test_a_mask_of_pytorch_s_attention_does_not_hide_all_from_a_block_without_its_weights() -> None:
    source = ENCODER_BLOCK.replace("attn_mask=src_mask", "attn_mask=src_mask, need_weights=False")

    assert mistakes(report(HEAD + source, "EncoderBlock")[1]) == []


@pytest.mark.parametrize("told", ["mask=None", "src_lens=None", "src, tgt"])
def test_a_model_that_may_be_told_of_padding_is_not_blamed_for_seeing_it(told: str) -> None:
    model = """
class Transformer(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, d_model):
        super().__init__()
        self.source = nn.Embedding(src_vocab, d_model)
        self.target = nn.Embedding(tgt_vocab, d_model)
        self.places, self.out = nn.Embedding(64, d_model), nn.Linear(d_model, tgt_vocab)
    def forward(self, src, tgt, {}):
        places = self.places.weight[: src.size(1)]
        read = torch.tanh(self.source(src) + places).mean(1, keepdim=True)
        past = torch.cumsum(self.target(tgt) * self.places.weight[: tgt.size(1)], dim=1)
        return self.out(read + past)
"""
    unknown = told != "src, tgt"
    model = model.replace("src, tgt, {}", "src, tgt, {}" if unknown else "{}").format(told)
    part = report(HEAD + model, "Transformer")[1]

    assert mistakes(part) == ([] if unknown else ["padding-is-invisible"])


def test_a_block_that_adds_in_place_is_not_blamed_for_what_it_sees_but_cannot_be_trained() -> None:
    source = """
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.w1, self.w2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
    def forward(self, x):
        x += self.w2(torch.relu(self.w1(self.norm(x))))
        return x
"""
    block = """
class EncoderBlock(nn.Module):
    def __init__(self, d_model, nhead, d_ff):
        super().__init__()
        self.attention = nn.MultiheadAttention(d_model, nhead, batch_first=True)
        self.norm = nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, d_ff)
    def forward(self, src, src_mask=None):
        y = self.norm(src)
        src += self.attention(y, y, y, attn_mask=src_mask)[0]
        return self.feed_forward(src)
"""
    (finding,) = report(HEAD + source + block, "EncoderBlock")[1].mistakes
    assert finding.name == "does-not-run"
    assert "`backward()` stops" in finding.measured
    kept = block.replace("src += ", "src = src + ")
    source = source.replace("x += ", "x = x + ")
    assert mistakes(report(HEAD + source + kept, "EncoderBlock")[1]) == []


FEED_FORWARD_OF_PARAMETERS = """
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w1 = nn.Parameter(torch.randn(d_model, d_ff) / d_model**0.5)
        self.w2 = nn.Parameter(torch.randn(d_ff, d_model) / d_ff**0.5)
        self.b1, self.b2 = nn.Parameter(torch.zeros(d_ff)), nn.Parameter(torch.zeros(d_model))
    def forward(self, x):
        return torch.einsum("blf,fd->bld", torch.relu(x @ self.w1 + self.b1), self.w2) + self.b2

class EncoderBlock(nn.Module):
    def __init__(self, d_model, nhead, d_ff):
        super().__init__()
        self.attention = nn.MultiheadAttention(d_model, nhead, batch_first=True)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, d_ff)
    def forward(self, x, mask=None):
        y = self.norm1(x)
        x = x + self.attention(y, y, y, attn_mask=mask)[0]
        return x + self.feed_forward(self.norm2(x))

class Encoder(nn.Module):
    def __init__(self, d_model, nhead, d_ff, num_layers):
        super().__init__()
        blocks = [EncoderBlock(d_model, nhead, d_ff) for _ in range(num_layers)]
        self.layers, self.norm = nn.ModuleList(blocks), nn.LayerNorm(d_model)
    def forward(self, x, mask=None):
        for layer in self.layers:
            x = layer(x, mask)
        return self.norm(x)
"""


@pytest.mark.parametrize(
    ("part", "right", "wrong", "mistake"),
    [
        ("EncoderBlock", "x + self.feed", "self.feed", "residual-input"),
        ("Encoder", "return self.norm(x)", "return x", "stack-last-norm"),
    ],
)
def test_sums_and_norms_are_examined_around_matrices_that_are_no_linear_layers(
    part: str, right: str, wrong: str, mistake: str
) -> None:
    source = HEAD + FEED_FORWARD_OF_PARAMETERS
    examined = report(source, part)[1]
    assert mistakes(examined) == []
    assert mistake in examined.passed
    assert mistake in mistakes(report(source.replace(right, wrong), part)[1])


OWN_ATTENTION = """
class Attention(nn.Module):
    def __init__(self, d_model, nhead, batch_first=True):
        super().__init__()
        self.w = nn.Parameter(torch.randn(4, d_model, d_model) / d_model**0.5)
        self.h = nhead
    def forward(self, query, key, value, attn_mask=None):
        q, k, v = (
            (x @ w).unflatten(-1, (self.h, -1)).transpose(1, 2)
            for x, w in zip((query, key, value), self.w)
        )
        scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
        if attn_mask is not None:
            scores = scores.masked_fill(~attn_mask[:, None], -1e9)
        return ((scores.softmax(-1) @ v).transpose(1, 2).flatten(2) @ self.w[3],)
"""


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("nn.ModuleList(blocks)", "nn.ModuleList(blocks[:1] * num_layers)"),
        ("self.norm1, self.norm2 = nn.LayerNorm(d_model),", "self.norm1 = self.norm2 ="),
    ],
)
def test_a_layer_in_two_places_is_found_whatever_holds_its_weights(right: str, wrong: str) -> None:
    of_parameters = FEED_FORWARD_OF_PARAMETERS.replace("nn.MultiheadAttention", "Attention")
    source = HEAD + OWN_ATTENTION + of_parameters
    assert "layers-are-independent" not in mistakes(report(source, "Encoder")[1])
    assert "layers-are-independent" in mistakes(report(source.replace(right, wrong), "Encoder")[1])


def test_a_layer_with_two_names_that_is_called_once_is_in_one_place() -> None:
    source = (
        HEAD
        + """
class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.net = nn.Sequential(self.fc1, nn.ReLU(), self.fc2)
    def forward(self, x):
        return self.net(x)
"""
    )
    assert mistakes(report(source, "FeedForward")[1]) == []


OF_HEADS = """
class Head(nn.Module):
    def __init__(self, d_model, size):
        super().__init__()
        self.query, self.key = nn.Linear(d_model, size), nn.Linear(d_model, size)
        self.value = nn.Linear(d_model, size)
    def forward(self, q, k, v, mask):
        q, k, v = self.query(q), self.key(k), self.value(v)
        scores = q @ k.transpose(-2, -1) / math.sqrt(k.size(-1))
        scores = scores.masked_fill(mask == 0, 1e-9)
        return scores.softmax(-1) @ v
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        self.heads = nn.ModuleList(Head(d_model, d_model // heads) for _ in range(heads))
        self.out = nn.Linear(d_model, d_model)
    def forward(self, q, k, v, mask):
        return self.out(torch.cat([head(q, k, v, mask) for head in self.heads], dim=-1))
"""


def test_a_block_of_heads_that_obey_no_mask_is_given_one_of_their_shape() -> None:
    block = DECODER_BLOCK.format("tgt_mask", "src_mask", "tgt_mask", "src_mask")
    source = HEAD + OF_HEADS + FEED_FORWARD.format("") + block

    assert mistakes(report(source, "MultiHeadAttention")[1]) == ["attention-mask"]
    assert mistakes(report(source, "DecoderBlock")[1]) == []


READING_WORDS = """
class Encoder(nn.Module):
    def __init__(self, vocab_size, d_model, heads, d_ff, num_layers):
        super().__init__()
        self.words = nn.Embedding(vocab_size, d_model)
        self.blocks = nn.ModuleList(Block(d_model, heads, d_ff) for _ in range(num_layers))
    def forward(self, x, mask):
        batch, length = x.shape
        x = self.words(x)
        for block in self.blocks:
            x = block(x, mask)
        return x
class Transformer(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, d_model, heads, d_ff, num_layers):
        super().__init__()
        self.encoder = Encoder(src_vocab, d_model, heads, d_ff, num_layers)
        self.words = nn.Embedding(tgt_vocab, d_model)
        self.out = nn.Linear(d_model, tgt_vocab)
    def forward(self, src, tgt):
        memory = self.encoder(src, (src != 0)[:, None, None]).mean(1, keepdim=True)
        return self.out(self.words(tgt).cumsum(1) + memory)
class Block(nn.Module):
    def __init__(self, d_model, heads, d_ff):
        super().__init__()
        self.attention, self.norm = MultiHeadAttention(d_model, heads), nn.LayerNorm(d_model)
    def forward(self, x, mask):
        return self.norm(x + self.attention(x, x, x, mask))
"""


def test_a_stack_that_reads_words_and_stops_at_its_attention_is_not_blamed_for_it() -> None:
    right = HEAD + ATTENTION + READING_WORDS
    wrong = right.replace("self.o((scores", "self.o((scores[..., None]")
    wrong = wrong.replace(".flatten(2))", ".flatten(1))")
    report_of = Examiner([Cell(source=wrong)], Wishes()).report

    attention, encoder = report_of("x.py", ("MultiHeadAttention", "Encoder")).parts[1:]

    assert mistakes(attention) == ["does-not-run"]
    assert mistakes(encoder) == []
    assert encoder.not_checked == ("it stops where MultiHeadAttention does",)


def test_layers_of_a_stack_that_reads_words_are_missed_where_a_model_has_it() -> None:
    source = HEAD + ATTENTION + READING_WORDS
    forgotten = source.replace("            x = block(x, mask)", "            block(x, mask)")

    assert "weights-without-gradient" in report(source, "Transformer")[1].passed
    assert "weights-without-gradient" in mistakes(report(forgotten, "Transformer")[1])


NORM = """
class LayerNorm(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.gain = nn.Parameter({})
        self.bias = nn.Parameter(torch.zeros(d_model))
    def forward(self, x):
        spread = (x.var(-1, keepdim=True, unbiased=False) + 1e-5).sqrt()
        return self.gain * (x - x.mean(-1, keepdim=True)) / spread + self.bias
"""


def test_one_gain_beside_a_bias_for_each_feature_is_told() -> None:
    assert notes(report(HEAD + NORM.format("torch.ones(d_model)"), "LayerNormalization")[1]) == []
    (note,) = report(HEAD + NORM.format("torch.ones(1)"), "LayerNormalization")[1].notes
    assert note.name == "norm-gain-per-feature"


def test_a_gain_of_zero_leaves_no_error_of_the_check() -> None:
    part = report(HEAD + NORM.format("torch.zeros(d_model)"), "LayerNormalization")[1]

    assert mistakes(part) == ["norm-start"]
    assert part.not_checked == ()


def test_an_input_that_is_replaced_by_its_norm_once_is_found() -> None:
    before = ENCODER_BLOCK.replace(
        "self.norm1(src + self.dropout(seen))", "src + self.dropout(seen)"
    )
    before = before.replace("self.norm2(x + ", "(x + ").replace(
        "self.w1(x)", "self.w1(self.norm2(x))"
    )
    right = before.replace(
        "self.attention(src, src, src,", "self.attention(*[self.norm1(src)] * 3,"
    )
    wrong = before.replace("        seen =", "        src = self.norm1(src)\n        seen =")

    assert mistakes(report(HEAD + right, "EncoderBlock")[1]) == []
    assert mistakes(report(HEAD + wrong, "EncoderBlock")[1]) == ["residual-input"]


@pytest.mark.parametrize(
    "exchange",
    [
        ("forward(self, src: Tensor, trg: Tensor)", "forward(self, inputs)", "src, trg = inputs"),
        ("trg: Tensor) -> Tensor", "trg: Tensor, targets=None) -> Tensor", "assert not targets"),
    ],
    ids=["a pair", "labels"],
)
def test_source_and_target_may_be_a_pair_or_stand_beside_labels(exchange: tuple[str, ...]) -> None:
    old, new, line = exchange
    begin = "        src_mask = (src =="
    source = source_of("sized", (old, new), (begin, f"        {line}\n{begin}"))
    unread = source.replace("memory = encoder(memory", "memory = encoder(0 * memory")
    right = report(source, "Transformer")[1]

    assert mistakes(right) == []
    assert {"source-is-read", "future-is-invisible"} <= {*right.passed}
    assert "source-is-read" in mistakes(report(unread, "Transformer")[1])
