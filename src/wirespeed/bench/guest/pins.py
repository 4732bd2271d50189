# SPDX-License-Identifier: Apache-2.0
"""Compare the CPU affinity of a guest's threads with its domain. Reads /proc, not libvirt."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from xml.etree import ElementTree as Xml

from wirespeed.bench.interface import BenchError
from wirespeed.model.cpuset import format_list, parse_list
from wirespeed.remote.interface import Runner

# QEMU's thread name of a vCPU; the accelerator follows the slash.
_VCPU = re.compile(r"CPU (\d+)/")
# QEMU's thread name of a memory-clearing thread, which sleeps after the start.
_CLEARING = "TC "
_ALLOWED = re.compile(r"^Cpus_allowed_list:\s*(\S+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class GuestThread:
    """Thread of a QEMU process."""

    tid: int
    name: str
    vcpu: int | None
    """Number of the vCPU; None for QEMU's other threads."""
    cpus: tuple[int, ...]
    """CPUs on which the kernel lets it run."""


@dataclass(frozen=True, slots=True)
class Pins:
    """CPU pins of a domain; vCPUs and emulator threads without a pin are absent."""

    vcpus: Mapping[int, tuple[int, ...]]
    emulator: tuple[int, ...] | None


def pins_of(domain: str) -> Pins:
    """Return the pins in a domain's XML."""
    tuning = Xml.fromstring(domain).find("cputune")  # noqa: S314  written by us
    vcpus, emulator = {}, None
    for pin in () if tuning is None else tuning:
        cpus = parse_list(pin.get("cpuset", ""))
        if pin.tag == "vcpupin":
            vcpus[int(pin.get("vcpu", ""))] = cpus
        elif pin.tag == "emulatorpin":
            emulator = cpus
    return Pins(vcpus, emulator)


def threads_of(runner: Runner, pid: int) -> tuple[GuestThread, ...]:
    """Return the threads of this QEMU process."""
    names = runner.read_many(runner.glob(f"/proc/{pid}/task/*/comm"))
    found = []
    for path, name in names.items():
        if isinstance(name, OSError):
            continue  # ended meanwhile
        status = runner.read_many([path.replace("/comm", "/status")]).popitem()[1]
        allowed = None if isinstance(status, OSError) else _ALLOWED.search(status)
        if allowed is None:
            continue
        vcpu = _VCPU.match(name)
        number = None if vcpu is None else int(vcpu[1])
        tid = int(path.split("/")[-2])
        found.append(GuestThread(tid, name.strip(), number, parse_list(allowed[1])))
    return tuple(sorted(found, key=lambda thread: thread.tid))


def check_pins(guest: str, pins: Pins, threads: tuple[GuestThread, ...]) -> None:
    """Raise BenchError with every thread that is not on its CPUs."""
    if wrong := list(_differences(pins, threads)):
        raise BenchError(
            f"guest {guest} does not run where the plan says: {'; '.join(wrong)}",
            "Another program (numad, a cgroup's cpuset) moves threads on this host.",
        )


def _differences(pins: Pins, threads: tuple[GuestThread, ...]) -> Iterator[str]:
    for vcpu in sorted(pins.vcpus.keys() - {thread.vcpu for thread in threads}):
        yield f"vCPU {vcpu} has no thread"
    for thread in threads:
        if thread.name.startswith(_CLEARING):
            continue
        wanted = pins.emulator if thread.vcpu is None else pins.vcpus.get(thread.vcpu)
        if wanted is not None and thread.cpus != wanted:
            yield (
                f"thread {thread.tid} ({thread.name}) may run on CPU {format_list(thread.cpus)}, "
                f"should on {format_list(wanted)}"
            )
