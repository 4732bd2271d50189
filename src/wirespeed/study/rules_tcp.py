# SPDX-License-Identifier: Apache-2.0
"""Find parameters of a point with TCP traffic that are valid alone but not together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import is_dataclass
from typing import Any

from wirespeed.bench.switch import SWITCHES
from wirespeed.bench.topology.tcp import PATHS, TcpPath
from wirespeed.model.host.lab import is_pci
from wirespeed.model.input.fault import Fault
from wirespeed.model.plan.needs import Forwarding
from wirespeed.model.study.spec import TcpStreams, Vswitch
from wirespeed.model.study.tcp import Tcp, TcpPinning, TcpTool
from wirespeed.study.tables import CommonTables

# IPv4 and TCP without options.
_TCP_HEADERS_BYTES = 40
# Upper bound of guest.vcpus.
_MOST_VCPUS = 8
# Keys of [sut.vswitch] that no port of TCP traffic has.
_NEVER = {
    "kind": "tcp.path says which switch",
    "rx_queues": "tcp.queues says how many queues there are",
    "descriptors": "ports of the kernel have no descriptor rings",
    "mtu": "tcp.mtu says it",
    "driver": "it is of programs of DPDK; hosts of [tcp] use their kernel",
    "ovs": "[tcp] measures Open vSwitch at its defaults",
}


def broken_tcp_rules(tables: CommonTables, streams: TcpStreams) -> Iterator[Fault]:
    tcp, path = streams.tcp, PATHS[streams.tcp.path]
    yield from _unused(tables, path)
    if tcp.mss is not None and tcp.mss > tcp.mtu - _TCP_HEADERS_BYTES:
        most = tcp.mtu - _TCP_HEADERS_BYTES
        yield Fault("tcp.mss", tcp.mss, f"must be at most {most} with tcp.mtu = {tcp.mtu}")
    if tcp.processes > 1 and tcp.tool is not TcpTool.IPERF3:
        yield Fault(
            "tcp.processes", tcp.processes,
            'needs tcp.tool = "iperf3"; wirespeed-speedtest uses all its CPUs in one process',
        )  # fmt: skip
    yield from path.faults(tcp)
    if path.on_vfs:
        yield from _virtual_functions(tables.sut.ports, tcp)
    yield from _guests(tables, tcp, path)
    if path.switch is not None:
        yield from _vswitch(tables.sut.vswitch, path)
        yield from SWITCHES[path.switch].faults(streams.vswitch, streams)


def _unused(tables: CommonTables, path: TcpPath) -> Iterator[Fault]:
    """Yield settings of frames, or of a missing switch, which would have no effect."""
    sut = tables.sut
    unused: dict[str, Any] = {
        "topology": tables.topology,
        "traffic": tables.traffic,
        "search": tables.search,
        "hosts": tables.hosts,
        "sut.vnf": sut.vnf,
        "sut.impair": sut.impair,
    }
    if not path.on_vfs:
        unused["sut.ports"] = sut.ports
    if path.switch is None:
        unused["sut.vswitch"] = sut.vswitch
    for name, value in unused.items():
        if value != type(value)():
            yield Fault(name, "(set)", f'does not apply to [tcp] with path = "{path.name}"')
    if tables.bng is not None:
        yield Fault("bng", "(set)", "does not go with [tcp]; a study has one of them")
    if tables.injected is not None:
        yield Fault("fault.kind", tables.injected.kind, "does not apply to [tcp]")
    if tables.routing is not None:
        yield Fault("routing", "(set)", "does not apply to [tcp]")
    if tables.sriov is not None and not path.on_vfs:
        yield Fault("sriov", "(set)", f'path = "{path.name}" has no virtual functions')


def _virtual_functions(ports: tuple[str, ...], tcp: Tcp) -> Iterator[Fault]:
    """Yield an error unless one NIC is named, whose switch joins the hosts.

    Its virtual functions are used as the driver creates them.
    """
    if len(ports) != 1 or not is_pci(ports[0]):
        allowed = (
            f'path = "{tcp.path}" needs the NIC whose virtual functions it may take, by PCI '
            "address: --set sut.ports='[\"0000:3b:00.0\"]'"
        )
        yield Fault("sut.ports", ports, allowed)


def _guests(tables: CommonTables, tcp: Tcp, path: TcpPath) -> Iterator[Fault]:
    """Yield settings of guests on a path without guests, and settings beyond a guest's limits."""
    if path.guests is None:
        for key in ("guests", "pinning"):
            if getattr(tcp, key) != getattr(Tcp(), key):
                value = str(getattr(tcp, key))
                yield Fault(f"tcp.{key}", value, f'path = "{path.name}" has no guests')
        if tables.guest is not None:
            yield Fault("guest", "(set)", f'path = "{path.name}" has no guests')
        return
    if tcp.pinning is not TcpPinning.APART and path.forwarding is not Forwarding.PMD_THREADS:
        yield Fault("tcp.pinning", str(tcp.pinning), f'path = "{path.name}" has no PMD threads')
    vcpus = _MOST_VCPUS if tables.guest is None else tables.guest.vcpus or _MOST_VCPUS
    if tcp.queues > vcpus:
        yield Fault("tcp.queues", tcp.queues, f"a guest has a queue for each vCPU at most: {vcpus}")


def _vswitch(vswitch: Vswitch, path: TcpPath) -> Iterator[Fault]:
    """Yield settings that have no effect on a switch between kernel ports."""
    unused = dict(_NEVER)
    if path.forwarding is Forwarding.MAIN_THREAD:
        unused["pmd_cpus"] = "Open vSwitch's main thread serves kernel ports; ovs-pmd has PMDs"
    for key, why in unused.items():
        if getattr(vswitch, key) != getattr(Vswitch(), key):
            value = getattr(vswitch, key)
            shown = "(set)" if is_dataclass(value) else value
            yield Fault(f"sut.vswitch.{key}", shown, f"does not apply: {why}")
