# SPDX-License-Identifier: Apache-2.0
"""Does a trial wait for CPUs that were moved, and not for ever?"""

from __future__ import annotations

import math

import pytest

from tests.bench.fake_host import FakeHost
from wirespeed.bench import proximity
from wirespeed.bench.proximity import Watch, expected
from wirespeed.model.cpus import Proximity

CPU = "/sys/devices/system/cpu/cpu2"
NEAR, TWO_CHIPS, ONE_CORE = Proximity(45, 1.0), Proximity(210, 1.0), Proximity(40, 1.5)
UNKNOWN = Proximity(math.inf, math.inf)


def host(caches: str, siblings: str) -> FakeHost:
    return FakeHost(
        {
            f"{CPU}/cache/index2/shared_cpu_list": "2\n",
            f"{CPU}/cache/index3/shared_cpu_list": f"{caches}\n",
            f"{CPU}/topology/thread_siblings_list": f"{siblings}\n",
        }
    )


def test_what_is_expected_follows_from_what_the_kernel_knows() -> None:
    assert expected(host("0-7", "2"), {2, 3, 5}) == Proximity(100, 1.2)
    assert expected(host("0-3", "2"), {2, 5}) == Proximity(math.inf, 1.2)
    assert expected(host("0-7", "2,3"), {2, 3}) == Proximity(100, math.inf)
    assert expected(host("0-7", "2,10"), {2, 3}) == Proximity(100, 1.2)


def test_the_worst_pair_counts() -> None:
    pairs = {(1, 2): TWO_CHIPS, (1, 3): ONE_CORE}
    watch = Watch({3, 1, 2}, UNKNOWN, lambda a, b: pairs[a, b])
    assert watch.now() == Proximity(210, 1.5)


@pytest.mark.parametrize("elsewhere", [TWO_CHIPS, ONE_CORE])
def test_a_trial_waits_until_the_cpus_are_back(
    elsewhere: Proximity, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proximity, "_LOOK_S", 0.0)
    looks = [NEAR, elsewhere, elsewhere, NEAR]
    watch = Watch({0, 1}, UNKNOWN, lambda *_: looks.pop(0))
    assert watch.settle() == (NEAR, 0.0)
    now, waited_s = watch.settle()
    assert now == NEAR
    assert waited_s > 0
    assert looks == []


def test_what_does_not_come_back_is_usual_from_then_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proximity, "_LOOK_S", 0.0)
    monkeypatch.setattr(proximity, "_WAIT_S", 0.001)
    watch = Watch({0, 1}, Proximity(100, 1.2), lambda *_: TWO_CHIPS)
    now, waited_s = watch.settle()
    assert now == TWO_CHIPS
    assert waited_s > 0.001
    assert watch.settle() == (TWO_CHIPS, 0.0)
