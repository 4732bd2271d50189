# SPDX-License-Identifier: Apache-2.0
"""What did the vSwitch do with the frames, port by port?

From `ovs-ofctl -O OpenFlow15 dump-ports` and `ovs-appctl dpif-netdev/pmd-stats-show`: both ask the
datapath itself, while the statistics in OVSDB are up to 5 s old. Neither command speaks JSON.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from wirespeed.bench.interface import BenchError, Busy, HopCount, Way
from wirespeed.bench.switch.ovs_dpdk.ports import SwitchPort
from wirespeed.bench.switch.ovs_dpdk.veths import VethCount
from wirespeed.bench.topology.wiring import PARTNER
from wirespeed.model.hop_counts import INGRESS, Counted, DropCause


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


def events(hop: str, pmd_stats: str, coverage: str) -> Mapping[tuple[str, Counted], int]:
    """Upcalls from pmd-stats-show, which its main thread's are part of; datapath flows that were
    deleted from coverage/show."""
    return {
        (hop, Counted.UPCALLS): sum(int(n) for n in _UPCALLS.findall(pmd_stats)),
        (hop, Counted.FLOWS_DELETED): sum(int(n) for n in _FLOWS_DELETED.findall(coverage)),
    }


_DROPPED = re.compile(r"^((?:datapath_drop|drop_action)_\w+)\s.*total: (\d+)", re.MULTILINE)
_METER = "datapath_drop_meter"
# Counted elsewhere already: failed upcalls.
_KNOWN = frozenset({"datapath_drop_upcall_error"})


def dropped_by_datapath(hop: str, coverage: str) -> Mapping[tuple[str, DropCause], int]:
    """Frames that Open vSwitch says it dropped, from coverage/show: of meters at the hop, of each
    other reason at a place of its name.

    Its threads report about once a second. What drop rules and empty actions dropped is one reason
    (drop_action_of_pipeline).
    """
    return {
        (hop, DropCause.METER) if name == _METER else (f"{hop}:{name}", DropCause.DATAPATH): int(n)
        for name, n in _DROPPED.findall(coverage)
        if name not in _KNOWN
    }


_THREAD = re.compile(r"^pmd thread .*core_id (?P<core>\d+):$(?P<rest>(?:\n\s+.*)*)", re.MULTILINE)
_CYCLES = re.compile(r"(idle|processing) cycles: (\d+)")


def busy_by_core(shown: str) -> Mapping[int, Busy]:
    """Cycles of the PMD thread of each CPU, from pmd-stats-show; sleep is neither idle nor
    processing there."""
    found = {}
    for thread in _THREAD.finditer(shown):
        cycles = {kind: int(count) for kind, count in _CYCLES.findall(thread["rest"])}
        busy = cycles.get("processing", 0)
        found[int(thread["core"])] = Busy(busy, busy + cycles.get("idle", 0), awake=True)
    return found


def _tx_causes(hop: str, port: SwitchPort) -> Mapping[str, tuple[str, DropCause]]:
    """Open vSwitch's own counters (lib/netdev-dpdk.c), and the place and cause each stands for."""
    place = f"{hop}:{port.name}"
    return {
        "ovs_tx_failure_drops": _full(hop, port),
        "ovs_tx_mtu_exceeded_drops": (place, DropCause.MTU),
        "ovs_tx_qos_drops": (place, DropCause.EGRESS_POLICER),
    }


def _full(hop: str, port: SwitchPort) -> tuple[str, DropCause]:
    """A full ring towards a network function is that function's slowness; towards the generator, or
    a bond's partner, it is theirs; from the partner to the SUT it is the SUT's first ring."""
    if hop == PARTNER and port.members:
        return INGRESS, DropCause.RX_RING_FULL
    place = f"{hop}:{port.name}"
    if port.members:
        return place, DropCause.PARTNER_RING_FULL
    if port.to_generator:
        return place, DropCause.TG_RX_RING_FULL
    return place, DropCause.VHOST_TX_RING_FULL


