# SPDX-License-Identifier: Apache-2.0
"""Write a recorded host as sos, gather-sysinfo and `oc adm must-gather` pack one.

The layouts are those of the sources that wirespeed.host.imported names; the host is a recording.
"""

from __future__ import annotations

import io
import json
import re
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wirespeed.model.host.facts import HostFacts, PciDevice
from wirespeed.remote.recording import Recording

SERVICES = "Id=irqbalance.service\nActiveState=active\n\nId=sshd.service\nActiveState=active\n"
_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
# Subtrees of /sys that sos and gather-sysinfo do not copy.
_NOT_COPIED = ("/sys/bus/", "/sys/class/net/", "/sys/class/iommu/", "/sys/kernel/i")


@dataclass(frozen=True)
class To:
    """A symbolic link in a pack."""

    target: str


Pack = dict[str, str | bytes | To]


def write(path: Path, pack: Mapping[str, str | bytes | To], top: str = "sosreport-r730") -> Path:
    """Write an archive, packed as its name says; `top` is the folder above all paths, or ""."""
    kind = path.suffix.removeprefix(".").replace("tgz", "gz")
    path.write_bytes(packed(pack, top, kind))
    return path


def packed(
    pack: Mapping[str, str | bytes | To], top: str = "sosreport-r730", kind: str = ""
) -> bytes:
    """Return an archive; kind: gz, xz, bz2 or "" for none."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode=f"w:{kind}") as archive:
        for name, content in pack.items():
            about = tarfile.TarInfo(f"{top}{name}" if top else name.removeprefix("/"))
            if isinstance(content, To):
                about.type, about.linkname = tarfile.SYMTYPE, content.target
                archive.addfile(about)
                continue
            octets = content.encode() if isinstance(content, str) else content
            about.size = len(octets)
            archive.addfile(about, io.BytesIO(octets))
    return file.getvalue()


def sosreport(recording: Recording, facts: HostFacts) -> Pack:
    """Return the files of a sosreport of a recorded host."""
    pack: Pack = {
        path: text for path, text in recording.files.items() if not path.startswith(_NOT_COPIED)
    }
    pack |= {"/etc/hostname": f"{facts.host}\n", "/proc/interrupts": interrupts(facts)}
    pack["/sos_commands/pci/lspci_-nnvv"] = lspci(facts)
    pack["/sos_commands/networking/ip_-d_address"] = "".join(
        f"{number}: {each.name}: <BROADCAST,MULTICAST> mtu {each.mtu} qdisc mq "
        f"{f'master {each.master} ' if each.master else ''}state {'UP' if each.up else 'DOWN'} "
        f"group default qlen 1000\n    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff\n"
        for number, each in enumerate(facts.interfaces, 2)
    )
    for each in facts.interfaces:
        if each.pci:
            real = f"/sys/devices/pci0000:00/0000:00:02.0/{each.pci}/net/{each.name}"
            pack[f"{real}/flags"] = "0x1003\n"
            pack[f"/sys/class/net/{each.name}"] = To(f"../..{real.removeprefix('/sys')}")
        if each.speed_mbps:
            pack[f"/sos_commands/networking/ethtool_{each.name}"] = (
                f"Settings for {each.name}:\n\tSpeed: {each.speed_mbps}Mb/s\n"
            )
    pack["/sos_commands/systemd/systemctl_show_service_--all"] = SERVICES
    return pack | _ovs(recording) | _guests(recording)


def snapshot(recording: Recording, facts: HostFacts) -> Pack:
    """Return the files of a sysinfo.tgz: a part of /proc and /sys, and no top folder."""
    kept = re.compile(r"/sys/devices/system/(?:cpu/cpu\d+/(?:topology|cache)|node)/.*"
                      r"|/proc/(?:cmdline|cpuinfo|meminfo|irq/.*)")  # fmt: skip
    pack: Pack = {path: text for path, text in recording.files.items() if kept.fullmatch(path)}
    pack |= {"/sys/devices/system/cpu/offline": "\n", "/proc/interrupts": interrupts(facts)}
    for device in facts.pci:
        real = f"/sys/devices/pci0000:00/{device.address}"
        pack[f"/sys/bus/pci/devices/{device.address}"] = To(f"../../..{real.removeprefix('/sys')}")
        pack[f"{real}/class"] = f"{device.class_code:#08x}\n"
    return pack


def must_gather(folder: Path, recording: Recording, facts: HostFacts, nodes: list[str]) -> Pack:
    """Return the files of a must-gather with these nodes, each of them the same server."""
    packed = write(folder / "sysinfo.tgz", snapshot(recording, facts), top="").read_bytes()
    pack: Pack = {"/quay-io-openshift-sha256-0/cluster-scoped-resources/version": "4.18\n"}
    for node in nodes:
        below = f"/quay-io-openshift-sha256-0/nodes/{node}"
        pack[f"{below}/lspci"] = re.sub(r"(?m)^(\S+) .*\[(\w{4})\]: .*\[(.{9})\]", r"\1 \2: \3",
                                        lspci(facts))  # fmt: skip
        pack[f"{below}/lscpu"] = "CPU NODE SOCKET CORE\n"
        pack[f"{below}/sysinfo.tgz"] = packed
    return pack


def machine_config(node: str, source: str, compression: str = "") -> Pack:
    """Return the objects of a must-gather that have a node's kubelet.conf.

    source: data URL of the file.
    """
    below = "/quay-io-openshift-sha256-0/cluster-scoped-resources"
    group, name = "machineconfiguration.openshift.io", "rendered-worker-0a1b"
    return {
        f"{below}/core/nodes/{node}.yaml": "---\napiVersion: v1\nkind: Node\nmetadata:\n"
        f"  annotations:\n    {group}/currentConfig: {name}\n  name: {node}\n",
        f"{below}/{group}/machineconfigs/{name}.yaml": f"---\napiVersion: {group}/v1\n"
        "kind: MachineConfig\nspec:\n  config:\n    ignition:\n      version: 3.4.0\n"
        "    storage:\n      files:\n"
        "      - contents:\n          source: data:,other\n        path: /etc/other\n"
        f"      - contents:\n          compression: '{compression}'\n          source: {source}\n"
        "        mode: 420\n        path: /etc/kubernetes/kubelet.conf\n",
        f"{below}/{group}/machineconfigs/99-worker-generated-kubelet.yaml": "kind: [\n",
    }


def interrupts(facts: HostFacts) -> str:
    """Return /proc/interrupts with the handlers of the facts."""
    cpus = facts.online_cpus
    lines = [" " * 11 + "".join(f"CPU{cpu:<8}" for cpu in cpus)]
    lines += [
        f"{irq.number:4}: {' '.join('         7' for _ in cpus)}  IR-PCI-MSI-0000:04:00.0"
        f" {irq.number:4}-edge      {irq.actions.replace(',', ', ')}"
        for irq in facts.irqs or ()
    ]
    return "\n".join([*lines, "NMI:          0   Non-maskable interrupts", ""])


def lspci(facts: HostFacts) -> str:
    """Return what `lspci -nnvv` prints as root."""
    return "\n\n".join(map(_device, facts.pci)) + "\n\n"


def _device(device: PciDevice) -> str:
    kind = f"{device.class_code >> 8:04x}"
    name = f"Intel Corporation Ethernet Controller [{device.vendor}:{device.device}] (rev 02)"
    lines = [f"{device.address.removeprefix('0000:')} Ethernet controller [{kind}]: {name}"]
    if device.node is not None:
        lines.append(f"NUMA node: {device.node}")
    if device.iommu_group is not None:
        lines.append(f"IOMMU group: {device.iommu_group}")
    for name, gts, width in (("LnkCap:\tPort #0,", device.max_link_gts, device.max_link_width),
                             ("LnkSta:\t", device.link_gts, device.link_width)):  # fmt: skip
        if gts:
            lines.append(f"\t{name} Speed {gts:g}GT/s (ok), Width x{width} (ok)")
    if device.sriov_total:
        lines += [
            "\tCapabilities: [160 v1] Single Root I/O Virtualization (SR-IOV)",
            f"\t\tInitial VFs: 64, Total VFs: {device.sriov_total}, "
            f"Number of VFs: {device.sriov_num}, Function Dependency Link: 00",
            "\t\tVF offset: 16, stride: 1, Device ID: 154c",
        ]
    if device.driver:
        lines.append(f"Kernel driver in use: {device.driver}")
    return "\n\t".join(lines)


def _ovs(recording: Recording) -> Pack:
    tables: dict[str, list[dict[str, Any]]] = {}
    pack: Pack = {}
    folder = "/sos_commands/openvswitch"
    for command in recording.commands:
        if command.argv[0] == "ovs-vsctl":
            table = json.loads(command.stdout)
            tables[command.argv[-1]] = [
                dict(zip(table["headings"], row, strict=True)) for row in table["data"]
            ]
        elif "dpctl/show" in command.argv:
            pack[f"{folder}/ovs-appctl_dpctl.show_-s_netdev_ovs-netdev"] = command.stdout
        elif command.argv[0] == "ovs-appctl":
            pack[f"{folder}/ovs-appctl_dpif-netdev.pmd-rxq-show"] = command.stdout
    for table, file in (("Open_vSwitch", "list_Open_vSwitch"), ("Interface", "list_interface")):
        pack[f"{folder}/ovs-vsctl_-t_5_{file}"] = "\n".join(map(_listed, tables[table]))
    pack[f"{folder}/ovs-vsctl_-t_5_show"] = _shown(tables)
    return pack


def _listed(row: Mapping[str, Any]) -> str:
    return "".join(f"{key:20}: {_value(value)}\n" for key, value in row.items())


def _value(value: Any) -> str:
    match value:
        case ["set", items]:
            return f"[{', '.join(map(_value, items))}]"
        case ["map", items]:
            return f"{{{', '.join(f'{_value(k)}={_value(v)}' for k, v in items)}}}"
        case ["uuid", uuid]:
            return str(uuid)
        case str() if not _BARE.fullmatch(value) or value in ("true", "false"):
            return json.dumps(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _shown(tables: Mapping[str, list[dict[str, Any]]]) -> str:
    names = {row["_uuid"][1]: row["name"] for row in (*tables["Port"], *tables["Interface"])}
    members = {row["name"]: _items(row["interfaces"]) for row in tables["Port"]}
    lines = ["3f2504e0-4f89-11d3-9a0c-0305e82c3301"]
    for bridge in tables["Bridge"]:
        lines += [
            f"    Bridge {bridge['name']}",
            f"        datapath_type: {bridge['datapath_type']}",
        ]
        for port in (names[each] for each in _items(bridge["ports"])):
            lines.append(f"        Port {_value(port)}")
            for member in members[port]:
                lines += [f"            Interface {_value(names[member])}",
                          "                type: dpdk"]  # fmt: skip
    return "\n".join([*lines, '    ovs_version: "2.17.2"', ""])


def _items(value: Any) -> list[str]:
    found = value[1] if value[0] == "set" else [value]
    return [uuid for _, uuid in found]


def _guests(recording: Recording) -> Pack:
    pack: Pack = {}
    names = []
    for command in recording.commands:
        if command.argv[0] == "virsh" and "dumpxml" in command.argv:
            names.append(command.argv[-1])
            pack[f"/sos_commands/virsh/virsh_-r_dumpxml_{command.argv[-1]}"] = command.stdout
    rows = [f" {number:<4} {name:20} running" for number, name in enumerate(names, 1)]
    pack["/sos_commands/virsh/virsh_-r_list_--all"] = "\n".join(
        [
            " Id   Name                 State",
            "-" * 40,
            *rows,
            " -    old                  shut off",
            "",
        ]
    )
    return pack
