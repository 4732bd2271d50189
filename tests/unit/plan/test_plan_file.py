# SPDX-License-Identifier: Apache-2.0
"""Validate written plans against the shipped schema."""

from __future__ import annotations

import json

import jsonschema

from tests.support.examples import EXAMPLES, ROOT, lab_plan, shipped_plan
from wirespeed.plan.plan_file import write_plan

SCHEMA = ROOT / "schemas" / "plan.schema.json"


def test_plans_follow_it() -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    for plan in (lab_plan(), *map(shipped_plan, EXAMPLES)):
        jsonschema.validate(json.loads(write_plan(plan)), schema)
