"""What a client offers is hidden from the parser, and nothing else is."""

import pytest

from dragoman.serving.protocol_upgrade import OfferFilter

HEAD = b"POST / HTTP/1.1\r\nX-Upgrade: 1\r\n%s: h2c\r\nUp: upgrade: 2\r\n\r\n"


@pytest.mark.parametrize("name", [b"Upgrade", b"upgrade\t", b"UPGRADE "])
@pytest.mark.parametrize("body", [b"", b"u", b"Upgrade: h2c", b"\r\nup"])
def test_only_a_header_of_the_name_is_hidden_wherever_packets_end(name: bytes, body: bytes) -> None:
    head = HEAD % name
    hidden = HEAD % name.lower().replace(b"upgrade", b"x-upgrd")
    for place in range(len(head)):
        for other in range(place, len(head)):
            offers = OfferFilter()
            parts = (head[:place], head[place:other], head[other:] + body)
            assert b"".join(map(offers.hide, parts)) == hidden + body


def test_the_head_of_the_next_request_is_read_anew() -> None:
    offers = OfferFilter()
    heads = [HEAD % name for name in (b"Upgrade", b"Upgrad", b"Upgrade")]
    hidden = [offers.hide(head).count(b"x-upgrd") for head in heads]

    assert hidden == [1, 0, 1]
    offers.hide(b"GET / HTTP/1.1\r\nup")
    assert offers.hide(b"on: 1\r\n\r\n") == b"upon: 1\r\n\r\n"
    assert offers.hide(b"GET / HTTP/1.1\r\nup\r\n\r\n") == b"GET / HTTP/1.1\r\nup\r\n\r\n"
