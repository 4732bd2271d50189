# SPDX-License-Identifier: Apache-2.0
"""How do the NIC ports that a study names get to DPDK, and back to the kernel afterwards?

Only ports that are named are touched, and never the one that carries the default route: losing it
would cut off whoever runs this.
"""

from __future__ import annotations

import os

from wirespeed.bench.changes import PciBound
from wirespeed.bench.host_state import HostState
from wirespeed.bench.interface import BenchError
from wirespeed.bench.plugs import is_pci
from wirespeed.model.errors import BadInput
from wirespeed.model.spec import PointSpec
from wirespeed.remote.interface import Runner

_DRIVER = "vfio-pci"


def give_ports_to_dpdk(state: HostState, spec: PointSpec) -> None:
    """Bind the named PCI ports to vfio-pci.

    Raises BadInput for a port that does not exist or that the default route goes through, and
    BenchError when it cannot be bound. Ports of a driver that DPDK shares with the kernel
    (bifurcated, e.g. mlx5_core) stay where they are.
    """
    for address in (port for port in spec.sut.ports if is_pci(port)):
        _check(state.runner, address)
        _bind(state, address)


_BIFURCATED = ("mlx5_core", "mlx4_core", "mana")


def _check(runner: Runner, address: str) -> None:
    if not runner.glob(f"/sys/bus/pci/devices/{address}"):
        raise BadInput(
            f"sut.ports: there is no PCI device {address} on this host",
            "`ls /sys/class/net/*/device -l` lists the addresses of the network interfaces.",
        )
    routes = _default_route_interfaces(runner)
    names = [os.path.basename(p) for p in runner.glob(f"/sys/bus/pci/devices/{address}/net/*")]
    for name in names:
        if name in routes:
            raise BadInput(
                f"sut.ports: {address} is {name}, which carries the default route",
                "Name a port that this host can do without.",
            )


def _default_route_interfaces(runner: Runner) -> set[str]:
    """The interfaces of default routes, and what lies beneath (bonds, bridges, VLANs)."""
    found: set[str] = set()
    for line in runner.read("/proc/net/route").splitlines()[1:]:
        fields = line.split()
        if fields[1] == "00000000" and fields[7] == "00000000":
            found.add(fields[0])
    if runner.glob("/proc/net/ipv6_route"):
        for line in runner.read("/proc/net/ipv6_route").splitlines():
            fields = line.split()
            if fields[0] == "0" * 32 and fields[1] == "00" and fields[9] != "lo":
                found.add(fields[9])
    waiting = list(found)
    while waiting:
        name = waiting.pop()
        for lower in runner.glob(f"/sys/class/net/{name}/lower_*"):
            below = os.path.basename(lower).removeprefix("lower_")
            if below not in found:
                found.add(below)
                waiting.append(below)
    return found


def _bind(state: HostState, address: str) -> None:
    runner = state.runner
    device = f"/sys/bus/pci/devices/{address}"
    driver = f"{device}/driver"
    was = os.path.basename(runner.readlink(driver)) if runner.glob(driver) else ""
    if was == _DRIVER or was in _BIFURCATED:
        return
    if not runner.glob(f"/sys/bus/pci/drivers/{_DRIVER}"):
        raise BenchError(
            f"{address} cannot be given to DPDK: the kernel has no {_DRIVER} driver loaded",
            f"Run `modprobe {_DRIVER}`.",
        )
    state.note(PciBound(address, was))
    try:
        runner.write(f"{device}/driver_override", _DRIVER)
        if was:
            runner.write(f"{driver}/unbind", address)
        runner.write(f"/sys/bus/pci/drivers/{_DRIVER}/bind", address)
    except OSError as fault:
        raise BenchError(
            f"{address} could not be bound to {_DRIVER}: {fault.strerror}",
            "Is the IOMMU on (intel_iommu=on or amd_iommu=on), and are you root?",
        ) from fault
