# SPDX-License-Identifier: Apache-2.0
"""Test the reading of a CI log's tables."""

from __future__ import annotations

from benchmarks.ci_repeats import Row, rows

LOG = """== readme: make test
  passed  test-unit                  262.1 s    498.0 CPU s
          ==== 3848 passed in 259.00s ====
  FAILED  test-alone                   7.0 s      3.1 CPU s
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
