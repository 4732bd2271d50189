# SPDX-License-Identifier: Apache-2.0
"""Read the state of the running guest from kernel, Open vSwitch and NIC, not from settings."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from wirespeed.bench.guest.pins import threads_of
from wirespeed.remote.interface import Runner
from wirespeed.remote.pci import SYS_PCI

_HUGE = re.compile(r"/dev/hugepages\S* (.*) kernelpagesize_kB=(\d+)$", re.MULTILINE)
_ON_NODE = re.compile(r"\bN(\d+)=(\d+)\b")
# Of the flows that the agent writes for a local VLAN (OpenFlow 1.0's words).
_TO_WIRE = re.compile(r"\bdl_vlan=(\d+)\b.*\bmod_vlan_vid:(\d+)\b")
# A line of ss: state, queues, path and inode of this end, "*" and inode of the other, the program.
_CONNECTED = re.compile(
    r"ESTAB +\d+ +\d+ +(?P<path>\S+) (?P<inode>\d+) +\* (?P<peer>\d+) +"
    r'users:\(\("(?P<program>[^"]+)"'
)
_LIMIT_S = 300.0


@dataclass(frozen=True, slots=True)
class VhostPort:
    """A vhost-user port of the guest."""

    mac: str
    """MAC address of the guest's interface."""
    socket: str
    wire_vlan: int | None
    """VLAN with which its frames leave the host."""
    peer: str
    """Program connected to the guest's socket; empty if none is."""


@dataclass(frozen=True, slots=True)
class Vf:
    """A VF that a guest's process has open."""

    address: str
    pf: str
    mac: str
    vlan: int
    driver: str


@dataclass(frozen=True, slots=True)
class RunningGuest:
    """A guest as the host runs it."""

    vcpus: Mapping[int, tuple[int, ...]]
    """CPUs on which the thread of each vCPU may run."""
    others: tuple[int, ...]
    """CPUs on which all other threads may run."""
    huge_mib: Mapping[int, int]
    """Huge pages by host NUMA node, in MiB."""
    page_kib: int
    """Size of these pages; 0 if there are none."""
    vhost: tuple[VhostPort, ...]
    vfs: tuple[Vf, ...]


def domains(runner: Runner) -> dict[str, str]:
    """Return libvirt's document of each running domain, by UUID."""
    listed = _said(runner, "virsh", "list", "--uuid").split()
    return {uuid: _said(runner, "virsh", "dumpxml", uuid) for uuid in listed}


def running_guest(runner: Runner, name: str, wire_bridge: str) -> RunningGuest:
    """Return the one guest of the host. name: of its domain. wire_bridge: with the DPDK port."""
    pid = runner.read(f"/run/libvirt/qemu/{name}.pid").strip()
    vcpus, others = _threads(runner, pid)
    huge_mib, page_kib = huge_pages(runner.read(f"/proc/{pid}/numa_maps"))
    return RunningGuest(
        vcpus, others, huge_mib, page_kib, _vhost_ports(runner, wire_bridge), _vfs(runner, pid)
    )


def _threads(runner: Runner, pid: str) -> tuple[dict[int, tuple[int, ...]], tuple[int, ...]]:
    threads = threads_of(runner, int(pid))
    vcpus = {one.vcpu: tuple(sorted(one.cpus)) for one in threads if one.vcpu is not None}
    others = {cpu for one in threads if one.vcpu is None for cpu in one.cpus}
    return vcpus, tuple(sorted(others))


def huge_pages(maps: str) -> tuple[dict[int, int], int]:
    """Return MiB on each node that has any, and the pages' size in KiB (0 without any)."""
    pages: dict[int, int] = {}
    size_kib = 0
    for counts, size in _HUGE.findall(maps):
        size_kib = int(size)
        for node, count in _ON_NODE.findall(counts):
            pages[int(node)] = pages.get(int(node), 0) + int(count)
    return {node: count * size_kib // 1024 for node, count in pages.items()}, size_kib


def _vhost_ports(runner: Runner, wire_bridge: str) -> tuple[VhostPort, ...]:
    interfaces = _table(runner, "Interface", "name,type,options,external_ids")
    tags = {row["name"]: row["tag"] for row in _table(runner, "Port", "name,tag")}
    flows = _said(runner, "ovs-ofctl", "dump-flows", wire_bridge)
    wire = {int(tag): int(vlan) for tag, vlan in _TO_WIRE.findall(flows)}
    sockets = _said(runner, "ss", "--no-header", "--unix", "--processes")
    found = []
    for row in interfaces:
        if row["type"] == "dpdkvhostuserclient":
            tag = tags[row["name"]]
            found.append(
                VhostPort(
                    mac=row["external_ids"].get("attached-mac", ""),
                    socket=row["options"]["vhost-server-path"],
                    wire_vlan=wire.get(tag) if isinstance(tag, int) else None,
                    peer=peer_of(sockets, row["options"]["vhost-server-path"]),
                )
            )
    return tuple(found)


def peer_of(sockets: str, path: str) -> str:
    """Return the program at the other end of the unix socket. sockets: output of ss."""
    ends = {end["inode"]: end for end in map(re.Match.groupdict, _CONNECTED.finditer(sockets))}
    mine = next((end for end in ends.values() if end["path"] == path), None)
    return ends[mine["peer"]]["program"] if mine and mine["peer"] in ends else ""


def _table(runner: Runner, name: str, columns: str) -> list[dict[str, Any]]:
    """Return rows of Open vSwitch's database; maps as dictionaries (RFC 7047, 5.1)."""
    table = json.loads(
        _said(runner, "ovs-vsctl", "--format=json", f"--columns={columns}", "list", name)
    )
    return [dict(zip(table["headings"], map(_plain, row), strict=True)) for row in table["data"]]


def _plain(value: Any) -> Any:
    return dict(value[1]) if isinstance(value, list) and value[0] == "map" else value


def _vfs(runner: Runner, pid: str) -> tuple[Vf, ...]:
    """Return the VFs whose IOMMU group the process has open."""
    opened = {runner.readlink(path) for path in runner.glob(f"/proc/{pid}/fd/*")}
    groups = {path.rpartition("/")[2] for path in opened if path.startswith("/dev/vfio/")}
    found = []
    for link in runner.glob(f"{SYS_PCI}/*/physfn"):
        device = link.removesuffix("/physfn")
        if runner.readlink(f"{device}/iommu_group").rpartition("/")[2] in groups:
            found.append(_vf(runner, device))
    return tuple(found)


def _vf(runner: Runner, device: str) -> Vf:
    address = device.rpartition("/")[2]
    pf = runner.readlink(f"{device}/physfn").rpartition("/")[2]
    [number] = [
        int(link.rpartition("virtfn")[2])
        for link in runner.glob(f"{SYS_PCI}/{pf}/virtfn*")
        if runner.readlink(link).endswith(address)
    ]
    [interface] = runner.glob(f"{SYS_PCI}/{pf}/net/*")
    name = interface.rpartition("/")[2]
    [shown] = json.loads(_said(runner, "ip", "-json", "-details", "link", "show", "dev", name))
    entry = next(each for each in shown["vfinfo_list"] if each["vf"] == number)
    driver = runner.readlink(f"{device}/driver").rpartition("/")[2]
    [vlan] = entry.get("vlan_list", [{"vlan": 0}])
    return Vf(address, pf, entry["address"], vlan["vlan"], driver)


def _said(runner: Runner, *argv: str) -> str:
    return runner.run(argv, timeout_s=_LIMIT_S).stdout
