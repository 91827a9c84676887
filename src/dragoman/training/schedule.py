"""The learning rate of an update (section 5.3)."""

import math

from dragoman.training.config import TrainingConfig


def learning_rate(update: int, config: TrainingConfig, d_model: int) -> float:
    """Compute the learning rate of an update; the first one is number 1.

    `paper` is equation 3, d_model^-0.5 * min(update^-0.5, update * warmup^-1.5), times
    `config.learning_rate`. The others rise linearly to `config.learning_rate` and then fall as
    1 / sqrt(update), as half a cosine to zero, linearly to zero, or not at all.
    """
    if config.schedule == "paper":
        rise = update * config.warmup_updates**-1.5
        return config.learning_rate * d_model**-0.5 * min(update**-0.5, rise)
    if update < config.warmup_updates:
        return config.learning_rate * update / config.warmup_updates
    return config.learning_rate * _after_warmup(update, config)


def _after_warmup(update: int, config: TrainingConfig) -> float:
    """Return the fraction of the peak that is left, 1 at the end of the warm-up."""
    if config.schedule == "inverse_square_root":
        return math.sqrt(max(config.warmup_updates, 1) / update)
    # One update more than there are, so that the last one still learns.
    done = (update - config.warmup_updates) / (config.updates + 1 - config.warmup_updates)
    if config.schedule == "cosine":
        return 0.5 * (1.0 + math.cos(math.pi * done))
    if config.schedule == "linear":
        return 1.0 - done
    return 1.0
