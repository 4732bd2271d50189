# SPDX-License-Identifier: Apache-2.0
"""Check that a thread on a wrong CPU is an error that names thread, CPU and planned CPU."""

from __future__ import annotations

import pytest

from tests.unit.bench.fake_host import FakeHost
from wirespeed.bench.guest.pins import Pins, check_pins, pins_of, threads_of
from wirespeed.bench.interface import BenchError

DOMAIN = """<domain><cputune><vcpupin vcpu='0' cpuset='0'/><vcpupin vcpu='1' cpuset='4-5'/>
<emulatorpin cpuset='0,2'/></cputune></domain>"""
THREADS = {
    "50": ("qemu-system-x86", "0,2"),
    "51": ("TC tc-ram-node0", "0-7"),
    "52": ("CPU 0/KVM", "0"),
    "53": ("CPU 1/KVM", "4-5"),
}


def qemu(**moved: str) -> FakeHost:
    """Return a host with a running QEMU. moved: threads that run elsewhere."""
    files = {}
    for tid, (name, cpus) in THREADS.items():
        files[f"/proc/50/task/{tid}/comm"] = f"{name}\n"
        allowed = moved.get(f"t{tid}", cpus)
        files[f"/proc/50/task/{tid}/status"] = f"Name:\tx\nCpus_allowed_list:\t{allowed}\n"
    return FakeHost(files)


def test_a_guest_that_runs_as_planned() -> None:
    check_pins("vnf0", pins_of(DOMAIN), threads_of(qemu(), 50))


def test_a_vcpu_elsewhere() -> None:
    with pytest.raises(BenchError) as caught:
        check_pins("vnf0", pins_of(DOMAIN), threads_of(qemu(t53="0-7"), 50))
    assert "thread 53 (CPU 1/KVM) may run on CPU 0-7, should on 4-5" in caught.value.what


def test_every_difference_is_reported() -> None:
    moved = qemu(t50="1", t52="7")
    with pytest.raises(BenchError) as caught:
        check_pins("vnf0", pins_of(DOMAIN), threads_of(moved, 50))
    assert "thread 50 (qemu-system-x86) may run on CPU 1, should on 0,2" in caught.value.what
    assert "thread 52 (CPU 0/KVM) may run on CPU 7, should on 0" in caught.value.what


def test_a_vcpu_without_a_thread() -> None:
    with pytest.raises(BenchError, match="vCPU 2 has no thread"):
        check_pins("vnf0", Pins({2: (1,)}, None), threads_of(qemu(), 50))
