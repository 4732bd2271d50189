# SPDX-License-Identifier: Apache-2.0
"""What are NDR and PDR, about, within seconds and on a machine that is not quiet?

MLRsearch with trials as short as they may be, hence *not RFC 2544 conformant*. A trial has to be
long compared with what the rings can hide: while a queue fills, an overload costs no frame. So its
length follows from the path: `rings_per_trial` times what the rings hold at the MRR. The same
quotient bounds the pauses that a trial bears (validity.py), so slow paths get longer trials and
fast ones trials short enough to fall between two disturbances.
"""

from __future__ import annotations

from dataclasses import dataclass

from wirespeed.measure.prober import Prober
from wirespeed.measure.search.interface import Figures, Limits
from wirespeed.measure.search.mlr import Mlr


@dataclass(frozen=True, slots=True)
class Quick:
    """A load is judged by the majority of `votes` trials. trial_s None: as the path asks for."""

    rings_per_trial: float
    shortest_trial_s: float
    longest_trial_s: float
    votes: int
    width: float
    pdr_loss: float
    trial_s: float | None = None

    @property
    def conformant(self) -> bool:
        return False

    @property
    def expected_s(self) -> float:
        return self._mlr(self.trial_s or self.longest_trial_s / 2).expected_s

    def find(self, prober: Prober, limits: Limits) -> Figures:
        return self._mlr(self.trial_s or self._trial_s(prober, limits)).find(prober, limits)

    def _trial_s(self, prober: Prober, limits: Limits) -> float:
        seen = prober.trials[-1].seen
        if not seen.ring_frames:
            return self.longest_trial_s
        load_fps = (limits.mrr_fps or limits.max_fps) / len(seen.directions)
        wanted_s = self.rings_per_trial * seen.ring_frames / max(load_fps, limits.min_fps)
        return min(self.longest_trial_s, max(self.shortest_trial_s, wanted_s))

    def _mlr(self, trial_s: float) -> Mlr:
        return Mlr(
            first_trial_s=trial_s,
            trial_s=trial_s,
            duration_sum_s=trial_s * self.votes,
            exceed_ratio=0.5,
            width=self.width,
            pdr_loss=self.pdr_loss,
        )
