# SPDX-License-Identifier: Apache-2.0
"""Represent the switch inside a NIC, which joins virtual functions (VFs), in a bench.

It exists already and needs no process: the component reports its settings and counts. Where a path
spans two hosts, it stands for both NICs and the wire between them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from wirespeed.bench.host.vf_changes import pf_interface, vf_entries
from wirespeed.bench.interface import BenchError, HopCount, UnstartedPart
from wirespeed.bench.program import dpdk
from wirespeed.bench.program.port_info import port_infos, port_of_mac
from wirespeed.bench.switch.nic.carried_out import carried_out, is_emulated
from wirespeed.bench.switch.nic.counters import Link, VfCount, between, hop, lost, vf_count
from wirespeed.remote.interface import Runner
from wirespeed.remote.pci import SYS_PCI, driver_of
from wirespeed.sources.telemetry import Telemetry

# Frames may still be in flight: a gap counts once it no longer changes.
_SETTLE_S, _AGAIN_S = 0.2, 0.005


@dataclass(frozen=True, slots=True)
class Home:
    """Machine on which a program runs, and the directory of its sockets there."""

    runner: Runner
    run_dir: PurePosixPath


@dataclass(frozen=True, slots=True)
class NicPort:
    """One VF."""

    name: str
    runner: Runner
    """Access to the NIC's host."""
    address: str
    home: Callable[[], Home]
    """Host environment of the program that polls the VF; unknown before it runs."""
    file_prefix: str
    """DPDK --file-prefix of that program."""
    mac: str
    """The VF's MAC address, by which that program's port is found."""


@dataclass(frozen=True, slots=True)
class _Physical:
    """A physical function, and the index of one VF in its list."""

    runner: Runner
    address: str
    interface: str
    number: int


class NicSwitch(UnstartedPart):
    """Switch inside a NIC. links: ports that share a VLAN.

    The programs at its ports wait for their links themselves.
    """

    name = "NIC"

    def __init__(self, ports: Sequence[NicPort], links: Sequence[Link]) -> None:
        self._ports, self._links = tuple(ports), tuple(links)
        self._physical: dict[str, _Physical] = {}
        self._programs: dict[tuple[str, str], Telemetry] = {}
        self._numbers: dict[str, int] = {}
        self._before: Mapping[str, VfCount] = {}

    def up(self) -> None:
        self._physical = {port.name: _physical(port) for port in self._ports}

    def begin(self) -> None:
        self._before = self._read()

    def read(self) -> tuple[HopCount, ...]:
        seen = self._since_begin()
        deadline = time.monotonic() + _SETTLE_S
        while any(lost(seen, self._links).values()) and time.monotonic() < deadline:
            time.sleep(_AGAIN_S)
            again = self._since_begin()
            if again == seen:
                break
            seen = again
        return (hop(seen, self._links),)

    def _since_begin(self) -> Mapping[str, VfCount]:
        return between(self._before, self._read())

    def _read(self) -> Mapping[str, VfCount]:
        listed = {
            (each.address, each.runner.name): vf_entries(each.runner, each.interface)
            for each in self._physical.values()
        }
        found = {}
        for port in self._ports:
            physical = self._physical[port.name]
            entry = listed[physical.address, physical.runner.name][physical.number]
            program = self._program(port)
            if port.name not in self._numbers:
                self._numbers[port.name] = port_of_mac(port_infos(program), port.mac)
            device = program.ask(f"/ethdev/stats,{self._numbers[port.name]}")
            found[port.name] = vf_count(device, entry)
        return found

    def _program(self, port: NicPort) -> Telemetry:
        key = (port.runner.name, port.file_prefix)
        if key not in self._programs:
            home = port.home()
            socket = dpdk.telemetry_socket(home.run_dir, port.file_prefix)
            self._programs[key] = Telemetry(home.runner, socket)
        return self._programs[key]

    def down(self) -> None:
        for telemetry in self._programs.values():
            telemetry.close()
        self._programs.clear()
        self._numbers.clear()

    def describe(self) -> Mapping[str, object]:
        """Return the VFs as the driver of their physical function reports them."""
        return {port.name: self._describe(port) for port in self._ports}

    @property
    def emulated(self) -> str | None:
        """Return why results say nothing about speed; None where they do."""
        said = (emulated_nic(p.runner, p.address) for p in self._physical.values())
        return next((why for why in said if why is not None), None)

    def _describe(self, port: NicPort) -> Mapping[str, object]:
        physical = self._physical[port.name]
        entry = vf_entries(physical.runner, physical.interface)[physical.number]
        return {"address": port.address, **describe_vf(physical.runner, physical.address, entry)}


def describe_vf(
    runner: Runner, pf: str, entry: Mapping[str, object], *, one_vlan: bool = False
) -> Mapping[str, object]:
    """Describe the settings of a VF.

    entry: the VF in its physical function's list. one_vlan: see carried_out.
    """
    return {
        "physical_function": pf,
        "driver": driver_of(runner, pf),
        "set": {key: value for key, value in entry.items() if key != "stats"},
        "carried_out": dict(carried_out(_subsystem_vendor(runner, pf), one_vlan=one_vlan)),
    }


def emulated_nic(runner: Runner, pf: str) -> str | None:
    """Return why results of this NIC say nothing about speed; None where they do."""
    found = is_emulated(_subsystem_vendor(runner, pf))
    return f"NIC {pf} of {runner.name}: QEMU's" if found else None


def _subsystem_vendor(runner: Runner, pf: str) -> str:
    return runner.read(f"{SYS_PCI}/{pf}/subsystem_vendor")


def _physical(port: NicPort) -> _Physical:
    """Return the VF's physical function. Raises BenchError when VF or PF driver is gone."""
    runner = port.runner
    pf = os.path.basename(runner.readlink(f"{SYS_PCI}/{port.address}/physfn"))
    interface = pf_interface(runner, pf)
    for path in runner.glob(f"{SYS_PCI}/{pf}/virtfn*"):
        if interface and os.path.basename(runner.readlink(path)) == port.address:
            number = int(os.path.basename(path).removeprefix("virtfn"))
            return _Physical(runner, pf, interface, number)
    raise BenchError(f"{port.address} is no virtual function of {pf} any more")
