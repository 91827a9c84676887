"""A sample of a stream whose length is not known."""

import random
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Reservoir(Generic[Item]):
    """Draws from a stream of unknown length, the same items each time (Vitter 1985, algorithm R).

    Args:
        most: Items that are kept, each as likely as any other.
    """

    def __init__(self, most: int) -> None:
        self.items: list[Item] = []
        self._most = most
        self._draw = random.Random(1)
        self._num_passed = 0

    def add(self, item: Item) -> None:
        """Keep an item, or let it pass."""
        self._num_passed += 1
        if len(self.items) < self._most:
            self.items.append(item)
        elif (place := self._draw.randrange(self._num_passed)) < self._most:
            self.items[place] = item
