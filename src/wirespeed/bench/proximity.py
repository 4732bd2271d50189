# SPDX-License-Identifier: Apache-2.0
"""Do the polling CPUs share what they shared before: a core, a cache, or neither?

In a virtual machine the hypervisor moves CPUs about: two that ran on cores of one chip a second ago
may be threads of one core now, or sit on two chips, and the same vSwitch forwards a third less.
Nothing in the guest tells, so it is measured before and after each trial, and a trial waits a while
for what was there before. docs/explanation/how-a-trial-is-judged.md has figures.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection

from wirespeed.model.cpus import OWN_CORE_SLOWDOWN, SHARED_CACHE_NS, Proximity
from wirespeed.model.cpuset import parse_list
from wirespeed.remote.interface import Runner

_WAIT_S, _LOOK_S = 5.0, 0.05

Ask = Callable[[int, int], Proximity]


class Watch:
    """Watches the first of some CPUs with each of the others."""

    def __init__(self, cpus: Collection[int], expected: Proximity, ask: Ask) -> None:
        """ask(a, b) measures two CPUs; expected: the most to reckon with, math.inf: unknown."""
        self._first, *self._others = sorted(cpus)
        self._ask = ask
        self._usual = expected

    def now(self) -> Proximity:
        """Of all pairs the worst of each figure."""
        pairs = [self._ask(self._first, other) for other in self._others]
        return Proximity(
            max(pair.core_to_core_ns for pair in pairs), max(pair.slowdown for pair in pairs)
        )

    def settle(self) -> tuple[Proximity, float]:
        """Wait until the CPUs share what they usually do; what they share then, and the wait in s.

        Where that does not come back for some seconds, it is not usual any more.
        """
        began = time.monotonic()
        waited_s = 0.0
        while (now := self.now()).worse_than(self._usual):
            waited_s = time.monotonic() - began
            if waited_s > _WAIT_S:
                self._usual = now
                break
            time.sleep(_LOOK_S)
        self._usual = Proximity(
            min(now.core_to_core_ns, self._usual.core_to_core_ns),
            min(now.slowdown, self._usual.slowdown),
        )
        return now, waited_s


def expected(runner: Runner, cpus: Collection[int]) -> Proximity:
    """What these CPUs should share by what the kernel knows of them."""
    cpu = f"/sys/devices/system/cpu/cpu{min(cpus)}"
    cached = any(
        set(cpus) <= set(parse_list(runner.read(path)))
        for path in runner.glob(f"{cpu}/cache/index*/shared_cpu_list")
    )
    siblings = parse_list(runner.read(f"{cpu}/topology/thread_siblings_list"))
    return Proximity(
        core_to_core_ns=SHARED_CACHE_NS if cached else math.inf,
        slowdown=OWN_CORE_SLOWDOWN
        if set(cpus).isdisjoint(set(siblings) - {min(cpus)})
        else math.inf,
    )
