# SPDX-License-Identifier: Apache-2.0
"""Test where rules of processor, boot loader and shared settings pass, and at their limits."""

from __future__ import annotations

import pytest

from tests.unit.audit.faults_platform import LONGEST, long_line, polled_by, running, split, weak
from tests.unit.audit.good_host import with_facts
from wirespeed.audit.engine import run_rule
from wirespeed.audit.registry import rule_named
from wirespeed.audit.rule import Subject
from wirespeed.model.host.finding import Finding, Status
from wirespeed.model.host.platform import BootEnvironment, Tuned


def finding(rule: str, subject: Subject) -> Finding:
    (found,) = run_rule(rule_named(rule), subject)
    return found


@pytest.mark.parametrize("mask", ["0x86", "0x8e"], ids=["port's node", "both nodes"])
def test_nodes_per_package_polled_on_the_ports_node_passes(mask: str) -> None:
    assert finding("WS66", polled_by(mask)).status is Status.PASSED


def test_nodes_per_package_without_pmd_cpus_on_the_package_is_another_rules() -> None:
    assert finding("WS66", polled_by("0x80")).status is Status.PASSED
    assert finding("WS12", polled_by("0x80")).status is Status.FAILED


def test_nodes_per_package_split_host_without_vswitch_fits_its_plan() -> None:
    assert finding("WS66", split(ovs=None)).found.startswith("at most 2 NUMA nodes a package")


def test_mitigations_left_on_by_the_command_line_are_no_cause() -> None:
    found = finding("WS69", weak("Vulnerable: no microcode", "ro mitigations=auto pti=on"))
    assert found.found == "open: mds"
    assert not any("grubby" in line for line in found.fix)


def test_mitigations_in_force_are_named_with_their_price() -> None:
    found = finding("WS69", weak("Mitigation: PTI"))
    assert found.status is Status.PASSED
    assert "any guest may read the host's memory" in found.found


def test_two_owners_tuned_that_does_not_run_owns_nothing() -> None:
    unused = Tuned(("realtime",), ("scheduler.isolated_cores",))
    assert finding("WS70", running("irqbalance", tuned=unused)).status is Status.PASSED


@pytest.mark.parametrize(("more", "status"), [(0, Status.PASSED), (1, Status.FAILED)])
def test_boot_environment_holds_its_size(more: int, status: Status) -> None:
    assert finding("WS71", long_line(LONGEST + more)).status is status


def test_boot_environment_without_kernel_words_does_not_apply() -> None:
    block = BootEnvironment("/boot/grub/grubenv", 25, 1024)
    assert finding("WS71", with_facts(boot_environment=block)).status is Status.NOT_APPLICABLE
