# SPDX-License-Identifier: Apache-2.0
"""Test that the papers' servers are read as the papers describe them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.hosts.fake_runner import FakeRunner
from tests.hosts.papers import MACHINES, S0, S1, S3
from tests.hosts.record import record
from tests.hosts.server import runner
from wirespeed.host.collect import collect
from wirespeed.host.reader import HostUnreadable
from wirespeed.model.cpuset import format_list
from wirespeed.model.host.facts import Missing
from wirespeed.remote.recorded import RecordedRunner

HOSTS = Path(__file__).parents[2] / "hosts"


def read(machine: str) -> RecordedRunner:
    return RecordedRunner.open(str(HOSTS / machine))


@pytest.mark.parametrize("machine", MACHINES)
def test_recorded_folders_are_in_step_with_papers_py(machine: str, tmp_path: Path) -> None:
    record(MACHINES[machine], tmp_path / machine)
    fresh, kept = tmp_path / machine, HOSTS / machine
    names = {str(p.relative_to(fresh)) for p in fresh.rglob("*") if p.is_file()}
    assert names == {str(p.relative_to(kept)) for p in kept.rglob("*") if p.is_file()}
    for name in names:
        again = "run `python -m tests.hosts.record`"
        assert (fresh / name).read_bytes() == (kept / name).read_bytes(), again


@pytest.mark.parametrize("machine", MACHINES)
def test_a_recording_gives_the_same_facts_as_the_host(machine: str) -> None:
    assert collect(read(machine)) == collect(runner(MACHINES[machine]))


def test_s0_numbers_cores_in_blocks_with_siblings_20_apart() -> None:
    facts = collect(read("s0-compute"))
    assert len(facts.cpus) == 40
    assert [format_list(node.cpus) for node in facts.nodes] == ["0-9,20-29", "10-19,30-39"]
    assert facts.siblings(2) == (2, 22)
    assert facts.kernel.isolated == (*range(1, 20), *range(21, 40))
    assert facts.ovs
    assert [pmd.core for pmd in facts.ovs.pmds or ()] == [2, 3]
    assert facts.nova
    assert format_list(facts.nova.guest_cpus or ()) == "4-9,11-19,24-29,31-39"


def test_s3_numbers_cores_even_and_odd_with_siblings_36_apart() -> None:
    facts = collect(read("s3-r740xd"))
    assert len(facts.cpus) == 72
    assert facts.nodes[0].cpus == tuple(range(0, 72, 2))
    assert facts.siblings(2) == (2, 38)
    assert (facts.nodes[1].memory_kib, facts.nodes[1].free_kib) == (96732 * 1024, 140 * 1024)
    assert facts.nodes[0].distances == (10, 21)
    pool = facts.nodes[0].pool(1 << 20)
    assert pool
    assert pool.total == 82
    assert facts.memory_channels == 12
    assert facts.default_route_interface == "eno3"
    assert facts.kernel.parameter("hugepages") == "164.0"


def test_s3_ports_bonds_and_queues() -> None:
    ovs = collect(read("s3-r740xd")).ovs
    assert ovs
    dpdk0 = next(i for i in ovs.interfaces if i.name == "dpdk0")
    assert (dpdk0.pci, dpdk0.bond, dpdk0.mtu, dpdk0.node) == ("0000:5e:00.0", "dpdkbond0", 9000, 0)
    assert (dpdk0.configured_rx_queues, dpdk0.configured_tx_queues) == (2, 11)
    assert (dpdk0.rx_descriptors, dpdk0.tx_descriptors) == (4096, 4096)
    assert {b.name: b.ports for b in ovs.bridges}["br-link0"] == ("dpdkbond0", "phy-br-link0")
    assert len(ovs.pmds or ()) == 10


def test_s1_vfs_quickassist_and_nova() -> None:
    facts = collect(read("s1-dppd"))
    pf = next(d for d in facts.pci if d.address == "0000:08:00.0")
    assert (pf.sriov_total, pf.sriov_num, pf.interfaces, pf.iommu_group) == (63, 2, ("eth1",), 21)
    vf = next(d for d in facts.pci if d.address == "0000:08:10.2")
    assert (vf.physical_function, vf.is_nic) == ("0000:08:00.0", True)
    assert [d.address for d in facts.pci if not d.is_nic] == ["0000:84:00.0"]
    assert facts.nova
    assert facts.nova.enabled_filters
    assert facts.nova.enabled_filters[-2:] == ("PciPassthroughFilter", "NUMATopologyFilter")
    assert facts.nova.aliases[0].startswith('{"name":"niantic"')
    (guest,) = facts.guests or ()
    assert [port.pci for port in guest.ports] == ["0000:08:10.0", "0000:08:10.2"]
    assert guest.huge_page_kib == 1 << 20


def test_flavors_come_from_novas_metadata_in_running_guests() -> None:
    (flavor,) = collect(read("s3-r740xd")).flavors or ()
    assert (flavor.name, flavor.extra_specs["hw:numa_mempolicy"]) == ("mc-flavor", "preferred")


def test_a_host_without_smt_numa_files_and_cpufreq() -> None:
    fake = runner(replace(S0, smt=False, sockets=1, memory_kib=(1 << 25,), governor=None, ovs=None))
    fake.files = {p: t for p, t in fake.files.items() if "/system/node/" not in p}
    fake.files["/proc/meminfo"] = "MemTotal: 1000 kB\nMemFree: 10 kB\n"
    facts = collect(fake)
    assert not facts.smt
    assert [(n.id, n.cpus, n.memory_kib) for n in facts.nodes] == [(0, tuple(range(10)), 1000)]
    assert {cpu.governor for cpu in facts.cpus} == {None}


def test_an_offline_cpu_has_no_topology() -> None:
    fake = runner(S0)
    fake.files["/sys/devices/system/cpu/online"] = "0-38\n"
    cpu = collect(fake).cpu(39)
    assert cpu
    assert (cpu.online, cpu.node, cpu.siblings) == (False, None, (39,))


def test_an_unreadable_file_is_missing_and_the_rest_is_read() -> None:
    fake = runner(S1)
    fake.files["/etc/nova/nova.conf"] = PermissionError("/etc/nova/nova.conf")
    facts = collect(fake)
    assert facts.nova is None
    assert Missing("nova", "needs root to read /etc/nova/nova.conf") in facts.missing
    assert facts.guests


def test_a_recording_that_lacks_a_file_makes_the_fact_unknown_not_absent() -> None:
    host = read("s1-dppd")
    del host._recording.files["/etc/nova/nova.conf"]
    assert collect(host).why_missing("nova") == (
        "/etc/nova/nova.conf is not in the recording of s1-dppd"
    )


def test_memory_channels_need_edac() -> None:
    fake = runner(S3)
    fake.files = {p: t for p, t in fake.files.items() if "/edac/" not in p}
    facts = collect(fake)
    assert facts.memory_channels is None
    assert "EDAC" in (facts.why_missing("memory_channels") or "")


def test_every_senseless_value_is_reported_at_once() -> None:
    fake = runner(S0)
    base = "/sys/devices/system"
    fake.files[f"{base}/cpu/cpu3/topology/core_id"] = "x\n"
    fake.files[f"{base}/node/node1/meminfo"] = ""
    fake.files[f"{base}/node/node0/distance"] = "10 far\n"
    fake.files["/sys/bus/pci/devices/0000:05:00.0/class"] = "network\n"
    fake.files["/etc/nova/nova.conf"] = "[DEFAULT]\nvcpu_pin_set = 4-x\n"
    with pytest.raises(HostUnreadable) as caught:
        collect(fake)
    told = "\n".join(caught.value.faults)
    for wrong in ("core_id: 'x'", "node1/meminfo: has no", "'far'", "'network'", "'4-x'"):
        assert wrong in told
    assert caught.value.exit_code == 2


def broken(change: Callable[[FakeRunner], None]) -> FakeRunner:
    fake = runner(S3)
    change(fake)
    return fake


def _ovs_answer(fake: FakeRunner, text: str, exit_code: int = 0, stderr: str = "") -> None:
    argv = ["ovs-vsctl", "--timeout=5", "--format=json", "list", "Open_vSwitch"]
    fake.answer(argv, text, stderr, exit_code)


@pytest.mark.parametrize("text", ["", "{", '{"data": 1}', '{"data": [[1]], "headings": []}'])
def test_ovs_answers_that_are_no_table_are_a_fault(text: str) -> None:
    with pytest.raises(HostUnreadable, match=re.escape("list Open_vSwitch")):
        collect(broken(lambda fake: _ovs_answer(fake, text)))


def test_no_vswitch_is_absent_and_a_refused_one_is_missing() -> None:
    gone = "ovs-vsctl: unix:/var/run/openvswitch/db.sock: database connection failed (No such file"
    facts = collect(broken(lambda fake: _ovs_answer(fake, "", 1, gone)))
    assert (facts.ovs, facts.why_missing("ovs")) == (None, None)
    denied = "ovs-vsctl: database connection failed (Permission denied)"
    facts = collect(broken(lambda fake: _ovs_answer(fake, "", 1, denied)))
    assert facts.ovs is None
    assert (facts.why_missing("ovs") or "").startswith("needs root")
