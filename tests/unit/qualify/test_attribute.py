# SPDX-License-Identifier: Apache-2.0
"""Check that each gap gets the name of what caused it."""

from __future__ import annotations

import pytest

from wirespeed.qualify.attribute import UNNAMED, CpuRuns, Gap, Run, interrupters, with_counts
from wirespeed.qualify.qualification import Cause, Interrupter

POLLER, HOG, OTHER = 100, 7, 8
MS = 1_000_000
NAMES = {HOG: "hog", OTHER: "other"}
RUNS = CpuRuns(
    [
        Run(0, 10 * MS, POLLER),
        Run(10 * MS, 3 * MS, HOG),
        Run(13 * MS, 1 * MS, OTHER),
        Run(14 * MS, 20 * MS, POLLER),
        Run(40 * MS, 10 * MS, POLLER),
    ],
    POLLER,
)


@pytest.mark.parametrize(
    ("gap", "cause", "name"),
    [
        (Gap(10 * MS - 5000, 4 * MS), Cause.PROGRAM, "hog"),
        (Gap(13 * MS - 5000, 1 * MS), Cause.PROGRAM, "other"),
        (Gap(20 * MS, 5 * MS), Cause.NO_PROGRAM, ""),
        (Gap(34 * MS, 6 * MS), Cause.STOPPED, ""),
        # It left for 1 ms, but did not poll for 4 ms while it had the CPU.
        (Gap(13 * MS, 5 * MS), Cause.NO_PROGRAM, ""),
    ],
)
def test_named_gap_has_the_cause_of_most_of_its_time(gap: Gap, cause: Cause, name: str) -> None:
    found = RUNS.named(gap, NAMES)
    assert (found.cause, found.name) == (cause, name)
    assert (found.begin_ns, found.length_ns) == (gap.begin_ns, gap.length_ns)


def test_named_program_that_has_ended_is_called_so() -> None:
    assert RUNS.named(Gap(10 * MS, 4 * MS), {}).name == UNNAMED


def blank(*lengths: int) -> list[Gap]:
    return [Gap(i * 100 * MS, length, Cause.NO_PROGRAM) for i, length in enumerate(lengths)]


def test_with_counts_steal_time_takes_the_longest_gaps_first() -> None:
    found = with_counts(blank(2 * MS, 25 * MS, 4 * MS), steal_ns=20 * MS, smis=0)
    assert [(gap.length_ns, gap.cause) for gap in found] == [
        (2 * MS, Cause.NO_PROGRAM), (25 * MS, Cause.HYPERVISOR), (4 * MS, Cause.HYPERVISOR),
    ]  # fmt: skip


def test_with_counts_more_than_was_stolen_is_not_the_hypervisor() -> None:
    [found] = with_counts(blank(50 * MS), steal_ns=10 * MS, smis=0)
    assert found.cause is Cause.NO_PROGRAM


def test_with_counts_as_many_gaps_as_smis_are_the_firmware() -> None:
    found = with_counts(blank(1 * MS, 3 * MS, 2 * MS), steal_ns=0, smis=2)
    assert [gap.cause for gap in found] == [Cause.NO_PROGRAM, Cause.FIRMWARE, Cause.FIRMWARE]


def test_with_counts_gap_of_a_program_stays() -> None:
    gap = Gap(0, 5 * MS, Cause.PROGRAM, "hog")
    assert with_counts([gap], steal_ns=50 * MS, smis=9) == [gap]


def test_interrupters_are_summed_by_program_longest_first() -> None:
    gaps = [
        Gap(0, 1 * MS, Cause.PROGRAM, "a"),
        Gap(9 * MS, 2 * MS, Cause.NO_PROGRAM),
        Gap(20 * MS, 4 * MS, Cause.PROGRAM, "a"),
    ]
    assert interrupters(gaps) == (
        Interrupter(Cause.PROGRAM, "a", 2, 4 * MS, 5 * MS),
        Interrupter(Cause.NO_PROGRAM, "", 1, 2 * MS, 2 * MS),
    )
