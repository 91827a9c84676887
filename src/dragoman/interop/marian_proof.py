"""Compare an imported model with what Hugging Face computes from the original."""

from itertools import takewhile
from operator import eq
from pathlib import Path
from typing import Any

import torch
from torch.nn.utils.rnn import pad_sequence

from dragoman.engines.pytorch import PyTorchEngine
from dragoman.interop.proof import GREEDY, LENGTH_LIMIT, Agreement, draw_sentences
from dragoman.model.transformer import Transformer
from dragoman.model_directory import ModelDirectory
from dragoman.tokenizers.pair import TokenizerPair


def compare_with_transformers(marian: Path, imported: Path) -> Agreement | None:
    """Translate sentences with both, which are made of random pieces of the vocabulary.

    Returns:
        What came out, or None if transformers is not installed.
    """
    try:
        import transformers
    except ModuleNotFoundError:
        return None
    transformers.utils.logging.disable_progress_bar()
    theirs = transformers.MarianMTModel.from_pretrained(marian, dtype=torch.float32).eval()
    directory = ModelDirectory(imported)
    ours, tokenizers = directory.load_transformer(), directory.load_tokenizers()
    sources = list(draw_sentences(tokenizers.source))
    special = tokenizers.target.special_ids
    found = PyTorchEngine(ours, special).search(sources, GREEDY)
    translations = [list(hypotheses[0].ids) for hypotheses in found]
    expected = generate_greedily(theirs, sources, tokenizers)
    return Agreement(
        num_sentences=len(sources),
        num_equal=sum(map(eq, translations, expected)),
        largest_difference=max(
            compare_logits(ours, theirs, [*source, special.eos], [special.bos, *translation])
            for source, translation in zip(sources, translations, strict=True)
        ),
    )


def generate_greedily(
    model: Any, sources: list[list[int]], tokenizers: TokenizerPair
) -> list[list[int]]:
    """Let Hugging Face translate, without the tokens that our search never produces either."""
    special = tokenizers.target.special_ids
    rows = [torch.tensor([*source, special.eos]) for source in sources]
    with torch.inference_mode():
        output = model.generate(
            pad_sequence(rows, batch_first=True, padding_value=special.pad),
            attention_mask=pad_sequence([torch.ones_like(row) for row in rows], batch_first=True),
            num_beams=1,
            do_sample=False,
            max_length=None,
            max_new_tokens=LENGTH_LIMIT,
            forced_eos_token_id=None,
            suppress_tokens=sorted({special.pad, special.bos, special.unk}),
        )
    return [
        list(takewhile(lambda token: token != special.eos, row)) for row in output[:, 1:].tolist()
    ]


def compare_logits(ours: Transformer, theirs: Any, source: list[int], target: list[int]) -> float:
    """Find the largest difference between the logits of one sentence pair."""
    with torch.inference_mode():
        tokens, prefix = torch.tensor([source]), torch.tensor([target])
        expected = theirs(input_ids=tokens, decoder_input_ids=prefix).logits
        return (ours(tokens, prefix) - expected).abs().max().item()
