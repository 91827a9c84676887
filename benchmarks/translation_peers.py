"""Other toolkits, filled with our weights and made to translate.

Each is an optional install, beside Dragoman in the same environment:

    huggingface     pip install transformers
    joeynmt         pip install --no-deps joeynmt==2.3.0, then what it imports: sacremoses,
                    subword-nmt, tensorboard, matplotlib, seaborn, importlib_metadata, pandas

They run their own forward pass and their own search, in float32, and get our batches: sentences
sorted by length, as many source tokens as `tokens_per_batch` says. First, each has to show that its
logits are ours.

`huggingface` is `M2M100ForConditionalGeneration`, the encoder-decoder of transformers that has the
norm before each sublayer. Its sinusoids have other wavelengths, so its table of them is replaced.
`joeynmt` has our positions; its layer norms get our epsilon instead of 1e-6, and its vocabulary
has the special tokens in an order of its own. Neither change makes a computation longer or shorter.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import takewhile
from typing import Any, Protocol

import torch
from peer_weights import for_joeynmt, for_m2m100, set_epsilon
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from training_peers import JOEYNMT_SPECIAL, joeynmt_model

from dragoman.decoding.config import SearchConfig
from dragoman.engines.grouping import group_by_length
from dragoman.errors import DragomanError
from dragoman.interop.proof import TOLERANCE, LoadedModel, draw_sentences
from dragoman.model.positional_encoding import sinusoids
from dragoman.tokenizers.tokenizer import SpecialIds

COMMON_GROUND = {
    "norm": "before",
    "layer_norm": "per_feature",
    "activation": "relu",
    "positional_encoding": "interleaved",
    "tied_embeddings": "all",
    "projection_bias": False,
}
"""What both peers support: our presets."""

NUM_POSITIONS = 2048
"""For how many positions a peer with a table of them has encodings."""

Translate = Callable[[Sequence[Sequence[int]], SearchConfig], list[tuple[int, ...]]]
"""(sentences, how to search) -> translations."""


class PeerError(DragomanError):
    """A peer is not installed, or is not the same model."""


class Peer(Protocol):
    """A toolkit that holds our weights; all token ids are ours, padded on the right."""

    tokens_per_batch: int
    """Source tokens decoded together, padding and the beam's copies included."""

    def logits(self, sources: Tensor, targets: Tensor) -> Tensor:
        """Do what `Transformer.forward` does."""

    def search(self, sources: Tensor, config: SearchConfig, limit: int) -> list[list[int]]:
        """Translate a batch, to at most `limit` tokens each; what follows EOS is cut off later."""


def prepare(name: str, loaded: LoadedModel) -> Translate:
    """Fill a peer with a model and show that it is the same.

    Raises:
        PeerError: it is not installed, cannot represent this model, or computes something else.
    """
    config = loaded.transformer.config
    for setting, value in COMMON_GROUND.items():
        if (ours := vars(config)[setting]) != value:
            raise PeerError(f"filled with presets only: {setting} is {ours!r}, not {value!r}")
    peer = PEERS[name](loaded)
    prove(peer, loaded)
    return partial(translate, peer, loaded.directory.description.special_ids)


@torch.inference_mode()
def prove(peer: Peer, loaded: LoadedModel) -> None:
    """Compare the logits of every token after random texts.

    Raises:
        PeerError: they are not ours.
    """
    special = loaded.directory.description.special_ids
    drawn = map(draw_sentences, (loaded.tokenizers.source, loaded.tokenizers.target))
    pairs = list(zip(*drawn, strict=False))
    sources = pad([[*source, special.eos] for source, _ in pairs], special)
    targets = pad([[special.bos, *target] for _, target in pairs], special)
    differences = peer.logits(sources, targets) - loaded.transformer(sources, targets)
    largest = float(differences[targets != special.pad].abs().max())
    if not largest < TOLERANCE:
        raise PeerError(f"it is another model: its logits differ from ours by up to {largest:.2g}")


def translate(
    peer: Peer, special: SpecialIds, sources: Sequence[Sequence[int]], config: SearchConfig
) -> list[tuple[int, ...]]:
    """Translate in batches of sentences of similar length."""
    found: list[tuple[int, ...]] = [()] * len(sources)
    for batch in group_by_length(
        list(map(len, sources)), peer.tokens_per_batch // config.beam_size
    ):
        limit = config.max_length(len(sources[batch[0]]))  # the longest comes first
        if limit >= NUM_POSITIONS:
            raise PeerError(f"a translation may need {limit} positions, more than are prepared")
        padded = pad([[*sources[i], special.eos] for i in batch], special)
        for i, ids in zip(batch, peer.search(padded, config, limit), strict=True):
            found[i] = tuple(takewhile(lambda token: token != special.eos, ids))
    return found


def pad(rows: Sequence[Sequence[int]], special: SpecialIds) -> Tensor:
    """Pad the rows to equal length."""
    return pad_sequence(list(map(torch.tensor, rows)), True, special.pad)


