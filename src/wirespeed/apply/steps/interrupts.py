# SPDX-License-Identifier: Apache-2.0
"""Move interrupts off the isolated CPUs: existing ones, and by default future ones.

Interrupt numbers change from boot to boot, so the value holds the actions with them. Source:
Documentation/core-api/irq/irq-affinity.rst.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from wirespeed.apply.actions import Action, Put, PutEach
from wirespeed.apply.setting import Setting, Value
from wirespeed.apply.step import Step
from wirespeed.model.cpuset import format_list, format_mask, parse_list, parse_mask
from wirespeed.model.input.bounded import load_json
from wirespeed.model.plan.plan import HostPlan
from wirespeed.remote.interface import Runner

_IRQ = "/proc/irq"
_DEFAULT = f"{_IRQ}/default_smp_affinity"


@dataclass(frozen=True, slots=True)
class Interrupts(Setting):
    """Affinities of all interrupts, as JSON with CPUs as kernel lists.

    The planned value is {"all": CPUs}. The value that is read is {"default": CPUs, "irqs": {number:
    [actions, CPUs]}}.
    """

    lost_at_reboot: ClassVar[bool] = True

    @property
    def name(self) -> str:
        return "interrupt affinities"

    def read(self, runner: Runner) -> Value:
        return json.dumps(self._read(runner))

    def actions(self, value: Value) -> tuple[Action, ...]:
        wanted = load_json(value or "{}")
        if "all" in wanted:
            cpus = wanted["all"]
            # Set the default first, so that an interrupt requested in between gets it.
            return (_default(cpus), PutEach(f"{_IRQ}/[0-9]*/smp_affinity_list", cpus))
        return (_default(wanted["default"]), *(
            Put(f"{_IRQ}/{number}/smp_affinity_list", cpus, may_fail=True)
            for number, (_, cpus) in wanted["irqs"].items()
        ))  # fmt: skip

    def make(self, runner: Runner, value: Value) -> None:
        wanted = load_json(value or "{}")
        if "all" not in wanted:
            # The number may belong to another device by now.
            now = self._read(runner)["irqs"]
            same = {n: irq for n, irq in wanted["irqs"].items() if n in now and now[n][0] == irq[0]}
            value = json.dumps({**wanted, "irqs": same})
        # In a dataclass with slots, super() does not find its cell, so the base is named.
        Setting.make(self, runner, value)

    def left(self, runner: Runner, value: Value) -> tuple[str, ...]:
        now, wanted = self._read(runner), load_json(value or "{}")
        irqs: Mapping[str, Any] = now["irqs"]
        default = wanted.get("all", wanted.get("default"))
        found = [] if _same(now["default"], default) else [f"default: {now['default']}"]
        for number, (actions, cpus) in irqs.items():
            if "all" in wanted:
                is_so = set(parse_list(cpus)) <= set(parse_list(wanted["all"]))
            else:
                was = wanted["irqs"].get(number)
                is_so = was is None or was[0] != actions or _same(was[1], cpus)
            if not is_so:
                found.append(f"{number} ({actions}): {cpus}")
        return tuple(found)

    def why_absent(self, runner: Runner) -> str | None:
        return None if runner.glob(_DEFAULT) else "/proc/irq shows no interrupts"

    def may_lack(self, value: Value) -> bool:
        del value
        return True

    def excusable(self, runner: Runner, left: Sequence[str]) -> bool:
        """Return whether some interrupts moved: the kernel moves no managed or per-CPU one."""
        return len(left) < len(self._read(runner)["irqs"])

    def shown(self, value: Value) -> str:
        known = load_json(value or "{}")
        if "all" in known:
            return f"all on {known['all']}"
        lists = sorted({cpus for _, cpus in known["irqs"].values()})
        return f"{len(known['irqs'])} on {'; '.join(lists[:3])}{' ...' if len(lists) > 3 else ''}"

    def _read(self, runner: Runner) -> dict[str, Any]:
        paths = runner.glob(f"{_IRQ}/[0-9]*/smp_affinity_list")
        numbers = [path.split("/")[3] for path in paths]
        actions = [f"/sys/kernel/irq/{number}/actions" for number in numbers]
        files = runner.read_many([_DEFAULT, *paths, *actions])
        irqs = {}
        for number, path, name in zip(numbers, paths, actions, strict=True):
            cpus, who = files[path], files[name]
            # An interrupt without a handler does not occur.
            if isinstance(cpus, str) and isinstance(who, str) and who.strip():
                irqs[number] = [who.strip(), cpus.strip()]
        default = files[_DEFAULT]
        mask = default.strip() if isinstance(default, str) else "0"
        return {"default": format_list(parse_mask(mask)), "irqs": irqs}


def interrupt_steps(host: HostPlan) -> list[Step]:
    """Return one step for all interrupts: they run on the CPUs of the host's own tasks."""
    if host.cores is None or not host.cores.isolated.value:
        return []
    wanted = json.dumps({"all": format_list(host.cores.housekeeping.value)})
    because = f"interrupts stop polling threads; {host.cores.housekeeping.because}"
    return [Step(Interrupts(), wanted, "cores.housekeeping", because)]


def _default(cpus: str) -> Put:
    return Put(_DEFAULT, format_mask(parse_list(cpus)).removeprefix("0x"), may_fail=True)


def _same(one: str, other: str) -> bool:
    return parse_list(one) == parse_list(other)
