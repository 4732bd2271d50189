# SPDX-License-Identifier: Apache-2.0
"""Make virtual functions (VFs) of a NIC's physical function (PF) for a bench, and remove them.

VFs are made where the PF has none. Where it has some, DPDK gets unused ones, which are restored
afterwards. A VF reads address and VLAN once, when its driver probes it, so they are set before
that.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from wirespeed.bench.host.host import Host
from wirespeed.bench.host.interfaces import give_interfaces_to_bench
from wirespeed.bench.host.pci import BIFURCATED, await_udev, bind, check_spare
from wirespeed.bench.host.process import await_true
from wirespeed.bench.host.vf_changes import (
    VfSet,
    VfsMade,
    pf_interface,
    set_vf,
    vf_entries,
)
from wirespeed.bench.host.vf_settings import VfSettings, parse_vf
from wirespeed.bench.interface import BenchError
from wirespeed.model.errors import BadInput
from wirespeed.remote.interface import Runner
from wirespeed.remote.pci import SYS_PCI, driver_of

# Ports of twisted pair negotiate for three seconds.
_LINK_S = 20.0
# Covers a driver that must be loaded first, on a busy host.
_DRIVER_S = 20.0


def give_vfs_to_dpdk(
    host: Host, pf: str, wanted: Sequence[VfSettings], mtu: int
) -> tuple[str, ...]:
    """Return the PCI addresses of VFs of this PF, configured and bound to vfio-pci.

    mtu: MTU of the PF, which bounds that of its VFs. Raises BadInput for a PF that does not exist,
    that this host needs, or that has too few VFs. Raises BenchError for what the host rejects.
    """
    interface = _checked(host.runner, pf, len(wanted))
    _check_dpdk_takes(host.runner, pf)
    addresses = _set(host, pf, interface, wanted, mtu)
    bind(host, addresses)
    return addresses


def give_vfs_to_kernel(
    host: Host, pf: str, wanted: Sequence[VfSettings], mtu: int
) -> tuple[str, ...]:
    """Return the kernel interfaces of VFs of this PF, configured.

    Raises as give_vfs_to_dpdk does. Raises BenchError for a PF that has VFs already: their driver
    has already read their addresses.
    """
    runner = host.runner
    interface = _checked(runner, pf, len(wanted))
    if had := int(runner.read(f"{SYS_PCI}/{pf}/sriov_numvfs")):
        raise BenchError(
            f"{pf} ({interface}) on {runner.name} has {had} virtual functions already, whose "
            "driver has read their addresses",
            f"Let none be there: `echo 0 > {SYS_PCI}/{pf}/sriov_numvfs`, or name another port.",
        )
    addresses = _set(host, pf, interface, wanted, mtu)
    # Without it the kernel probes no driver for VFs, not even on request.
    host.set_sysctl_file(f"{SYS_PCI}/{pf}/sriov_drivers_autoprobe", "1")
    return tuple(_driven(runner, address) for address in addresses)


def _driven(runner: Runner, address: str) -> str:
    """Return the interface of a VF that the kernel's driver takes now."""
    device = f"{SYS_PCI}/{address}"
    runner.run(["modprobe", runner.read(f"{device}/modalias").strip()], check=False)
    runner.write("/sys/bus/pci/drivers_probe", address)
    await_true(
        lambda: bool(runner.glob(f"{device}/net/*")),
        within_s=_DRIVER_S, every_s=0.1, alive=lambda: None,
        otherwise=lambda: f"virtual function {address} on {runner.name} has no interface: "
        f"{driver_of(runner, address) or 'no driver of its kernel'} took it",
    )  # fmt: skip
    await_udev(runner)  # which may rename it
    return os.path.basename(runner.glob(f"{device}/net/*")[0])


def _set(
    host: Host, pf: str, interface: str, wanted: Sequence[VfSettings], mtu: int
) -> tuple[str, ...]:
    """Configure the first VFs; return their PCI addresses."""
    give_interfaces_to_bench(host, [interface], mtu)
    was_made = _make(host, pf, len(wanted))
    if any(settings.max_tx_rate_mbps for settings in wanted):
        _await_link(host.runner, pf, interface)
    chosen = range(len(wanted)) if was_made else _free(host.runner, pf, interface, len(wanted))
    addresses = []
    for number, settings in zip(chosen, wanted, strict=True):
        if not was_made:
            now = parse_vf(vf_entries(host.runner, interface)[number])
            host.note(VfSet(pf, number, asdict(now), asdict(settings)))
        set_vf(host.runner, pf, interface, number, settings)
        addresses.append(_address(host.runner, pf, number))
    return tuple(addresses)


