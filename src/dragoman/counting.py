"""How messages count."""


def counted(number: int, noun: str) -> str:
    """Write a number and what it counts.

    >>> counted(1, "pair"), counted(2000, "pair")
    ('1 pair', '2,000 pairs')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
