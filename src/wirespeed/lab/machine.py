# SPDX-License-Identifier: Apache-2.0
"""Write QEMU's command line for an emulated server. Pure.

The server has two sockets with SMT, each a NUMA node, and VT-d with interrupt remapping. Node 1
has, behind a PCIe expander bridge, a root port and an 82576 (igb, 7 VFs) per cable. Node 0 has the
management interface, the only one with an address. Source: QEMU's docs/pcie.txt,
system/devices/igb.rst.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from wirespeed.image.machine import PROGRAM, ROOT_SERIAL, given_arguments
from wirespeed.model.errors import BadInput

# Two sockets, so that plans for two sockets have something to decide.
SOCKETS, THREADS = 2, 2
CABLES = ("east", "west")
# First bus behind the expander bridge, for the root ports; each NIC is on one of the next buses.
_BUS = 0x20
_MAX_CPUS = 16
# In GiB. 2 GiB of node 0 are below 4 GiB, where the firmware has its tables. The kernel takes the
# end of the rest at boot, and a page of 1 GiB must be free and aligned.
MEMORY_GIB = 4
# All CPUs of a node in one thread. With a thread each, QEMU 10.0.2 ended in its own assertion
# (iotlb_to_section: section_index < d->map.sections_nb), nodes hung, and boots took longer.
_ACCELERATOR = "tcg,thread=single"
_CPU = "max,-svm,vendor=GenuineIntel,family=6,model=106"


@dataclass(frozen=True, slots=True)
class MachineSpec:
    """An emulated server."""

    name: str
    number: int
    """Number of the node, from 1."""
    cpus: int
    memory_gib: int
    """Memory of each NUMA node."""
    port: int
    """Port of its sshd on 127.0.0.1."""

    @property
    def memory_bytes(self) -> int:
        return SOCKETS * self.memory_gib * 2**30


@dataclass(frozen=True, slots=True)
class MachineFiles:
    """Paths relative to the directory in which QEMU runs: disks and output files."""

    boot: Path
    root: Path
    console: Path
    pid: Path
    given: Mapping[str, Path]
    """Files by name in fw_cfg."""
    sockets: Mapping[str, tuple[Path, Path]]
    """Sockets of each cable: this end's and the other end's."""


def check_size(cpus: int, memory_gib: int) -> None:
    """Raise BadInput for a size without two sockets with SMT, or without room for 1 GiB pages."""
    step = SOCKETS * THREADS
    if cpus % step or not step <= cpus <= _MAX_CPUS:
        allowed = ", ".join(map(str, range(step, _MAX_CPUS + 1, step)))
        raise BadInput(
            f"--cpus {cpus}: a node has two sockets with two threads a core", f"Give {allowed}."
        )
    if memory_gib < MEMORY_GIB:
        raise BadInput(
            f"--memory {memory_gib}: a NUMA node has no room for a page of 1 GiB",
            f"Give {MEMORY_GIB} or more.",
        )


def port_address(cable: str) -> str:
    """Return the PCI address of the NIC on this cable in the node."""
    return f"0000:{_BUS + 1 + CABLES.index(cable):02x}:00.0"


def command(spec: MachineSpec, files: MachineFiles) -> list[str]:
    """Return QEMU's command line for the node's directory: unix socket paths must be short."""
    return [
        PROGRAM,
        "-name", spec.name,
        "-nodefaults", "-no-user-config", "-display", "none", "-monitor", "none",
        "-machine", "q35,sata=off,smbus=off,vmport=off", "-accel", _ACCELERATOR,
        "-cpu", _CPU,
        *_cpus_and_memory(spec),
        "-device", "intel-iommu,intremap=on,device-iotlb=on",
        *_nics(spec, files),
        *_management(spec),
        *_disks(files),
        "-device", "virtio-rng-pci,bus=pcie.0",
        *given_arguments(files.given),
        "-chardev", f"file,id=console,append=on,path={files.console}",
        "-serial", "chardev:console",
        "-pidfile", str(files.pid),
    ]  # fmt: skip


def _cpus_and_memory(spec: MachineSpec) -> list[str]:
    cores = spec.cpus // (SOCKETS * THREADS)
    words = [
        "-smp", f"{spec.cpus},sockets={SOCKETS},cores={cores},threads={THREADS}",
        "-m", f"{SOCKETS * spec.memory_gib}G",
    ]  # fmt: skip
    each = spec.cpus // SOCKETS
    for node in range(SOCKETS):
        cpus = f"{node * each}-{(node + 1) * each - 1}"
        words += [
            "-object", f"memory-backend-ram,id=memory{node},size={spec.memory_gib}G",
            "-numa", f"node,nodeid={node},cpus={cpus},memdev=memory{node}",
        ]  # fmt: skip
    return [*words, "-numa", "dist,src=0,dst=1,val=21"]


def _nics(spec: MachineSpec, files: MachineFiles) -> list[str]:
    words = ["-device", f"pxb-pcie,id=expander,bus_nr={_BUS},bus=pcie.0,numa_node=1"]
    for index, cable in enumerate(CABLES, 1):
        near, far = files.sockets[cable]
        words += [
            "-device", f"pcie-root-port,id=slot{index},bus=expander,chassis={index},slot={index}",
            "-netdev", f"dgram,id={cable},local.type=unix,local.path={near},"
            f"remote.type=unix,remote.path={far}",
            "-device", f"igb,bus=slot{index},netdev={cable},mac={_mac(spec, index)}",
        ]  # fmt: skip
    return words


def _mac(spec: MachineSpec, port: int) -> str:
    """Return a locally administered address (IEEE 802, bit 1 of the first octet)."""
    return f"02:00:00:00:{spec.number:02x}:{port:02x}"


def _management(spec: MachineSpec) -> list[str]:
    """Give the node a network of its own, on which only its sshd is reachable."""
    return [
        "-netdev", "user,id=management,restrict=on,ipv6=off,"
        f"hostfwd=tcp:127.0.0.1:{spec.port}-:22",
        "-device", f"virtio-net-pci,bus=pcie.0,netdev=management,romfile=,mac={_mac(spec, 0)}",
    ]  # fmt: skip


def _disks(files: MachineFiles) -> list[str]:
    """Give the disks; SeaBIOS starts from the second. Synced data outlive a kill of QEMU."""
    return [
        "-drive", f"if=none,id=root,format=qcow2,file={files.root}",
        "-device", f"virtio-blk-pci,bus=pcie.0,drive=root,serial={ROOT_SERIAL}",
        "-drive", f"if=none,id=boot,format=raw,file={files.boot}",
        "-device", "virtio-blk-pci,bus=pcie.0,drive=boot,serial=wirespeed-boot,bootindex=0",
    ]  # fmt: skip
