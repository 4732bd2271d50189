# SPDX-License-Identifier: Apache-2.0
"""Check that lossy trials get exactly the repeats of TST 009."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest

from tests.support.simulated import Rig, Sharp, Sut, prober_of
from wirespeed.measure.interface import BadSearch
from wirespeed.measure.search.interface import Figures, Limits
from wirespeed.measure.search.tst009 import Tst009

SEARCH = Tst009(trial_s=60.0, step_fps=10e3, max_r=2, max_z=5_000)


@dataclass
class Losing:
    """Loses these numbers of frames, one entry a trial; nothing after the last entry."""

    losses: list[int] = field(default_factory=list)

    def forwards(self, load_fps: float, duration_s: float, rng: random.Random) -> int:  # noqa: ARG002
        lost = self.losses.pop(0) if self.losses else 0
        return round(load_fps * duration_s) - lost


def run(sut: Sut, search: Tst009 = SEARCH, low: float = 95e3, high: float = 105e3) -> Figures:
    rig = Rig(sut)
    prober = prober_of(rig.measure)
    figures = search.find(prober, Limits(low, high, None))
    run.loads = [load for load, _ in rig.calls]  # type: ignore[attr-defined]
    return figures


def loads() -> list[float]:
    return run.loads  # type: ignore[attr-defined, no-any-return]


def test_a_little_loss_is_forgiven_max_r_times() -> None:
    # Between 95 and 105 kpps lies one multiple of 10 kpps.
    ndr = run(Losing([1, 5_000])).ndr
    assert ndr is not None
    assert ndr.lower is not None
    assert ndr.lower.load_fps == 100e3
    assert loads() == [100e3] * 3


def test_the_last_repeat_decides() -> None:
    ndr = run(Losing([1, 1, 1])).ndr
    assert ndr is not None
    assert ndr.lower is None
    assert loads() == [100e3] * 3


def test_more_than_max_z_is_not_repeated() -> None:
    ndr = run(Losing([5_001])).ndr
    assert ndr is not None
    assert ndr.upper is not None
    assert loads() == [100e3]


def test_no_repeats_allowed_is_plain_binary_search() -> None:
    ndr = run(Losing([1]), Tst009(60.0, 10e3, max_r=0, max_z=5_000)).ndr
    assert ndr is not None
    assert ndr.lower is None
    assert loads() == [100e3]


def test_every_load_is_a_multiple_of_the_step() -> None:
    ndr = run(Sharp(3_141_592.0), low=10e3, high=10e6).ndr
    assert ndr is not None
    assert ndr.lower is not None
    assert ndr.upper is not None
    assert (ndr.lower.load_fps, ndr.upper.load_fps) == (3_140_000, 3_150_000)
    assert all(load % 10e3 == 0 for load in loads())
    assert len(set(loads())) <= 10, "1,000 loads are ten halvings"


def test_a_step_without_a_multiple_in_range_is_refused() -> None:
    with pytest.raises(BadSearch, match="no multiple between 101,000 and 105,000"):
        run(Sharp(1e6), low=101e3, high=105e3)


def test_a_second_chance_is_not_rfc_2544() -> None:
    assert not SEARCH.conformant
    assert Tst009(60.0, 10e3, max_r=0, max_z=0).conformant
    assert not Tst009(10.0, 10e3, max_r=0, max_z=0).conformant
