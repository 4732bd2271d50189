# SPDX-License-Identifier: Apache-2.0
"""Read the kernel's own settings from what the kernel writes, and reject what it does not."""

from __future__ import annotations

import pytest

from tests.hosts.fake_runner import FakeRunner
from wirespeed.host.housekeeping import read_housekeeping
from wirespeed.host.reader import HostUnreadable, Reader
from wirespeed.model.host.facts import Housekeeping

# Defaults of a distribution, and a host that is tuned.
DEFAULT = {
    "/proc/sys/kernel/nmi_watchdog": "1\n",
    "/sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never\n",
    "/sys/kernel/mm/ksm/run": "1\n",
    "/proc/sys/vm/stat_interval": "1\n",
    "/proc/sys/kernel/sched_rt_runtime_us": "950000\n",
    "/proc/sys/kernel/sched_rt_period_us": "1000000\n",
    "/sys/devices/virtual/workqueue/cpumask": "ff,ffffffff\n",
    "/sys/module/pcie_aspm/parameters/policy": "default performance [powersave] powersupersave \n",
}
TUNED = {
    "/proc/sys/kernel/nmi_watchdog": "0\n",
    "/sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
    "/sys/kernel/mm/ksm/run": "2\n",
    "/proc/sys/vm/stat_interval": "120\n",
    "/proc/sys/kernel/sched_rt_runtime_us": "-1\n",
    "/proc/sys/kernel/sched_rt_period_us": "1000000\n",
    "/sys/devices/virtual/workqueue/cpumask": "00000001\n",
}


def read(files: dict[str, str]) -> tuple[Housekeeping | None, Reader]:
    runner = FakeRunner(name="host")
    runner.files.update(files)
    reader = Reader(runner)
    return read_housekeeping(reader), reader


def test_housekeeping_defaults_are_read() -> None:
    found, reader = read(DEFAULT)
    assert found == Housekeeping(
        True, "always", True, 1, 950_000, 1_000_000, tuple(range(40)), "powersave"
    )
    assert reader.missing == ()


def test_housekeeping_of_a_tuned_host_without_aspm() -> None:
    found, _ = read(TUNED)
    assert found == Housekeeping(False, "madvise", False, 120, -1, 1_000_000, (0,), None)


def test_housekeeping_of_a_kernel_without_these_settings_is_none() -> None:
    assert read({})[0] is None


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/proc/sys/kernel/nmi_watchdog", "on"),
        ("/sys/kernel/mm/transparent_hugepage/enabled", "always madvise never"),
        ("/sys/devices/virtual/workqueue/cpumask", "x"),
        ("/proc/sys/vm/stat_interval", "9" * 40),
    ],
)
def test_housekeeping_value_that_no_kernel_writes_is_an_error(path: str, text: str) -> None:
    _, reader = read({**DEFAULT, path: text})
    with pytest.raises(HostUnreadable, match=path):
        reader.raise_faults()
