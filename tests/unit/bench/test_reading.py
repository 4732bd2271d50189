# SPDX-License-Identifier: Apache-2.0
"""Read the counters of a vSwitch where frames are missing for good."""

from __future__ import annotations

from itertools import count
from types import SimpleNamespace

import pytest

from tests.unit.bench.test_bonds import PLAN, PORTS
from wirespeed.bench.switch.ovs_dpdk import reading
from wirespeed.bench.switch.ovs_dpdk.instance import Instance
from wirespeed.bench.switch.ovs_dpdk.reading import CounterReader, missing

VNF = next(port for port in PORTS if port.name == "vnf0a")


class Losing:
    """An Open vSwitch that received frames and tells of no place where they are.

    asked: how often its rules were asked for.
    """

    def __init__(self) -> None:
        self.received, self.asked = 10, 0

    def ask(self, command: str, *_params: str) -> str:
        self.asked += command == "revalidator/wait"
        return ""

    def ofctl(self, _command: str, *, bridge: str) -> str:  # noqa: ARG002 (one bridge alone)
        return (
            f"  port  {VNF.number}: rx pkts={self.received}, bytes=0, drop=0, errs=0\n"
            "           tx pkts=0, bytes=0, drop=0, errs=0\n"
        )


def test_read_frames_that_stayed_missing_are_not_waited_for_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The clock goes on by a second at each look; the reader waits for three."""
    monkeypatch.setattr(reading, "time", SimpleNamespace(monotonic=count().__next__))
    switch = Losing()
    reader = CounterReader(switch, Instance(PLAN, (VNF,), bridges=()))  # type: ignore[arg-type]
    reader.bridges = ("br0",)
    assert missing(reader.read()) == 10
    assert switch.asked == (asked := 3)
    assert missing(reader.read()) == 10
    assert switch.asked == asked
    switch.received = 11
    assert missing(reader.read()) == 11
    assert switch.asked == 2 * asked
