# SPDX-License-Identifier: Apache-2.0
"""Prepare each host of a bench for its components, and restore it afterwards."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from wirespeed.bench.assembly.hosts import BenchHost
from wirespeed.bench.assembly.kinds import physical_functions
from wirespeed.bench.assembly.layout import Place
from wirespeed.bench.assembly.nic import functions_on, virtual_functions
from wirespeed.bench.host.directories import run_directories
from wirespeed.bench.host.host import Host, changing_host
from wirespeed.bench.host.interfaces import give_interfaces_to_bench
from wirespeed.bench.host.pci import give_ports_to_dpdk
from wirespeed.bench.host.priority import polling_first
from wirespeed.bench.host.root import check_root, effective_user
from wirespeed.bench.topology.plugs import Device, Interface, Plug
from wirespeed.bench.topology.wiring import PORTS
from wirespeed.model.host.lab import is_pci
from wirespeed.model.plan.plan import HostPlan
from wirespeed.model.study.spec import Frames
from wirespeed.remote.state import state_directory


@dataclass(frozen=True, slots=True)
class OpenHost:
    """Host of a bench while the bench is up."""

    host: Host
    place: Place
    urgency: str
    """Priority that its polling threads were given, in words."""


@contextmanager
def opened_host(
    access: BenchHost, plan: HostPlan, frames: Frames, mtu: int, logs: Path
) -> Iterator[OpenHost]:
    """Clean up after killed runs, prepare the host, and undo everything at the end.

    mtu: MTU of ports that are interfaces. logs: folder that receives logs and configuration files.
    """
    with ExitStack() as stack:
        state_dir = state_directory(os.environ)
        host = stack.enter_context(changing_host(access.runner, state_dir, access.wsdp))
        check_root(effective_user(access.runner), frames, plan)
        dirs = stack.enter_context(run_directories(host, logs))
        ports = _ports(host, access, plan, frames, mtu)
        urgency = stack.enter_context(polling_first(host))
        yield OpenHost(host, Place(plan, dirs, ports), urgency)


def _ports(
    host: Host, access: BenchHost, plan: HostPlan, frames: Frames, mtu: int
) -> Mapping[str, Plug]:
    """Take from the kernel the ports of this host that the bench attaches to."""
    has_generator, has_functions = plan.generator is not None, bool(plan.guests)
    if wanted := functions_on(frames, generator=has_generator, others=has_functions):
        return virtual_functions(host, wanted, physical_functions(frames, access.ports), mtu)
    devices = [access.ports[port] for port in PORTS if port in access.ports]
    give_ports_to_dpdk(host, devices or frames.sut.ports)
    give_interfaces_to_bench(host, (each for each in devices if not is_pci(each)), mtu)
    return {port: _plug(device) for port, device in access.ports.items()}


def _plug(device: str) -> Plug:
    return Device(device) if is_pci(device) else Interface(device)
