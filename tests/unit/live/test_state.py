# SPDX-License-Identifier: Apache-2.0
"""Check the path and the CPUs that the page draws at one moment."""

from __future__ import annotations

from pathlib import Path as File

import pytest

from tests.support.chromium import Page
from tests.unit.live.conftest import served
from tests.unit.live.path_recording import VALUES, make, series
from tests.unit.live.test_page import opened
from wirespeed.live.lanes import lanes_of
from wirespeed.live.path import path_of
from wirespeed.live.state import state_of
from wirespeed.store.store import Store

KNOWN = [each for each, _ in VALUES]


def test_path_leads_from_the_generator_through_switch_and_function_and_back() -> None:
    found = path_of(KNOWN)
    switch = "Open vSwitch bench"
    assert [stop.name for stop in found.stops] == ["tg", switch, "vnf1", switch, "tg"]
    assert [cable.label for cable in found.cables] == [
        f"tg:east to {switch}:east", f"{switch}:vnf1a to vnf1:a", f"vnf1:b to {switch}:vnf1b",
        f"{switch}:west to tg:west",
    ]  # fmt: skip
    [lost] = found.cables[1].lost
    assert KNOWN[lost.members[0]].key == "port_dropped_packets"
    sent = found.cables[0].forward
    assert sent is not None
    assert KNOWN[sent.members[0]].key == "device_tx_packets"
    assert [stop.busy != () for stop in found.stops] == [True, True, False, False, False]


def test_path_of_unrelated_programs_lists_each_with_its_ports() -> None:
    found = path_of([
        series("dpdk a", "ethdev_rx_packets", program="a", port="0"),
        series("ovs", "port_packets", switch="system", interface="dpdk0", direction="rx"),
    ])  # fmt: skip
    assert [(stop.name, [port.name for port in stop.ports]) for stop in found.stops] == [
        ("a", ["0"]), ("Open vSwitch system", ["dpdk0"]),
    ]  # fmt: skip
    assert found.cables == ()


def test_path_inside_one_program_goes_from_task_to_task() -> None:
    tasks = ("sink0", "impair_a0", "gen0")
    found = path_of([
        series("wsdp", f"task_{key}_packets", program="tg", task=task)
        for task in tasks
        for key in ("rx", "tx", "tx_fail", "discard")
    ])  # fmt: skip
    assert [stop.name for stop in found.stops] == ["gen0", "impair_a0", "sink0"]
    assert [cable.label for cable in found.cables] == ["gen0 to impair_a0", "impair_a0 to sink0"]


def test_path_of_a_host_without_programs_is_its_interfaces() -> None:
    [stop] = path_of([
        series("interfaces", "interface_packets", interface=name, direction="rx")
        for name in ("lo", "eth0")
    ]).stops  # fmt: skip
    assert [port.name for port in stop.ports] == ["eth0"]


def test_cpus_have_load_isolation_and_owners() -> None:
    found = state_of(KNOWN, lanes_of(KNOWN))
    assert [each.cpu for each in found.cpus] == ["0", "1"]
    assert [each.isolated is None for each in found.cpus] == [True, False]
    [owner] = found.owners
    assert owner.label == "ovs-vswitchd pmd-c01"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> File:
    path = tmp_path_factory.mktemp("path") / "s.sqlite"
    with Store(str(path)) as opened_store:
        make(opened_store)
    return path


def test_page_draws_path_cpus_and_trial_of_the_moment(page: Page, store: File) -> None:
    with served(store, "kpi-1") as server:
        opened(page, server.url)
        drawn = "document.querySelector('.path svg').textContent"
        page.run("page.player.seek(6.02e9)")
        page.wait(f"{drawn}.includes('lost, drops: 50000/s')", "the loss on its cable")
        assert page.run(f"{drawn}.match(/2 Mpps/g).length") == 4
        assert "queue r0: 100 of 512 packets" in page.run(drawn)
        cpus = page.text(".cpus")
        assert "CPU 1 100%" in cpus
        assert "ovs-vswitchd pmd-c01 (isolated)" in cpus
        gate = "document.querySelector('.gate').textContent"
        assert page.run(gate) == (
            "trial: search 2.100 Mpps for 2 s; excluded: 3.1% SUT stopped; polling CPUs on one core"
        )
        page.run("page.player.seek(3e9)")
        page.wait(f"{gate} === 'trial: search 2.000 Mpps for 2 s; all of it counts'", "the trial")
        assert page.run(f"{drawn}.includes('lost, drops: 0/s')")
        page.run("page.player.seek(10e9)")
        page.wait(f"{gate} === 'no trial at this time'", "the time after")
        assert page.text("#price summary") == "Price: the sampler took 0.83% of a CPU"
        assert "3 of 11 loss bursts" in page.run("byId('price-list').textContent")
        assert "the sampler took" not in page.run("byId('mark-list').textContent")
        page.run("byId('kinds').value = 'mark'")
        page.run("page.event(true)")
        assert page.text("#said") == "No mark after this time."
        assert page.faults() == []
