# SPDX-License-Identifier: Apache-2.0
"""Test that a node behaves like a server: inspected, rebooted, without power."""

from __future__ import annotations

import json
import os
import re
import signal
import time
import tomllib
from pathlib import Path

import pytest

from tests.support.lab_node import LabNode, images
from wirespeed.lab.errors import LabError
from wirespeed.remote.interface import HostUnreachable
from wirespeed.study.lab import parse_lab


def test_inspect_sees_the_server(lab_node: LabNode) -> None:
    done = lab_node.wirespeed("inspect", "--host", lab_node.url, "--json")
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["host"] == "lab1"
    assert len({cpu["package"] for cpu in facts["cpus"]}) == 2
    assert all(len(cpu["siblings"]) == 2 for cpu in facts["cpus"])
    assert [node["distances"] for node in facts["nodes"]] == [[10, 21], [21, 10]]
    for node in facts["nodes"]:
        assert {"size_kib": 1 << 20, "total": 1, "free": 1} in node["huge_pages"]
    nics = [pci for pci in facts["pci"] if pci["sriov_total"]]
    assert [(nic["driver"], nic["sriov_total"], nic["node"]) for nic in nics] == [
        ("igb", 7, 1), ("igb", 7, 1),
    ]  # fmt: skip
    groups = [nic["iommu_group"] for nic in nics]
    assert None not in groups
    assert len(set(groups)) == 2
    assert facts["iommu_units"]


def test_the_testbed_file_names_the_nics_by_their_addresses(lab_node: LabNode) -> None:
    lab = parse_lab(tomllib.loads(lab_node.lab.file.read_text()), "lab.toml")
    host = lab.hosts[lab_node.name]
    with lab_node.runner() as runner:
        for address in host.ports.values():
            assert runner.read(f"/sys/bus/pci/devices/{address}/sriov_totalvfs") == "7\n"
        assert runner.run([str(host.wsdp), "--version"]).exit_code == 0


@pytest.mark.lab(whole=True)
def test_clock_of_a_node_is_set_to_this_machine_s(lab_node: LabNode) -> None:
    hour = 3600.0
    with lab_node.runner() as runner:
        assert runner.run(["systemctl", "is-active", "wirespeed-clock.timer"]).stdout == "active\n"
        runner.run(["date", "-s", f"@{time.time() - hour:.0f}"])
        runner.run(["systemctl", "start", "wirespeed-clock.service"])
        now = float(runner.run(["date", "+%s.%N"]).stdout)
    assert abs(now - time.time()) < hour / 60


@pytest.mark.lab(whole=True)
def test_a_node_boots_with_the_arguments_of_its_own_grub(lab_node: LabNode) -> None:
    added = "/etc/default/grub.d/90-test.cfg"
    with lab_node.runner() as runner:
        before = runner.read("/proc/cmdline")
        runner.write(added, 'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX isolcpus=2-3"\n')
        runner.run(["update-grub"], timeout_s=600)
    lab_node.reboot()
    with lab_node.runner() as runner:
        assert runner.read("/sys/devices/system/cpu/isolated") == "2-3\n"
        runner.run(["rm", added])
        runner.run(["update-grub"], timeout_s=600)
    lab_node.reboot()
    with lab_node.runner() as runner:
        assert runner.read("/proc/cmdline") == before


@pytest.mark.lab(whole=True)
def test_a_synced_file_survives_a_power_failure(lab_node: LabNode) -> None:
    with lab_node.runner() as runner:
        runner.write("/root/kept", "yes")
        runner.run(["sync"])
    lab_node.power_cycle()
    with lab_node.runner() as runner:
        assert runner.read("/root/kept") == "yes"
        runner.run(["rm", "/root/kept"])


def test_another_host_key_is_refused(lab_node: LabNode) -> None:
    known = lab_node.lab.node(lab_node.name).folder / "access" / "known_hosts"
    text = known.read_text()
    known.write_text(re.sub(r"AAAA\S+", _other_key(known.parent), text))
    try:
        with lab_node.runner() as runner, pytest.raises(HostUnreachable, match="verification"):
            runner.run(["true"])
    finally:
        known.write_text(text)


def test_a_second_up_says_that_it_is_up(lab_node: LabNode) -> None:
    with pytest.raises(LabError, match="already up: lab1"):
        lab_node.lab.up(images(), nodes=1)


@pytest.mark.lab(whole=True)
def test_a_node_whose_qemu_died_is_named_and_started_again(lab_node: LabNode) -> None:
    node = lab_node.lab.node(lab_node.name)
    assert node.pid is not None
    os.kill(node.pid, signal.SIGKILL)
    node.kill()
    assert "ended" in lab_node.wirespeed("lab", "status").stdout
    done = lab_node.wirespeed("lab", "power-cycle", lab_node.name)
    assert done.returncode == 0, done.stderr
    assert "running" in lab_node.wirespeed("lab", "status").stdout


def _other_key(folder: Path) -> str:
    """Return the user's key: a valid key, but not the host's."""
    return (folder / "key.pub").read_text().split()[1]
