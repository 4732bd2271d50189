# SPDX-License-Identifier: Apache-2.0
"""Check that every offered frame is received or part of a drop."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tests.support.simulated import Rig, Sharp, count
from wirespeed.measure.conservation import unaccounted_frames, with_unknown_drop
from wirespeed.model.result.hop_counts import Drop, DropCause

OBSERVATION = Rig(Sharp(1e6)).measure(1e6, 1.0)
CAUSES = st.sampled_from([c for c in DropCause if c is not DropCause.UNKNOWN])
DROPS = st.lists(st.builds(Drop, st.text(min_size=1), CAUSES, st.integers(0, 1000)), max_size=5)


def test_counters_that_add_up_leave_nothing_unknown() -> None:
    drops = (Drop("pmd", DropCause.RX_RING_FULL, 30), Drop("vnf", DropCause.VNF_DISCARD, 12))
    observation = replace(OBSERVATION, directions=(count("d0", 100, 100, 58),), drops=drops)
    assert unaccounted_frames(observation) == 0
    assert with_unknown_drop(observation).drops == drops


def test_frames_that_no_hop_counts_are_an_unknown_drop() -> None:
    observation = replace(OBSERVATION, directions=(count("d0", 100, 100, 58),), drops=())
    assert with_unknown_drop(observation).drops == (Drop("unknown", DropCause.UNKNOWN, 42),)


def test_hops_that_dropped_nothing_are_omitted() -> None:
    drops = (Drop("pmd", DropCause.MTU, 0), Drop("vnf", DropCause.VNF_DISCARD, 42))
    observation = replace(OBSERVATION, directions=(count("d0", 100, 100, 58),), drops=drops)
    assert with_unknown_drop(observation).drops == drops[1:]


def test_hops_that_count_too_many_drops_give_a_negative_unknown() -> None:
    drops = (Drop("pmd", DropCause.NO_FLOW, 50),)
    observation = replace(OBSERVATION, directions=(count("d0", 100, 100, 58),), drops=drops)
    assert with_unknown_drop(observation).drops == (*drops, Drop("unknown", DropCause.UNKNOWN, -8))


@given(received=st.integers(0, 10_000), unsent=st.integers(0, 500), drops=DROPS)
def test_offered_is_received_plus_drops(received: int, unsent: int, drops: list[Drop]) -> None:
    directions = (count("d0", 10_500, 10_500 - unsent, received), count("d1", 7, 7, 7))
    observation = replace(OBSERVATION, directions=directions, drops=tuple(drops))
    complete = with_unknown_drop(observation)
    dropped = sum(d.frames for d in complete.drops)
    assert complete.total("offered") == complete.total("received") + dropped
    assert with_unknown_drop(complete) == complete
