# SPDX-License-Identifier: Apache-2.0
"""Check that a refusal is always explained, and that the proposed change helps."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from tests.support.random_cases import random_guest, random_host
from wirespeed.model.plan.policy import CpuPolicy, ThreadPolicy
from wirespeed.plan.nova.guests import guest_request
from wirespeed.plan.placement.changes import Candidate, smallest_change
from wirespeed.plan.placement.explain import Lack, why_not
from wirespeed.plan.placement.fit import fit
from wirespeed.plan.placement.host import CellShape, HostShape, PoolShape, empty_use
from wirespeed.plan.placement.request import CellRequest, DeviceRequest, GuestRequest

GIB = 1048576


def host(threads: int = 2, pages: int = 8) -> HostShape:
    """Return a host of one node: housekeeping core 0, three cores for guests, 1 GiB pages."""
    cores = tuple(sum(1 << (core + 4 * t) for t in range(threads)) for core in range(4))
    cell = CellShape(
        0, cores[0], sum(cores[1:]), cores, 16384, (4, GIB), (2 * GIB, pages), socket=0
    )
    return HostShape((cell,), labels=frozenset({"cpu:aes"}))


def guest(vcpus: int = 4, memory_mib: int = 4096, **wishes: object) -> GuestRequest:
    cell = CellRequest((), tuple(range(vcpus)), memory_mib)
    made = {"page": GIB, "cpu_policy": CpuPolicy.DEDICATED, **wishes}
    return GuestRequest("g", (cell,), **made)  # type: ignore[arg-type]


def explain(shape: HostShape, asked: GuestRequest) -> tuple[list[Lack], str | None]:
    use = empty_use(shape, (0,) * len(shape.pools))
    candidate = Candidate("h", shape, use, (0,) * len(shape.pools), 0.0)
    return list(why_not(shape, use, asked)), smallest_change([candidate], asked)


def test_exactly_the_missing_cpus() -> None:
    lacks, change = explain(host(), guest(vcpus=8))
    assert lacks == [Lack(0, "free dedicated CPUs", "8", "6", 2)]
    assert change == "vcpus = 6 instead of 8"


def test_one_floating_guest_gets_at_most_the_floating_cpus_there_are() -> None:
    """Placement's max_unit of VCPU; the ratio of 4 would leave room for eight."""
    cell = CellRequest((0, 1, 2, 3), (), 1024)
    lacks, change = explain(host(), GuestRequest("g", (cell,), has_topology=False))
    assert lacks == [Lack(None, "CPUs for floating vCPUs", "4", "2", 2)]
    assert change == "vcpus = 2 instead of 4"


def test_exactly_the_missing_pages() -> None:
    lacks, change = explain(host(pages=2), guest(memory_mib=3072))
    assert lacks == [Lack(0, "1 GiB pages", "3", "2", 1)]
    assert change == 'page_size = "any"'


def test_memory_that_is_no_multiple_of_the_page() -> None:
    lacks, change = explain(host(), guest(memory_mib=4608))
    assert lacks == [Lack(0, "whole 1 GiB pages", "4608 MiB", "4096 MiB or 5120 MiB")]
    assert change == "memory_mib = 5120 instead of 4608"


def test_isolate_on_smt() -> None:
    lacks, change = explain(host(), guest(vcpus=2, thread_policy=ThreadPolicy.ISOLATE))
    assert lacks == [Lack(0, "SMT", "off (isolate)", "2 threads a core")]
    assert change == 'thread_policy = "prefer" instead of "isolate"'


def test_require_without_smt() -> None:
    lacks, _ = explain(host(threads=1), guest(vcpus=2, thread_policy=ThreadPolicy.REQUIRE))
    assert Lack(0, "SMT", "on (require)", "off") in lacks


def test_missing_feature_and_missing_vf_at_once() -> None:
    vf = DeviceRequest("eth0", (("physical_network", "physnet1"),), 2)
    asked = guest(labels=frozenset({"cpu:avx512f"}), devices=(vf,))
    lacks, _ = explain(host(), asked)
    assert Lack(None, "CPU feature", "avx512f", "not on this host") in lacks
    assert Lack(0, "VFs on network physnet1 near node 0", "2", "0", 2) in lacks


def test_devices_on_the_other_node() -> None:
    """Take all CPUs of the VF's node; the node with CPUs has no VF."""
    cells = tuple(
        CellShape(n, 0, 0b11 << 2 * n, (0b11 << 2 * n,), 8192, (4, GIB), (GIB, 4)) for n in (0, 1)
    )
    keys = frozenset({("physical_network", "p"), ("dev_type", "type-VF")})
    shape = HostShape(cells, (PoolShape("0000:05:00.0", 1, keys),))
    use = empty_use(shape, (4,))
    use = use._replace(cells=(use.cells[0], use.cells[1]._replace(free=0)))
    asked = guest(vcpus=2, devices=(DeviceRequest("eth0", (("physical_network", "p"),)),))
    lacks = why_not(shape, use, asked)
    assert Lack(1, "free dedicated CPUs", "2", "0", 2) in lacks
    assert Lack(0, "VFs on network p near node 0", "1", "0", 1) in lacks
    change = smallest_change([Candidate("h", shape, use, (4,), 0.0)], asked)
    assert change == 'pci_numa_policy = "preferred"'


@pytest.mark.parametrize("chunk", range(4))
def test_a_guest_fits_or_is_explained(chunk: int) -> None:
    explained = 0
    for seed in range(chunk * 500, (chunk + 1) * 500):
        random = Random(seed)
        shape, use = random_host(random)
        vnf, workload, kinds = random_guest(random)
        asked = replace(guest_request(vnf, workload, kinds), labels=frozenset())
        lacks = why_not(shape, use, asked)
        assert bool(lacks) == (fit(shape, use, asked) is None), (seed, shape, use, asked)
        explained += bool(lacks)
    assert 100 < explained < 490
