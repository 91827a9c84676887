"""The whole model, figure 1."""

from jaxtyping import Float, Int
from torch import Tensor, nn

from dragoman.model.attention import MultiHeadAttention, ScaledDotProductAttention
from dragoman.model.config import TransformerConfig
from dragoman.model.decoder import Decoder
from dragoman.model.decoder_state import DecoderState
from dragoman.model.dropout import Dropout
from dragoman.model.embeddings import InputEmbeddings
from dragoman.model.encoder import Encoder
from dragoman.model.fused_attention import side_by_side
from dragoman.model.initialization import initialize
from dragoman.model.masks import SourceMask, TargetMask, causal_mask, padding_mask
from dragoman.model.positional_encoding import Position, build_positions
from dragoman.model.projection import Project, Projection


class Transformer(nn.Module):
    """An encoder-decoder Transformer: `encode`, `decode`, `project`.

    Raises:
        ValueError: the embeddings are tied across vocabularies of different sizes.
    """

    def __init__(
        self,
        config: TransformerConfig,
        *,
        source_vocab_size: int,
        target_vocab_size: int,
        padding_id: int,
    ) -> None:
        super().__init__()
        if config.tied_embeddings == "all" and source_vocab_size != target_vocab_size:
            raise ValueError(
                f"source ({source_vocab_size}) and target ({target_vocab_size}) vocabularies "
                "differ, so tied_embeddings cannot be 'all'"
            )
        self.config = config
        self.padding_id = padding_id
        self.source_embeddings = InputEmbeddings(
            source_vocab_size, config.d_model, padding_id=padding_id
        )
        self.target_embeddings = (
            self.source_embeddings.sharing()
            if config.tied_embeddings == "all"
            else InputEmbeddings(target_vocab_size, config.d_model, padding_id=padding_id)
        )
        self.positions = build_positions(config)
        self.dropout = Dropout(config.dropout)
        self.encoder = Encoder(config)
        self.decoder = Decoder(config)
        self.projection = Projection(config.d_model, target_vocab_size, bias=config.projection_bias)
        if config.tied_embeddings != "none":
            self.projection.tie(self.target_embeddings.table)
        initialize(self)

    def encode(
        self, source: Int[Tensor, "batch source"], source_mask: SourceMask
    ) -> Float[Tensor, "batch source d_model"]:
        """Read the source."""
        x = self._embed(self.source_embeddings, source)
        return self.encoder(x, source_mask, self.positions.rotation(source.size(1)))

    def decode(
        self,
        target: Int[Tensor, "batch target"],
        memory: Float[Tensor, "batch source d_model"],
        source_mask: SourceMask,
        target_mask: TargetMask,
    ) -> Float[Tensor, "batch target d_model"]:
        """Compute the state at every target position, each from the positions up to it."""
        x = self._embed(self.target_embeddings, target)
        rotate = self.positions.rotation(target.size(1))
        return self.decoder(x, memory, target_mask, source_mask, rotate)

    def _embed(
        self,
        embeddings: InputEmbeddings,
        tokens: Int[Tensor, "batch length"],
        *,
        first_position: Position = 0,
    ) -> Float[Tensor, "batch length d_model"]:
        """Compute the input of the first block, in the number format of its matrix products.

        Training may leave the tables in a finer one.
        """
        x = embeddings(tokens).to(self.encoder.dtype)
        return self.dropout(self.positions(x, first_position=first_position))

    def project(
        self, states: Float[Tensor, "*positions d_model"]
    ) -> Float[Tensor, "*positions vocab"]:
        """Compute the logits of the token that follows each state."""
        return self.projection(states)

    def forward(
        self, source: Int[Tensor, "batch source"], target: Int[Tensor, "batch target"]
    ) -> Float[Tensor, "batch target vocab"]:
        """Compute the logits of every next target token, as training needs them.

        The source ends with EOS; the target begins with BOS and lacks its last token. Both are
        padded on the right.
        """
        return self.project(self.states(source, target))

    def states(
        self, source: Int[Tensor, "batch source"], target: Int[Tensor, "batch target"]
    ) -> Float[Tensor, "batch target d_model"]:
        """Compute what `forward` projects."""
        source_mask = padding_mask(source, self.padding_id)
        target_mask = padding_mask(target, self.padding_id) & causal_mask(
            target.size(1), target.device
        )
        across_mask = source_mask
        if self.training and source.is_cuda and self._takes_rows():
            across_mask = side_by_side(source_mask, target.size(1))
            source_mask = side_by_side(source_mask, source.size(1))
            target_mask = side_by_side(target_mask, target.size(1))
        return self.decode(target, self.encode(source, source_mask), across_mask, target_mask)

    def _takes_rows(self) -> bool:
        """Tell whether several sentences may be laid in a row: another attention need not know."""
        attentions = (m.attention for m in self.modules() if isinstance(m, MultiHeadAttention))
        return all(type(attention) is ScaledDotProductAttention for attention in attentions)

    def start(self, source: Int[Tensor, "batch source"]) -> DecoderState:
        """Encode the source and prepare to decode it token by token."""
        source_mask = padding_mask(source, self.padding_id)
        return self.decoder.start(self.encode(source, source_mask), source_mask)

    def step(
        self,
        tokens: Int[Tensor, "batch prefixes"],
        state: DecoderState,
        project: Project | None = None,
    ) -> tuple[Float[Tensor, "batch prefixes vocab"], DecoderState]:
        """Compute the logits of the tokens that follow these, the last ones of several prefixes.

        All prefixes of all sentences have the same length. The state cannot be used again, unless
        it is the one before the first token, and gradients do not flow through more than one step.
        Another projection, such as one from `Projection.narrow`, gives the logits of fewer tokens.
        """
        states, state = self.advance(tokens, state.extend())
        return (project or self.project)(states), state

    def advance(
        self, tokens: Int[Tensor, "batch prefixes"], state: DecoderState
    ) -> tuple[Float[Tensor, "batch prefixes d_model"], DecoderState]:
        """Compute what `step` projects; `state.extend` has made room for the tokens."""
        position = state.length - 1  # of all of them, each embedded as a sequence of its own
        each = self._embed(self.target_embeddings, tokens.reshape(-1, 1), first_position=position)
        rotate = self.positions.rotation(1, first_position=position)
        return self.decoder.advance(each.view(*tokens.shape, -1), state, rotate)
