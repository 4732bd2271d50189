# SPDX-License-Identifier: Apache-2.0
"""Read the plan that a command names."""

from __future__ import annotations

from pathlib import Path

from wirespeed.document.text_file import read_input
from wirespeed.model.plan.plan import Plan
from wirespeed.plan.plan_file import PLAN_FILE


def named_plan(path: Path) -> Plan:
    """Return the plan in that file. Raises BadInput."""
    return PLAN_FILE.parse(read_input(path), str(path))
