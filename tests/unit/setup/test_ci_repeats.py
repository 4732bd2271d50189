# SPDX-License-Identifier: Apache-2.0
"""Test the reading of a CI log's tables."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.ci_repeats import Row, ended, rows

LOG = """== readme: make test
  passed  test-unit                  262.1 s    498.0 CPU s  of 282 s
          ==== 3848 passed in 259.00s ====
  FAILED  test-alone                   7.0 s      3.1 CPU s  of 3 s  OVER BUDGET
== FAILED: test-alone

== results
passed    101 s  readme: make demo
FAILED    290 s  readme: make test
"""


def test_rows_of_a_log_are_its_parts_and_commands() -> None:
    assert rows(LOG) == [
        Row("passed", "  test-unit", 262.1),
        Row("FAILED", "  test-alone", 7.0),
        Row("passed", "readme: make demo", 101.0),
        Row("FAILED", "readme: make test", 290.0),
    ]


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (LOG + "exit status 1\n", 1),
        (LOG + "exit status -15\n", -15),
        (LOG, None),
        ("exit status 0\n" + LOG, None),
        ("", None),
    ],
)
def test_a_run_ended_if_its_last_line_is_its_exit_status(
    text: str, status: int | None, tmp_path: Path
) -> None:
    log = tmp_path / "1-quiet.log"
    log.write_text(text)
    assert ended(log) == status


def test_a_run_that_never_began_has_not_ended(tmp_path: Path) -> None:
    assert ended(tmp_path / "1-quiet.log") is None
