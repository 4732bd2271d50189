# SPDX-License-Identifier: Apache-2.0
"""Read the kernel's command line, the isolated CPUs and the interrupt affinities.

Source: Documentation/admin-guide/kernel-parameters.txt, core-api/irq/irq-affinity.rst.
"""

from __future__ import annotations

from dataclasses import replace

from wirespeed.host.reader import Reader
from wirespeed.model.host.facts import Irq, Kernel

SYS_CPU = "/sys/devices/system/cpu"
POSSIBLE = f"{SYS_CPU}/possible"


def read_kernel(reader: Reader) -> Kernel:
    """Return release, command line, and the isolated, nohz_full and rcu_nocbs CPUs.

    nohz_full is None on a kernel without CONFIG_NO_HZ_FULL, which has no such file.
    """
    paths = [f"{SYS_CPU}/isolated", f"{SYS_CPU}/nohz_full"]
    # Kernels before 5.17 print an empty set as "(null)".
    files = {
        path: text.replace("(null)", "") for path, text in reader.files(paths, "kernel").items()
    }
    kernel = Kernel(
        release=reader.text("/proc/sys/kernel/osrelease", "kernel") or "",
        cmdline=reader.text("/proc/cmdline", "kernel") or "",
        isolated=reader.cpus(files, paths[0]),
        nohz_full=reader.cpus(files, paths[1]) if paths[1] in files else None,
    )
    where = "/proc/cmdline rcu_nocbs"
    nocbs = kernel.parameter("rcu_nocbs") or ""
    if nocbs == "all":
        return replace(kernel, rcu_nocbs=reader.cpus(reader.files([POSSIBLE], "kernel"), POSSIBLE))
    return replace(kernel, rcu_nocbs=reader.cpus({where: nocbs}, where))


def read_irqs(reader: Reader) -> tuple[Irq, ...] | None:
    """Return every interrupt that has a handler; None where affinities could not be read."""
    actions = reader.many(["/sys/kernel/irq/[0-9]*/actions"], "irqs")
    used = {int(path.split("/")[4]): text for path, text in actions.items() if text.strip()}
    names = ("smp_affinity_list", "effective_affinity_list")
    files = reader.many([f"/proc/irq/[0-9]*/{name}" for name in names], "irqs")
    if not files or not used:
        reader.lacks("irqs", "/proc/irq or /sys/kernel/irq shows no interrupts")
        return None
    return tuple(
        Irq(
            number=number,
            cpus=reader.cpus(files, f"/proc/irq/{number}/smp_affinity_list"),
            effective=reader.cpus(files, f"/proc/irq/{number}/effective_affinity_list"),
            actions=used[number],
        )
        for number in sorted(used)
        if f"/proc/irq/{number}/smp_affinity_list" in files
    )


def read_iommu_units(reader: Reader) -> tuple[str, ...]:
    """Return the names of the IOMMUs that are on (dmar0, ivhd0, smmu3, ...)."""
    paths = reader.names("/sys/class/iommu/*", fact="iommu_units")
    return tuple(path.rsplit("/", 1)[1] for path in paths)


def read_uio_drivers(reader: Reader) -> tuple[str, ...]:
    """Return the registered drivers that give a PCI device to user space."""
    names = ("igb_uio", "uio_pci_generic", "vfio-pci")
    paths = reader.names(*(f"/sys/bus/pci/drivers/{name}" for name in names), fact="uio_drivers")
    return tuple(path.rsplit("/", 1)[1] for path in paths)
