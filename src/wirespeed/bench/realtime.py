# SPDX-License-Identifier: Apache-2.0
"""How does a short trial keep its CPUs to itself?

Where every CPU polls, every other program of the host can only run by taking a poller's CPU, nice
or not. For less than a second they can wait: while frames fly, pollers run under SCHED_FIFO.

Not for longer. Linux gives ordinary programs 50 ms of every second that a real-time thread would
take whole (its real-time throttling, since 6.12 its fair server). That pause would be far longer
than any it prevents. It is also what keeps a host usable whatever goes wrong here, so where it is
switched off nothing is done. docs/decisions/0003 has the figures.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from wirespeed.remote.interface import Runner

# The kernel steps in after 0.95 s; what surrounds a trial takes some milliseconds of that.
LONGEST_S = 0.9
_GUARD = "/proc/sys/kernel/sched_rt_runtime_us"
_POLLING, _WATCHING = 1, 2
_FIFO = os.SCHED_FIFO | os.SCHED_RESET_ON_FORK


def may_run_alone(runner: Runner) -> str | None:
    """None when pollers may be given real-time priority on this host, else why not."""
    if os.geteuid() != 0:
        return "only root may ask for real-time priority"
    try:
        runtime_us = int(runner.read(_GUARD))
    except FileNotFoundError:
        return f"{_GUARD} does not exist"
    return f"{_GUARD} is {runtime_us}: no guard" if runtime_us <= 0 else None


def fits(cpus: Sequence[int], duration_s: float) -> bool:
    """Whether polling threads on these CPUs may run alone for so long.

    Not where two of them share a CPU: a real-time thread that never sleeps gives no other of its
    kind a turn.
    """
    return duration_s <= LONGEST_S and len(set(cpus)) == len(cpus)


@contextmanager
def before_all_pollers() -> Iterator[None]:
    """This thread gets a CPU the moment it wakes up, even from pollers that run alone."""
    own = os.sched_getscheduler(0)
    os.sched_setscheduler(0, _FIFO, os.sched_param(_WATCHING))
    try:
        yield
    finally:
        os.sched_setscheduler(0, own, os.sched_param(0))


@contextmanager
def alone(tids: Sequence[int]) -> Iterator[None]:
    """No other program gets the CPUs of these polling threads. Only inside before_all_pollers."""
    try:
        for tid in tids:
            _schedule(tid, _FIFO, _POLLING)
        yield
    finally:
        for tid in tids:
            _schedule(tid, os.SCHED_OTHER, 0)


def _schedule(tid: int, policy: int, priority: int) -> None:
    # One that has just ended is found out by the trial itself.
    with suppress(ProcessLookupError):
        os.sched_setscheduler(tid, policy, os.sched_param(priority))
