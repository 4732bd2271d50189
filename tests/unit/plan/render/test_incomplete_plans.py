# SPDX-License-Identifier: Apache-2.0
"""Check that plan files with inconsistent parts are refused by name and without a traceback."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wirespeed.model.errors import BadInput
from wirespeed.plan.plan_file import PLAN_FILE
from wirespeed.plan.render.targets import TARGETS

PLAN = Path(__file__).parents[4] / "examples" / "s2-chains" / "plan.json"
Host = dict[str, Any]


def without_reserved_memory(host: Host) -> None:
    del host["reserved_memory_mib"]


def huge_cpu(host: Host) -> None:
    host["vswitch"]["pmd_cpus"]["value"][0] = 2**31


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda host: host.update(vswitch=None), "the plan lacks a part"),
        (lambda host: host.update(cores=None), "the plan lacks a part"),
        (without_reserved_memory, "the plan lacks a part"),
        (huge_cpu, "less than or equal to 8191"),
        (lambda host: host["vswitch"]["socket_memory_mib"].update(value=[]), "has 0 values"),
    ],
    ids=["vswitch", "cores", "reserved memory", "CPU", "socket memory"],
)
def test_render_incomplete_plan_is_refused(change: Callable[[Host], None], says: str) -> None:
    document = json.loads(PLAN.read_text(encoding="utf-8"))
    change(document["hosts"][0])
    with pytest.raises(BadInput, match=says):
        render_all(json.dumps(document))


def render_all(text: str) -> None:
    plan = PLAN_FILE.parse(text, "plan.json")
    for render in TARGETS.values():
        render(plan)
