# SPDX-License-Identifier: Apache-2.0
"""Find the running guests of a host: libvirt's domains, or QEMU processes without libvirt."""

from __future__ import annotations

import re
from dataclasses import dataclass

from wirespeed.model.cpuset import parse_list
from wirespeed.model.host.facts import HostFacts
from wirespeed.remote.interface import Runner

_QEMU = re.compile(r"^(qemu-system|qemu-kvm|kvm$)")


@dataclass(frozen=True, slots=True)
class RunningGuest:
    """A running guest."""

    name: str
    cpus: tuple[int, ...]
    pinned: bool
    """True if it is pinned to fewer than all CPUs."""
    devices: tuple[str, ...] = ()
    """Its PCI functions."""


def running_guests(runner: Runner, facts: HostFacts) -> tuple[RunningGuest, ...]:
    """Return libvirt's guests where it answers, else every QEMU process with its threads' CPUs."""
    if facts.guests:
        return tuple(
            RunningGuest(
                guest.name,
                tuple(sorted({cpu for pin in guest.pins for cpu in pin.cpus})),
                bool(guest.pins),
                (*guest.host_devices, *(port.pci for port in guest.ports if port.pci)),
            )
            for guest in facts.guests
        )
    names = runner.read_many(runner.glob("/proc/[0-9]*/comm"))
    found = []
    for path, comm in names.items():
        if isinstance(comm, str) and _QEMU.match(comm):
            number = path.split("/")[2]
            cpus = _cpus(runner, number)
            pinned = cpus < set(facts.online_cpus)
            name = f"{comm.strip()} (process {number})"
            found.append(RunningGuest(name, tuple(sorted(cpus)), pinned))
    return tuple(found)


def _cpus(runner: Runner, process: str) -> set[int]:
    """Return the CPUs of the vCPU threads, which QEMU names "CPU n/KVM" or "CPU n/TCG"."""
    tasks = f"/proc/{process}/task"
    names = runner.read_many(runner.glob(f"{tasks}/[0-9]*/comm"))
    vcpus = [p for p, comm in names.items() if isinstance(comm, str) and comm.startswith("CPU ")]
    states = runner.read_many([path.replace("/comm", "/status") for path in vcpus or names])
    cpus: set[int] = set()
    for text in states.values():
        allowed = re.search(r"^Cpus_allowed_list:\s*(\S+)", text, re.MULTILINE) if isinstance(
            text, str) else None  # fmt: skip
        cpus |= set(parse_list(allowed[1])) if allowed else set()
    return cpus
