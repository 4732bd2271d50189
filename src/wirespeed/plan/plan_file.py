# SPDX-License-Identifier: Apache-2.0
"""What is a plan as a JSON file? Its bytes depend on the plan alone."""

from __future__ import annotations

import json

from wirespeed.document.kind import DocumentKind
from wirespeed.model.plan import Plan

PLAN_FILE = DocumentKind(
    Plan,
    name="plan",
    title="wirespeed plan",
    version="1.2",
    called="plan file",
    next_step="Write it with `wirespeed plan make WORKLOAD.toml --host HOST.json -o PLAN.json`.",
)


def write_plan(plan: Plan) -> str:
    """The plan as JSON text."""
    return json.dumps(PLAN_FILE.document(plan), indent=1) + "\n"
