"""The browser that tests open pages in."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, sync_playwright

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

LEAST_CONTRAST = 4.5
"""Of small text and what is behind it (Web Content Accessibility Guidelines 2.2, 1.4.3)."""

CONTRAST_OF_DROPPED = """ground => {
    const group = document.querySelector(".beam .dropped");
    const style = name => getComputedStyle(group.querySelector(name)).fill;
    const numbers = colour => colour.match(/[\\d.]+/g).slice(0, 3).map(Number);
    const behind = numbers(getComputedStyle(document.querySelector(ground)).backgroundColor);
    const opacity = Number(getComputedStyle(group).opacity);
    const luminance = colour => numbers(colour)
        .map((part, i) => (opacity * part + (1 - opacity) * behind[i]) / 255)
        .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
        .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
    const [dark, light] = [style(".muted"), style("rect")].map(luminance).sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
}"""
"""Computes the contrast of a number in a beam's tree and its box, both faded."""

SPACE_IS_LAST = """(place, word) => {
    const texts = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
    const found = [];
    while (texts.nextNode()) {
        const text = texts.currentNode;
        if (text.data !== word) continue;
        const [space, letter] = [0, 1].map(i => {
            const sign = document.createRange();
            sign.setStart(text, i);
            sign.setEnd(text, i + 1);
            return sign.getBoundingClientRect();
        });
        const isHidden = space.width === 0;
        // The labels of columns go upwards.
        if (!isHidden) found.push(space.x < letter.x || space.y > letter.y);
    }
    return found;
}"""
"""Tells, wherever in a place a word from right to left stands alone, if its ▁ is behind its end."""


@contextmanager
def opened(written: str, path: Path, *, width: int) -> Iterator[Page]:
    """Write a page into a file, and open it in a window of so many pixels."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium")
    path.write_text(written, encoding="utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        page = browser.new_page(viewport={"width": width, "height": 800})
        page.goto(path.as_uri())
        yield page
        browser.close()
