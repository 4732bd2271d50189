# SPDX-License-Identifier: Apache-2.0
"""Read the settings by which the kernel itself takes time from CPUs.

Source: admin-guide/lockup-watchdogs.rst, admin-guide/mm/transhuge.rst, admin-guide/mm/ksm.rst,
admin-guide/sysctl/vm.rst, scheduler/sched-rt-group.rst, core-api/workqueue.rst of Linux.
"""

from __future__ import annotations

import re

from wirespeed.host.reader import Files, Reader
from wirespeed.model.cpuset import parse_mask
from wirespeed.model.host.facts import Housekeeping

_FACT = "housekeeping"
_NMI = "/proc/sys/kernel/nmi_watchdog"
_THP = "/sys/kernel/mm/transparent_hugepage/enabled"
_KSM = "/sys/kernel/mm/ksm/run"
_STAT = "/proc/sys/vm/stat_interval"
_RT_RUNTIME = "/proc/sys/kernel/sched_rt_runtime_us"
_RT_PERIOD = "/proc/sys/kernel/sched_rt_period_us"
_WORKQUEUE = "/sys/devices/virtual/workqueue/cpumask"
_ASPM = "/sys/module/pcie_aspm/parameters/policy"
_PATHS = (_NMI, _THP, _KSM, _STAT, _RT_RUNTIME, _RT_PERIOD, _ASPM)
# The selected one of several words is in brackets.
_SELECTED = re.compile(r"\[([a-z_]+)\]")


def read_housekeeping(reader: Reader) -> Housekeeping | None:
    """Return the settings; None if the kernel has none of them, or they were not recorded."""
    files = reader.files(_PATHS, _FACT)
    # A sosreport lacks this file alone, which only one rule needs.
    files |= reader.files([_WORKQUEUE], "workqueue_cpus" if files else _FACT)
    if not files:
        return None
    ksm = _number(reader, files, _KSM)
    nmi = _number(reader, files, _NMI)
    return Housekeeping(
        nmi_watchdog=None if nmi is None else nmi != 0,
        transparent_huge_pages=_selected(reader, files, _THP),
        ksm=None if ksm is None else ksm == 1,
        stat_interval_s=_number(reader, files, _STAT),
        rt_runtime_us=_number(reader, files, _RT_RUNTIME),
        rt_period_us=_number(reader, files, _RT_PERIOD),
        workqueue_cpus=_mask(reader, files, _WORKQUEUE),
        aspm_policy=_selected(reader, files, _ASPM),
    )


def _number(reader: Reader, files: Files, path: str) -> int | None:
    return reader.number(files, path, 0) if path in files else None


def _selected(reader: Reader, files: Files, path: str) -> str | None:
    if path not in files:
        return None
    found = _SELECTED.search(files[path])
    if found is None:
        reader.fault(path, "selects no word in brackets")
    return found and found[1]


def _mask(reader: Reader, files: Files, path: str) -> tuple[int, ...] | None:
    try:
        return parse_mask(files[path]) if path in files else None
    except ValueError as fault:
        reader.fault(path, str(fault))
        return None
