"""Metrics: they are what really happened, and nobody can make them grow."""

import requests
from tests.serving.live import Copier, serving

from dragoman.serving.models import ServedModel


def test_random_paths_methods_and_texts_add_no_series(copying: tuple[Copier, ServedModel]) -> None:
    with serving([copying[1]]) as url:

        def attack(number: int) -> None:
            requests.get(f"{url}/{number}", timeout=30)
            requests.get(f"{url}/download_file/{number}", timeout=30)
            requests.request(f"METHOD{number}", f"{url}/translate", timeout=30)
            fields = {"q": "a", "source": f"x{number}", "target": "it"}
            requests.post(f"{url}/translate?{number}", json=fields, timeout=30)

        def series() -> int:
            return len(requests.get(f"{url}/metrics", timeout=30).text.split("\n"))

        attack(0)
        series()
        before = series()
        for number in range(1, 30):
            attack(number)
        after = series()
        numbers = requests.get(f"{url}/metrics", timeout=30).text

    assert after == before
    assert 'dragoman_requests_total{path="other",status="404"} 30.0' in numbers
    assert 'dragoman_requests_total{path="/download_file/{name}",status="404"} 30.0' in numbers
    assert 'dragoman_requests_total{path="/translate",status="400"} 30.0' in numbers
    assert "dragoman_requests_in_progress 1.0" in numbers
