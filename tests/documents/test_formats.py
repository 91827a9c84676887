"""What holds for documents of every kind."""

import pytest
from tests.documents.translated import translated

from dragoman.documents.formats import DOCUMENT_FORMATS

TIME = "00:00:01,000 --> 00:00:02,000\n"
UNIT = "<xliff version='1.2'><trans-unit><source>{}</source></trans-unit></xliff>"


@pytest.mark.parametrize(
    ("ending", "text"),
    [
        (".srt", TIME + "<i>" * 20_000),
        (".srt", TIME + "{\\" * 20_000),
        (".srt", TIME + "a" + " " * 20_000 + "b" + "</i> " * 20_000 + "c"),
        (".srt", TIME + "A cat, " * 20_000),
        (".vtt", (TIME + "A cat\n\n") * 5_000),
        (".po", 'msgid ""\n' + '"a"\n' * 20_000 + 'msgstr ""'),
        (".po", 'msgid "a"\nmsgstr ""\n' * 5_000),
        (".po", 'msgid "' + "-a " * 20_000 + " " * 20_000 + '."\nmsgstr ""\n'),
        (".po", 'msgid "' + "&a _" * 20_000 + "\\t" * 20_000 + '"\nmsgstr ""\n'),
        (".srt", TIME + "- A cat\n" * 20_000),
        (".xlf", UNIT.format("<x/>" * 20_000 + "A cat")),
        (".xlf", UNIT.format("<x " + "1" * 100_000 + "/> A cat")),
        (".xlf", UNIT.format("<ph>" * 20_000 + "</ph>" * 20_000 + "A cat")),
        (".xlf", UNIT.format("<g translate='no'>" * 9_000 + "A cat" + "</g>" * 9_000)),
        (".xlf", UNIT.format("{n, plural," * 20_000 + "A cat" + "{a" * 20_000)),
        (".xlf", UNIT.format("{n, plural, a {" * 5_000 + "A cat" + "}}" * 5_000)),
        (
            ".xlf",
            UNIT.format("A cat</source><target>b" + "<mrk mtype='seg' mid='1'/>" * 9_000).replace(
                "/></source>", "/></target>"
            ),
        ),
        (".md", "[" * 8_000 + "*" * 8_000 + "a" + "*" * 8_000),
        (".md", "a  \n" * 5_000),
        (".md", "x [" + " " * 20_000 + "y"),
        (
            ".md",
            "".join(f"[a{i}] " for i in range(5_000))
            + "\n\n"
            + "".join(f"[a{i}]: /a\n" for i in range(5_000)),
        ),
        (".json", '{"a": ["a", ' + '"A cat", ' * 20_000 + '"b"]}'),
        (".json", '{"a": "' + "A cat | " * 20_000 + "{ " * 20_000 + " " * 20_000 + '"}'),
        (".json", '{"a": "' + "[" * 20_000 + "1," * 20_000 + " A cat|" + '"}'),
        (".html", "<p>A cat. <b>A dog</b>" * 5_000),
    ],
)
@pytest.mark.processor_seconds(60)  # in quadratic time it was minutes
def test_what_is_repeated_without_end_is_read_in_reasonable_time(ending: str, text: str) -> None:
    found = translated(text, DOCUMENT_FORMATS[ending].take_apart)
    assert len(found.split()) >= len(text.split())
