# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from wirespeed.experiment.pairs import Half, Matching, match
from wirespeed.model.cpus import PlacementKind

NEAR, FAR = PlacementKind.ONE_CACHE, PlacementKind.ACROSS_CACHES


def halves(text: str) -> list[Half[int]]:
    """Parse halves: A unchanged, B changed; then the placement. The value is the position.

    n: near, f: far, b: both, u: unknown, -: without a value.
    """
    kinds = {"n": (NEAR,), "f": (FAR,), "b": (NEAR, FAR), "u": (None,), "-": ()}
    return [
        Half(side == "B", dict.fromkeys(kinds[kind], number))
        for number, (side, kind) in enumerate(text.split())
    ]


def pairs(found: Matching[int]) -> list[tuple[int, int]]:
    return [(pair.before, pair.after) for pair in found.pairs]


def test_match_one_placement_pairs_in_turn() -> None:
    for kind in "nu":
        found = match(halves(f"A{kind} B{kind} B{kind} A{kind} A{kind} B{kind}"))
        assert pairs(found) == [(0, 1), (3, 2), (4, 5)]
        assert all(pair.in_turn for pair in found.pairs)
        assert (found.waiting, found.share) == ((), 1.0)


def test_match_move_between_halves_keeps_both() -> None:
    found = match(halves("An Bf Af Bn"))
    assert pairs(found) == [(2, 1), (0, 3)]
    assert [pair.placement for pair in found.pairs] == [FAR, NEAR]
    assert [pair.in_turn for pair in found.pairs] == [True, False]


def test_match_other_placement_alone_stays_waiting() -> None:
    found = match(halves("An Bf Bf An Bu"))
    assert pairs(found) == []
    assert (len(found.waiting), found.share) == (5, 0.0)


def test_match_several_waiting_takes_the_newest() -> None:
    assert pairs(match(halves("An An Bn"))) == [(1, 2)]


def test_match_half_with_two_placements_is_used_once() -> None:
    found = match(halves("Ab Bf Bn"))
    assert pairs(found) == [(0, 1)]
    assert len(found.waiting) == 1
    assert match(halves("Ab Bb")).pairs[0].placement is NEAR


def test_words_say_how_many_were_matched_and_how() -> None:
    assert match(halves("Au Bu")).words == "2 of 2 measurements matched"
    assert match(halves("An Bf Bn B- Af Bu")).words == (
        "4 of 6 measurements matched, 1 half waiting, 1 without a rate; 1 pair with polling CPUs "
        "within one cache, 1 pair with polling CPUs across caches; 2 with a later partner"
    )


@given(st.lists(st.sampled_from([s + k for s in "AB" for k in "nfbu-"])))
def test_match_any_order_uses_each_half_at_most_once(given_halves: list[str]) -> None:
    measured = halves(" ".join(given_halves))
    found = match(measured)
    used = [number for pair in pairs(found) for number in pair]
    assert len(set(used)) == len(used)
    assert found.measured == len(measured)
    for pair in found.pairs:
        assert not measured[pair.before].changed
        assert measured[pair.after].changed
        assert pair.placement in measured[pair.before].values
        assert pair.placement in measured[pair.after].values
    left = {(half.changed, kind) for half in found.waiting for kind in half.values}
    assert not any((not changed, kind) in left for changed, kind in left)
