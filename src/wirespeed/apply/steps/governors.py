# SPDX-License-Identifier: Apache-2.0
"""Set the frequency governor of the isolated CPUs, which poll at full frequency."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from wirespeed.apply.actions import Action, Put
from wirespeed.apply.setting import Setting, Value
from wirespeed.apply.step import Step
from wirespeed.model.cpuset import format_list
from wirespeed.model.input.bounded import load_json
from wirespeed.model.plan.plan import HostPlan
from wirespeed.remote.interface import Runner

WANTED = "performance"
_CPU = "/sys/devices/system/cpu"


@dataclass(frozen=True, slots=True)
class Governors(Setting):
    """Governors of CPUs. The value is a JSON object: CPU to governor."""

    lost_at_reboot: ClassVar[bool] = True

    cpus: tuple[int, ...]

    @property
    def name(self) -> str:
        return "CPU frequency governors"

    def read(self, runner: Runner) -> Value:
        return json.dumps(self._read(runner))

    def actions(self, value: Value) -> tuple[Action, ...]:
        governors = load_json(value or "{}")
        return tuple(Put(_path(cpu), name, may_fail=True) for cpu, name in governors.items())

    def left(self, runner: Runner, value: Value) -> tuple[str, ...]:
        now = self._read(runner)
        wanted = load_json(value or "{}")
        return tuple(
            f"CPU {cpu}: {now[cpu]}"
            for cpu, name in wanted.items()
            if cpu in now and now[cpu] != name
        )

    def why_absent(self, runner: Runner) -> str | None:
        if runner.glob(f"{_CPU}/cpu[0-9]*/cpufreq/scaling_governor"):
            return None
        return "the kernel does not control the frequency (no cpufreq)"

    def may_lack(self, value: Value) -> bool:
        del value
        return True

    def shown(self, value: Value) -> str:
        governors = load_json(value or "{}")
        return "; ".join(
            f"{name} on {format_list(int(cpu) for cpu, g in governors.items() if g == name)}"
            for name in sorted(set(governors.values()))
        )

    def _read(self, runner: Runner) -> dict[str, str]:
        paths = {_path(str(cpu)): str(cpu) for cpu in self.cpus}
        found = runner.read_many(list(paths))
        return {paths[path]: got.strip() for path, got in found.items() if isinstance(got, str)}


def governor_steps(host: HostPlan) -> list[Step]:
    """Return one step for all isolated CPUs."""
    cpus: Sequence[int] = host.cores.isolated.value if host.cores else ()
    if not cpus:
        return []
    wanted = json.dumps({str(cpu): WANTED for cpu in cpus})
    because = "CPUs that poll run at full frequency: each change stops the core (S3 table 4)"
    return [Step(Governors(tuple(cpus)), wanted, "cores.isolated", because)]


def _path(cpu: str) -> str:
    return f"{_CPU}/cpu{cpu}/cpufreq/scaling_governor"
