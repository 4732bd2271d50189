# SPDX-License-Identifier: Apache-2.0
"""Find the process that has a PCI function open through VFIO, and make Open vSwitch close it.

Until the function is closed, the kernel neither unbinds it from vfio-pci nor removes it. A process
that asks for that waits in the kernel, where no signal ends it (vfio_unregister_group_dev).
"""

from __future__ import annotations

import posixpath
import time

from wirespeed.remote.interface import RemoteError, Runner
from wirespeed.remote.pci import SYS_PCI, VFIO, driver_of

_VSWITCHD = "ovs-vswitchd"
# Open vSwitch removes a port some time after its database has lost it.
_ATTEMPTS, _ATTEMPT_S = 20, 0.5


def let_go(runner: Runner, address: str) -> None:
    """Return when no process has the function open. Raises RemoteError when one keeps it.

    Open vSwitch with DPDK opens every function of vfio-pci at its start. It keeps a function
    without a port until netdev-dpdk/detach (ovs-vswitchd(8)), which fails for the function of a
    port.
    """
    if driver_of(runner, address) != VFIO:
        return
    group = posixpath.basename(runner.readlink(f"{SYS_PCI}/{address}/iommu_group"))
    holder = _holder(runner, f"/dev/vfio/{group}")
    for _ in range(_ATTEMPTS):
        if holder is None or holder[1] != _VSWITCHD:
            break
        detach = ["ovs-appctl", "--timeout=10", "netdev-dpdk/detach", address]
        if runner.run(detach, check=False).exit_code:
            time.sleep(_ATTEMPT_S)
        holder = _holder(runner, f"/dev/vfio/{group}")
    if holder:
        pid, name = holder
        raise RemoteError(
            f"{address} stays with {VFIO}: {name} (process {pid}) has it open",
            "End that process, or take the function from it; then run this again.",
        )


def _holder(runner: Runner, path: str) -> tuple[str, str] | None:
    """Return a process that has the file open, and its name."""
    # Processes end while find runs, so its exit code has no meaning.
    shown = runner.run(
        ["find", "/proc", "-maxdepth", "3", "-path", "/proc/[0-9]*/fd/*", "-lname", path],
        check=False,
    ).stdout.split()
    names = runner.read_many([f"/proc/{link.split('/')[2]}/comm" for link in shown])
    for comm, name in names.items():
        if isinstance(name, str):
            return comm.split("/")[2], name.strip()
    return None
