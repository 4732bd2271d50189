# SPDX-License-Identifier: Apache-2.0
"""What did the vSwitch do with the frames, port by port?

From `ovs-ofctl -O OpenFlow15 dump-ports` and `ovs-appctl dpif-netdev/pmd-stats-show`: both ask the
datapath itself, while the statistics in OVSDB are up to 5 s old. Neither command speaks JSON.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from wirespeed.bench.interface import BenchError, Busy, HopCount
from wirespeed.bench.switch.ovs_dpdk.ports import SwitchPort
from wirespeed.bench.topology.wiring import SWITCH
from wirespeed.model.trial import Counted, DropCause


@dataclass(frozen=True, slots=True)
class PortCount:
    """One port's counters. rx, tx: frames the vSwitch took from and gave to the port.

    tx_dropped is what the vSwitch could not give to the port, for all reasons; `custom` are Open
    vSwitch's own counters, which tell the reasons apart.
    """

    rx: int
    tx: int
    rx_dropped: int
    tx_dropped: int
    custom: Mapping[str, int] = field(default_factory=dict)


_PORT = re.compile(
    r"port\s+(?P<number>\d+):\s+rx pkts=(?P<rx>\d+|\?), bytes=\S+, drop=(?P<rx_dropped>\d+|\?).*?"
    r"tx pkts=(?P<tx>\d+|\?), bytes=\S+, drop=(?P<tx_dropped>\d+|\?)(?P<rest>.*?)"
    r"(?=\n\s+port\s|\Z)",
    re.DOTALL,
)
_CUSTOM = re.compile(r"(\w+)=(\d+)")


def parse_ports(dump: str) -> Mapping[int, PortCount]:
    """The counters of each port number in the answer of dump-ports."""
    found: dict[int, PortCount] = {}
    for m in _PORT.finditer(dump):
        _, _, custom = m["rest"].partition("CUSTOM Statistics")
        found[int(m["number"])] = PortCount(
            rx=_number(m["rx"]),
            tx=_number(m["tx"]),
            rx_dropped=_number(m["rx_dropped"]),
            tx_dropped=_number(m["tx_dropped"]),
            custom={name: int(value) for name, value in _CUSTOM.findall(custom)},
        )
    return found


def _number(text: str) -> int:
    """Open vSwitch prints "?" where the driver keeps no count, or nothing is plugged in yet."""
    return 0 if text == "?" else int(text)


_FAILED_UPCALLS = re.compile(r"miss with failed upcall: (\d+)")


def failed_upcalls(shown: str) -> int:
    """Frames dropped because no rule could be looked up for them, from pmd-stats-show."""
    return sum(int(n) for n in _FAILED_UPCALLS.findall(shown))


_UPCALLS = re.compile(r"miss with (?:success|failed) upcall: (\d+)")
# A counter that was never raised is not shown (lib/coverage.c).
_FLOWS_DELETED = re.compile(r"^dpif_flow_del\s.*total: (\d+)", re.MULTILINE)


def events(pmd_stats: str, coverage: str) -> Mapping[tuple[str, Counted], int]:
    """Upcalls from pmd-stats-show, which its main thread's are part of; datapath flows that were
    deleted from coverage/show."""
    return {
        (SWITCH, Counted.UPCALLS): sum(int(n) for n in _UPCALLS.findall(pmd_stats)),
        (SWITCH, Counted.FLOWS_DELETED): sum(int(n) for n in _FLOWS_DELETED.findall(coverage)),
    }


_THREAD = re.compile(r"^pmd thread .*core_id (?P<core>\d+):$(?P<rest>(?:\n\s+.*)*)", re.MULTILINE)
_CYCLES = re.compile(r"(idle|processing) cycles: (\d+)")


def busy_by_core(shown: str) -> Mapping[int, Busy]:
    """What the PMD thread of each CPU has done, in cycles, from pmd-stats-show."""
    found = {}
    for thread in _THREAD.finditer(shown):
        cycles = {kind: int(count) for kind, count in _CYCLES.findall(thread["rest"])}
        busy = cycles.get("processing", 0)
        found[int(thread["core"])] = Busy(busy, busy + cycles.get("idle", 0))
    return found


def _tx_causes(port: SwitchPort) -> Mapping[str, DropCause]:
    """Open vSwitch's own counters (lib/netdev-dpdk.c) and the cause that each stands for.

    A full ring towards a network function is that function's slowness; towards the generator it is
    the generator's own.
    """
    full = DropCause.TG_RX_RING_FULL if port.to_generator else DropCause.VHOST_TX_RING_FULL
    return {
        "ovs_tx_failure_drops": full,
        "ovs_tx_mtu_exceeded_drops": DropCause.MTU,
        "ovs_tx_qos_drops": DropCause.EGRESS_POLICER,
    }


_TX_REASONS = (
    "ovs_tx_failure_drops", "ovs_tx_mtu_exceeded_drops", "ovs_tx_qos_drops",
    "ovs_tx_invalid_hwol_drops",
)  # fmt: skip


def hop(
    ports: Sequence[SwitchPort],
    counts: Mapping[int, PortCount],
    unmatched: Mapping[tuple[str, DropCause], int],
    upcalls: int,
    happened: Mapping[tuple[str, Counted], int] = MappingProxyType({}),
) -> HopCount:
    """The vSwitch's counts. Raises BenchError when a port is missing from the answer.

    What a NIC's ring had no room for, its driver leaves out of its rx count (rx_missed_errors).
    What ingress policing drops on a vhost-user port, Open vSwitch leaves out of its rx count; the
    driver of a DPDK port knows nothing of policing and counts it. What a port could not send for
    none of Open vSwitch's own reasons had nobody to go to. unmatched: what drop rules have counted.
    """
    entered: dict[str, int] = {}
    left: dict[str, int] = {}
    drops: dict[tuple[str, DropCause], int] = {(SWITCH, DropCause.UPCALL): upcalls}
    drops |= {(f"{SWITCH}:{port}", cause): n for (port, cause), n in unmatched.items()}
    for port in ports:
        count = counts.get(port.number)
        if count is None:
            raise BenchError(f"Open vSwitch reports no counters for port {port.name}")
        place = f"{SWITCH}:{port.name}"
        policed = count.custom.get("ovs_rx_qos_drops", 0)
        missed = count.custom.get("rx_missed_errors", 0)
        entered[port.name] = count.rx + missed + (0 if port.kind == "dpdk" else policed)
        left[port.name] = count.tx
        drops[place, DropCause.POLICER] = policed
        drops[place, DropCause.RX_RING_FULL] = missed
        for name, cause in _tx_causes(port).items():
            drops[place, cause] = drops.get((place, cause), 0) + count.custom.get(name, 0)
        if port.peer_serves:
            known = sum(count.custom.get(name, 0) for name in _TX_REASONS)
            drops[place, DropCause.NOT_CONNECTED] = max(0, count.tx_dropped - known)
    return HopCount(SWITCH, entered, left, drops, events=happened)
