# SPDX-License-Identifier: Apache-2.0
"""Compare the script that a host runs by itself with the Runner, in a real shell."""

from __future__ import annotations

import subprocess
from pathlib import Path

from wirespeed.apply.actions import Put, PutEach, Run, perform, script
from wirespeed.remote.local import LocalRunner


def actions(folder: Path) -> list[Put | PutEach | Run]:
    return [
        Put(f"{folder}/one", "a b'c"),
        PutEach(f"{folder}/irq/[0-9]*/list", "0,4"),
        Put(f"{folder}/absent/file", "x", may_fail=True),
        Run(("false",), may_fail=True),
        Run(("cp", f"{folder}/one", f"{folder}/copy")),
    ]


def made(folder: Path) -> dict[str, str]:
    return {str(p.relative_to(folder)): p.read_text() for p in folder.rglob("*") if p.is_file()}


def prepared(folder: Path) -> Path:
    for number in ("1", "20", "default"):
        (folder / "irq" / number).mkdir(parents=True)
        (folder / "irq" / number / "list").write_text("was\n")
    return folder


def test_both_do_the_same(tmp_path: Path) -> None:
    one, other = prepared(tmp_path / "one"), prepared(tmp_path / "other")
    perform(LocalRunner(), actions(one))
    done = subprocess.run(["sh", "-eu", "-c", script("A test.", actions(other))], check=False)
    assert done.returncode == 0
    assert made(one) == made(other)
    assert made(one) == {
        "one": "a b'c\n", "copy": "a b'c\n",
        "irq/1/list": "0,4\n", "irq/20/list": "0,4\n", "irq/default/list": "was\n",
    }  # fmt: skip


def test_a_script_reports_a_failure_and_goes_on(tmp_path: Path) -> None:
    text = script("A test.", [Put(f"{tmp_path}/no/file", "x"), Put(f"{tmp_path}/file", "y")])
    done = subprocess.run(["sh", "-c", text], check=False, capture_output=True)
    assert done.returncode == 1
    assert made(tmp_path) == {"file": "y\n"}
