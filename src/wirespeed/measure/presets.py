# SPDX-License-Identifier: Apache-2.0
"""Hold the parameters of each search; all their defaults are here.

docs/reference/searches.md shows this table; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from math import inf
from typing import Any, TypeVar

from wirespeed.measure.interface import BadSearch
from wirespeed.measure.search.b2b import B2b
from wirespeed.measure.search.fixed import Fixed
from wirespeed.measure.search.interface import Parameters, SearchMethod
from wirespeed.measure.search.mlr import Mlr
from wirespeed.measure.search.mrr import Mrr
from wirespeed.measure.search.rfc2544 import Rfc2544
from wirespeed.measure.search.soak import Soak
from wirespeed.measure.search.tst009 import Tst009
from wirespeed.model.study.spec import Search, SearchKind

P = TypeVar("P", bound=Parameters)

# A value without a default: a study that omits it is rejected.
REQUIRED = inf


@dataclass(frozen=True, slots=True)
class Preset:
    """A search with the steps around it. Times in seconds."""

    mrr: Mrr | None
    """Measured first; it sets the ceiling and shows how quiet the host is."""
    search: SearchMethod | None
    """None where only the MRR is wanted."""
    extension: float
    """Multiple of its length that a trial may take until enough of it was clean."""
    latency_trial_s: float
    as_is_trial_s: float | None = None
    """Length of the trials that look for a load without loss over all time; None: there are none.
    """
    warm_up_s: float = 1.0
    """Length of one trial that is not judged, in which tables and caches fill."""
    time_limit_s: float = inf
    """Limit of all steps before the all-time trials and latency, overheads included."""

    @property
    def conformant(self) -> bool:
        return self.search is not None and self.search.conformant

    @property
    def expected_s(self) -> float:
        mrr_s = self.mrr.expected_s if self.mrr else 0.0
        search_s = self.search.expected_s if self.search else 0.0
        return self.warm_up_s + mrr_s + search_s


_SHORT_MRR = Mrr(trial_s=1.0, trials=3)
# 0.3 s hold 300 windows: enough to judge a load where a third of the time is clean. Two of three
# such trials decide, so that one event of noise without evidence does not.
_QUICK = Mlr(
    first_trial_s=0.3, trial_s=0.3, duration_sum_s=0.9, exceed_ratio=0.5, width=0.005,
    pdr_loss=0.005, confirm_s=1.0,
)  # fmt: skip

PRESETS: Mapping[SearchKind, Preset] = {
    # RFC 2544 sections 24 and 26.1. An extension costs minutes, so there are few.
    SearchKind.RFC2544: Preset(
        mrr=_SHORT_MRR,
        search=Rfc2544(narrow_trial_s=2.0, trial_s=60.0, width=0.005),
        extension=3.0,
        latency_trial_s=10.0,
        as_is_trial_s=10.0,
    ),
    # ETSI GS NFV-TST 009 clause 12.3.3 with the sample values of its annex.
    SearchKind.TST009: Preset(
        mrr=_SHORT_MRR,
        search=Tst009(trial_s=60.0, step_fps=10_000.0, max_r=2, max_z=5_000),
        extension=3.0,
        latency_trial_s=10.0,
        as_is_trial_s=10.0,
    ),
    # The values of CSIT's NDR and PDR goals.
    SearchKind.MLR: Preset(
        mrr=_SHORT_MRR,
        search=Mlr(
            first_trial_s=1.0,
            trial_s=1.0,
            duration_sum_s=21.0,
            exceed_ratio=0.5,
            width=0.005,
            pdr_loss=0.005,
            confirm_s=5.0,
        ),
        extension=10.0,
        latency_trial_s=2.0,
        as_is_trial_s=1.0,
    ),
    SearchKind.QUICK: Preset(
        mrr=Mrr(trial_s=0.5, trials=3),
        search=_QUICK,
        extension=5.0,
        latency_trial_s=0.5,
        as_is_trial_s=0.3,
        warm_up_s=0.5,
    ),
    # CSIT: ten trials of 1 s.
    SearchKind.MRR: Preset(
        mrr=Mrr(trial_s=1.0, trials=10, least=1), search=None, extension=1.0, latency_trial_s=1.0
    ),
    SearchKind.FIXED: Preset(
        mrr=None,
        search=Fixed(trial_s=10.0, load_fps=REQUIRED),
        extension=5.0,
        latency_trial_s=10.0,
    ),
    SearchKind.SOAK: Preset(
        mrr=None,
        search=Soak(trial_s=60.0, total_s=3600.0, load_fps=REQUIRED),
        extension=1.0,
        latency_trial_s=10.0,
    ),
    # RFC 9004 section 6.3: the search is repeated, 50 times as in RFC 2544 section 26.4.
    SearchKind.B2B: Preset(
        mrr=_SHORT_MRR,
        search=B2b(throughput=_QUICK, searches=50, longest_burst_s=30.0, width=0.01, repeats=20),
        extension=6.0,
        latency_trial_s=0.5,
    ),
}

_OF_PRESET = ("extension", "latency_trial_s", "time_limit_s")
_OF_SEARCH = ("trial_s", "width", "load_fps", "step_fps", "max_r", "max_z", "total_s")


def resolve(settings: Search) -> Preset:
    """Return the preset with what the study sets itself. Raises BadSearch."""
    if settings.wait_for_placement is not None and settings.placement is None:
        raise BadSearch(
            "search.wait_for_placement is set and search.placement is not",
            'Set search.placement, e.g. "one cache".',
        )
    preset = PRESETS[settings.kind]
    preset = replace(preset, **_given(settings, _OF_PRESET))
    if preset.search is None:
        assert preset.mrr is not None
        return replace(preset, mrr=_filled(preset.mrr, settings))
    search = _filled(preset.search, settings)
    if getattr(search, "load_fps", None) == REQUIRED:
        raise BadSearch(
            f"search.kind {settings.kind.value} needs search.load_fps", "Give the load in frames/s."
        )
    as_is_trial_s = preset.as_is_trial_s
    if as_is_trial_s is not None and settings.trial_s is not None:
        # The search's own trials answer that question as well.
        as_is_trial_s = min(as_is_trial_s, settings.trial_s)
    return replace(preset, search=search, as_is_trial_s=as_is_trial_s)


def _given(settings: Search, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name in names if (value := getattr(settings, name)) is not None}


def _filled(method: P, settings: Search) -> P:
    """Return the parameters with the study's own. Raises BadSearch where one does not apply."""
    own = {f.name for f in fields(method)}
    given = _given(settings, _OF_SEARCH)
    for name in given:
        if name not in own:
            raise BadSearch(
                f"search.{name} does not apply to search.kind {settings.kind.value}",
                f"It takes {', '.join(sorted(own & set(_OF_SEARCH)))}. Leave {name} out.",
            )
    if "pdr_loss" in own:
        given["pdr_loss"] = settings.pdr_loss
    return replace(method, **given)
