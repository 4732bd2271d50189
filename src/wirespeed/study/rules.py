# SPDX-License-Identifier: Apache-2.0
"""Which parameters, each allowed by itself, cannot go together?

A value that would be ignored is a fault too: what the user asked for is never silently rewritten.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wirespeed.measure.interface import BadSearch
from wirespeed.measure.presets import resolve
from wirespeed.model.frame import Encapsulation, FlowField
from wirespeed.model.gateway import Bng
from wirespeed.model.spec import (
    Impair,
    PointSpec,
    TopologyKind,
    Traffic,
    VnfKind,
    VnfMode,
    VnfTuning,
    Vswitch,
)
from wirespeed.model.tcp import Tcp, TcpPath, TcpTool
from wirespeed.model.units import FCS_BYTES, MAX_FRAME_BYTES, MIN_FRAME_BYTES, mtu_for
from wirespeed.study.faults import Fault

# IPv4 and TCP without options.
_TCP_HEADERS_BYTES = 40


def broken_rules(spec: PointSpec) -> list[Fault]:
    """Every rule that the point breaks."""
    if spec.tcp is not None:
        return list(_tcp(spec, spec.tcp))
    checks = (_frame_size, _flows, _topology, _vnf, _vswitch, _search, _gateway, _workers)
    return [fault for check in checks for fault in check(spec)]


def _tcp(spec: PointSpec, tcp: Tcp) -> Iterator[Fault]:
    """Nothing that describes frames, or a vSwitch where there is none, would be looked at."""
    sut = spec.sut
    unused: dict[str, Any] = {
        "topology": spec.topology,
        "traffic": spec.traffic,
        "search": spec.search,
        "sut.vnf": sut.vnf,
        "sut.impair": sut.impair,
        "sut.ports": sut.ports,
    }
    if not tcp.path.has_vswitch:
        unused["sut.vswitch"] = sut.vswitch
    for name, value in unused.items():
        if value != type(value)():
            yield Fault(name, "(set)", f'does not apply to [tcp] with path = "{tcp.path}"')
    if spec.bng is not None:
        yield Fault("bng", "(set)", "does not go with [tcp]; a study has one of them")
    if tcp.mss is not None and tcp.mss > tcp.mtu - _TCP_HEADERS_BYTES:
        most = tcp.mtu - _TCP_HEADERS_BYTES
        yield Fault("tcp.mss", tcp.mss, f"must be at most {most} with tcp.mtu = {tcp.mtu}")
    if tcp.processes > 1 and tcp.tool is not TcpTool.IPERF3:
        yield Fault(
            "tcp.processes", tcp.processes,
            'needs tcp.tool = "iperf3"; wirespeed-speedtest uses all its CPUs in one process',
        )  # fmt: skip
    if tcp.path.has_vswitch:
        yield from _vswitch(spec)
        yield from _tcp_vswitch(spec.sut.vswitch, tcp)


# What DPDK's AF_PACKET driver has room for in a frame of its ring (2 KiB by default), and what of
# [sut.vswitch] no port of TCP traffic has.
_AF_PACKET_MTU = 1500
_NEVER = {
    "rx_queues": "tcp.queues says how many queues there are",
    "descriptors": "ports of the kernel have no descriptor rings",
    "mtu": "tcp.mtu says it",
}


def _tcp_vswitch(vswitch: Vswitch, tcp: Tcp) -> Iterator[Fault]:
    """What a vSwitch between kernel ports cannot do, and what it would not look at."""
    unused = dict(_NEVER)
    if tcp.path is TcpPath.OVS:
        unused["pmd_cpus"] = "Open vSwitch's main thread serves kernel ports; ovs-pmd has PMDs"
    for key, why in unused.items():
        if getattr(vswitch, key) != getattr(Vswitch(), key):
            yield Fault(f"sut.vswitch.{key}", getattr(vswitch, key), f"does not apply: {why}")
    if tcp.path is TcpPath.OVS_PMD and tcp.offloads:
        yield Fault(
            "tcp.offloads", True,
            'must be false with path = "ovs-pmd": DPDK\'s AF_PACKET driver carries no offloads',
        )  # fmt: skip
    if tcp.path is TcpPath.OVS_PMD and tcp.mtu > _AF_PACKET_MTU:
        yield Fault("tcp.mtu", tcp.mtu, f'must be at most {_AF_PACKET_MTU} with path = "ovs-pmd"')


def _frame_size(spec: PointSpec) -> Iterator[Fault]:
    traffic = spec.traffic
    headers = 14 + 4 * traffic.encapsulation.tags + (20 if traffic.ip_version == 4 else 40) + 8
    smallest = max(MIN_FRAME_BYTES, headers + FCS_BYTES)
    for size in sorted(set(traffic.frame.sizes)):
        if not smallest <= size <= MAX_FRAME_BYTES:
            yield Fault(
                "traffic.frame", size,
                f"must be {smallest}..{MAX_FRAME_BYTES} octets, FCS included, for IPv"
                f"{traffic.ip_version} with {traffic.encapsulation.tags} VLAN tags",
            )  # fmt: skip
    mtu = spec.sut.vswitch.mtu
    largest = max(spec.wire_bytes)
    if mtu is not None and mtu_for(largest, traffic.encapsulation.tags) > mtu:
        needed = mtu_for(largest, traffic.encapsulation.tags)
        yield Fault("sut.vswitch.mtu", mtu, f"a frame of {largest} octets needs an MTU of {needed}")
    if traffic.ip_version == 5:
        yield Fault("traffic.ip_version", 5, "must be 4 or 6")


def _flows(spec: PointSpec) -> Iterator[Fault]:
    traffic = spec.traffic
    if traffic.flow_field is FlowField.VLAN and traffic.encapsulation is Encapsulation.NONE:
        yield Fault("traffic.flow_field", "vlan", 'needs traffic.encapsulation = "vlan" or "qinq"')
    limits = {FlowField.VLAN: 4094, FlowField.SRC_PORT: 65_535, FlowField.DST_PORT: 65_535}
    limit = limits.get(traffic.flow_field)
    if limit is not None and traffic.flows > limit:
        yield Fault(
            "traffic.flows", traffic.flows,
            f'must be at most {limit} with traffic.flow_field = "{traffic.flow_field}"; '
            "IP and MAC addresses have room for 1000000",
        )  # fmt: skip


def _topology(spec: PointSpec) -> Iterator[Fault]:
    kind, ports = spec.topology.kind, spec.sut.ports
    if spec.topology.vnfs != 1 and kind not in (TopologyKind.CHAIN, TopologyKind.PARALLEL):
        yield Fault(
            "topology.vnfs", spec.topology.vnfs,
            f"{kind} has no choice of VNFs; chain and parallel have",
        )  # fmt: skip
    if kind is TopologyKind.EXTERNAL and len(ports) != 2:
        yield Fault("sut.ports", ports, "external needs two: where frames leave and where they end")
    if kind is not TopologyKind.EXTERNAL and ports:
        yield Fault("sut.ports", ports, f"{kind} makes its own ports; only external takes names")
    if kind is not TopologyKind.WIRE and spec.sut.impair != Impair():
        yield Fault(
            "topology.kind", str(kind), 'only "wire" has the reference SUT: leave out [sut.impair]'
        )
    impair = spec.sut.impair
    if impair.stall_ns and impair.stall_ns >= impair.stall_every_ns:
        yield Fault(
            "sut.impair.stall_ns", impair.stall_ns,
            f"must be below sut.impair.stall_every_ns = {impair.stall_every_ns}",
        )  # fmt: skip


def _vnf(spec: PointSpec) -> Iterator[Fault]:
    vnf = spec.sut.vnf
    if vnf.tuning is VnfTuning.CORES:
        return
    own = spec.topology.kind is TopologyKind.HOST or vnf.own_process is True
    if not own or vnf.kind is VnfKind.TESTPMD:
        yield Fault(
            "sut.vnf.tuning", str(vnf.tuning),
            "needs a wsdp process of its own: sut.vnf.own_process = true, or topology.kind = "
            '"host"',
        )  # fmt: skip


def _vswitch(spec: PointSpec) -> Iterator[Fault]:
    vswitch = spec.sut.vswitch
    if vswitch.descriptors & (vswitch.descriptors - 1):
        yield Fault("sut.vswitch.descriptors", vswitch.descriptors, "must be a power of two")
    cpus = vswitch.pmd_cpus
    if cpus is not None and (not cpus or len(set(cpus)) != len(cpus)):
        yield Fault("sut.vswitch.pmd_cpus", cpus, "must name at least one CPU, and each once")


def _search(spec: PointSpec) -> Iterator[Fault]:
    search = spec.search
    if search.max_load_fps is not None and search.max_load_fps <= search.min_load_fps:
        yield Fault(
            "search.max_load_fps", search.max_load_fps,
            f"must be above search.min_load_fps = {search.min_load_fps:g}",
        )  # fmt: skip
    try:
        resolve(search)
    except BadSearch as error:
        yield Fault("search.kind", str(search.kind), f"{error.what}. {error.next_step}")


# Of [traffic], what the tables of a gateway decide.
_NOT_WITH_BNG = (
    "ip_version", "encapsulation", "vlan_id", "inner_vlan_id", "flows", "flow_field", "pcap",
)  # fmt: skip


def _gateway(spec: PointSpec) -> Iterator[Fault]:
    vnf, bng = spec.sut.vnf, spec.bng
    if bng is None:
        if vnf.kind is VnfKind.BNG:
            yield Fault("sut.vnf.kind", "bng", "needs the table [bng]: its subscribers and routes")
        return
    usual = Traffic()
    for key in _NOT_WITH_BNG:
        if getattr(spec.traffic, key) != getattr(usual, key):
            yield Fault(f"traffic.{key}", getattr(spec.traffic, key), "has no meaning with [bng]")
    if spec.topology.bidirectional:
        yield Fault("topology.bidirectional", True, 'with [bng], bng.direction = "both" says it')
    yield from _gateway_place(spec, bng)


def _workers(spec: PointSpec) -> Iterator[Fault]:
    workers = spec.sut.vnf.workers
    if workers > 1 and spec.sut.vnf.kind is not VnfKind.BNG:
        yield Fault("sut.vnf.workers", workers, 'only sut.vnf.kind = "bng" has workers')


def _gateway_place(spec: PointSpec, bng: Bng) -> Iterator[Fault]:
    kind, vnf = spec.topology.kind, spec.sut.vnf
    carriers = {TopologyKind.HOST, TopologyKind.PVP}
    if vnf.kind is not VnfKind.BNG:
        carriers.add(TopologyKind.P2P)
        if vnf.mode is not VnfMode.IO and kind in (TopologyKind.HOST, TopologyKind.PVP):
            yield Fault(
                "sut.vnf.mode", str(vnf.mode),
                'must be "io" with [bng]: a gateway\'s frames carry their own addresses',
            )  # fmt: skip
    if kind not in carriers:
        yield Fault("topology.kind", str(kind), f"[bng] goes with {', '.join(sorted(carriers))}")
    if vnf.kind is VnfKind.BNG and spec.sut.vnf.mode is not VnfMode.MAC:
        yield Fault("sut.vnf.mode", str(vnf.mode), "a gateway has no mode; leave it out")
    if max(spec.wire_bytes) > MAX_FRAME_BYTES:
        yield Fault(
            "traffic.frame", max(spec.traffic.frame.sizes),
            f"is {max(spec.wire_bytes)} octets in the network; at most {MAX_FRAME_BYTES}",
        )  # fmt: skip
    if bng.arp_share and round(1 / bng.arp_share) < 2:
        yield Fault("bng.arp_share", bng.arp_share, "must leave every second frame to data")
