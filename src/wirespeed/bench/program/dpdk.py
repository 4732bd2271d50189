# SPDX-License-Identifier: Apache-2.0
"""What do all programs that use DPDK need on their command line, and where is their socket?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from wirespeed.model.lab import is_pci
from wirespeed.model.plan import ProcessMemory


def environment(run_dir: PurePosixPath) -> Mapping[str, str]:
    """Makes DPDK keep its run-time files below run_dir (EAL: eal_create_runtime_dir), and libxdp
    load XDP programs without its dispatcher, which it keeps in /sys/fs/bpf."""
    return {"RUNTIME_DIRECTORY": str(run_dir), "LIBXDP_SKIP_DISPATCHER": "1"}


def telemetry_socket(run_dir: PurePosixPath, file_prefix: str) -> str:
    return str(run_dir / "dpdk" / file_prefix / "dpdk_telemetry.v2")


def device_options(devices: Iterable[str]) -> tuple[str, ...]:
    """The EAL options that let a program have these devices, and no other PCI device."""
    found = tuple(devices)
    pci = [device for device in found if is_pci(device.partition(",")[0])]
    allowed = [word for device in pci for word in ("-a", device)] or ["--no-pci"]
    return (*allowed, *(f"--vdev={device}" for device in found if device not in pci))


def memory_options(memory: ProcessMemory) -> tuple[str, ...]:
    """The EAL options that give a process its memory at start, and no more later.

    --in-memory: pages are anonymous and go with the process, however it ends; no hugetlbfs has to
    be mounted. --single-file-segments: few enough regions for a vhost-user memory table.
    """
    if not memory.huge_pages:
        return ("--no-huge", "-m", str(memory.memory_mib))
    per_node = ",".join(
        str(memory.memory_mib if node in memory.nodes else 0)
        for node in range(max(memory.nodes) + 1)
    )
    return (
        "--in-memory",
        "--single-file-segments",
        f"--socket-mem={per_node}",
        f"--socket-limit={per_node}",
    )
