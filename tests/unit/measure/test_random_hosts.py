# SPDX-License-Identifier: Apache-2.0
"""Search on random hosts: whatever moves, fails or disturbs, no rate contradicts another."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace

import pytest

from tests.support.moving_host import FAR, NEAR, placed
from tests.support.noisy_host import ALWAYS_SHARED, BUSY, LOUD, QUIET, Noise, NoisyHost
from tests.support.simulated import Recorder
from wirespeed.measure.interface import UNLIMITED
from wirespeed.measure.run import run_search
from wirespeed.model.cpus import CpuPair, CpuPlacement, PlacementKind
from wirespeed.model.result.observation import Observation
from wirespeed.model.result.result import Grade, SearchResult, lower_fps
from wirespeed.model.study.spec import Search, SearchKind
from wirespeed.report.text.sentence import result_sentences


def trio(*ns: float) -> CpuPlacement:
    found = CpuPlacement.of(tuple(CpuPair("", (i, i + 1), each, 1.0) for i, each in enumerate(ns)))
    assert found is not None
    return found


PLACES = (
    (NEAR, FAR), (NEAR,), (NEAR, FAR, CpuPlacement(20.0, 1.5)),
    (trio(40, 40, 40), trio(210, 40, 40), trio(40, 40, 210)),
)  # fmt: skip
STAYS_S = ((0.1, 0.4), (0.5, 3.0), (2.0, 6.0), (10.0, 60.0))
NOISES = (QUIET, BUSY, LOUD, ALWAYS_SHARED, Noise(stops_per_s=30, stop_ns=4e6))


class RandomHost:
    """The measurer, and the probe. Each placement forwards less than the one before."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._places = rng.choice(PLACES)
        full_fps, slower = rng.uniform(1e6, 5e6), rng.choice((0.0, 0.02, 0.1, 0.35))
        self._fps = [full_fps * (1 - slower) ** i for i in range(len(self._places))]
        self._stay_s, self._noise = rng.choice(STAYS_S), rng.choice(NOISES)
        self._comes_and_goes = rng.random() < 0.4
        self._generator_fps = full_fps * rng.choice((8.0, 8.0, 1.2, 0.7))
        self._fails = rng.choice((0.0, 0.0, 0.1, 1.0))
        self._now_s = self._until_s = 0.0
        self._at = self._made = 0

    @property
    def highest_fps(self) -> float:
        return self._fps[0]

    def truth_fps(self, answer: SearchResult) -> float:
        at = [fps for place, fps in zip(self._places, self._fps, strict=True)
              if place.placed == answer.placed]  # fmt: skip
        return at[0] if at else self.highest_fps

    def lowest_fps(self, answer: SearchResult) -> float:
        """Return the truth, less what the search resolves; 0 where noise takes frames, too."""
        seen = self._noise is QUIET and answer.placed is not None
        return self.truth_fps(answer) * 0.99 if seen else 0.0

    def place(self, after_s: float) -> CpuPlacement | None:
        self._now_s += after_s
        while self._now_s >= self._until_s:
            self._at = self._rng.randrange(len(self._places))
            self._until_s += self._rng.uniform(*self._stay_s)
        return None if self._rng.random() < self._fails else self._places[self._at]

    def measure(self, load_fps: float, duration_s: float) -> Observation:
        before = self.place(0.0)
        quiet = self._comes_and_goes and self._rng.random() < 0.5
        host = NoisyHost(
            self._fps[self._at], QUIET if quiet else self._noise, generator_fps=self._generator_fps,
            buffer_frames=2048, seed=self._made,
        )  # fmt: skip
        self._made += 1
        found = host.measure(load_fps, duration_s)
        after = self.place(duration_s + found.overhead_s)
        if before is None or after is None:
            return found
        return placed(found, before, after)


def random_search(rng: random.Random) -> Search:
    wanted = rng.choice((None, *PlacementKind))
    return Search(
        SearchKind.QUICK,
        latency=rng.random() < 0.5,
        time_limit_s=rng.choice((None, 1.0, 3.0, 16.0, 60.0)),
        placement=wanted,
        wait_for_placement=rng.choice((None, 5.0, 600.0)) if wanted else None,
    )


def not_finite(value: object) -> Iterator[object]:
    if isinstance(value, float) and not math.isfinite(value):
        yield value
    elif is_dataclass(value):
        for each in fields(value):
            yield from not_finite(getattr(value, each.name))
    elif isinstance(value, tuple):
        for one in value:
            yield from not_finite(one)


def check(answer: SearchResult, truth_fps: float, lowest_fps: float) -> None:
    """Check a result. lowest_fps: no load below is too much."""
    width = answer.undisturbed.width if answer.undisturbed is not None else 0.01
    ndr_fps, pdr_fps = lower_fps(answer.ndr), lower_fps(answer.pdr)
    assert (ndr_fps or 0.0) <= truth_fps * (1 + width)
    assert (answer.grade is None) is (answer.not_measurable is not None)
    for interval in (answer.ndr, answer.pdr):
        if interval is not None and interval.lower is not None and interval.upper is not None:
            assert interval.lower.load_fps < interval.upper.load_fps
    if ndr_fps is not None and answer.pdr is not None and answer.ndr is not None:
        assert pdr_fps is not None
        assert ndr_fps <= pdr_fps
        if answer.pdr.upper is not None:
            assert answer.ndr.upper is not None
            assert answer.ndr.upper.load_fps <= answer.pdr.upper.load_fps
    if (within := answer.bracket) is not None and within.overloads_fps is not None:
        assert (within.carried_fps or 0.0) < within.overloads_fps
        assert within.overloads_fps >= lowest_fps
        if answer.mrr_fps is not None:
            most_fps = answer.mrr_fps * (1 + (answer.mrr_half_interval or 0.0))
            assert within.overloads_fps <= most_fps
    if answer.grade in (Grade.B, Grade.C) and answer.undisturbed is not None:
        assert (answer.undisturbed.share > 0.5) is (answer.grade is Grade.B)
    assert len(set(answer.notes)) == len(answer.notes)
    said = " ".join(result_sentences(answer))
    assert not any(word in said for word in ("None", "nan", "inf "))


# The last four are hosts on which earlier versions contradicted themselves.
@pytest.mark.parametrize("seed", [*range(20), 256, 271, 550, 553])
def test_search_on_a_random_host_contradicts_nothing(seed: int) -> None:
    rng = random.Random(seed)
    host, search = RandomHost(rng), random_search(rng)
    result = run_search(search, host.measure, UNLIMITED, Recorder(), host.place)
    for answer in result.answers:
        check(answer, host.truth_fps(answer), host.lowest_fps(answer))
    assert len({answer.placed for answer in result.answers}) == len(result.answers)
    assert not list(not_finite(replace(result, trials=())))
    if search.placement not in (None, result.placement):
        assert any("which search.placement asks for" in note for note in result.notes)
