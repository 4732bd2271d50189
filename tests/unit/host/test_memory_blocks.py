# SPDX-License-Identifier: Apache-2.0
"""Test that installed memory that is not online is reported apart from missing memory."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import pytest
from rich.console import Console

from tests.hosts.fake_runner import FakeRunner
from tests.hosts.papers import S0
from tests.hosts.server import runner
from tests.support.examples import empty
from wirespeed.cli.show.host_picture import print_host
from wirespeed.host.collect import collect
from wirespeed.host.file import HOST_FILE
from wirespeed.host.reader import HostUnreadable
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.plan.plan import Plan
from wirespeed.plan.errors import PlanError
from wirespeed.plan.planner import plan_workload
from wirespeed.plan.workload.file import parse_workload

NODE = "/sys/devices/system/node"
MEMORY = "/sys/devices/system/memory"
GUEST = """
name = "t"
[[vnf]]
name = "v"
vcpus = 4
memory_mib = 4096
page_size = "1GiB"
cpu_policy = "dedicated"
"""


def lazy() -> FakeRunner:
    """Return a host with 16 GiB of blocks on each node; node 1 has 4 GiB of them online."""
    fake = runner(S0)
    fake.files[f"{MEMORY}/block_size_bytes"] = "80000000\n"
    states = ("online",) * 10 + ("going-offline",) + ("offline",) * 5
    for number, state in enumerate(states):
        node = number // 8
        fake.files[f"{NODE}/node{node}/memory{number}/state"] = f"{state}\n"
        fake.files[f"{MEMORY}/memory{number}/state"] = f"{state}\n"
    return fake


def lazy_host(**changes: int) -> HostFacts:
    """Return an idle server whose node 1 has offline memory."""
    facts = empty("s3-r740xd", "lazy")
    first, second = facts.nodes
    blocks = {"installed_kib": 96 << 20, "online_kib": 16 << 20, **changes}
    return replace(facts, nodes=(first, replace(second, **blocks)))


def plan(facts: HostFacts, text: str = GUEST) -> Plan:
    return plan_workload(parse_workload(text, "t.toml"), [facts])


def test_collect_offline_blocks_are_installed_and_not_online() -> None:
    nodes = collect(lazy()).nodes
    gib = 1 << 20
    assert [(n.installed_kib, n.online_kib, n.offline_kib) for n in nodes] == [
        (16 * gib, 16 * gib, 0),
        (16 * gib, 4 * gib, 12 * gib),
    ]


def test_collect_kernel_without_numa_counts_the_blocks_of_the_host() -> None:
    fake = lazy()
    fake.files = {p: t for p, t in fake.files.items() if "/system/node/" not in p}
    fake.files["/proc/meminfo"] = "MemTotal: 1000 kB\nMemFree: 10 kB\n"
    # Devices must not name a node that no longer exists.
    fake.files = {p: t for p, t in fake.files.items() if "/numa_node" not in p}
    (node,) = collect(fake).nodes
    assert (node.installed_kib, node.online_kib) == (32 << 20, 20 << 20)


def test_collect_kernel_without_memory_blocks_leaves_both_unknown() -> None:
    facts = collect(runner(S0))
    assert {(n.installed_kib, n.online_kib, n.offline_kib) for n in facts.nodes} == {
        (None, None, 0)
    }
    assert facts.why_missing("memory_blocks") is None


def test_collect_block_size_that_is_no_number_is_reported() -> None:
    fake = lazy()
    fake.files[f"{MEMORY}/block_size_bytes"] = "huge"
    with pytest.raises(HostUnreadable, match="block_size_bytes: 'huge'"):
        collect(fake)


def test_host_file_of_an_earlier_version_has_no_memory_blocks() -> None:
    document = HOST_FILE.document(collect(lazy()))
    for node in document["nodes"]:
        del node["installed_kib"], node["online_kib"]
    document["schema_version"] = "1.2"
    facts = HOST_FILE.parse(json.dumps(document), "old.json")
    assert {node.installed_kib for node in facts.nodes} == {None}


def test_inspect_offline_memory_is_shown() -> None:
    out = io.StringIO()
    print_host(lazy_host(), Console(file=out, width=200))
    assert "80 GiB offline of 96 GiB" in out.getvalue()


def test_plan_offline_memory_is_in_the_reason_and_a_warning() -> None:
    made = plan(lazy_host())
    words = "node 1 has 81920 MiB in offline memory blocks, which are not counted"
    assert words in made.hosts[0].huge_pages.because
    assert f"host lazy: {words}" in made.warnings
    usual = plan(lazy_host(online_kib=96 << 20))
    assert not any(
        "offline" in text for text in (usual.hosts[0].huge_pages.because, *usual.warnings)
    )


def test_plan_fixed_pages_beyond_online_memory_names_the_offline_blocks() -> None:
    with pytest.raises(PlanError, match="node 1 has 81920 MiB in offline memory blocks"):
        plan(lazy_host(), GUEST + "[memory]\ncount = 900\n")
