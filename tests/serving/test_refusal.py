"""What a client is told when it does not get a translation."""

import pytest

from dragoman.serving.refusal import RefusalError, as_response


@pytest.mark.parametrize(("seconds", "told"), [(None, None), (0, "1"), (-3, "1"), (7, "7")])
def test_who_may_come_back_is_asked_to_wait_for_a_second_at_least(
    seconds: int | None, told: str | None
) -> None:
    response = as_response(RefusalError(429, "come back later", retry_after=seconds), "/")

    assert response.headers.get("Retry-After") == told
