# SPDX-License-Identifier: Apache-2.0
"""Check that losses in reads are distinguished from losses that coincide with reads by chance."""

from __future__ import annotations

import numpy as np
import pytest

from wirespeed.measure.read_losses import LostWindows, losses_in_reads

US, MS, S = 1_000, 1_000_000, 1_000_000_000
WINDOW = 100 * US
BEGIN = 77 * S


def trial(*lost_ms: tuple[float, float], error_ns: int = 0) -> LostWindows:
    """Return a trial of 2 s that lost frames in these stretches."""
    lost = np.zeros(20_000, dtype=np.bool_)
    for begin, end in lost_ms:
        lost[int(begin * 10) : int(end * 10)] = True
    return LostWindows(BEGIN, WINDOW, lost, error_ns)


def reads(period_ms: float, took_ms: float, late_ms: float = 0) -> tuple[np.ndarray, np.ndarray]:
    begins = BEGIN + ((np.arange(0, 2000, period_ms) + late_ms) * MS).astype(np.int64)
    return begins, np.full(len(begins), int(took_ms * MS))


def reads_at(moments_ms: np.ndarray, took_ms: float) -> tuple[np.ndarray, np.ndarray]:
    begins = BEGIN + (moments_ms * MS).astype(np.int64)
    return begins, np.full(len(begins), int(took_ms * MS))


def test_losses_during_reads_are_named_and_other_sources_are_cleared() -> None:
    # No read of a real sampler is in time to the microsecond.
    moments = np.arange(0, 2000, 100) + np.random.default_rng(1).uniform(0, 20, 20)
    stalls = [(at + 0.5, at + 2.5) for at in moments[::2]]
    found = losses_in_reads(
        [trial(*stalls)], {"stalls": reads_at(moments, 2), "other": reads_at(moments + 50, 2)}
    )
    named, cleared = found["stalls"], found["other"]
    assert (named.bursts, named.inside, named.reads) == (10, 10, 20)
    assert named.expected == pytest.approx(0.4, abs=0.2)
    assert named.chance < 0.01
    assert cleared.inside == 0
    assert cleared.chance == 1


def test_losses_at_random_are_inside_as_often_as_by_chance() -> None:
    rng = np.random.default_rng(4)
    trials = [trial(*((at, at + 0.2) for at in rng.uniform(0, 1990, 40))) for _ in range(5)]
    found = losses_in_reads(trials, {"x": reads(100, 10)})["x"]
    assert found.expected == pytest.approx(0.1 * found.bursts, rel=0.3)
    assert found.chance > 0.05


def test_losses_that_are_close_to_each_other_are_one_burst() -> None:
    assert losses_in_reads([trial((10, 10.2), (10.7, 11))], {"x": reads(100, 1)})["x"].bursts == 1
    assert losses_in_reads([trial((10, 10.2), (12, 13))], {"x": reads(100, 1)})["x"].bursts == 2


def test_error_of_the_trials_begin_widens_its_reads() -> None:
    for error_ns, inside in ((0, 0), (2 * MS, 1)):
        found = losses_in_reads([trial((3, 4), error_ns=error_ns)], {"x": reads(1000, 1.5)})
        assert found["x"].inside == inside


def test_reads_outside_the_trial_and_no_loss_give_nothing() -> None:
    early = BEGIN - 5 * S + np.arange(10), np.full(10, MS)
    found = losses_in_reads([trial((1, 2))], {"x": early})["x"]
    assert (found.reads, found.inside, found.chance) == (0, 0, 1)
    assert losses_in_reads([trial()], {"x": reads(100, 1)})["x"].bursts == 0
    assert losses_in_reads([], {"x": reads(100, 1)})["x"].reads == 0


def test_chance_of_many_sources_is_fine_enough_to_blame_one_and_never_0() -> None:
    rng = np.random.default_rng(2)
    # A trial that is rotated by less than a read still has its losses inside: three make it rare.
    moments = np.arange(0, 2000, 100) + rng.uniform(0, 90, 20)
    trials = [trial(*((at + 0.5, at + 2.5) for at in moments[::2]))] * 3
    stalls = reads_at(moments, 2)
    sources = {f"other {at}": reads(100, 1, rng.uniform(0, 50)) for at in range(59)}
    found = losses_in_reads(trials, {"stalls": stalls, **sources})["stalls"]
    assert 0 < found.chance < 0.05 / 60 / 10
    # One source takes fewer.
    alone = losses_in_reads(trials, {"stalls": stalls}, 99)["stalls"]
    assert alone.chance == pytest.approx(1 / 401)
