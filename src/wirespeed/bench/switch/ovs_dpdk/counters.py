# SPDX-License-Identifier: Apache-2.0
"""Read the vSwitch's counters, port by port.

Sources are `ovs-ofctl -O OpenFlow15 dump-ports` and `ovs-appctl dpif-netdev/pmd-stats-show`, which
both query the datapath. The statistics in OVSDB are up to 5 s old. Neither command has JSON output.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from wirespeed.bench.interface import BenchError, Busy, HopCount, Way
from wirespeed.bench.switch.ovs_dpdk.ports import SwitchPort
from wirespeed.bench.switch.veth.polled import VethCount
from wirespeed.bench.topology.wiring import PARTNER
from wirespeed.model.result.hop_counts import INGRESS, Counted, DropCause
from wirespeed.sources import coverage
from wirespeed.sources.pmd_stats import cycles_by_core, upcalls


@dataclass(frozen=True, slots=True)
class PortCount:
    """Counters of one port."""

    rx: int
    """Frames that the vSwitch took from the port."""
    tx: int
    """Frames that the vSwitch gave to the port."""
    rx_dropped: int
    tx_dropped: int
    """Frames that the vSwitch could not give to the port, for all reasons."""
    custom: Mapping[str, int] = field(default_factory=dict)
    """Open vSwitch's own counters, which separate the reasons."""


_PORT = re.compile(
    r"port\s+(?P<number>\d+):\s+rx pkts=(?P<rx>\d+|\?), bytes=\S+, drop=(?P<rx_dropped>\d+|\?).*?"
    r"tx pkts=(?P<tx>\d+|\?), bytes=\S+, drop=(?P<tx_dropped>\d+|\?)(?P<rest>.*?)"
    r"(?=\n\s+port\s|\Z)",
    re.DOTALL,
)
_CUSTOM = re.compile(r"(\w+)=(\d+)")


def parse_ports(dump: str) -> Mapping[int, PortCount]:
    """Return the counters by port number, from the answer of dump-ports."""
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
    """Parse a counter. Open vSwitch prints "?" if the driver has none or nothing is attached."""
    return 0 if text == "?" else int(text)


def events(hop: str, pmd_stats: str, coverage_shown: str) -> Mapping[tuple[str, Counted], int]:
    """Return upcalls and deleted datapath flows.

    Upcalls, including those of the main thread, come from pmd-stats-show; deleted flows from
    coverage/show.
    """
    deleted = coverage.totals(coverage_shown).get("dpif_flow_del", 0)
    return {
        (hop, Counted.UPCALLS): upcalls(pmd_stats),
        (hop, Counted.FLOWS_DELETED): deleted,
    }


_DROPS = ("datapath_drop_", "drop_action_")
_METER = "datapath_drop_meter"
# Failed upcalls, which are counted elsewhere.
_KNOWN = frozenset({"datapath_drop_upcall_error"})


def dropped_by_datapath(hop: str, coverage_shown: str) -> Mapping[tuple[str, DropCause], int]:
    """Return frames that Open vSwitch reports as dropped, from coverage/show.

    Frames dropped by meters count at the hop, each other reason at a place of its own name. Threads
    report about once a second. Drop rules and empty actions share one reason
    (drop_action_of_pipeline).
    """
    return {
        (hop, DropCause.METER) if name == _METER else (f"{hop}:{name}", DropCause.DATAPATH): n
        for name, n in coverage.totals(coverage_shown).items()
        if name.startswith(_DROPS) and name not in _KNOWN
    }


def busy_by_core(shown: str) -> Mapping[int, Busy]:
    """Return the cycles of each CPU's PMD thread, from pmd-stats-show."""
    return {
        core: Busy(processing, processing + idle, awake=True)
        for core, (processing, idle) in cycles_by_core(shown).items()
    }


def _tx_causes(hop: str, port: SwitchPort) -> Mapping[str, tuple[str, DropCause]]:
    """Return the place and cause of Open vSwitch's own counters (lib/netdev-dpdk.c)."""
    place = f"{hop}:{port.name}"
    return {
        "ovs_tx_failure_drops": _full(hop, port),
        "ovs_tx_mtu_exceeded_drops": (place, DropCause.MTU),
        "ovs_tx_qos_drops": (place, DropCause.EGRESS_POLICER),
    }


def _full(hop: str, port: SwitchPort) -> tuple[str, DropCause]:
    """Return the place and cause of a full ring.

    Towards a network function, the function is too slow. Towards the generator or a bond's partner,
    that one is. From the partner to the SUT, it is the SUT's first ring.
    """
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
    """LACP frames on a link."""

    sent: int = 0
    received: int = 0


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers of one Open vSwitch, read together."""

    ports: Mapping[int, PortCount]
    """Counters by port number."""
    unmatched: Mapping[tuple[str, DropCause], int] = field(default_factory=dict)
    """Frames that drop rules and bonds counted."""
    upcalls: int = 0
    """Failed upcalls."""
    happened: Mapping[tuple[str, Counted], int] = field(default_factory=dict)
    pdus: Mapping[str, Pdus] = field(default_factory=dict)
    """LACP frames by link."""
    veths: Mapping[str, VethCount] = field(default_factory=dict)
    """The kernel's counters of ports that are its interfaces."""
    located: Mapping[tuple[str, DropCause], int] = field(default_factory=dict)
    """Frames otherwise unexplained that the switch reports as dropped, by place."""


def hop(name: str, ports: Sequence[SwitchPort], answers: Answers) -> HopCount:
    """Return the counts of the vSwitch that is this hop.

    Raises BenchError when a port is absent from the answer. The rx count of a NIC excludes frames
    that its ring had no room for (rx_missed_errors). The rx count of a vhost-user port excludes
    frames dropped by ingress policing; that of a DPDK port includes them. Frames that a port could
    not send for none of Open vSwitch's reasons had no receiver. LACP frames begin and end here.
    Failed upcalls bound the frames that are dropped for them.
    """
    entered, left = Counter[str](), Counter[str]()
    links: dict[tuple[str, Way], int] = {}
    drops = Counter[tuple[str, DropCause]](answers.located)
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
    gone = sum(entered.values()) - sum(left.values()) - sum(drops.values())
    drops[name, DropCause.UPCALL] = max(0, min(answers.upcalls, gone))
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
    """Return what a port, or one link of it, dropped."""
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
    """Return what the kernel or Open vSwitch dropped at a port that is an interface.

    An interface misses what its XDP socket has no room for. Open vSwitch has taken the part of the
    rest that it counts. Where it repeats the interface's count, it has taken all but what its
    packet socket had no room for.
    """
    place, cable = f"{hop}:{port.name}", veth.cable
    drops = Counter[tuple[str, DropCause]]()
    drops[place, DropCause.BACKLOG_FULL] += cable.backlogged
    drops[place, DropCause.SOCKET_FULL] += veth.unread + cable.missed + cable.arrived - count.rx
    return drops
