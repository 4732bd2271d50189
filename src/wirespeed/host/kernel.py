# SPDX-License-Identifier: Apache-2.0
"""How was the kernel started, which CPUs does it leave alone, and where do interrupts run?

Source: Documentation/admin-guide/kernel-parameters.txt, core-api/irq/irq-affinity.rst.
"""

from __future__ import annotations

import re
from collections import defaultdict

from wirespeed.host.reader import Reader
from wirespeed.model.cpuset import parse_list
from wirespeed.model.facts import Irq, Kernel

SYS_CPU = "/sys/devices/system/cpu"


def read_kernel(reader: Reader) -> Kernel:
    """Release, command line, and the isolated, nohz_full and rcu_nocbs CPUs.

    nohz_full is None on a kernel built without CONFIG_NO_HZ_FULL: it has no such file.
    """
    cmdline = reader.text("/proc/cmdline", "kernel.cmdline") or ""
    nohz_full = reader.text(f"{SYS_CPU}/nohz_full", "kernel.nohz_full")
    kernel = Kernel(
        release=reader.text("/proc/sys/kernel/osrelease", "kernel.release") or "",
        cmdline=cmdline,
        isolated=parse_list(reader.text(f"{SYS_CPU}/isolated", "kernel.isolated") or ""),
        # An empty set is printed as "(null)" by kernels before 5.17.
        nohz_full=None if nohz_full is None else parse_list(nohz_full.replace("(null)", "")),
    )
    nocbs = kernel.parameter("rcu_nocbs")
    if not nocbs or nocbs == "all":
        return kernel
    return Kernel(
        kernel.release, cmdline, kernel.isolated, kernel.nohz_full, rcu_nocbs=parse_list(nocbs)
    )


def read_irqs(reader: Reader) -> tuple[Irq, ...] | None:
    """Every interrupt that has a handler, or None where affinities could not be read."""
    actions = reader.many(["/sys/kernel/irq/[0-9]*/actions"], "irqs")
    used = {int(path.split("/")[4]): text for path, text in actions.items() if text.strip()}
    files: dict[int, dict[str, str]] = defaultdict(dict)
    patterns = [f"/proc/irq/[0-9]*/{name}_list" for name in ("smp_affinity", "effective_affinity")]
    for path, text in reader.many(patterns, "irqs").items():
        number, name = re.findall(r"/irq/(\d+)/(.*)$", path)[0]
        files[int(number)][name] = text
    if not files or not used:
        reader.lacks("irqs", "/proc/irq or /sys/kernel/irq shows no interrupts")
        return None
    return tuple(
        Irq(
            number=number,
            cpus=parse_list(files[number].get("smp_affinity_list", "")),
            effective=parse_list(files[number].get("effective_affinity_list", "")),
            actions=used[number],
        )
        for number in sorted(used)
        if number in files
    )


def read_iommu_units(reader: Reader) -> tuple[str, ...]:
    """The IOMMUs that are switched on, by name (dmar0, ivhd0, smmu3...)."""
    return tuple(path.rsplit("/", 1)[1] for path in reader.names("/sys/class/iommu/*"))


def read_uio_drivers(reader: Reader) -> tuple[str, ...]:
    """The registered drivers through which user space takes a PCI device."""
    names = ("igb_uio", "uio_pci_generic", "vfio-pci")
    return tuple(name for name in names if reader.names(f"/sys/bus/pci/drivers/{name}"))
