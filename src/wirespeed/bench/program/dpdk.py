# SPDX-License-Identifier: Apache-2.0
"""Build the EAL options and environment that all DPDK programs of a bench need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from wirespeed.model.host.lab import is_pci
from wirespeed.model.plan.plan import ProcessMemory


def environment(run_dir: PurePosixPath) -> Mapping[str, str]:
    """Return variables that keep DPDK's run-time files below run_dir.

    See eal_create_runtime_dir. They also make libxdp load XDP programs without its dispatcher,
    which it would keep in /sys/fs/bpf.
    """
    return {"RUNTIME_DIRECTORY": str(run_dir), "LIBXDP_SKIP_DISPATCHER": "1"}


def telemetry_socket(run_dir: PurePosixPath, file_prefix: str) -> str:
    return str(run_dir / "dpdk" / file_prefix / "dpdk_telemetry.v2")


def device_name(device: str) -> str:
    """Return the name of a device in lower case: its device string up to the first option."""
    return device.partition(",")[0].lower()


def device_options(devices: Iterable[str]) -> tuple[str, ...]:
    """Return the EAL options that enable these devices, and no other PCI device."""
    found = tuple(devices)
    pci = [device for device in found if is_pci(device_name(device))]
    allowed = [word for device in pci for word in ("-a", device)] or ["--no-pci"]
    return (*allowed, *(f"--vdev={device}" for device in found if device not in pci))


def in_port_order(devices: Iterable[str]) -> tuple[str, ...]:
    """Return the devices in the order in which DPDK numbers their ports at start.

    The PCI bus comes first and is in order of address (pci_scan, rte_bus_probe).
    """
    found = tuple(devices)
    pci = [device for device in found if is_pci(device_name(device))]
    return (*sorted(pci, key=str.lower), *(device for device in found if device not in pci))


def memory_options(memory: ProcessMemory) -> tuple[str, ...]:
    """Return the EAL options that allocate a process's memory at start, and none later.

    --in-memory: pages are anonymous, end with the process, and need no hugetlbfs mount.
    --single-file-segments: keeps regions few enough for a vhost-user memory table.
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
