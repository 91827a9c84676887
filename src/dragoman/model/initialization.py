"""The initial weights of a model, in one place."""

from torch import nn


def initialize(model: nn.Module) -> None:
    """Draw all the weights of a model from the global random generator.

    Matrices are Xavier-uniform and biases zero. Embeddings are normal with variance 1 / d_model,
    so that they have unit variance once multiplied by sqrt(d_model), and the padding row is zero.
    Embeddings come last: a projection that shares their table must be initialised as they are.
    """
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
    embeddings = [module for module in model.modules() if isinstance(module, nn.Embedding)]
    for module in {module.weight: module for module in embeddings}.values():  # each table once
        nn.init.normal_(module.weight, std=module.embedding_dim**-0.5)
        if module.padding_idx is not None:
            nn.init.zeros_(module.weight[module.padding_idx])
