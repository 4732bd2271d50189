# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.same_sut import compared, simulated
from wirespeed.report.compare.comparison import Judgement


@pytest.mark.parametrize("loss", [0.0, 0.35])
def test_compare_runs_of_one_sut_on_a_host_that_moves_sees_no_difference(loss: float) -> None:
    pairs = [compared(simulated(loss, 2 * n), simulated(loss, 2 * n + 1)) for n in range(20)]
    assert not any({Judgement.BETTER, Judgement.WORSE} & set(pair.verdicts) for pair in pairs)
    assert sum(pair.differs for pair in pairs) <= 1
    assert sum(Judgement.SAME in pair.verdicts for pair in pairs) >= 5, "it is told, too"


def test_compare_a_sut_that_lost_a_tenth_is_seen() -> None:
    found = simulated(0.0, 1)
    runs = (simulated(0.0, seed) for seed in range(2, 20))
    slower = next(run for run in runs if run.placement is found.placement and run.mrr_fps)
    assert slower.mrr_fps is not None
    slower = replace(slower, mrr_fps=0.9 * slower.mrr_fps)
    assert Judgement.WORSE in compared(found, slower).verdicts