def _checked(runner: Runner, pf: str, count: int) -> str:
    """Return the PF's interface after checks that change nothing."""
    check_spare(runner, pf)
    where = f"{pf} on {runner.name}"
    total = f"{SYS_PCI}/{pf}/sriov_totalvfs"
    if not runner.glob(total):
        what = (
            "is a virtual function itself" if runner.glob(f"{SYS_PCI}/{pf}/physfn") else "has none"
        )
        raise BadInput(
            f"{where} can give no virtual functions: it {what}",
            "Name a port with SR-IOV (`ls /sys/bus/pci/devices/*/sriov_totalvfs`); some NICs and "
            "firmwares have it switched off.",
        )
    if count > int(runner.read(total)):
        raise BadInput(
            f"{count} virtual functions are needed of {where}, and it has at most "
            f"{runner.read(total).strip()} (sriov_totalvfs)",
            "Use fewer VNFs, or name two ports, which share them.",
        )
    interface = pf_interface(runner, pf)
    if interface is None:
        driver = driver_of(runner, pf) or "no driver"
        raise BenchError(
            f"{where} has no interface: it is bound to {driver}, and a NIC's own driver sets "
            "virtual functions",
            "Give it back to its own driver.",
        )
    return interface


def _check_dpdk_takes(runner: Runner, pf: str) -> None:
    where = f"{pf} on {runner.name}"
    if not runner.glob(f"{SYS_PCI}/{pf}/iommu_group"):
        raise BenchError(
            f"{where} is in no IOMMU group: the IOMMU is off, and DPDK cannot be given its "
            "virtual functions",
            "Switch it on in the firmware, and boot with intel_iommu=on or amd_iommu=on.",
        )
    if (driver := driver_of(runner, pf)) in BIFURCATED:
        raise BenchError(
            f"{where} is driven by {driver}: DPDK does not take its virtual functions by vfio-pci",
            "The sriov topology has no other way yet; use a NIC of another driver.",
        )


def _await_link(runner: Runner, pf: str, interface: str) -> None:
    """Wait for the port's link: drivers check a VF's rate against the link rate.

    The link goes down when the port is brought up, and igb restarts it when VFs are made.
    """
    await_true(
        lambda: runner.read(f"/sys/class/net/{interface}/carrier") == "1\n",
        within_s=_LINK_S, every_s=0.1, alive=lambda: None,
        otherwise=lambda: f"{pf} ({interface}) has no link, and so its driver limits no rate of a "
        "virtual function",
    )  # fmt: skip


def _make(host: Host, pf: str, count: int) -> bool:
    """Make the VFs if the PF has none; return whether they were made."""
    runner, path = host.runner, f"{SYS_PCI}/{pf}/sriov_numvfs"
    if int(runner.read(path)) > 0:
        return False
    host.set_sysctl_file(f"{SYS_PCI}/{pf}/sriov_drivers_autoprobe", "0")
    host.note(VfsMade(pf, count))
    try:
        runner.write(path, str(count))
    except OSError as fault:
        raise BenchError(
            f"{pf} gives no {count} virtual functions: {fault.strerror}",
            "`dmesg` on that host says why.",
        ) from fault
    return True


def _free(runner: Runner, pf: str, interface: str, count: int) -> Sequence[int]:
    used = {n: why for n in vf_entries(runner, interface) for why in _used_by(runner, pf, n)}
    free = [n for n in vf_entries(runner, interface) if n not in used]
    if len(free) < count:
        why = "; ".join(f"{n} {reason}" for n, reason in used.items())
        raise BenchError(
            f"{pf} ({interface}) has {len(free) + len(used)} virtual functions already, of which "
            f"{len(free)} are free and {count} are needed" + (f" (number {why})" if why else ""),
            f"Free them, or let none be there: `echo 0 > {SYS_PCI}/{pf}/sriov_numvfs`.",
        )
    return free[:count]


def _used_by(runner: Runner, pf: str, number: int) -> Iterator[str]:
    """Yield who uses a VF: a guest, another DPDK program, or an interface that is up."""
    address = _address(runner, pf, number)
    driver = driver_of(runner, address)
    names = [os.path.basename(path) for path in runner.glob(f"{SYS_PCI}/{address}/net/*")]
    up = [name for name in names if int(runner.read(f"/sys/class/net/{name}/flags"), 16) & 1]
    if driver and not names:
        yield f"is bound to {driver}"
    elif up:
        yield f"is {', '.join(up)}, which is up"


def _address(runner: Runner, pf: str, number: int) -> str:
    return os.path.basename(runner.readlink(f"{SYS_PCI}/{pf}/virtfn{number}"))
