# SPDX-License-Identifier: Apache-2.0
"""Check that every offered frame is received, dropped with a cause, or reported unexplained."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from wirespeed.bench import frame_accounting as accounts
from wirespeed.bench.assembly.kinds import wiring_of
from wirespeed.bench.interface import HopCount
from wirespeed.bench.topology.wiring import GENERATOR, SWITCH
from wirespeed.model.result.hop_counts import Counted, Drop, DropCause, HopEvents, QueueShare
from wirespeed.model.result.observation import DirectionCount
from wirespeed.model.study.spec import Frames, Topology

PVP = wiring_of(Frames(Topology("pvp"))).cables
FULL = DropCause.VHOST_TX_RING_FULL


def direction(offered: int, accepted: int, received: int) -> DirectionCount:
    return DirectionCount("east-west", offered, offered, accepted, 0, received, 0, 0, 0)


def counts(
    sent: int, to_vnf: int, from_vnf: int, arrived: int, drops: dict[tuple[str, DropCause], int]
) -> accounts.Counts:
    """Return counts of a pvp trial in which every link passes everything on."""
    return {
        GENERATOR: HopCount(GENERATOR, {"west": arrived}, {"east": sent}),
        SWITCH: HopCount(
            SWITCH, {"east": sent, "vnf0b": from_vnf}, {"vnf0a": to_vnf, "west": arrived}, drops
        ),
        "vnf0": HopCount("vnf0", {"a": to_vnf}, {"b": from_vnf}),
    }


def test_port_counts_are_kept_by_hop_and_port() -> None:
    found = {seen.port: seen for seen in accounts.ports(counts(90, 80, 80, 70, {}))}
    assert (found["tg:east"].left, found["tg:west"].entered) == (90, 70)
    assert (found["switch:east"].entered, found["switch:vnf0a"].left) == (90, 80)
    assert set(found) == {
        "tg:east", "tg:west", "switch:east", "switch:west", "switch:vnf0a", "switch:vnf0b",
        "vnf0:a", "vnf0:b",
    }  # fmt: skip


def test_conserved_frames_leave_nothing_unexplained() -> None:
    seen = counts(90, 80, 80, 80, {("switch:vnf0a", FULL): 10})
    found = accounts.drops(seen, PVP, [direction(100, 90, 80)])
    assert set(found) == {
        Drop("sut-ingress", DropCause.RX_RING_FULL, 10),
        Drop("switch:vnf0a", FULL, 10),
    }
    assert not accounts.unexplained(found)


def test_frames_missing_inside_a_hop_are_reported_there() -> None:
    seen = counts(100, 100, 93, 93, {})
    found = accounts.drops(seen, PVP, [direction(100, 100, 93)])
    assert found == (Drop("vnf0", DropCause.UNKNOWN, 7),)
    assert accounts.unexplained(found)


def test_frames_missing_on_a_link_are_reported_there() -> None:
    seen = dict(counts(100, 100, 100, 100, {}))
    seen["vnf0"] = HopCount("vnf0", {"a": 98}, {"b": 98})
    seen[SWITCH] = HopCount(SWITCH, {"east": 100, "vnf0b": 98}, {"vnf0a": 100, "west": 98}, {})
    seen[GENERATOR] = HopCount(GENERATOR, {"west": 98}, {"east": 100})
    found = accounts.drops(seen, PVP, [direction(100, 100, 98)])
    assert found == (Drop("switch:vnf0a-vnf0:a", DropCause.UNKNOWN, 2),)


def test_frames_that_came_from_nowhere_are_reported_too() -> None:
    found = accounts.drops(counts(100, 100, 104, 104, {}), PVP, [direction(100, 100, 104)])
    assert found == (Drop("vnf0", DropCause.UNKNOWN, -4),)


def test_frames_that_arrived_but_are_not_of_this_trial_are_reported() -> None:
    found = accounts.drops(counts(100, 100, 100, 100, {}), PVP, [direction(100, 100, 97)])
    assert found == (Drop(GENERATOR, DropCause.UNKNOWN, 3),)


def test_outside_the_bench_nothing_is_known() -> None:
    seen = {GENERATOR: HopCount(GENERATOR, {"west": 60}, {"east": 100})}
    found = accounts.drops(seen, (), [direction(100, 100, 60)])
    assert found == (Drop("external", DropCause.UNKNOWN, 40),)


@given(st.lists(st.integers(0, 10**9), min_size=9, max_size=9))
def test_offered_is_always_received_plus_drops(numbers: list[int]) -> None:
    """The sum holds for any counters, however wrong."""
    offered, sent, received, into, out, dropped, arrived, back, fail = numbers
    seen = {
        GENERATOR: HopCount(GENERATOR, {"west": arrived}, {"east": sent}),
        SWITCH: HopCount(
            SWITCH, {"east": into, "vnf0b": back}, {"vnf0a": out, "west": arrived},
            {("switch:vnf0a", FULL): dropped},
        ),
        "vnf0": HopCount("vnf0", {"a": out}, {"b": back}, {("vnf0", FULL): fail}),
    }  # fmt: skip
    found = accounts.drops(seen, PVP, [direction(offered, sent, received)])
    assert offered == received + sum(drop.frames for drop in found)


def test_a_reading_is_taken_from_the_one_before() -> None:
    key = ("switch:vnf0a", FULL)
    before = HopCount("switch", {"east": 10}, {"west": 4}, {key: 6})
    after = HopCount("switch", {"east": 110, "new": 1}, {"west": 54}, {key: 56})
    assert accounts.since([before], [after])["switch"] == HopCount(
        "switch", {"east": 100, "new": 1}, {"west": 50}, {key: 50}
    )


def test_a_program_that_was_killed_takes_its_frames_with_it() -> None:
    """Its last counts are gone, too: everything missing around it is one loss, at it."""
    seen = dict(counts(100, 90, 60, 60, {("switch:vnf0a", FULL): 10}))
    restarted = {("vnf0", Counted.RESTARTS): 1}
    seen["vnf0"] = HopCount("vnf0", {"a": 70}, {"b": 55}, events=restarted)
    found = accounts.drops(seen, PVP, [direction(100, 100, 60)])
    assert set(found) == {
        Drop("switch:vnf0a", FULL, 10),
        Drop("vnf0", DropCause.VNF_ENDED, 30),
    }
    assert accounts.events(seen) == (HopEvents("vnf0", Counted.RESTARTS, 1),)


@given(before=st.integers(0, 1000), more=st.integers(0, 1000), queued=st.integers(0, 1000))
def test_events_and_queues_are_those_between_two_readings(
    before: int, more: int, queued: int
) -> None:
    def hop(upcalls: int, frames: int) -> HopCount:
        return HopCount(
            SWITCH, events={(SWITCH, Counted.UPCALLS): upcalls}, queues={("east", 1): frames}
        )

    seen = accounts.since([hop(before, 5)], [hop(before + more, 5 + queued)])
    expected = (HopEvents(SWITCH, Counted.UPCALLS, more),) if more else ()
    assert accounts.events(seen) == expected
    assert accounts.queue_shares(seen) == (QueueShare("east", 1, queued),)
