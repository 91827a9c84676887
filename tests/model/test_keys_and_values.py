"""What is kept of a sequence: its rows, its room and how it lies in memory."""

import torch

from dragoman.model.keys_and_values import KeysAndValues


def test_select_keeps_the_rows_it_is_given() -> None:
    kept = KeysAndValues(torch.randn(3, 2, 4, 6), torch.randn(3, 2, 4, 6))

    selected = kept.select(torch.tensor([2, 0, 2, 1]))

    assert torch.equal(selected.keys, kept.keys[[2, 0, 2, 1]])
    assert torch.equal(selected.values, kept.values[[2, 0, 2, 1]])


def test_what_is_kept_has_room_that_is_written_to() -> None:
    """Places of each row of the batch, in every head, what is appended, and any numbers."""
    whole = KeysAndValues(torch.randn(2, 3, 5, 4), torch.randn(2, 3, 5, 4))
    newer = KeysAndValues(torch.randn(2, 3, 2, 4), torch.randn(2, 3, 2, 4))

    kept = whole.compact(torch.tensor([[4, 0, 2], [1, 2, 3]]), room=3).append(newer)

    assert kept.room == 1
    for found, old, new in (
        (kept.keys, whole.keys, newer.keys),
        (kept.values, whole.values, newer.values),
    ):
        copied = torch.stack([old[0][:, [4, 0, 2]], old[1][:, [1, 2, 3]]])
        assert torch.equal(found[:, :, :5], torch.cat([copied, new], dim=2))
        assert torch.equal(found[:, :, 5:], old[:, :, :1])  # numbers, whatever they are


def test_a_part_of_the_batch_has_as_much_room_and_its_own() -> None:
    whole = KeysAndValues(torch.randn(2, 3, 5, 4), torch.randn(2, 3, 5, 4)).compact(
        torch.tensor([[0], [1]]), room=2
    )
    newer = KeysAndValues(torch.randn(1, 3, 2, 4), torch.randn(1, 3, 2, 4))
    before = whole.keys.clone()

    part = whole.select(torch.tensor([1])).append(newer)

    assert part.room == 0
    assert torch.equal(part.keys[:, :, 1:], newer.keys)
    assert torch.equal(whole.keys, before)


def test_a_cache_keeps_its_layout_and_its_slots() -> None:
    """On a GPU the heads of a slot lie side by side, and are copied as one."""
    whole = torch.randn(3, 2, 5, 4)
    places = torch.tensor([[4, 0, 2], [1, 1, 3], [0, 2, 4]])
    rows = torch.tensor([2, 0])

    def by_slot_in_memory(heads: torch.Tensor) -> torch.Tensor:
        return heads.transpose(1, 2).contiguous().transpose(1, 2)

    by_head = KeysAndValues(whole, whole + 1)
    by_slot = KeysAndValues(by_slot_in_memory(whole), by_slot_in_memory(whole + 1))
    for cache in (by_head, by_slot):
        kept = cache.compact(places, room=2).select(rows)
        for found, given in ((kept.keys, whole), (kept.values, whole + 1)):
            for row, origin in enumerate(rows.tolist()):
                expected = given[origin][:, [*places[origin].tolist(), 0, 0]]
                assert torch.equal(found[row], expected)
            assert found.is_contiguous() == (cache is by_head)
            assert found.transpose(1, 2).is_contiguous() == (cache is by_slot)
        assert kept.room == 2
