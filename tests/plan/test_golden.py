# SPDX-License-Identifier: Apache-2.0
"""Is the lab, which uses everything a plan can say, planned and rendered as it was?"""

from __future__ import annotations

from tests.plan.golden import expected, made


def test_lab_plan_and_every_rendering() -> None:
    now, golden = made(), expected()
    assert sorted(now) == sorted(golden)
    changed = [name for name in now if now[name] != golden[name]]
    assert not changed, "python -m tests.plan.golden writes them again after an intended change"
