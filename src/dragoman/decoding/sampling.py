"""Sampling: tokens are drawn from the model's distribution, reshaped or not."""

import hashlib
from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from dragoman.decoding.config import SearchConfig
from dragoman.decoding.greedy import follow_single_paths
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.problem import SearchProblem, State
from dragoman.decoding.top_tokens import top_tokens


def sample(problem: SearchProblem[State], config: SearchConfig) -> list[list[Hypothesis]]:
    """Draw `n_best` translations of each sentence, independently of each other.

    They stay in the order in which they were drawn. If they were ranked, the first ones of two
    sentences would both be good, and a text joined from them would not be a sample of the model.

    All the randomness of a sample comes from the seed, the source sentence and the number of the
    sample. So a sentence gets the same samples in every batch and at every place in a file.
    Scores and log-probabilities are those of the model, whatever the temperature.
    """
    noise = _uniform_noise(problem.sources, problem.limits(config), config.seed, config.n_best)
    noise = noise.to(problem.device)

    def draw(logits: Tensor, sentences: Tensor, position: int) -> tuple[Tensor, Tensor]:
        log_probabilities = problem.log_probabilities(logits)
        tokens = draw_tokens(log_probabilities, noise[sentences, :, position], config)
        return log_probabilities.gather(2, tokens[..., None])[..., 0], tokens

    return follow_single_paths(problem, config, num_paths=config.n_best, choose=draw)


def draw_tokens(
    log_probabilities: Float[Tensor, "*rows vocab"],
    noise: Float[Tensor, "*rows"],
    config: SearchConfig,
) -> Int[Tensor, "*rows"]:
    """Turn noise, uniform in [0, 1), into tokens: temperature, then top-k, then the nucleus.

    Tokens are laid out on the unit interval, the most probable first, each as wide as its
    probability; the noise says where to point (inverse transform sampling).
    """
    if config.top_k:  # much faster than sorting a whole vocabulary
        count = min(config.top_k, log_probabilities.size(-1))
        ordered, tokens = top_tokens(log_probabilities, count)
    else:
        ordered, tokens = log_probabilities.sort(dim=-1, descending=True, stable=True)
    probabilities = (ordered / config.sampling_temperature).softmax(dim=-1)
    # The nucleus (Holtzman et al. 2020): tokens before which less than top_p has been seen.
    before = probabilities.cumsum(dim=-1) - probabilities
    probabilities = probabilities.masked_fill(before >= config.top_p, 0.0)
    upper = probabilities.cumsum(dim=-1)
    target = noise[..., None] * upper[..., -1:]
    pointed_at = (upper <= target).sum(dim=-1, keepdim=True)
    # Rounding may let the target reach the end of the interval; the token drawn must still have a
    # probability.
    last = (probabilities > 0).sum(dim=-1, keepdim=True) - 1
    return tokens.gather(-1, pointed_at.minimum(last))[..., 0]


def _uniform_noise(
    sources: Sequence[Sequence[int]], lengths: Sequence[int], seed: int, num_samples: int
) -> Float[Tensor, "sentences samples positions"]:
    """Draw a number for each position of each sample."""
    dtype = torch.float32  # a caller's default would draw others, or coarser ones
    noise = torch.zeros(len(sources), num_samples, max(lengths), dtype=dtype)
    for sentence, (source, length) in enumerate(zip(sources, lengths, strict=True)):
        for number in range(num_samples):
            origin = f"{seed} {number} {list(source)}"
            digest = hashlib.blake2b(origin.encode(), digest_size=8).digest()
            generator = torch.Generator().manual_seed(int.from_bytes(digest, "big", signed=True))
            drawn = torch.rand(length, generator=generator, dtype=dtype)
            noise[sentence, number, :length] = drawn
    return noise
