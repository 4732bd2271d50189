# SPDX-License-Identifier: Apache-2.0
"""List errors of the settings by which the kernel itself takes time from CPUs."""

from __future__ import annotations

from dataclasses import replace

from tests.unit.audit.case import Case
from tests.unit.audit.good_host import good_facts, good_housekeeping, with_facts, with_housekeeping

HOUSEKEEPING_FAULTS = [
    Case(
        "WS58", "on", with_housekeeping(nmi_watchdog=True), ("kernel.nmi_watchdog is 1",),
        "kernel.nmi_watchdog=0",
    ),
    Case(
        "WS59", "always", with_housekeeping(transparent_huge_pages="always"), (": always",),
        "echo madvise",
    ),
    Case("WS60", "runs", with_housekeeping(ksm=True), ("ksm/run is 1",), "echo 2 >"),
    Case(
        "WS61", "each second", with_housekeeping(stat_interval_s=1), ("is 1 s",),
        "vm.stat_interval=10",
    ),
    Case(
        "WS62", "default", with_housekeeping(rt_runtime_us=950_000),
        ("real-time threads get 950,000 of 1,000,000 us",), "kernel.sched_rt_runtime_us=-1",
    ),
    Case(
        "WS62", "none at all", with_housekeeping(rt_runtime_us=0), ("get 0 of 1,000,000 us",),
    ),
    Case(
        "WS62", "name of a vendor's kernel",
        with_facts(
            kernel=replace(good_facts().kernel, release="5.14.0-427.13.1.el9_4.x86_64+rt"),
            housekeeping=replace(good_housekeeping(), rt_runtime_us=950_000),
        ),
        ("950,000",),
    ),
    Case(
        "WS63", "everywhere", with_housekeeping(workqueue_cpus=tuple(range(24))),
        ("isolated CPUs 1-5,7-11,13-17,19-23",),
        "echo 41041 > /sys/devices/virtual/workqueue/cpumask",
    ),
    Case(
        "WS64", "saving", with_housekeeping(aspm_policy="powersupersave"), ("powersupersave",),
        "echo performance",
    ),
]  # fmt: skip