class HuggingFace:
    """`M2M100ForConditionalGeneration` of transformers and its `generate`."""

    tokens_per_batch = 2**12

    def __init__(self, loaded: LoadedModel) -> None:
        try:
            from transformers import GenerationConfig, M2M100Config, M2M100ForConditionalGeneration
        except ImportError:
            raise PeerError("not installed: pip install transformers") from None
        description = loaded.directory.description
        sizes, special = description.model, description.special_ids
        self._special = special
        self._model = M2M100ForConditionalGeneration(
            M2M100Config(
                vocab_size=description.tokenizer.source_vocab_size,
                d_model=sizes.d_model,
                encoder_layers=sizes.num_encoder_layers,
                decoder_layers=sizes.num_decoder_layers,
                encoder_attention_heads=sizes.num_heads,
                decoder_attention_heads=sizes.num_heads,
                encoder_ffn_dim=sizes.d_ff,
                decoder_ffn_dim=sizes.d_ff,
                activation_function="relu",
                scale_embedding=True,
                max_position_embeddings=NUM_POSITIONS + special.pad,
                pad_token_id=special.pad,
                bos_token_id=special.bos,
                eos_token_id=special.eos,
                decoder_start_token_id=special.bos,
            )
        ).eval()
        self._model.load_state_dict(for_m2m100(loaded.transformer))
        set_epsilon(self._model, sizes.layer_norm_epsilon)
        for stack in (self._model.model.encoder, self._model.model.decoder):
            table = stack.embed_positions.weights  # its first position is pad + 1
            first = special.pad + 1
            table[first:] = sinusoids(len(table) - first, sizes.d_model)
        self._generation = partial(
            GenerationConfig,
            suppress_tokens=list(loaded.directory.description.forbidden_ids),
            pad_token_id=special.pad,
            bos_token_id=special.bos,
            eos_token_id=special.eos,
            decoder_start_token_id=special.bos,
        )

    def logits(self, sources: Tensor, targets: Tensor) -> Tensor:
        """Ask the model."""
        seen = (sources != self._special.pad).long()
        logits: Tensor = self._model(sources, seen, decoder_input_ids=targets).logits
        return logits

    def search(self, sources: Tensor, config: SearchConfig, limit: int) -> list[list[int]]:
        """Let it generate; its length penalty is length^alpha."""
        found = self._model.generate(
            sources,
            attention_mask=(sources != self._special.pad).long(),
            generation_config=self._generation(
                num_beams=config.beam_size,
                length_penalty=config.length_penalty,
                max_new_tokens=limit,
            ),
        )
        ids: list[list[int]] = found[:, 1:].tolist()
        return ids


class JoeyNMT:
    """JoeyNMT's Transformer and `joeynmt.search.search`, whose length penalty is ours."""

    tokens_per_batch = 2**12

    def __init__(self, loaded: LoadedModel) -> None:
        try:
            from joeynmt.model import build_model
            from joeynmt.vocabulary import Vocabulary
        except ImportError as error:
            raise PeerError(f"not installed ({error}); translation_peers.py says how") from None
        description = loaded.directory.description
        ours = description.special_ids
        first = [ours.unk, ours.pad, ours.bos, ours.eos]
        others = set(range(description.tokenizer.source_vocab_size)) - set(first)
        self._ours = torch.tensor(first + sorted(others))  # our id for each of its ids
        self._theirs = self._ours.argsort()
        words = Vocabulary([f"piece {i}" for i in sorted(others)], JOEYNMT_SPECIAL)
        self._model = build_model(joeynmt_model(description.model), words, words).eval()
        weights = for_joeynmt(loaded.transformer, self._ours)
        self._model.load_state_dict({**self._model.state_dict(), **weights})
        set_epsilon(self._model, description.model.layer_norm_epsilon)

    def logits(self, sources: Tensor, targets: Tensor) -> Tensor:
        """Ask the model."""
        batch = vars(self._batch(sources))
        memory, *_ = self._model(return_type="encode", **batch)
        logits: Tensor = self._model(
            return_type="decode",
            encoder_output=memory,
            encoder_hidden=None,
            src_mask=batch["src_mask"],
            trg_input=self._theirs[targets],
            unroll_steps=None,
            trg_mask=torch.ones(1, 1, 1, dtype=torch.bool),
        )[0]
        return logits[..., self._theirs]

    def search(self, sources: Tensor, config: SearchConfig, limit: int) -> list[list[int]]:
        """Let it search."""
        from joeynmt.search import search

        found, *_ = search(
            self._model,
            self._batch(sources),
            max_output_length=limit,
            beam_size=config.beam_size,
            beam_alpha=config.length_penalty,
            generate_unk=False,
        )
        ids: list[list[int]] = self._ours[torch.from_numpy(found)].tolist()
        return ids

    def _batch(self, sources: Tensor) -> Any:
        from joeynmt.batch import Batch

        theirs = self._theirs[sources]
        return Batch(
            src=theirs,
            src_length=(theirs != JOEYNMT_SPECIAL.pad_id).sum(dim=1),
            src_prompt_mask=None,
            trg=None,
            trg_prompt_mask=None,
            indices=torch.arange(len(theirs)),
            device=torch.device("cpu"),
            pad_index=JOEYNMT_SPECIAL.pad_id,
            eos_index=JOEYNMT_SPECIAL.eos_id,
            is_train=False,
        )


PEERS: dict[str, Callable[[LoadedModel], Peer]] = {"huggingface": HuggingFace, "joeynmt": JoeyNMT}
