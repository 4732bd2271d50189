# SPDX-License-Identifier: Apache-2.0
"""Test the kernel command line in GRUB's drop-in."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.support.apply_plans import lab_plan
from wirespeed.apply.steps.grub_drop_in import DROP_IN, line_of
from wirespeed.apply.steps.kernel_line import missing_words
from wirespeed.model.plan.plan import Decision, HostPlan
from wirespeed.plan.render import kernel

HOST = lab_plan().hosts[0]
LINE = " ".join(word.value for word in HOST.kernel)
TEXT = kernel.render(lab_plan())["kernel/lab1/60-wirespeed.cfg"]


def variables(tmp_path: Path, usual: str, default: str) -> list[str]:
    """Return GRUB's two variables after the drop-in, as grub-mkconfig sources it."""
    drop_in = tmp_path / Path(DROP_IN).name
    drop_in.write_text(TEXT)
    program = (
        f'set -e; . "{drop_in}"; echo "$GRUB_CMDLINE_LINUX"; echo "$GRUB_CMDLINE_LINUX_DEFAULT"'
    )
    env = {"GRUB_CMDLINE_LINUX": usual, "GRUB_CMDLINE_LINUX_DEFAULT": default, "PATH": "/bin"}
    done = subprocess.run(
        ["sh", "-c", program], env=env, cwd=tmp_path, check=True, capture_output=True, text=True
    )
    return [" ".join(line.split()) for line in done.stdout.split("\n")[:2]]


def test_words_that_contradict_the_plan_go_and_all_others_stay(tmp_path: Path) -> None:
    usual, default = variables(
        tmp_path,
        "console=ttyS0 dyndbg=*.cfg",
        "quiet intel_iommu=off hugepagesz=1G hugepages=0:1,1:1",
    )
    assert usual == f"console=ttyS0 dyndbg=*.cfg {LINE}"
    assert default == "quiet"


def test_the_words_are_read_back_from_the_drop_in() -> None:
    assert line_of(TEXT) == LINE


def test_one_word_is_read_back_from_the_drop_in() -> None:
    host = HostPlan("lab1", Decision((), ""), kernel=(Decision("idle=poll", ""),))
    assert line_of(kernel.drop_in(host)) == "idle=poll"


def test_a_count_of_pages_belongs_to_the_size_before_it() -> None:
    assert missing_words(HOST, f"ro {LINE} quiet") == ()
    other = LINE.replace(" hugepagesz=1G", " hugepagesz=2M")
    assert [word.partition("=")[0] for word in missing_words(HOST, other)] == [
        "hugepagesz", "hugepages",
    ]  # fmt: skip
