# SPDX-License-Identifier: Apache-2.0
"""Check that CPUs, memory and pages of running guests are not planned for others."""

from __future__ import annotations

from dataclasses import replace

from tests.support.examples import empty
from wirespeed.model.host.guest_facts import Guest, VcpuPin
from wirespeed.plan.host.running import running_pages, running_uses
from wirespeed.plan.placement.host import CellShape, CellUse
from wirespeed.plan.planner import plan_workload
from wirespeed.plan.workload.file import parse_workload

GIB = 1 << 20
# Two nodes: four CPUs for pinned guests on each, 8 GiB in small pages and 8 pages of 1 GiB.
CELLS = tuple(
    CellShape(node, 0b1, 0b1111 << 4 * node, (), 16384, (4, GIB), (2 * GIB, 8)) for node in range(2)
)
PINNED = Guest("g", 2, 3 * GIB, memory_nodes=(1,), pins=(VcpuPin(0, (4,)), VcpuPin(1, (6,))))


def test_pinned_cpus_are_taken_and_an_emulator_thread_of_its_own() -> None:
    one, other = running_uses(CELLS, [replace(PINNED, emulator_cpus=(7,))])
    assert one.free == 0b1111
    assert other.free == 0b0010_0000
    assert other.cpus_used == 0


def test_emulator_threads_on_shared_cpus_take_none() -> None:
    assert running_uses(CELLS, [replace(PINNED, emulator_cpus=(0, 5))])[0].free == 0b1111


def test_huge_pages_are_taken_node_by_node() -> None:
    guest = Guest(
        "g", 2, 3 * GIB, memory_nodes=(0, 1), huge_page_kib=GIB, node_memory_kib=(GIB, 2 * GIB)
    )
    one, other = running_uses(CELLS, [guest])
    assert (one.pages_free, other.pages_free) == ((2 * GIB, 7), (2 * GIB, 6))
    assert (one.memory_used_mib, other.memory_used_mib) == (1024, 2048)
    assert running_pages([guest], GIB) == {(0, GIB): 1, (1, GIB): 2}


def test_without_parts_memory_is_in_equal_ones_and_the_default_page_is_the_largest() -> None:
    guest = Guest("g", 2, 4 * GIB, memory_nodes=(0, 1), huge_page_kib=0)
    assert [use.pages_free[1] for use in running_uses(CELLS, [guest])] == [6, 6]
    assert running_pages([guest], GIB) == {(0, GIB): 2, (1, GIB): 2}


def test_small_pages_are_taken_from_the_node_that_is_named() -> None:
    one, other = running_uses(CELLS, [PINNED])
    assert one == CellUse(0b1111, 0, 0, (2 * GIB, 8))
    assert other.pages_free == (2 * GIB - 3 * GIB // 4, 8)
    assert running_pages([PINNED], GIB) == {}


def test_a_floating_guest_counts_where_most_is_free_and_its_vcpus_once() -> None:
    first = Guest("a", 3, 2 * GIB, memory_nodes=(0,))
    one, other = running_uses(CELLS, [first, Guest("b", 4, 1 * GIB)])
    assert one.cpus_used + other.cpus_used == 7
    assert other.memory_used_mib == 1024, "node 0 has less free"


WANTED = """
name = "t"
[[vnf]]
name = "v"
vcpus = 2
memory_mib = 40960
page_size = "2MiB"
cpu_policy = "dedicated"
"""


def test_pages_of_another_size_than_the_new_guests_stay_planned() -> None:
    """Run a guest with 1 GiB pages and request 2 MiB pages: both sizes are reserved."""
    running = Guest("old", 2, 4 * GIB, memory_nodes=(0,), huge_page_kib=GIB)
    host = replace(empty("s3-r740xd", "a"), guests=(running,))
    plan = plan_workload(parse_workload(WANTED, "t"), [host])
    pages = {(p.node, p.size_kib): p.count for p in plan.hosts[0].huge_pages.value}
    assert pages[0, GIB] == 4
    assert max(count for (_, size), count in pages.items() if size == 2048) == 20480


def test_memory_in_pages_of_another_size_is_not_there_twice() -> None:
    """Request 40 GiB in 2 MiB pages where 80 of a node's 96 GiB are in 1 GiB pages."""
    running = Guest("old", 2, 160 * GIB, memory_nodes=(0, 1), huge_page_kib=GIB)
    host = replace(empty("s3-r740xd", "a"), guests=(running,))
    text = WANTED.replace('name = "v"', 'name = "v"\ncount = 20')
    plan = plan_workload(parse_workload(text, "t"), [host])
    assert len(plan.unplaced) == 20
