# SPDX-License-Identifier: Apache-2.0
"""Test that findings have the commands of the audited host's distribution, and no other's."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.distribution_words import words_of_others
from tests.support.hostile import Judge
from tests.unit.audit.case import Case
from tests.unit.audit.faults import FAULTS
from tests.unit.audit.test_hostile_fixes import hostile
from wirespeed.audit.engine import run_rule
from wirespeed.audit.registry import all_rules
from wirespeed.audit.rule import Subject
from wirespeed.model.distribution import Family
from wirespeed.model.host.finding import Finding, Status
from wirespeed.model.host.operating_system import OperatingSystem, family_of

RULES = {rule.id: rule for rule in all_rules()}
SYSTEMS = {
    "Debian": OperatingSystem("debian", (), "12", "Debian GNU/Linux"),
    "Ubuntu": OperatingSystem("ubuntu", ("debian",), "24.04", "Ubuntu"),
    "RHEL": OperatingSystem("rhel", ("fedora",), "9.4", "Red Hat Enterprise Linux"),
    "Rocky": OperatingSystem("rocky", ("rhel", "centos", "fedora"), "9.4", "Rocky Linux"),
    "SLES": OperatingSystem("sles", ("suse",), "15.6", "SLES"),
    "openSUSE": OperatingSystem("opensuse-leap", ("suse", "opensuse"), "15.6", "openSUSE Leap"),
}
KNOWN = pytest.mark.parametrize("system", SYSTEMS.values(), ids=SYSTEMS)


def on(subject: Subject, system: OperatingSystem | None) -> Subject:
    return replace(subject, facts=replace(subject.facts, operating_system=system))


def findings(case: Case, system: OperatingSystem | None) -> tuple[Finding, ...]:
    return run_rule(RULES[case.rule], on(case.subject, system))


def fix(rule: str, system: OperatingSystem | None, number: int = 0) -> tuple[str, ...]:
    cases = [case for case in FAULTS if case.rule == rule]
    return findings(cases[number], system)[0].fix


@KNOWN
def test_finding_has_no_word_of_another_distribution(system: OperatingSystem) -> None:
    family = family_of(system)
    pairs = [(case, found) for case in FAULTS for found in findings(case, system)]
    for case, found in pairs:
        assert found.status is Status.FAILED
        assert words_of_others("\n".join(found.fix), family) == set(), case
        printed = f"{found.title} {found.found} {found.wanted} {found.why}"
        # WS71 says where a boot entry's words are in GRUB's environment block: on RHEL 8.
        assert words_of_others(printed, family) <= {"RHEL", "grubby"}, case


@KNOWN
def test_commands_of_every_fix_are_shell(system: OperatingSystem) -> None:
    lines = [line for case in FAULTS for found in findings(case, system) for line in found.fix]
    script = "\n".join(lines)
    done = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_kernel_arguments_are_set_as_the_distribution_does() -> None:
    assert fix("WS30", SYSTEMS["Debian"]) == (
        "# take other values of iommu out of /etc/default/grub",
        "mkdir -p /etc/default/grub.d",
        "echo 'GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX iommu=pt\"' >> "
        "/etc/default/grub.d/50-audit.cfg",
        "update-grub",
        "reboot",
    )
    assert fix("WS30", SYSTEMS["Rocky"]) == (
        "grubby --update-kernel=ALL --args=iommu=pt",
        "reboot",
    )
    assert fix("WS30", SYSTEMS["SLES"]) == (
        "# take other values of iommu out of /etc/default/grub",
        'sed -i \'s|^\\(GRUB_CMDLINE_LINUX_DEFAULT="[^"]*\\)"|\\1 iommu=pt"|\' /etc/default/grub',
        "grub2-mkconfig -o /boot/grub2/grub.cfg",
        "reboot",
    )


def test_kernel_arguments_on_an_unknown_distribution_name_all_ways() -> None:
    for system in (None, OperatingSystem("slackware")):
        text = "\n".join(fix("WS30", system))
        assert words_of_others(text, Family.UNKNOWN) >= {"grubby", "update-grub", "grub2-mkconfig"}


def test_kernel_arguments_are_in_the_files_afterwards(tmp_path: Path) -> None:
    defaults = tmp_path / "grub"
    defaults.write_text('A=1\nGRUB_CMDLINE_LINUX_DEFAULT="quiet"  # ours\nGRUB_CMDLINE_LINUX=""\n')
    for system, path in (("SLES", "/etc/default/grub"), ("Debian", "/etc/default")):
        for line in fix("WS30", SYSTEMS[system])[:-2]:
            here = line.replace(path, str(defaults if system == "SLES" else tmp_path))
            subprocess.run(["sh", "-c", here], check=True)
    assert 'GRUB_CMDLINE_LINUX_DEFAULT="quiet iommu=pt"  # ours' in defaults.read_text()
    script = f'. {defaults}; . {tmp_path}/grub.d/50-audit.cfg; echo "$GRUB_CMDLINE_LINUX"'
    done = subprocess.run(["sh", "-c", script], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["iommu=pt"]


def test_units_and_packages_are_those_of_the_distribution() -> None:
    assert "systemctl restart openvswitch-switch" in fix("WS49", SYSTEMS["Debian"])
    assert "systemctl restart openvswitch" in fix("WS49", SYSTEMS["SLES"])
    assert "systemctl restart nova-compute" in fix("WS46", SYSTEMS["Ubuntu"])
    assert "systemctl restart openstack-nova-compute" in fix("WS46", SYSTEMS["RHEL"])
    assert "# cpupower: apt-get install linux-tools-generic" in fix("WS31", SYSTEMS["Ubuntu"])
    assert "# cpupower: zypper install cpupower" in fix("WS31", SYSTEMS["SLES"])
    assert any("dnf install microcode_ctl" in line for line in fix("WS69", SYSTEMS["RHEL"]))
    assert any("openvswitch-switch on Debian" in line for line in fix("WS49", None))


def test_family_of_a_distribution_is_the_first_known_name() -> None:
    assert [family_of(system) for system in SYSTEMS.values()] == [
        Family.DEBIAN, Family.DEBIAN, Family.RHEL, Family.RHEL, Family.SUSE, Family.SUSE,
    ]  # fmt: skip
    assert family_of(OperatingSystem("linux")) is Family.UNKNOWN


@pytest.mark.parametrize("name", ["Debian", "SLES"])
@pytest.mark.parametrize("rule", ["WS28", "WS46", "WS69", "WS71"])
def test_hostile_texts_run_nothing_on_other_distributions(
    rule: str, name: str, tmp_path: Path
) -> None:
    lines = set()
    for case in (case for case in FAULTS if case.rule == rule):
        for subject in hostile(case.subject):
            try:
                found = run_rule(RULES[rule], on(subject, SYSTEMS[name]))
            except Exception:  # noqa: S112 (types keep such a text out; commands are judged here)
                continue
            lines |= {line for finding in found for line in finding.fix}
    assert lines
    Judge(tmp_path).commands(lines)
