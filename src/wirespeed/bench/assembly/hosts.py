# SPDX-License-Identifier: Apache-2.0
"""Check that the hosts of a bench exist and are fit for a measurement.

All hosts are checked before any of them is changed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from wirespeed.bench.host.programs import program_version
from wirespeed.bench.interface import BenchError
from wirespeed.bench.program.wsdp import WSDP
from wirespeed.model.errors import faulty_file
from wirespeed.model.host.lab import is_pci
from wirespeed.model.input.bounded import load_json
from wirespeed.model.input.fault import Fault
from wirespeed.remote.interface import LOCALHOST, HostUnreachable, RemoteError, Runner

CLOCK_OFF_S = 1.0
# The reading with the shortest round trip counts: it bounds the error of the clock offset best.
_READINGS = 3


@dataclass(frozen=True, slots=True)
class BenchHost:
    """Host of a bench, with what a testbed file says about it."""

    runner: Runner
    ports: Mapping[str, str] = field(default_factory=dict)
    """PCI address or interface of each port, by the port's name."""
    wsdp: str | None = None
    """Path of the data plane program; None where the testbed file gives none."""


@dataclass(frozen=True, slots=True)
class BenchHosts:
    """Hosts of a bench."""

    generator: BenchHost
    """Host of the traffic generator."""
    sut: BenchHost | None = None
    """Host of switch and functions; None where it is the generator's host."""


def check_hosts(hosts: Sequence[BenchHost], lab: str) -> None:
    """Raise BadInput with every reason why these hosts cannot measure together."""
    faults: list[Fault] = []
    reached: list[BenchHost] = []
    for host in hosts:
        try:
            host.runner.run(["true"])
        except HostUnreachable as fault:
            key = f"hosts.{host.runner.name}.ssh"
            faults.append(Fault(key, host.runner.address, f"{fault.what}. {fault.next_step}"))
            continue
        reached.append(host)
        faults += [*_ports(host), *_clock(host)]
    faults += _programs(reached)
    if faults:
        raise faulty_file(
            lab, [str(fault) for fault in faults],
            "Correct the testbed file or these hosts; see docs/howto/two-hosts.md.",
        )  # fmt: skip


def _ports(host: BenchHost) -> Iterator[Fault]:
    for port, device in host.ports.items():
        for wrong in _wrong_with(host.runner, device):
            yield Fault(f"hosts.{host.runner.name}.ports.{port}", device, wrong)


def _wrong_with(runner: Runner, device: str) -> Iterator[str]:
    """Yield why a port cannot be used: it is absent, or the host itself uses it."""
    interfaces: Sequence[str] = (device,)
    if is_pci(device):
        if not runner.glob(f"/sys/bus/pci/devices/{device.lower()}"):
            yield f"there is no such PCI device on {runner.name}; `lspci -D` lists them"
            return
        found = runner.glob(f"/sys/bus/pci/devices/{device.lower()}/net/*")
        interfaces = [PurePosixPath(path).name for path in found]
    elif not runner.glob(f"/sys/class/net/{device}"):
        others = [PurePosixPath(path).name for path in runner.glob("/sys/class/net/*")]
        yield f"there is no such interface on {runner.name}, which has {', '.join(others)}"
        return
    for name in interfaces:
        [seen] = load_json(runner.run(["ip", "-json", "address", "show", "dev", name]).stdout)
        addresses = [a["local"] for a in seen["addr_info"] if a["scope"] == "global"]
        if addresses:
            yield f"{name} is in use: it has the address {', '.join(addresses)}"
        if "master" in seen:
            yield f"{name} is in use: it belongs to {seen['master']}"


def _clock(host: BenchHost) -> Iterator[Fault]:
    """Check the host's clock: logs of several hosts are compared by their times."""
    if host.runner.address == LOCALHOST:
        return
    off_s, error_s = min(
        (_offset_s(host.runner) for _ in range(_READINGS)), key=lambda reading: reading[1]
    )
    if abs(off_s) - error_s > CLOCK_OFF_S:
        yield Fault(
            f"hosts.{host.runner.name}", f"{off_s:+.1f} s",
            f"its clock is that far from this machine's; at most {CLOCK_OFF_S:g} s may be between "
            "them, for logs of both are read side by side by their times: let chronyd keep both",
        )  # fmt: skip


def _offset_s(runner: Runner) -> tuple[float, float]:
    """Return how far the host's clock is ahead of the local one, and the error bound, in s."""
    asked = time.time()
    there = float(runner.run(["date", "+%s.%N"]).stdout)
    took_s = time.time() - asked
    return there - (asked + took_s / 2), took_s / 2


def _programs(hosts: Sequence[BenchHost]) -> Iterator[Fault]:
    """Require one version of DPDK and of wsdp: a difference would be attributed to the SUT."""
    versions: dict[str, str] = {}
    for host in hosts:
        key = f"hosts.{host.runner.name}.wsdp"
        told = host.wsdp or "(omitted)"
        try:
            versions[host.runner.name] = program_version(host.runner, WSDP, host.wsdp)
        except (BenchError, RemoteError) as fault:
            yield Fault(key, told, f"{fault.what}. {fault.next_step}".strip())
            continue
        first, version = next(iter(versions.items()))
        if versions[host.runner.name] != version:
            yield Fault(
                key, told,
                f"is {versions[host.runner.name]}, but on {first} it is {version}; what differs "
                "would be taken for the SUT's: install the same on both",
            )  # fmt: skip
