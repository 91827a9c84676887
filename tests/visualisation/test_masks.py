"""The pictures of masks show what the decoder of the model sees."""

from xml.etree import ElementTree

import numpy as np

from dragoman.visualisation.mask_examples import mask_examples
from dragoman.visualisation.mask_pictures import mask_figure, mask_page

TITLE = "{http://www.w3.org/2000/svg}title"


def test_a_padded_sentence_is_masked_as_by_hand() -> None:
    example = mask_examples()[1]

    assert example.tokens == ("<s>", "che", "ore", "sono", "<pad>", "<pad>")
    expected = [  # row by row: what each position sees
        "x.....",
        "xx....",
        "xxx...",
        "xxxx..",
        "xxxx..",
        "xxxx..",
    ]
    assert ["".join(".x"[int(seen)] for seen in row) for row in example.both] == expected
    assert np.array_equal(example.padding, np.tile([True] * 4 + [False] * 2, (6, 1)))
    assert np.array_equal(example.causal, np.tri(6, dtype=bool))


def test_the_page_and_the_figure_hold_all_masks() -> None:
    examples = mask_examples()

    root = ElementTree.fromstring(mask_page(examples))
    figure = mask_figure(examples)

    titles = [title.text or "" for title in root.iter(TITLE)]
    assert len(titles) == 3 * 3 * 36
    visible = sum(
        int(vars(e)[name].sum()) for e in examples for name in ("padding", "causal", "both")
    )
    assert sum(title.endswith(": 1.0000") for title in titles) == visible
    drawn = [np.asarray(axes.collections[0].get_array()) for axes in figure.axes]
    assert np.array_equal(drawn[5], examples[1].both)