_TX_REASONS = (
    "ovs_tx_failure_drops", "ovs_tx_mtu_exceeded_drops", "ovs_tx_qos_drops",
    "ovs_tx_invalid_hwol_drops",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Pdus:
    """LACP's own frames on a link."""

    sent: int = 0
    received: int = 0


@dataclass(frozen=True, slots=True)
class Answers:
    """What one Open vSwitch said, read together. ports: by number. unmatched: what drop rules and
    bonds have counted. upcalls: that failed. pdus: by link. veths: of ports that are interfaces of
    the kernel, which counts for them. located: what the switch says it dropped of the frames that
    nothing else explains, by place."""

    ports: Mapping[int, PortCount]
    unmatched: Mapping[tuple[str, DropCause], int] = field(default_factory=dict)
    upcalls: int = 0
    happened: Mapping[tuple[str, Counted], int] = field(default_factory=dict)
    pdus: Mapping[str, Pdus] = field(default_factory=dict)
    veths: Mapping[str, VethCount] = field(default_factory=dict)
    located: Mapping[tuple[str, DropCause], int] = field(default_factory=dict)


def hop(name: str, ports: Sequence[SwitchPort], answers: Answers) -> HopCount:
    """The counts of the vSwitch that is this hop. Raises BenchError when a port is missing from the
    answer.

    What a NIC's ring had no room for, its driver leaves out of its rx count (rx_missed_errors).
    What ingress policing drops on a vhost-user port, Open vSwitch leaves out of its rx count; the
    driver of a DPDK port knows nothing of policing and counts it. What a port could not send for
    none of Open vSwitch's own reasons had nobody to go to. LACP's frames begin and end here.
    """
    entered, left = Counter[str](), Counter[str]()
    links: dict[tuple[str, Way], int] = {}
    drops = Counter[tuple[str, DropCause]]({(name, DropCause.UPCALL): answers.upcalls})
    drops.update(answers.located)
    for (port_name, cause), frames in answers.unmatched.items():
        drops[f"{name}:{port_name}", cause] += frames
    for port in ports:
        for link in port.links:
            count = answers.ports.get(link.number)
            if count is None:
                raise BenchError(f"Open vSwitch reports no counters for port {link.name}")
            if (veth := answers.veths.get(port.name)) is not None:
                entered[port.name], left[port.name] = veth.cable.entered, veth.cable.left
                drops.update(_veth_drops(name, port, veth, count))
                continue
            pdus = answers.pdus.get(link.name, Pdus())
            came, went = _came(link, count) - pdus.received, count.tx - pdus.sent
            entered[port.name] += came
            left[port.name] += went
            if port.members:
                links |= {(link.name, Way.IN): came, (link.name, Way.OUT): went}
            drops.update(_port_drops(name, port, link, count))
    return HopCount(
        name, dict(entered), dict(left), dict(drops), events=answers.happened, links=links
    )


def _came(link: SwitchPort, count: PortCount) -> int:
    policed = count.custom.get("ovs_rx_qos_drops", 0)
    missed = count.custom.get("rx_missed_errors", 0)
    return count.rx + missed + (0 if link.kind == "dpdk" else policed)


def _port_drops(
    hop: str, port: SwitchPort, link: SwitchPort, count: PortCount
) -> Mapping[tuple[str, DropCause], int]:
    """What a port, or a link of it, dropped."""
    place = f"{hop}:{port.name}"
    drops = Counter[tuple[str, DropCause]]()
    drops[place, DropCause.POLICER] += count.custom.get("ovs_rx_qos_drops", 0)
    drops[place, DropCause.RX_RING_FULL] += count.custom.get("rx_missed_errors", 0)
    for reason, where in _tx_causes(hop, port).items():
        drops[where] += count.custom.get(reason, 0)
    known = sum(count.custom.get(reason, 0) for reason in _TX_REASONS)
    away = DropCause.NOT_CONNECTED if link.peer_serves else DropCause.PORT_DOWN
    drops[place, away] += max(0, count.tx_dropped - known)
    return drops


def _veth_drops(
    hop: str, port: SwitchPort, veth: VethCount, count: PortCount
) -> Mapping[tuple[str, DropCause], int]:
    """What the kernel or Open vSwitch dropped at a port that is an interface.

    An interface misses what its XDP socket has no room for. Of the rest Open vSwitch has taken what
    it counts, or, where it repeats the interface's own count, all but what its packet socket had no
    room for.
    """
    place, cable = f"{hop}:{port.name}", veth.cable
    drops = Counter[tuple[str, DropCause]]()
    drops[place, DropCause.BACKLOG_FULL] += cable.backlogged
    drops[place, DropCause.SOCKET_FULL] += veth.unread + cable.missed + cable.arrived - count.rx
    return drops
