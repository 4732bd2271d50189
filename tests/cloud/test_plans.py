# SPDX-License-Identifier: Apache-2.0
"""Test that a running OpenStack accepts each plan and creates its guests as planned."""

from __future__ import annotations

import pytest

from tests.cloud import cases
from tests.cloud.case_run import FORCED, HEAT, Result, by_create_sh, in_every_way, run
from tests.cloud.clouds import Clouds

_USUAL = [*cases.examples(), *cases.random_cases(cases.SEED, 5)]
_SHORT = next(case for case in cases.examples() if case.name == "s1-bng")


@pytest.mark.parametrize("case", _USUAL, ids=[case.name for case in _USUAL])
def test_plan_is_accepted_as_rendered(
    case: cases.Case, clouds: Clouds, results: list[Result]
) -> None:
    _check(run(case, clouds, in_every_way), results)


@pytest.mark.openstack(short=True)
def test_one_plan_by_create_sh_alone(clouds: Clouds, results: list[Result]) -> None:
    """Short form with S1's plan: pinned guests, VFs and a PCI device."""
    _check(run(_SHORT, clouds, by_create_sh), results)


def _check(result: Result, results: list[Result]) -> None:
    results.append(result)
    assert not result.left
    for way in result.ways.keys() & {FORCED, HEAT}:
        for row in result.ways[way]:
            assert row.cells[:2] == (True, True), (way, row)
    assert not result.unexplained
