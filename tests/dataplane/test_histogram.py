# SPDX-License-Identifier: Apache-2.0
"""Check that Python's hdrhistogram agrees with the C histogram on layout and percentiles."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from hdrh.histogram import HdrHistogram

from tests.dataplane.program import REPOSITORY

PROGRAM = REPOSITORY / "build" / "dataplane" / "tests" / "pktlib" / "test_histogram"


def sample_values() -> list[tuple[int, int]]:
    """Return the values and counts that the C program records: see write_sample there."""
    value, values = 1, []
    for index in range(1, 5001):
        value = (value * 6364136223846793005 + 1442695040888963407) % 2**64
        values.append((value >> (28 + index % 30), index))
    return values


def test_the_file_rebuilds_the_histogram(tmp_path: Path) -> None:
    path = tmp_path / "histogram.json"
    subprocess.run([str(PROGRAM), str(path)], check=True)
    file = json.loads(path.read_text())
    rebuilt = HdrHistogram(
        file["lowest_discernible"], file["highest_trackable"], file["significant_digits"]
    )
    for value, count in file["counts"]:
        assert rebuilt.record_value(value, count)
    own = HdrHistogram(1, 2**36 - 1, 3)
    for value, count in sample_values():
        assert own.record_value(value, count)
    assert rebuilt.encode() == own.encode()
    assert file["count"] == own.get_total_count()
    assert file["sum"] == sum(value * count for value, count in sample_values())
    assert file["min"] == min(value for value, _ in sample_values())
    assert file["max"] == max(value for value, _ in sample_values())
    assert file["clamped"] == 0
    # Each value named in the file is the lowest of its count.
    for value, _ in file["counts"]:
        assert own.get_lowest_equivalent_value(value) == value


def test_percentiles_agree(tmp_path: Path) -> None:
    path = tmp_path / "histogram.json"
    answer = subprocess.run(
        [str(PROGRAM), str(path), "percentiles"], check=True, capture_output=True, text=True
    )
    own = HdrHistogram(1, 2**36 - 1, 3)
    for value, count in sample_values():
        own.record_value(value, count)
    in_c = [int(line) for line in answer.stdout.split()]
    assert in_c == [int(own.get_value_at_percentile(per_mille / 10)) for per_mille in range(1001)]
