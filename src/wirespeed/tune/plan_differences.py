# SPDX-License-Identifier: Apache-2.0
"""Translate the differences of two plans into study keys and host files that can be tried here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from wirespeed.model.cpuset import format_list, parse_list
from wirespeed.model.plan.plan import HostPlan, Plan
from wirespeed.plan.diff import Difference as PlanDifference
from wirespeed.plan.diff import Effort, diff_plans
from wirespeed.remote.interface import Runner
from wirespeed.tune.differences import Difference, Level
from wirespeed.tune.factor import NotTried
from wirespeed.tune.host_factors import IRQS

_CPUS = "/sys/devices/system/cpu/cpu[0-9]*"
# Decisions about a vSwitch that a study has a key for, with the reader of the plan's text.
_KEYS: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    "rx_queues": ("sut.vswitch.rx_queues", int),
    "descriptors": ("sut.vswitch.descriptors", int),
    "mtu": ("sut.vswitch.mtu", int),
    # A measurement has its switch on one node; a plan has memory for each.
    "socket_memory_mib": (
        "sut.vswitch.socket_memory_mib",
        lambda text: max(map(int, text.split(","))),
    ),
    "pmd_cpus": ("sut.vswitch.pmd_cpus", lambda text: list(parse_list(text))),
}


def plan_differences(
    a: Plan, b: Plan, runner: Runner, host: str
) -> tuple[Sequence[Difference], Sequence[NotTried]]:
    """Return the differences that this host can try, and the others with the reason.

    host: name of this host, whose decisions are compared where the plans have several hosts.
    """
    a, b = _one_name(a, b)
    names = [each.host for each in a.hosts]
    ours = host if host in names else names[0] if len(names) == 1 else None
    tried: list[Difference] = []
    left: list[NotTried] = []
    for each in diff_plans(a, b):
        plain = Difference(f"{each.where}: {each.what}", each.old, each.new)
        why = _why_not(each, ours)
        if why is None:
            key, read = _KEYS[each.what]
            levels = [Level({key: read(text)}) for text in (each.old, each.new) if text is not None]
            tried.append(replace(plain, level_a=levels[0], level_b=levels[1]))
        else:
            left.append(NotTried(str(plain), why))
    for each_irq in _interrupts(_host(a, ours), _host(b, ours), runner):
        if isinstance(each_irq, NotTried):
            left.append(each_irq)
        else:
            tried.append(each_irq)
    return tried, left


def _one_name(a: Plan, b: Plan) -> tuple[Plan, Plan]:
    """Return plans whose only hosts have one name, so that their decisions are compared."""
    if len(a.hosts) == len(b.hosts) == 1:
        return a, replace(b, hosts=(replace(b.hosts[0], host=a.hosts[0].host),))
    return a, b


def _host(plan: Plan, name: str | None) -> HostPlan | None:
    return next((each for each in plan.hosts if each.host == name), None)


def _why_not(each: PlanDifference, ours: str | None) -> str | None:
    """Return why a difference cannot be tried, or None."""
    if each.where.startswith("host ") and each.where != f"host {ours}":
        return "it is of another host than this one"
    if each.what in _KEYS:
        missing = each.old is None or each.new is None
        return "one of the plans has no such decision" if missing else None
    if each.effort is Effort.REBOOT:
        return "it needs a reboot, and bisect makes none"
    return f"no key of a study sets it ({each.effort})"


def _interrupts(
    a: HostPlan | None, b: HostPlan | None, runner: Runner
) -> Iterator[Difference | NotTried]:
    """Yield the CPUs of interrupts, which are those of the host's own tasks, if they differ."""
    if a is None or b is None or a.cores is None or b.cores is None:
        return
    ours, theirs = (tuple(each.housekeeping.value) for each in (a.cores, b.cores))
    if ours == theirs:
        return
    plain = Difference("interrupts on CPUs", format_list(ours), format_list(theirs))
    files = runner.glob(IRQS)
    present = {int(path.rpartition("cpu")[2]) for path in runner.glob(_CPUS)}
    if absent := {*ours, *theirs} - present:
        yield NotTried(str(plain), f"this host has no CPU {format_list(sorted(absent))}")
    elif not files:
        yield NotTried(str(plain), "this host shows no interrupts")
    else:
        levels = [Level(host=dict.fromkeys(files, format_list(cpus))) for cpus in (ours, theirs)]
        yield replace(plain, level_a=levels[0], level_b=levels[1])
