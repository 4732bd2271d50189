# SPDX-License-Identifier: Apache-2.0
"""Bisect two settings files on a real Open vSwitch: the one key that costs rate is named."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.real_bench import leftovers

BEFORE = """\
title = "The switch before"
description = "Two ports of one switch."

[topology]
kind = "p2p"

[traffic]
frame = 64
flows = 64

[search]
trial_s = 0.1
"""
# With one PMD thread, the assignment of queues and its balance change nothing.
CHANGED = {
    "emc": "false", "rxq_assign": '"group"', "auto_lb": "true", "memory": '"per-port"',
}  # fmt: skip
AFTER = "\n".join(
    [BEFORE, "[sut.vswitch.ovs]", *(f"{key} = {value}" for key, value in CHANGED.items()), ""]
)
COSTS = "sut.vswitch.ovs.emc"

pytestmark = [
    pytest.mark.fleet,
    pytest.mark.skipif(
        len(os.sched_getaffinity(0)) < 2, reason="the switch and the generator poll on a CPU each"
    ),
]


@pytest.mark.usefixtures("needs_root")
def test_bisect_one_of_four_keys_of_a_real_switch_is_named_and_proven(tmp_path: Path) -> None:
    (tmp_path / "before.toml").write_text(BEFORE)
    (tmp_path / "after.toml").write_text(AFTER)
    words = ("before.toml", "after.toml", "--worth", "8", "--probes", "8", "--json")
    done = subprocess.run(
        [sys.executable, "-m", "wirespeed.cli.main", "bisect", *words,
         "--store", str(tmp_path / "runs.sqlite")],
        cwd=tmp_path, stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    found = json.loads(done.stdout)
    assert found["blamed"] == [COSTS], found
    assert found["proven"], found
    assert not found["not_tried"]
    # The last comparison proves what the others have found.
    assert len(found["probes"]) - 1 <= math.ceil(math.log2(len(CHANGED))) + 2
    assert leftovers() == []
