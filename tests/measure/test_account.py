# SPDX-License-Identifier: Apache-2.0
"""Does every frame end up somewhere?"""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tests.measure.simulated import Rig, Sharp, count
from wirespeed.measure.account import close, unexplained
from wirespeed.model.trial import Drop, DropCause

SEEN = Rig(Sharp(1e6)).measure(1e6, 1.0)
CAUSES = st.sampled_from([c for c in DropCause if c is not DropCause.UNKNOWN])
DROPS = st.lists(st.builds(Drop, st.text(min_size=1), CAUSES, st.integers(0, 1000)), max_size=5)


def test_closed_counters_leave_nothing_unknown() -> None:
    drops = (Drop("pmd", DropCause.RX_RING_FULL, 30), Drop("vnf", DropCause.VNF_DISCARD, 12))
    seen = replace(SEEN, directions=(count("d0", 100, 100, 58),), drops=drops)
    assert unexplained(seen) == 0
    assert close(seen).drops == drops


def test_what_no_hop_explains_is_unknown() -> None:
    seen = replace(SEEN, directions=(count("d0", 100, 100, 58),), drops=())
    assert close(seen).drops == (Drop("unknown", DropCause.UNKNOWN, 42),)


def test_hops_that_dropped_nothing_are_left_out() -> None:
    drops = (Drop("pmd", DropCause.MTU, 0), Drop("vnf", DropCause.VNF_DISCARD, 42))
    seen = replace(SEEN, directions=(count("d0", 100, 100, 58),), drops=drops)
    assert close(seen).drops == drops[1:]


def test_hops_that_claim_too_much_are_seen() -> None:
    drops = (Drop("pmd", DropCause.NO_FLOW, 50),)
    seen = replace(SEEN, directions=(count("d0", 100, 100, 58),), drops=drops)
    assert close(seen).drops == (*drops, Drop("unknown", DropCause.UNKNOWN, -8))


@given(received=st.integers(0, 10_000), unsent=st.integers(0, 500), drops=DROPS)
def test_offered_is_received_plus_drops(received: int, unsent: int, drops: list[Drop]) -> None:
    ways = (count("d0", 10_500, 10_500 - unsent, received), count("d1", 7, 7, 7))
    closed = close(replace(SEEN, directions=ways, drops=tuple(drops)))
    dropped = sum(d.frames for d in closed.drops)
    assert closed.total("offered") == closed.total("received") + dropped
    assert close(closed) == closed
