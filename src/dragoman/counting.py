"""How messages count."""


def counted(number: float, noun: str, form: str = ",") -> str:
    """Write a number and what it counts; `form` is how Python formats the number.

    >>> counted(1, "pair"), counted(2000, "pair")
    ('1 pair', '2,000 pairs')
    >>> counted(1.0, "minute", "g"), counted(1.004, "epoch", ".3g"), counted(1.5, "epoch", ".3g")
    ('1 minute', '1 epoch', '1.5 epochs')
    """
    written = format(number, form)
    return f"{written} {noun}{'' if written == '1' else 's'}"
