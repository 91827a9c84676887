"""A translation that a test puts in the place of one that was searched for."""

from dragoman.translation import Alternative


def says(text: str, score: float = -1.0) -> Alternative:
    return Alternative(
        text=text,
        parts=(text,),
        score=score,
        log_probability=score,
        num_tokens=1,
        finished=True,
        faults=(),
    )
