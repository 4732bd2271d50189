# SPDX-License-Identifier: Apache-2.0
"""Judge whether a load passes, from the clean windows of all trials at it.

A SUT that forwards less than it is offered loses frames or queues them. Loss p and growth g of the
queues are per offered frame. The overload is exactly (p + g) / (1 + g). Windows of a millisecond
that begin drained seldom lose a frame at any load, so growth counts like loss.

Point estimates are compared with the limits. The standard error decides whether there is enough to
judge: a load that exceeds the capacity by twice the width must pass in one of 30,000 cases at most,
and a load at which queues do not grow must fail as seldom. At the limit that needs a standard error
of a quarter of the width; an estimate far from both limits needs less. The ends of the interval are
not compared. By its lower end, loads half a width too high would pass; by its upper end, searches
would end as much too low. Both would depend on how long was measured.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from wirespeed.model.result.quantile import CONFIDENCE, student, two_sided
from wirespeed.model.result.trial import CleanRun, Gated

Floats = NDArray[np.float64]

NDR_LOSS_LIMIT = 1e-4
"""Share of frames in clean windows that may be lost at the NDR; reported with it."""
MIN_WINDOWS = 100
MIN_RUNS = 10
CERTAIN = 4.0
"""Standard errors between an estimate and what it must not be mistaken for."""
# In steady windows queues may still be full from noise. Their loss certainly is an overload where
# it is many times what could pass.
OVERLOAD_FACTOR = 5
OVERLOAD_FLOOR = 0.02


@dataclass(frozen=True, slots=True)
class Verdict:
    """Verdict from the clean windows at a load.

    Where they are too few and the load certainly is an overload, windows, offered, lost and loss
    are those of the steady windows.
    """

    decided: bool
    """True if there is enough to judge; else ndr, pdr and exceeded mean nothing."""
    ndr: bool
    pdr: bool
    exceeded: float
    """Loss ratio that a search compares with its goal.

    It is 0 where the NDR's rule passes. It is at most the PDR's limit exactly where the PDR's rule
    passes.
    """
    loss: float
    growth: float
    """Growth of queues per offered frame; never negative."""
    growth_error: float
    """Half of its 95% interval; 1 where unknown, 0 where trials are one window each, which have no
    growth.
    """
    loss_bound: float
    """With 95% confidence no larger share of frames is lost. Without any loss it is 3/offered,
    which takes losses for single events. As losses cluster, read lossy_runs_bound of
    model/result/result.py with it.
    """
    overload: float
    """Share by which the load exceeds what is forwarded."""
    windows: int
    runs: int
    offered: int
    lost: int
    width: float

    @property
    def stands(self) -> bool:
        """Return whether the load stands as an NDR by all its trials together.

        Growth is held to half the width here, as all trials together resolve growth finer than one.
        So a load that exceeds the capacity by the width does not stand.
        """
        return self.ndr and self.growth <= self.width / 2


def verdict(pieces: Sequence[Gated], width: float, pdr_loss: float) -> Verdict:
    """Judge a load. pieces: all trials at it. width: relative resolution of the search."""
    runs = [run for piece in pieces for run in piece.runs if run.offered]
    limit = max(pdr_loss, width)
    growth, growth_error, enough = _growth(runs, width, limit)
    if all(piece.windows == 1 for piece in pieces):
        growth, growth_error, enough = 0.0, 0.0, bool(runs)
    if not enough and (drains := _drains(pieces)) is not None:
        runs, growth_error = drains
        growth, enough = 0.0, True
    if not enough and (overflows := _overflows(pieces, width, limit)) is not None:
        runs, growth, growth_error = overflows
        enough = True
    windows = sum(run.windows for run in runs)
    offered, lost = sum(run.offered for run in runs), sum(run.lost for run in runs)
    loss = lost / offered if offered else 0.0
    bound = _loss_bound(runs)
    if not enough and (excess := _beyond_doubt(pieces, limit)) is not None:
        windows = sum(piece.steady_windows for piece in pieces)
        offered = sum(piece.steady_offered for piece in pieces)
        lost = sum(piece.steady_lost for piece in pieces)
        loss, bound, enough = excess, 1.0, True
    ndr = loss <= NDR_LOSS_LIMIT and growth <= width
    exceeded = 0.0 if ndr else loss + growth
    return Verdict(
        decided=enough,
        ndr=enough and ndr,
        pdr=enough and exceeded <= limit,
        exceeded=exceeded,
        loss=loss,
        growth=growth,
        growth_error=growth_error,
        loss_bound=bound,
        overload=(loss + growth) / (1 + growth),
        windows=windows,
        runs=len(runs),
        offered=offered,
        lost=lost,
        width=width,
    )


def _many(runs: Sequence[CleanRun]) -> bool:
    return sum(run.windows for run in runs) >= MIN_WINDOWS and len(runs) >= MIN_RUNS


def _drains(pieces: Sequence[Gated]) -> tuple[list[CleanRun], float] | None:
    """Return the steady runs and their growth's error, if queues certainly shrink; else None.

    They must also lose no more than an NDR may. A SUT whose queues shrink under a load forwards
    more than that load. Near the capacity queues take long to drain, and on a noisy host they never
    drain fully: then this decides.
    """
    runs = [run for p in pieces for run in (*p.runs, *p.draining) if run.offered]
    if not _many(runs) or not any(piece.draining for piece in pieces):
        return None
    offered = np.array([run.offered for run in runs], dtype=np.float64)
    growth = np.array([run.growth_frames for run in runs])
    lost = sum(run.lost for run in runs)
    error = _standard_error(growth, offered) * two_sided(len(runs) - 1)
    ratio = growth.sum() / offered.sum()
    if lost > NDR_LOSS_LIMIT * offered.sum() or ratio >= 0 or ratio + error > 0:
        return None
    return runs, min(1.0, error)


def _overflows(
    pieces: Sequence[Gated], width: float, limit: float
) -> tuple[list[CleanRun], float, float] | None:
    """Return the steady runs, the growth in them and its error; None unless the load fails.

    It fails if loss and growth in all steady time certainly exceed the PDR's limit.

    Under an overload queues stay full whatever filled them first, and no window counts as drained.
    A SUT that forwards more than the load would empty them in the same time.
    """
    runs = [run for p in pieces for run in (*p.runs, *p.draining) if run.offered]
    if not _many(runs) or not any(piece.draining for piece in pieces):
        return None
    offered = np.array([run.offered for run in runs], dtype=np.float64)
    growth = np.array([run.growth_frames for run in runs])
    beyond = growth + np.array([run.lost for run in runs])
    excess = beyond.sum() / offered.sum()
    apart = _standard_error(beyond, offered) * _errors_apart(len(runs) - 1)
    # An NDR may lose a little next to a growth that the width allows: that is no overflow.
    if excess <= limit + NDR_LOSS_LIMIT or not _clear(excess, apart, width, limit):
        return None
    error = _standard_error(growth, offered) * two_sided(len(runs) - 1)
    return runs, max(0.0, float(growth.sum() / offered.sum())), min(1.0, error)


def _beyond_doubt(pieces: Sequence[Gated], limit: float) -> float | None:
    """Return the loss ratio of steady windows, if it proves an overload; else None."""
    offered = sum(piece.steady_offered for piece in pieces)
    if not offered or sum(piece.steady_windows for piece in pieces) < MIN_WINDOWS:
        return None
    loss = sum(piece.steady_lost for piece in pieces) / offered
    return loss if loss > max(OVERLOAD_FACTOR * limit, OVERLOAD_FLOOR) else None


def _growth(runs: Sequence[CleanRun], width: float, limit: float) -> tuple[float, float, bool]:
    """Return growth per offered frame, half of its 95% interval, and whether a verdict is possible.

    Growth is clipped once over all runs. Pieces of one run share their ends, so that their noise
    cancels in the sum. The error treats them as independent, which is too large rather than too
    small. A queue may fill in some runs and overflow in others. It then grows unevenly, while the
    sum of loss and growth is the same in all. In that case the error is that of the sum, which the
    PDR limits and which is more than the NDR allows.
    """
    if len(runs) < 2:
        return max(0.0, sum(r.growth_frames / r.offered for r in runs)), 1.0, False
    offered = np.array([run.offered for run in runs], dtype=np.float64)
    lost = np.array([run.lost for run in runs], dtype=np.float64)
    growth = np.array([run.growth_frames for run in runs])
    error = _standard_error(growth, offered)
    half = min(1.0, error * two_sided(len(runs) - 1))
    ratio = max(0.0, float(growth.sum() / offered.sum()))
    excess_error = _standard_error(growth + lost, offered)
    excess = ratio + float(lost.sum() / offered.sum())
    enough = min(error, excess_error) <= width / CERTAIN or _clear(
        excess, excess_error * _errors_apart(len(runs) - 1), width, limit
    )
    return ratio, half, enough and _many(runs)


def _clear(excess: float, apart: float, width: float, limit: float) -> bool:
    """Return whether loss and growth together lie certainly on one side of both limits.

    The limits are the width and the PDR's, each give or take a width. apart: CERTAIN standard
    errors of the sum.
    """
    return apart <= width + min(abs(excess - width), abs(excess - limit))


def _errors_apart(freedom: int) -> float:
    """Return CERTAIN for errors that come from few runs (Student)."""
    return student(NormalDist().cdf(CERTAIN), freedom)


def _standard_error(amounts: Floats, offered: Floats) -> float:
    """Return the standard error of sum(amounts) / sum(offered), by jackknife over the runs."""
    total = offered.sum()
    ratio = amounts.sum() / total
    changes = (amounts - ratio * offered) / (total - offered)
    runs = len(offered)
    return float(math.sqrt((runs - 1) / runs * np.square(changes).sum()))


def _loss_bound(runs: Sequence[CleanRun]) -> float:
    """Return the 95% upper bound on the share of frames that are lost (Korn and Graubard).

    Frames lost together are one event. The design effect says how much more the runs differ than
    with single losses; the number of events is divided by it. A few events seldom show how large
    one can be, so the run that lost most counts twice in the design effect. The error of the design
    effect comes from the runs that lost something.
    """
    offered, lost = sum(run.offered for run in runs), sum(run.lost for run in runs)
    if not offered:
        return 1.0
    if not lost:
        return min(1.0, 3 / offered)
    if len(runs) == 1:
        return min(1.0, lost / offered * _poisson_bound(1))
    sizes = [float(run.offered) for run in runs]
    losses = [float(run.lost) for run in runs]
    sizes, losses = [*sizes, offered / len(runs)], [*losses, max(losses)]
    spread = _standard_error(np.array(losses), np.array(sizes)) * sum(sizes)
    spread *= student(CONFIDENCE, min(len(runs), sum(run.lost > 0 for run in runs) + 2) - 1)
    events = lost / max(1.0, (spread / NormalDist().inv_cdf(CONFIDENCE)) ** 2 / lost)
    return min(1.0, lost / offered * _poisson_bound(events) / events)


def _poisson_bound(events: float) -> float:
    """Return the upper bound on the expected number of `events` observed (Byar), to 1%."""
    z = NormalDist().inv_cdf(CONFIDENCE)
    return (events + 1) * (1 - 1 / (9 * (events + 1)) + z / (3 * math.sqrt(events + 1))) ** 3
