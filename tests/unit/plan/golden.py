# SPDX-License-Identifier: Apache-2.0
"""Rewrite tests/golden/plan/lab after an intended change.

Run it with `python -m tests.unit.plan.golden`.
"""

from __future__ import annotations

import shutil

from tests.support.examples import ROOT, lab_plan
from wirespeed.plan.plan_file import write_plan
from wirespeed.plan.render.targets import render

GOLDEN = ROOT / "tests" / "golden" / "plan" / "lab"


def expected() -> dict[str, str]:
    """Return the current golden files."""
    return {
        str(path.relative_to(GOLDEN)): path.read_text(encoding="utf-8")
        for path in GOLDEN.rglob("*")
        if path.is_file()
    }


def made() -> dict[str, str]:
    """Return the planner's files for the lab."""
    return {"plan.json": write_plan(lab_plan()), **render(lab_plan())}


def main() -> None:
    shutil.rmtree(GOLDEN, ignore_errors=True)
    for name, text in made().items():
        (GOLDEN / name).parent.mkdir(parents=True, exist_ok=True)
        (GOLDEN / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
