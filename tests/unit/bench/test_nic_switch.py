# SPDX-License-Identifier: Apache-2.0
"""Check where frames were lost in a NIC's switch, from its virtual functions' counters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wirespeed.bench import frame_accounting
from wirespeed.bench.interface import HopCount
from wirespeed.bench.switch.nic.carried_out import carried_out
from wirespeed.bench.switch.nic.counters import VfCount, between, hop, vf_count
from wirespeed.bench.topology.wiring import GENERATOR, Cable, End
from wirespeed.model.result.hop_counts import DropCause
from wirespeed.model.result.observation import DirectionCount

LINKS = [("east", "vnf0a"), ("vnf0b", "west")]
NONE = VfCount(0, 0, 0, 0)


def counted(**ports: VfCount) -> HopCount:
    return hop({"east": NONE, "vnf0a": NONE, "vnf0b": NONE, "west": NONE, **ports}, LINKS)


def drops(seen: HopCount) -> Mapping[tuple[str, DropCause], int]:
    return {place: frames for place, frames in seen.drops.items() if frames}


def test_equal_sent_and_received_counts_are_no_drop() -> None:
    seen = counted(east=VfCount(10, 0, 0, 0), vnf0a=VfCount(0, 10, 0, 0))
    assert drops(seen) == {}
    assert (seen.entered["east"], seen.left["vnf0a"]) == (10, 10)


def test_frames_sent_to_a_vf_and_not_received_overflowed_its_ring() -> None:
    seen = counted(
        east=VfCount(195_136, 0, 0, 0), vnf0a=VfCount(0, 64_405, 0, 0),
        vnf0b=VfCount(64_405, 0, 0, 0), west=VfCount(0, 63_385, 0, 0),
    )  # fmt: skip
    assert drops(seen) == {
        ("nic:vnf0a", DropCause.VNF_RX_RING_FULL): 130_731,
        ("nic:west", DropCause.TG_RX_RING_FULL): 1_020,
    }


def test_frames_discarded_by_the_nic_have_their_own_cause() -> None:
    seen = counted(east=VfCount(100, 0, 0, 30), vnf0a=VfCount(0, 60, 0, 0))
    assert drops(seen) == {
        ("nic:east", DropCause.NIC_DISCARD): 30,
        ("nic:vnf0a", DropCause.VNF_RX_RING_FULL): 10,
    }


def test_the_way_back_is_counted_by_itself() -> None:
    seen = counted(east=VfCount(10, 3, 0, 0), vnf0a=VfCount(5, 10, 0, 0))
    assert drops(seen) == {("nic:east", DropCause.TG_RX_RING_FULL): 2}


def test_frames_of_somebody_else_do_not_hide() -> None:
    """They are no drop, so that the accounting shows a negative number of unknown frames."""
    seen = counted(east=VfCount(10, 0, 0, 0), vnf0a=VfCount(0, 12, 0, 0))
    assert drops(seen) == {}
    assert sum(seen.entered.values()) - sum(seen.left.values()) == -2


def test_frames_missed_by_the_ring_count_as_received_by_the_vf() -> None:
    device = {"opackets": 3, "ipackets": 7, "imissed": 2}
    physical: Mapping[str, Any] = {"vf": 0, "stats": {"tx": {"packets": 4, "dropped": 1}}}
    assert vf_count(device, physical) == VfCount(sent=3, received=9, missed=2, discarded=1)
    assert vf_count(device, {"vf": 0}) == VfCount(3, 9, 2, 0)


def test_counts_are_those_since_the_trial_began() -> None:
    before, after = {"east": VfCount(5, 1, 0, 1)}, {"east": VfCount(9, 1, 2, 1)}
    assert between(before, after) == {"east": VfCount(4, 0, 2, 0)}


def test_with_the_programs_counts_every_frame_is_accounted_for() -> None:
    nic = counted(
        east=VfCount(100, 0, 0, 0), vnf0a=VfCount(0, 90, 5, 0),
        vnf0b=VfCount(85, 0, 0, 0), west=VfCount(0, 80, 0, 0),
    )  # fmt: skip
    generator = HopCount(GENERATOR, {"west": 80}, {"east": 100})
    missed = {("vnf0", DropCause.VNF_RX_RING_FULL): 5}
    function = HopCount("vnf0", {"a": 90}, {"b": 85}, missed)
    cables = [
        Cable(End(GENERATOR, "east"), End("nic", "east")),
        Cable(End(GENERATOR, "west"), End("nic", "west")),
        Cable(End("vnf0", "a"), End("nic", "vnf0a")),
        Cable(End("vnf0", "b"), End("nic", "vnf0b")),
    ]
    direction = DirectionCount("east-west", 100, 100, 100, 0, 80, 0, 0, 0)
    counts = {each.hop: each for each in (nic, generator, function)}
    found = frame_accounting.drops(counts, cables, [direction])
    assert {(d.hop, d.cause): d.frames for d in found} == {
        ("nic:vnf0a", DropCause.VNF_RX_RING_FULL): 10,
        ("vnf0", DropCause.VNF_RX_RING_FULL): 5,
        ("nic:west", DropCause.TG_RX_RING_FULL): 5,
    }


def test_settings_that_an_emulated_nic_lacks_are_reported_as_not_emulated() -> None:
    told = carried_out("0x1af4\n")
    for key in ("spoofchk", "max_tx_rate"):
        assert told[key].startswith("not emulated")
        assert carried_out("0x15d9")[key].endswith("not tested whether the NIC acts by it")
