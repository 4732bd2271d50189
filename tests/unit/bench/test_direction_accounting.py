# SPDX-License-Identifier: Apache-2.0
"""Check that each direction of two-way traffic is accounted for by itself."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirespeed.bench import frame_accounting as accounts
from wirespeed.bench.assembly.kinds import wiring_of
from wirespeed.bench.direction_accounting import divided
from wirespeed.bench.interface import HopCount
from wirespeed.bench.topology.wiring import GENERATOR, SWITCH, End
from wirespeed.model.result.hop_counts import Drop, DropCause
from wirespeed.model.result.observation import DirectionCount
from wirespeed.model.study.spec import Frames, Topology

TWO_WAY = wiring_of(Frames(Topology("pvp", bidirectional=True)))
ONE_WAY = wiring_of(Frames(Topology("pvp")))
TO_WEST, TO_EAST = TWO_WAY.directions
FULL, UNKNOWN = DropCause.VHOST_TX_RING_FULL, DropCause.UNKNOWN
SENT = 100_000


def direction(name: str, received: int) -> DirectionCount:
    return DirectionCount(name, SENT, SENT, SENT, 0, received, 0, 0, 0)


def found_of(
    switch: HopCount, vnf: HopCount, to_west: int, to_east: int, arrived: dict[str, int]
) -> set[Drop]:
    """Account for a trial of pvp that sent the same number of frames in both directions."""
    counts = {
        GENERATOR: HopCount(GENERATOR, arrived, {"east": SENT, "west": SENT}),
        SWITCH: switch,
        "vnf0": vnf,
    }
    directions = [direction(TO_WEST, to_west), direction(TO_EAST, to_east)]
    return set(accounts.drops(counts, TWO_WAY.cables, directions, paths=TWO_WAY.paths()))


def switch(
    *, left: dict[str, int], drops: dict[tuple[str, DropCause], int] | None = None, back: int = SENT
) -> HopCount:
    """Return the switch's counts. back: frames that the VNF returned in each direction."""
    entered = {"east": SENT, "west": SENT, "vnf0a": back, "vnf0b": back}
    passed = {"east": SENT, "west": SENT, "vnf0a": SENT, "vnf0b": SENT}
    return HopCount(SWITCH, entered, {**passed, **left}, drops or {})


WHOLE_VNF = HopCount("vnf0", {"a": SENT, "b": SENT}, {"a": SENT, "b": SENT})
ALL_ARRIVED = {"east": SENT, "west": SENT}


def test_paths_of_two_way_traffic_begin_and_end_at_the_generator() -> None:
    paths = TWO_WAY.paths()
    assert list(paths) == [TO_WEST, TO_EAST]
    [to_east] = paths[TO_EAST]
    assert (to_east[0], to_east[-1]) == (End(GENERATOR, "west"), End(GENERATOR, "east"))
    assert wiring_of(Frames(Topology("external"))).paths() == {}


def test_drops_directions_that_close_yield_nothing() -> None:
    assert found_of(switch(left={}), WHOLE_VNF, SENT, SENT, ALL_ARRIVED) == set()


def test_drops_direction_that_lacks_what_the_other_has_too_many_of_is_named() -> None:
    """The switch's sum closes: frames to the west came back to the east."""
    turned = {"west": SENT - 5_000, "east": SENT + 5_000}
    found = found_of(switch(left=turned), WHOLE_VNF, SENT - 5_000, SENT, turned)
    assert found == {
        Drop(SWITCH, UNKNOWN, 5_000, TO_WEST),
        Drop(SWITCH, UNKNOWN, -5_000, TO_EAST),
        Drop(GENERATOR, UNKNOWN, 5_000, TO_EAST),
    }


def test_unexplained_hop_that_closes_over_both_directions_holds_no_frame() -> None:
    drops = [Drop(SWITCH, UNKNOWN, 5_000, TO_WEST), Drop(SWITCH, UNKNOWN, -5_000, TO_EAST)]
    assert not accounts.unexplained(drops)
    assert accounts.unexplained(drops[:1])


def test_drops_few_frames_that_turned_round_are_answers() -> None:
    turned = {"west": SENT - 9, "east": SENT + 9}
    found = found_of(switch(left=turned), WHOLE_VNF, SENT - 9, SENT + 9, turned)
    assert found == set()


def test_drops_missing_inside_a_function_are_of_the_direction_that_lacks_them() -> None:
    vnf = HopCount("vnf0", {"a": SENT, "b": SENT}, {"a": SENT - 70, "b": SENT})
    counted = switch(left={"east": SENT - 70})
    counted = HopCount(SWITCH, {**counted.entered, "vnf0a": SENT - 70}, counted.left, counted.drops)
    found = found_of(counted, vnf, SENT, SENT - 70, {"east": SENT - 70, "west": SENT})
    assert found == {Drop("vnf0", UNKNOWN, 70, TO_EAST)}


