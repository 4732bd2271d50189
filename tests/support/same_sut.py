# SPDX-License-Identifier: Apache-2.0
"""Compare results of one SUT with one another, as `wirespeed compare` does."""

from __future__ import annotations

from dataclasses import dataclass

from tests.support.fake_rig import FACTS
from tests.support.moving_host import MovingHost
from tests.support.noisy_host import BUSY
from tests.support.simulated import Recorder
from wirespeed.measure.interface import UNLIMITED
from wirespeed.measure.run import run_search
from wirespeed.model.result.result import SearchResult
from wirespeed.model.study.spec import Frames, Search, SearchKind
from wirespeed.report.compare.comparison import Judgement
from wirespeed.report.compare.runs import compare_runs
from wirespeed.store.records import PointRecord, PointState, RunRecord, StoredTrial

TOLERANCE = 0.05
_DIFFERS = frozenset({
    Judgement.BETTER, Judgement.WORSE, Judgement.BETTER_WITHIN_TOLERANCE,
    Judgement.WITHIN_TOLERANCE, Judgement.GONE, Judgement.NEW,
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Compared:
    """Verdicts on the rates of two results that decide."""

    verdicts: tuple[Judgement, ...]

    @property
    def differs(self) -> bool:
        """Return whether a rate is better or worse, or missing."""
        return bool(_DIFFERS.intersection(self.verdicts))


def compared(a: SearchResult, b: SearchResult) -> Compared:
    found = compare_runs(_run(a), _run(b), TOLERANCE).differences
    return Compared(tuple(d.verdict for d in found if d.verdict is not Judgement.AS_IS))


def simulated(loss: float, seed: int) -> SearchResult:
    """Run a quick search on a busy host that moves; far forwards `loss` less than near."""
    host = MovingHost(4e6, loss, seed=seed, noise=BUSY)
    return run_search(Search(SearchKind.QUICK), host.measure, UNLIMITED, Recorder())


def _run(result: SearchResult) -> RunRecord:
    trials = tuple(StoredTrial("", trial) for trial in result.trials)
    point = PointRecord(
        "p", "p2p, 64 B", Frames(), {}, PointState.COMPLETE, None, None, None, None, {}, result,
        trials, key="p",
    )  # fmt: skip
    return RunRecord("r", "s", "", "", {}, (), {}, FACTS, "", None, (point,))
