# SPDX-License-Identifier: Apache-2.0
"""These tests start a real OpenStack: skipped without WIRESPEED_OPENSTACK (make test-openstack)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cloud.case_run import RESULT, details, result_of, table
from tests.cloud.clouds import Clouds

WANTED = os.environ.get("WIRESPEED_OPENSTACK", "")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        mark = item.get_closest_marker("openstack") if item.path.is_relative_to(here) else None
        if mark and not _wanted(mark):
            reason = "needs another WIRESPEED_OPENSTACK: usual, short or compute"
            item.add_marker(pytest.mark.skip(reason=reason))


def _wanted(mark: pytest.Mark) -> bool:
    """Return whether the form runs the test; `short=True` or `compute=True` restricts it to one."""
    if WANTED == "usual":
        return not mark.kwargs
    return bool(WANTED and mark.kwargs.get(WANTED))


@pytest.fixture(scope="session")
def clouds() -> Iterator[Clouds]:
    """Share the clouds of all tests; check at the end that nothing is left."""
    made = Clouds()
    yield made
    assert not made.close()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the results of the cases; test_plans.py hands them over as properties."""
    results = [
        result_of(str(text))
        for report in (
            *terminalreporter.getreports("passed"),
            *terminalreporter.getreports("failed"),
        )
        if report.when == "call"
        for name, text in report.user_properties
        if name == RESULT
    ]
    if results:
        terminalreporter.write_line(table(results))
        for result in results:
            terminalreporter.write_line(details(result))
