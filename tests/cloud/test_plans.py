# SPDX-License-Identifier: Apache-2.0
"""Test that a running OpenStack accepts each plan and creates its guests as planned."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.cloud import cases
from tests.cloud.case_run import (
    FORCED,
    HEAT,
    RESULT,
    Result,
    by_create_sh,
    in_every_way,
    result_text,
    run,
)
from tests.cloud.clouds import Clouds

Recorded = Callable[[str, object], None]
_USUAL = [*cases.examples(), *cases.random_cases(cases.SEED, 5)]
_SHORT = next(case for case in cases.examples() if case.name == "s1-bng")


@pytest.mark.parametrize("case", _USUAL, ids=[case.name for case in _USUAL])
def test_plan_is_accepted_as_rendered(
    case: cases.Case, clouds: Clouds, record_property: Recorded
) -> None:
    _check(run(case, clouds, in_every_way), record_property)


@pytest.mark.openstack(short=True)
def test_one_plan_by_create_sh_alone(clouds: Clouds, record_property: Recorded) -> None:
    """Short form with S1's plan: pinned guests, VFs and a PCI device."""
    _check(run(_SHORT, clouds, by_create_sh), record_property)


def _check(result: Result, record: Recorded) -> None:
    record(RESULT, result_text(result))
    assert not result.left
    for way in result.ways.keys() & {FORCED, HEAT}:
        for row in result.ways[way]:
            assert row.cells[:2] == (True, True), (way, row)
    assert not result.unexplained
