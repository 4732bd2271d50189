# SPDX-License-Identifier: Apache-2.0
"""Check that a program that takes a CPU is found, named and turned into frames."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from benchmarks.shared.disturbances import taking_cpu

from wirespeed.qualify.document import QUALIFICATION

EVERY_S, TAKEN_S, SECONDS = 0.05, 0.004, 2.0


def qualified(*options: str) -> tuple[int, dict[str, Any]]:
    ended = subprocess.run(
        [sys.executable, "-m", "wirespeed.cli.main", "qualify", "--json", *options],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.stderr == ""
    return ended.returncode, json.loads(ended.stdout)


@pytest.mark.usefixtures("needs_root")
def test_qualify_names_the_program_that_takes_a_cpu() -> None:
    cpu = max(os.sched_getaffinity(0))
    with taking_cpu(cpu, EVERY_S, TAKEN_S):
        code, found = qualified("--seconds", str(SECONDS), "--cpus", str(cpu), "--rate", "10")
    QUALIFICATION.parse(json.dumps(found), "stdout")
    [one] = found["cpus"]
    # 4 ms at 10 Mpps are more frames than any ring holds.
    assert code == 1
    assert one["cpu"] == cpu
    [hog] = [each for each in one["interrupters"] if each["name"] == Path(sys.executable).name]
    assert hog["cause"] == "program"
    assert hog["gaps"] > SECONDS / (EVERY_S + TAKEN_S) / 2
    assert hog["longest_ns"] > 0.9 * TAKEN_S * 1e9
    assert one["backlog_ns"] >= hog["longest_ns"]
    assert found["unseen"] == []
