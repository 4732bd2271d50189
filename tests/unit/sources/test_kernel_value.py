# SPDX-License-Identifier: Apache-2.0
"""Compare values that the kernel prints in another form than they were written."""

from __future__ import annotations

import pytest

from wirespeed.sources.kernel_value import same_value

LIST = "/proc/irq/9/smp_affinity_list"
MASK = "/sys/devices/virtual/workqueue/cpumask"
WORDS = "/proc/sys/net/ipv4/tcp_rmem"


@pytest.mark.parametrize(
    ("path", "one", "other"),
    [
        (LIST, "0,1", "0-1"),
        ("/proc/sys/kernel/watchdog_cpumask", "0,1,3", "0-1,3"),
        (MASK, "FF", "00000000,000000ff"),
        ("/proc/irq/default_smp_affinity", "0", "00"),
        ("/sys/class/net/eth0/queues/rx-0/rps_cpus", "0,00000003", "3"),
        (WORDS, "4096 131072 6291456", "4096\t131072\t6291456\n"),
        ("/sys/module/kvm/parameters/halt_poll_ns_grow_start", "10000", "10000\n"),
        ("/sys/module/kvm_intel/parameters/nested", "1", "Y"),
    ],
)
def test_same_value_other_format_is_equal(path: str, one: str, other: str) -> None:
    assert same_value(path, one, other)


@pytest.mark.parametrize(
    ("path", "one", "other"),
    [
        (LIST, "0,2", "2"),
        (LIST, "1,3", "13"),
        (LIST, "", "0"),
        ("/proc/sys/kernel/watchdog_cpumask", "0,2", "2"),
        (MASK, "ff", "f"),
        (MASK, "1", "10"),
        ("/proc/sys/vm/swappiness", "010", "10"),
        (WORDS, "4096 131072", "4096131072"),
    ],
)
def test_same_value_other_cpus_or_words_differ(path: str, one: str, other: str) -> None:
    assert not same_value(path, one, other)
