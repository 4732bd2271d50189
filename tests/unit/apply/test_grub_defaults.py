# SPDX-License-Identifier: Apache-2.0
"""Test the one line of /etc/default/grub that apply edits, and the lines that it rejects."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from tests.support.apply_plans import lab_plan
from tests.support.fake_boot import SLES_DEFAULTS, Grub2Mkconfig
from tests.support.fake_host import FakeHost, no_sleep
from wirespeed.apply import session
from wirespeed.apply.steps.boot_loader import NoBootLoader
from wirespeed.apply.steps.grub_defaults import VARIABLE, GrubDefaults
from wirespeed.model.plan.plan import Decision, HostPlan

HOST = "ssh://lab1"
PATH = "/etc/default/grub"


def planned(*words: str) -> HostPlan:
    return HostPlan("lab1", Decision((), ""), kernel=tuple(Decision(word, "") for word in words))


def host_with(defaults: str) -> FakeHost:
    return FakeHost(boot_loader=Grub2Mkconfig(defaults))


def text_of(host: FakeHost) -> str:
    return host.disk.read(PATH) or ""


def changed(defaults: str, *words: str) -> str:
    """Return the file after these words are set."""
    host, setting = host_with(defaults), GrubDefaults()
    with host.reach(HOST, sudo=True) as runner:
        value = setting.with_words(runner, setting.read(runner), planned(*words))
        setting.make(runner, value)
        assert setting.left(runner, value) == ()
        # From its own result, the same words give the same value.
        assert setting.with_words(runner, value, planned(*words)) == value
    return text_of(host)


def line(quoted: str) -> str:
    return f'A="1"\n{VARIABLE}={quoted}\nGRUB_CMDLINE_LINUX="ro"\n'


@pytest.mark.parametrize(
    ("quoted", "after"),
    [
        ('""', '"iommu=pt hugepages=2"'),
        ('"quiet"', '"quiet iommu=pt hugepages=2"'),
        ('"quiet"   # ours: "x"', '"quiet iommu=pt hugepages=2"   # ours: "x"'),
        ("'quiet  splash=silent'", "'quiet  splash=silent iommu=pt hugepages=2'"),
        ('"iommu=soft quiet hugepages=9 "', '"quiet iommu=pt hugepages=2"'),
        ('"quiet \\\n  iommu=soft"', '"quiet \\\n  iommu=pt hugepages=2"'),
        ('"iommu=soft"', '"iommu=pt hugepages=2"'),
    ],
)
def test_grub_defaults_changes_the_words_and_no_other_octet(quoted: str, after: str) -> None:
    assert changed(line(quoted), "iommu=pt", "hugepages=2") == line(after)


def test_grub_defaults_as_a_shell_reads_them(tmp_path: Path) -> None:
    file = tmp_path / "grub"
    file.write_text(changed(SLES_DEFAULTS, "intel_iommu=on", "isolcpus=1-3"))
    script = f'. {shlex.quote(str(file))}; echo "${VARIABLE}"'
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["splash=silent", "quiet", "intel_iommu=on", "isolcpus=1-3"]


@pytest.mark.parametrize(
    "defaults",
    [
        line('"quiet $MORE"'),
        line('"quiet `date`"'),
        line('"quiet \\"x\\""'),
        line("quiet"),
        line('"quiet"nosplash'),
        line('"quiet"#nosplash'),
        line('"quiet"; true'),
        line('"quiet'),
        line('"quiet"').replace(VARIABLE, f"export {VARIABLE}"),
        line('"quiet"').replace(f"{VARIABLE}=", f"{VARIABLE}+="),
        line('"quiet"') + f'{VARIABLE}="again"\n',
        line('"quiet"') + f'{VARIABLE}+=" again"\n',
        line('"quiet"') + f'if true; then {VARIABLE}="again"; fi\n',
        'A="1"\n',
    ],
)
def test_grub_defaults_with_another_kind_of_line_is_rejected(defaults: str) -> None:
    host = FakeHost()
    host.disk.write(PATH, defaults)
    with host.reach(HOST, sudo=True) as runner, pytest.raises(NoBootLoader, match=PATH):
        GrubDefaults().read(runner)
    assert text_of(host) == defaults


def test_grub_defaults_with_a_planned_word_in_the_other_variable_is_rejected() -> None:
    host = host_with(line('"quiet"').replace('"ro"', '"ro iommu=soft"'))
    with host.reach(HOST, sudo=True) as runner, pytest.raises(NoBootLoader, match="iommu=soft"):
        GrubDefaults().with_words(runner, "quiet", planned("iommu=pt"))


def test_grub_defaults_of_a_host_with_boot_entries_is_rejected() -> None:
    host = host_with(f'{SLES_DEFAULTS}GRUB_ENABLE_BLSCFG="true"\n')
    with host.reach(HOST, sudo=True) as runner, pytest.raises(NoBootLoader, match="grubby"):
        GrubDefaults().with_words(runner, "quiet", planned("iommu=pt"))


def test_grub_defaults_between_other_quotes_since_is_rejected() -> None:
    host = host_with(line('"quiet"'))
    with host.reach(HOST, sudo=True) as runner, pytest.raises(NoBootLoader, match="no plain"):
        GrubDefaults().make(runner, 'quiet "$x"')
    assert text_of(host) == line('"quiet"')


def test_grub_defaults_with_a_word_that_a_shell_would_expand_is_rejected() -> None:
    host = host_with(SLES_DEFAULTS)
    with host.reach(HOST, sudo=True) as runner, pytest.raises(NoBootLoader, match="no word"):
        GrubDefaults().with_words(runner, "quiet", planned("x=$(reboot)"))


def test_rollback_keeps_what_was_edited_in_other_lines_since() -> None:
    host = host_with(SLES_DEFAULTS)
    session.apply(host.reach, HOST, lab_plan(), may_reboot=True, sleep=no_sleep)
    assert "isolcpus=" in host.kernel.cmdline
    assert "intel_iommu=off" not in host.kernel.cmdline
    host.disk.write(PATH, text_of(host).replace("GRUB_TIMEOUT=8", "GRUB_TIMEOUT=3"))
    undone = session.undo(host.reach, HOST, may_reboot=True, sleep=no_sleep)
    assert not undone.stuck
    assert text_of(host) == SLES_DEFAULTS.replace("GRUB_TIMEOUT=8", "GRUB_TIMEOUT=3")
    assert "isolcpus=" not in host.kernel.cmdline


def test_apply_names_a_menu_that_grub2_mkconfig_did_not_change() -> None:
    host = host_with(SLES_DEFAULTS)
    host.boot_loader.keeps_words = True
    applied = session.apply(host.reach, HOST, lab_plan(), may_reboot=False)
    [failed] = [result for result in applied.results if result.failed]
    assert failed.name == f"kernel command line ({PATH})"
    assert "/boot/grub2/grub.cfg was not made with it" in failed.note
