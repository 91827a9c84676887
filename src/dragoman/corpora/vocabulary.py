"""The vocabulary of a run: learnt from its own text, or taken from a model."""

from pathlib import Path

from dragoman.corpora.fingerprint import fingerprint_file
from dragoman.corpora.text_file import expand
from dragoman.tokenizers.config import TokenizerConfig
from dragoman.tokenizers.pair import TokenizerPair
from dragoman.tokenizers.tokenizer import Tokenizer, TokenizerError
from dragoman.tokenizers.training import Pairs, train_tokenizers

IN_NO_TEXT = "\U00100000"
"""A private-use character, which no vocabulary has."""


def learn_or_take(config: TokenizerConfig, pairs: Pairs, directory: Path) -> TokenizerPair:
    """Make the tokenizers of a run, and save them in a directory.

    Args:
        config: Which ones; `from_model` names a model that has them already.
        pairs: Gives a new iterator over the training text at each call, to learn from.
        directory: Where the files are written; it is made if it is missing.

    Raises:
        TokenizerError: nothing can be learnt from the text, or the model has no such tokenizers.
        CorpusError: a variable in the name of the model is not defined.
    """
    if config.from_model is None:
        return train_tokenizers(config, pairs, directory)
    pair = TokenizerPair.load(expand(config.from_model), config.kind)
    if pair.joint != config.joint:
        raise TokenizerError(
            f"{config.from_model}: it has {'one vocabulary' if pair.joint else 'two vocabularies'}"
            f"; set tokenizer.joint = {str(pair.joint).lower()}"
        )
    if config.sampling and any(map(_has_unknowns, (pair.source, pair.target))):
        raise TokenizerError(
            f"{config.from_model}: its vocabulary has no bytes to spell unknown characters with, "
            f"which tokenizer.sampling = {config.sampling} would lose; leave one of the two out"
        )
    pair.save(directory)
    return pair


def _has_unknowns(tokenizer: Tokenizer) -> bool:
    """Tell whether there are characters that a tokenizer has no tokens for."""
    return tokenizer.special_ids.unk in tokenizer.encode(IN_NO_TEXT)


def fingerprint_taken(config: TokenizerConfig) -> dict[str, str]:
    """Compute the SHA-256 of the tokenizers taken from a model, under the recipe's name."""
    if config.from_model is None:
        return {}
    files = sorted(expand(config.from_model).glob("tokenizer*"))
    return {f"{config.from_model}/{path.name}": fingerprint_file(path) for path in files}
