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
from wirespeed.model.result.hop_counts import DropCause

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


class Dropping(Losing):
    """An Open vSwitch with a drop rule of somebody else; its datapath counts the same frames."""

    def __init__(self) -> None:
        super().__init__()
        self.received, self.by_rule, self.by_datapath = 0, 0, 0
        self.has_rule = False

    def ask(self, command: str, *params: str) -> str:
        match command:
            case "bridge/dump-flows":
                rule = "duration=1s, n_packets={}, n_bytes=0, priority=9,udp,actions=drop\n"
                return rule.format(self.by_rule) if self.has_rule else ""
            case "coverage/show":
                rates = "0.0/sec     0.000/sec        0.0000/sec"
                return f"drop_action_of_pipeline  {rates}   total: {self.by_datapath}\n"
        return super().ask(command, *params)


def test_drops_of_a_rule_stay_its_own_after_it_is_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "time", SimpleNamespace(monotonic=count().__next__))
    switch = Dropping()
    reader = CounterReader(switch, Instance(PLAN, (VNF,), bridges=()))  # type: ignore[arg-type]
    reader.bridges = ("br0",)
    reader.read()
    switch.received = switch.by_rule = switch.by_datapath = 100
    switch.has_rule = True
    first = reader.read()
    switch.received, switch.by_datapath, switch.has_rule = 107, 107, False
    second = reader.read()
    assert missing(first) == missing(second) == 0
    grown = {place: n - first.drops.get(place, 0) for place, n in second.drops.items()}
    assert {cause: n for (_, cause), n in grown.items() if n} == {DropCause.DATAPATH: 7}
