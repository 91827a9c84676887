"""A tokenizer that cuts words into pieces."""

import pytest

from dragoman.tokenizers.config import TokenizerConfig
from dragoman.tokenizers.tokenizer import Tokenizer
from dragoman.tokenizers.training import train_tokenizers

PAIRS = [
    ("The cat is on the table.", "Il gatto è sul tavolo."),
    ("The dog is under the table.", "Il cane è sotto il tavolo."),
    ("Where is the cat?", "Dov'è il gatto?"),
    ("I see a dog and a cat.", "Vedo un cane e un gatto."),
]


@pytest.fixture(scope="session")
def subwords(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    directory = tmp_path_factory.mktemp("tokenizers")
    return train_tokenizers(TokenizerConfig(vocab_size=320), lambda: PAIRS, directory).source
