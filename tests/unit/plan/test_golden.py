# SPDX-License-Identifier: Apache-2.0
"""Compare the plan and the renderings of the lab, which uses every feature, with golden files."""

from __future__ import annotations

from tests.unit.plan.golden import expected, made


def test_lab_plan_and_every_rendering() -> None:
    now, golden = made(), expected()
    assert sorted(now) == sorted(golden)
    changed = [name for name in now if now[name] != golden[name]]
    assert not changed, (
        "python -m tests.unit.plan.golden writes them again after an intended change"
    )
