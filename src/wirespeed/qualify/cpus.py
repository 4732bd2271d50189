# SPDX-License-Identifier: Apache-2.0
"""Choose the CPUs to qualify on this machine."""

from __future__ import annotations

import os

from wirespeed.model.cpuset import MAX_CPU, format_list, parse_list
from wirespeed.model.errors import BadInput
from wirespeed.qualify.pollers import MOST_CPUS
from wirespeed.remote.interface import Runner

_ISOLATED = "/sys/devices/system/cpu/isolated"


def usable_cpus() -> tuple[int, ...]:
    """Return the online CPUs of this machine that the cpuset of this process allows.

    A process starts on fewer: isolated CPUs are not in its affinity, but it may be pinned to them.
    """
    before = os.sched_getaffinity(0)
    try:
        # The kernel takes what is allowed of it.
        os.sched_setaffinity(0, range(MAX_CPU + 1))
        return tuple(sorted(os.sched_getaffinity(0)))
    finally:
        os.sched_setaffinity(0, before)


def chosen_cpus(text: str | None, usable: tuple[int, ...], runner: Runner) -> tuple[int, ...]:
    """Return the CPUs of --cpus; without it the isolated ones, or all where none is isolated.

    Raises BadInput for CPUs that cannot be used.
    """
    if text is None:
        isolated = parse_list(runner.read(_ISOLATED)) if runner.glob(_ISOLATED) else ()
        chosen = tuple(cpu for cpu in isolated if cpu in usable) or usable
        text = format_list(chosen)
    else:
        chosen = _listed(text)
    if beyond := set(chosen) - set(usable):
        raise BadInput(
            f"--cpus {text}: CPU {format_list(beyond)} is offline, absent or not allowed here",
            f"Choose from {format_list(usable)}.",
        )
    if len(chosen) > MOST_CPUS:
        raise BadInput(
            f"--cpus {text}: {len(chosen)} CPUs; at most {MOST_CPUS} are watched at a time",
            "Choose those that are to poll, e.g. --cpus 2-17.",
        )
    return chosen


def _listed(text: str) -> tuple[int, ...]:
    try:
        chosen = parse_list(text)
    except ValueError as fault:
        raise BadInput(f"--cpus: {fault}", "Give a list such as 2-5,8.") from fault
    if not chosen:
        raise BadInput(f"--cpus {text!r}: names no CPU", "Give a list such as 2-5,8.")
    return chosen