def test_drops_with_a_cause_at_a_port_are_those_of_its_direction() -> None:
    """Each direction lacks frames, and one of them is explained by a full ring."""
    left = {"vnf0a": SENT - 300, "vnf0b": SENT - 200}
    full = {(f"{SWITCH}:vnf0a", FULL): 300}
    vnf = HopCount(
        "vnf0", {"a": SENT - 300, "b": SENT - 200}, {"a": SENT - 200, "b": SENT - 300}
    )  # fmt: skip
    counted = switch(left={**left, "west": SENT - 300, "east": SENT - 200}, drops=full)
    entered = {**counted.entered, "vnf0b": SENT - 300, "vnf0a": SENT - 200}
    counted = HopCount(SWITCH, entered, counted.left, full)
    arrived = {"west": SENT - 300, "east": SENT - 200}
    found = found_of(counted, vnf, SENT - 300, SENT - 200, arrived)
    assert found == {
        Drop(f"{SWITCH}:vnf0a", FULL, 300),
        Drop(SWITCH, UNKNOWN, 200, TO_EAST),
    }


def test_drops_missing_on_a_cable_are_of_the_direction_that_passes_it() -> None:
    vnf = HopCount("vnf0", {"a": SENT - 7, "b": SENT}, {"a": SENT, "b": SENT - 7})
    counted = switch(left={"west": SENT - 7})
    entered = {**counted.entered, "vnf0b": SENT - 7}
    counted = HopCount(SWITCH, entered, counted.left)
    found = found_of(counted, vnf, SENT - 7, SENT, {"east": SENT, "west": SENT - 7})
    assert found == {Drop("switch:vnf0a-vnf0:a", UNKNOWN, 7, TO_WEST)}


def test_drops_of_one_way_traffic_name_no_direction() -> None:
    counts = {
        GENERATOR: HopCount(GENERATOR, {"west": 90}, {"east": 100}),
        SWITCH: HopCount(SWITCH, {"east": 100, "vnf0b": 90}, {"vnf0a": 100, "west": 90}),
        "vnf0": HopCount("vnf0", {"a": 100}, {"b": 90}),
    }
    one = [DirectionCount(TO_WEST, 100, 100, 100, 0, 90, 0, 0, 0)]
    found = accounts.drops(counts, ONE_WAY.cables, one, paths=ONE_WAY.paths())
    assert found == (Drop("vnf0", UNKNOWN, 10),)


@pytest.mark.parametrize(
    ("unknown", "lacking", "expected"),
    [
        (7, {"a": 7, "b": 0}, {"a": 7}),
        (0, {"a": 5, "b": -5}, {"a": 5, "b": -5}),
        (0, {"a": 5, "b": 4}, {}),
        (3, {"a": 5, "b": 0}, {"a": 3}),
        (3, {"a": 5, "b": 4}, {"": 3}),
        (7, {"a": 5, "b": 4}, {"a": 3, "b": 2, "": 2}),
        (-4, {"a": 0, "b": 0}, {"": -4}),
        (9, {"a": 0, "b": 0}, {"": 9}),
    ],
    ids=[
        "one lacks",
        "one lacks what the other has",
        "drops without a port explain all",
        "drops without a port explain some",
        "either may have lost them",
        "each lost some at least",
        "too many drops",
        "came in elsewhere",
    ],
)
def test_divided_assigns_what_each_direction_lacks_at_least(
    unknown: int, lacking: dict[str, int], expected: dict[str, int]
) -> None:
    assert divided(unknown, lacking) == expected


@given(st.integers(-1000, 1000), st.lists(st.integers(-1000, 1000), min_size=2, max_size=4))
def test_divided_frames_always_add_up(unknown: int, lacks: list[int]) -> None:
    found = divided(unknown, {str(i): n for i, n in enumerate(lacks)})
    assert sum(found.values()) == unknown


PORTS = st.fixed_dictionaries({port: st.integers(0, 10**6) for port in
                               ("east", "west", "vnf0a", "vnf0b")})  # fmt: skip
SIDES = st.fixed_dictionaries({side: st.integers(0, 10**6) for side in "ab"})
ENDS = st.fixed_dictionaries({port: st.integers(0, 10**6) for port in ("east", "west")})


@given(
    st.tuples(PORTS, PORTS), st.tuples(SIDES, SIDES), st.tuples(ENDS, ENDS), st.integers(0, 10**6)
)
def test_drops_of_two_way_traffic_and_received_frames_are_those_offered(
    ports: tuple[dict[str, int], dict[str, int]], sides: tuple[dict[str, int], dict[str, int]],
    ends: tuple[dict[str, int], dict[str, int]], full: int,
) -> None:  # fmt: skip
    """The sum holds for any counters, however wrong, and is the same without directions."""
    (entered, left), (into, out), (arrived, sent) = ports, sides, ends
    counts = {
        GENERATOR: HopCount(GENERATOR, arrived, sent),
        SWITCH: HopCount(SWITCH, entered, left, {(f"{SWITCH}:vnf0a", FULL): full}),
        "vnf0": HopCount("vnf0", into, out),
    }
    directions = [
        DirectionCount(name, n, n, n, 0, n // 2, 0, 0, 0)
        for name, n in ((TO_WEST, sent["east"]), (TO_EAST, sent["west"]))
    ]
    found = accounts.drops(counts, TWO_WAY.cables, directions, paths=TWO_WAY.paths())
    offered = sum(d.offered - d.received for d in directions)
    assert offered == sum(drop.frames for drop in found)
    undivided = accounts.drops(counts, TWO_WAY.cables, directions)
    sums = Counter[tuple[str, DropCause]]()
    for drop in found:
        sums[drop.hop, drop.cause] += drop.frames
    assert {key: n for key, n in sums.items() if n} == {
        (drop.hop, drop.cause): drop.frames for drop in undivided
    }
