# SPDX-License-Identifier: Apache-2.0
"""Faults of the host: something else uses a CPU that polls, or the bandwidth of memory."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from wirespeed.bench.assembly.kinds import switch_polls
from wirespeed.bench.fault.interface import Kind, Lasting, Scene, Strength
from wirespeed.bench.host.process import Daemon, await_true, last_words
from wirespeed.bench.interface import BenchError, Injection, Step
from wirespeed.bench.topology.wiring import GENERATOR, SWITCH
from wirespeed.model.plan.plan import HostPlan
from wirespeed.model.study.spec import Frames

_PROGRAM = str(Path(__file__).with_name("hog_program.py"))
_READY_S = 30.0
# The period is drawn from these.
_PERIODS_S = (0.02, 0.06)
_COPIED_MIB = 64


class _CpuHog(Kind):
    strength = Strength("the share of the time that it takes", "ratio", 0.5, 0.05, 0.9)

    def cpu(self, plan: HostPlan) -> int:
        raise NotImplementedError

    def injection(self, scene: Scene) -> Injection:
        return Hog(scene, self.cpu(scene.plan), 0)


class PmdCoreHog(_CpuHog):
    name = "pmd-core-hog"
    summary = "something else runs on the CPU of a PMD thread, before it"

    def places(self, frames: Frames) -> tuple[str, ...]:
        return (SWITCH,) if switch_polls(frames) else ()

    def cpu(self, plan: HostPlan) -> int:
        if plan.vswitch is None:
            raise ValueError("the plan has no switch")
        return plan.vswitch.pmd_cpus.value[0]


class StolenGenerator(_CpuHog):
    name = "stolen-generator"
    summary = "something else runs on the generator's CPU, before it"

    def places(self, _frames: Frames) -> tuple[str, ...]:
        return (GENERATOR,)

    def cpu(self, plan: HostPlan) -> int:
        if plan.generator is None:
            raise ValueError("the plan has no generator")
        return plan.generator.cpus.value[0]


class MemoryHog(Kind):
    """Needs a CPU that nothing of the bench polls on: elsewhere it would be a hog of a core."""

    name = "memory-hog"
    summary = "a program on a free CPU copies memory as fast as it can"
    strength = Strength("the share of the time that it copies", "ratio", 0.9, 0.05, 0.9)
    needs = ("cores >= 4",)

    def places(self, _frames: Frames) -> tuple[str, ...]:
        return ("memory",)

    def injection(self, scene: Scene) -> Injection:
        return Hog(scene, free_cpu(scene), _COPIED_MIB)


def free_cpu(scene: Scene) -> int:
    """Return a CPU that the plan assigns to no program. Raises BenchError if none is free."""
    plan, runner = scene.plan, scene.host.runner
    taken = {cpu for guest in plan.guests for cpu in guest.cpus.value}
    if plan.vswitch is not None:
        taken |= {*plan.vswitch.pmd_cpus.value, *plan.vswitch.main_cpus.value}
    if plan.partner is not None:
        taken |= set(plan.partner.pmd_cpus.value)
    if plan.generator is not None:
        taken |= {*plan.generator.cpus.value, plan.generator.control_cpu.value}
    online = {int(path.rpartition("cpu")[2]) for path in
              runner.glob("/sys/devices/system/cpu/cpu[0-9]*")}  # fmt: skip
    if free := sorted(online - taken):
        return free[-1]
    raise BenchError(
        f"{scene.host.name} has no CPU left for fault.kind = memory-hog",
        "Use a host with more cores, or fewer network functions.",
    )


class Hog(Lasting):
    """The program runs while frames are offered and is stopped between trials; it is journalled,
    and ends with us."""

    def __init__(self, scene: Scene, cpu: int, mib: int) -> None:
        super().__init__(scene)
        self._daemon = Daemon("hog", scene.host, scene.dirs)
        self._words = [str(cpu), f"{scene.strength:g}",
                       f"{scene.chance.uniform(*_PERIODS_S):.4f}", str(mib)]  # fmt: skip

    def up(self) -> None:
        runner = self.scene.host.runner
        self._daemon.start([sys.executable, _PROGRAM, *self._words])
        await_true(
            lambda: "ready" in runner.read(self._daemon.log),
            within_s=_READY_S,
            alive=self._daemon.ended,
            otherwise=lambda: f"the hog does not run: {last_words(runner, self._daemon.log)}",
        )

    def steps(self, duration_s: float) -> Sequence[Step]:
        return [(0.0, lambda: self._signal(signal.SIGCONT)),
                (duration_s, lambda: self._signal(signal.SIGSTOP))]  # fmt: skip

    def _signal(self, number: int) -> None:
        for process in self._daemon.processes:
            process.signal(number)

    def rest(self) -> None:
        self._signal(signal.SIGSTOP)

    def down(self) -> None:
        self._signal(signal.SIGKILL)
        self._daemon.stop()
