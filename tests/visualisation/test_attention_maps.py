import pytest
import torch
from torch import Tensor, nn

from dragoman.model.attention import attention_weights
from dragoman.model.config import TransformerConfig
from dragoman.model.transformer import Transformer
from dragoman.visualisation.attention_maps import read_attention

CONFIG = TransformerConfig(
    d_model=16, d_ff=32, num_heads=2, num_encoder_layers=2, num_decoder_layers=3, dropout=0.5
)
SOURCE, TARGET = [7, 8, 9, 3], [2, 11, 12]


@pytest.fixture
def transformer() -> Transformer:
    return Transformer(CONFIG, source_vocab_size=20, target_vocab_size=20, padding_id=0).eval()


def test_there_is_a_map_for_each_layer_and_each_of_its_rows_is_a_distribution(
    transformer: Transformer,
) -> None:
    maps = read_attention(transformer, SOURCE, TARGET)
    assert [each.shape for each in maps.encoder] == 2 * [(2, 4, 4)]
    assert [each.shape for each in maps.decoder] == 3 * [(2, 3, 3)]
    assert [each.shape for each in maps.cross] == 3 * [(2, 3, 4)]
    for each in (*maps.encoder, *maps.decoder, *maps.cross):
        torch.testing.assert_close(each.sum(dim=-1), torch.ones(each.shape[:-1]))


def test_no_target_token_attends_to_later_ones(transformer: Transformer) -> None:
    for each in read_attention(transformer, SOURCE, TARGET).decoder:
        assert bool((each.triu(diagonal=1) == 0).all())


def test_the_maps_are_those_that_the_model_multiplies_its_values_by(
    transformer: Transformer,
) -> None:
    """The first layer's output follows from its map, the values and the output projection."""
    outputs: list[Tensor] = []
    attention = transformer.encoder.blocks[0].get_submodule("self_attention")
    inputs: list[Tensor] = []
    attention.register_forward_pre_hook(lambda _, arguments: inputs.append(arguments[0]))
    attention.register_forward_hook(lambda *call: outputs.append(call[2]))
    map_of_layer = read_attention(transformer, SOURCE, TARGET).encoder[0]
    values = attention.get_submodule("value_projection")(inputs[0])[0]
    heads = [weights @ part for weights, part in zip(map_of_layer, values.chunk(2, 1), strict=True)]
    expected = attention.get_submodule("output_projection")(torch.cat(heads, dim=1))
    torch.testing.assert_close(outputs[0][0], expected)


class SharperAttention(nn.Module):
    """One of somebody's own: its weights are not those of equation 1."""

    def forward(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None = None
    ) -> Tensor:
        assert values.shape == keys.shape
        return attention_weights(5 * queries, keys, mask) @ values


def test_the_maps_of_an_attention_of_ones_own_are_its_own(transformer: Transformer) -> None:
    source, target = [*range(4, 18), 3], [2, 11, 12]  # more positions than a head has dimensions
    queries: list[tuple[Tensor, ...]] = []
    for block in transformer.decoder.blocks:
        attention = block.get_submodule("cross_attention")
        attention.attention = SharperAttention()
        attention.attention.register_forward_pre_hook(lambda _, given: queries.append(given))

    maps = read_attention(transformer, source, target)

    assert len(queries) == len(maps.cross)
    for (query, key, _, mask), found in zip(queries, maps.cross, strict=True):
        torch.testing.assert_close(found, attention_weights(5 * query, key, mask)[0])


def test_the_model_is_left_as_it_was(transformer: Transformer) -> None:
    source, target = torch.tensor([SOURCE]), torch.tensor([TARGET])
    before = transformer(source, target)
    read_attention(transformer, SOURCE, TARGET)
    assert torch.equal(transformer(source, target), before)
    assert not any(module._forward_pre_hooks for module in transformer.modules())
