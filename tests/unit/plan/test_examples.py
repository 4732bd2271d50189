# SPDX-License-Identifier: Apache-2.0
"""Check that the shipped examples follow from their inputs and agree with the papers."""

from __future__ import annotations

import re

import pytest
from benchmarks.shared.scaled_workloads import scaled

from tests.hosts.emulated import EMULATED
from tests.support.examples import EXAMPLES, ROOT, example_plan, recorded, shipped_plan
from wirespeed.model.cpuset import format_list, format_mask
from wirespeed.model.plan.policy import InterfaceKind
from wirespeed.plan.plan_file import write_plan
from wirespeed.plan.planner import plan_workload
from wirespeed.plan.render.targets import render

MACHINES = dict(zip(EXAMPLES, ("s0-compute", "s1-dppd", "s2-r730", "s3-r740xd"), strict=True))


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_shipped_plan_is_the_plan(example: str) -> None:
    """Regenerate with examples/regenerate.sh after an intended change."""
    shipped = (ROOT / "examples" / example / "plan.json").read_text(encoding="utf-8")
    assert write_plan(example_plan(example)) == shipped


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_shipped_files_are_rendered_from_the_plan(example: str) -> None:
    folder = ROOT / "examples" / example / "rendered"
    shipped = {
        str(path.relative_to(folder)): path.read_text(encoding="utf-8")
        for path in folder.rglob("*")
        if path.is_file()
    }
    assert render(shipped_plan(example)) == shipped


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_host_is_the_recorded_server(example: str) -> None:
    assert shipped_plan(example).hosts[0].host == recorded(MACHINES[example]).host


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_guest_of_the_examples_fits(example: str) -> None:
    assert not shipped_plan(example).unplaced


def test_s0_core_map_and_masks() -> None:
    host = shipped_plan("s0-speedtest").hosts[0]
    assert host.cores
    assert host.vswitch
    assert format_list(host.cores.housekeeping.value) == "0,20"
    assert format_mask(host.vswitch.main_cpus.value) == "0x2"
    assert format_mask(host.vswitch.pmd_cpus.value) == "0xc"
    assert format_list(host.cores.dedicated.value) == "4-9,11-19,24-29,31-39"
    assert "isolcpus=1-19,21-39" in [word.value for word in host.kernel]


def test_s1_bng_sits_on_one_socket_next_to_its_vfs() -> None:
    host = shipped_plan("s1-bng").hosts[0]
    bng, gateway = host.guests
    assert [node.node for node in bng.nodes] == [0]
    assert len(bng.nodes[0].pins) == 16
    assert all(port.kind.value is InterfaceKind.SRIOV for port in bng.ports)
    assert (gateway.nodes[0].node, gateway.devices[0].address) == (1, "0000:84:00.0")


def test_s2_chooses_by_pattern() -> None:
    plan = shipped_plan("s2-chains")
    kinds = {g.name: g.ports[0].kind.value for g in plan.hosts[0].guests}
    assert {kinds[f"router-{n}"] for n in (1, 2, 3)} == {InterfaceKind.SRIOV}
    assert {kinds[n] for n in ("firewall", "dpi-1", "dpi-2", "balancer")} == {InterfaceKind.VHOST}
    assert kinds["netperf"] is InterfaceKind.VIRTIO


def test_s3_masks_memory_and_kernel_line() -> None:
    host = shipped_plan("s3-jumbo").hosts[0]
    assert host.vswitch
    assert host.vswitch.socket_memory_mib.value == (11264, 1024)
    assert "10528 -> 11264" in host.vswitch.socket_memory_mib.because
    assert (host.vswitch.rx_queues.value, host.vswitch.descriptors.value) == (2, 4096)
    assert host.vswitch.memory_channels
    assert host.vswitch.memory_channels.value == 6
    script = render(shipped_plan("s3-jumbo"), ["ovs"])["ovs/s3-r740xd.sh"]
    assert "config dpdk-lcore-mask 0x3000000003 " in script
    assert "config pmd-cpu-mask 0x100601004100601004 " in script
    words = [word.value for word in host.kernel]
    # S3 table 4, with whole numbers and the kernel's spelling of sizes.
    assert words == [
        "default_hugepagesz=1G", "hugepagesz=1G", "hugepages=164", "intel_iommu=on", "iommu=pt",
        "isolcpus=2-35,38-71", "nohz=on", "nohz_full=2-35,38-71", "rcu_nocbs=2-35,38-71",
        "skew_tick=1", "intel_pstate=disable", "nosoftlockup",
    ]  # fmt: skip


def test_every_value_has_a_reason() -> None:
    for example in EXAMPLES:
        text = write_plan(shipped_plan(example))
        assert not re.search(r'"because": ""', text)


def test_the_scaled_gateway_is_pinned_on_the_emulated_server() -> None:
    """Use the gateway, because the other examples need more than the server's 8 CPUs."""
    facts = recorded(EMULATED)
    (host,) = plan_workload(scaled("s1-bng", facts), [facts]).hosts
    assert host.guests
    node_of = {cpu.id: cpu.node for cpu in facts.cpus}
    pinned = [node for guest in host.guests for node in guest.nodes if node.pins]
    assert pinned
    for node in pinned:
        assert {node_of[cpu] for _, cpu in node.pins} == {node.node}
