# SPDX-License-Identifier: Apache-2.0
"""Test that the files of a host are those of its distribution, and what its script does."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from tests.support.apply_plans import lab_plan
from tests.support.distribution_words import words_of_others
from wirespeed.model.distribution import Family
from wirespeed.model.plan.plan import Plan
from wirespeed.plan.plan_file import PLAN_FILE, write_plan
from wirespeed.plan.render import ansible, kernel, targets

FILES = {
    Family.DEBIAN: {"60-wirespeed.cfg"},
    Family.RHEL: {"grubby.sh"},
    Family.SUSE: {"grub2-mkconfig.sh"},
    Family.UNKNOWN: {"60-wirespeed.cfg", "grubby.sh", "grub2-mkconfig.sh"},
}
KNOWN = [family for family in Family if family is not Family.UNKNOWN]
LINE = " ".join(word.value for word in lab_plan().hosts[0].kernel)


def plan_of(*families: Family) -> Plan:
    [host] = lab_plan().hosts
    hosts = (
        replace(host, host=f"lab{number}", family=family)
        for number, family in enumerate(families, 1)
    )
    return replace(lab_plan(), hosts=tuple(hosts))


@pytest.mark.parametrize("family", Family)
def test_kernel_files_are_those_of_the_host(family: Family) -> None:
    files = kernel.render(plan_of(family))
    assert {path.rpartition("/")[2] for path in files} == FILES[family]


@pytest.mark.parametrize("family", KNOWN)
def test_no_file_has_a_word_of_another_distribution(family: Family) -> None:
    plan = plan_of(family)
    for path, text in targets.render(plan).items():
        assert words_of_others(text, family) == set(), path


def test_playbook_of_several_distributions_serves_each() -> None:
    text = ansible.render(plan_of(Family.RHEL, Family.SUSE))["ansible/site.yml"]
    assert "grubby" in text
    assert "grub2-mkconfig.sh" in text
    assert "update-grub" not in text
    both = ansible.render(plan_of(Family.RHEL, Family.UNKNOWN))["ansible/site.yml"]
    assert both == ansible.render(plan_of(*KNOWN))["ansible/site.yml"]


@pytest.mark.parametrize("family", Family)
def test_playbook_notifies_a_handler_that_it_has(family: Family) -> None:
    [play] = yaml.safe_load(ansible.render(plan_of(family))["ansible/site.yml"])
    notified = {task["notify"] for task in play["tasks"] if "notify" in task}
    assert notified == {handler["name"] for handler in play.get("handlers", [])}


def test_playbook_has_the_files_that_it_names() -> None:
    files = ansible.render(plan_of(*KNOWN))
    assert "ansible/files/lab1/60-wirespeed.cfg" in files
    assert "ansible/files/lab3/grub2-mkconfig.sh" in files


def test_plan_file_keeps_the_family_and_older_ones_lack_it() -> None:
    plan = plan_of(Family.SUSE)
    assert PLAN_FILE.parse(write_plan(plan), "new.json") == plan
    document = PLAN_FILE.document(plan)
    del document["hosts"][0]["family"]

    text = json.dumps({**document, "schema_version": "1.4"})
    assert PLAN_FILE.parse(text, "old.json") == plan_of(Family.UNKNOWN)


def script(tmp_path: Path, defaults: str) -> subprocess.CompletedProcess[str]:
    """Run the script of SLES on a file of its own, with a double of grub2-mkconfig."""
    file, program = tmp_path / "grub", tmp_path / "grub2-mkconfig"
    file.write_text(defaults)
    program.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/menus\n')
    program.chmod(0o755)
    text = kernel.render(plan_of(Family.SUSE))["kernel/lab1/grub2-mkconfig.sh"]
    text = text.replace("file=/etc/default/grub", f"file={file}")
    return subprocess.run(
        ["bash", "-c", text], env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, capture_output=True,
        text=True, check=False,
    )  # fmt: skip


def test_script_of_sles_changes_one_line_and_repeats(tmp_path: Path) -> None:
    before = (
        'A=1\nGRUB_CMDLINE_LINUX_DEFAULT="quiet iommu=soft hugepages=1"  # ours\n'
        'GRUB_CMDLINE_LINUX=""\n# GRUB_CMDLINE_LINUX_DEFAULT="x"\n'
    )
    after = before.replace("quiet iommu=soft hugepages=1", f"quiet {LINE}")
    first = script(tmp_path, before)
    assert (first.returncode, first.stderr) == (0, "")
    assert "Reboot lab1" in first.stdout
    assert (tmp_path / "grub").read_text() == after
    again = script(tmp_path, after)
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")
    assert (tmp_path / "grub").read_text() == after
    assert (tmp_path / "menus").read_text() == "-o /boot/grub2/grub.cfg\n" * 2


@pytest.mark.parametrize(
    "odd",
    [
        'GRUB_CMDLINE_LINUX_DEFAULT="quiet $MORE"\nGRUB_CMDLINE_LINUX=""\n',
        'GRUB_CMDLINE_LINUX_DEFAULT="quiet"\nGRUB_CMDLINE_LINUX="iommu=soft"\n',
        'GRUB_CMDLINE_LINUX_DEFAULT=quiet\nGRUB_CMDLINE_LINUX=""\n',
        'GRUB_CMDLINE_LINUX_DEFAULT="a"\nGRUB_CMDLINE_LINUX_DEFAULT="b"\nGRUB_CMDLINE_LINUX=""\n',
        'GRUB_CMDLINE_LINUX=""\n',
    ],
)
def test_script_of_sles_rejects_another_kind_of_line(odd: str, tmp_path: Path) -> None:
    done = script(tmp_path, odd)
    assert done.returncode == 1
    assert "grub" in done.stderr
    assert (tmp_path / "grub").read_text() == odd
    assert not (tmp_path / "menus").exists()
