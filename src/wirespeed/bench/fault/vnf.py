# SPDX-License-Identifier: Apache-2.0
"""Faults of a network function in a process of its own: slow, stopped, ended, short of buffers."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from dataclasses import replace

from wirespeed.bench.assembly.parts import await_ready
from wirespeed.bench.fault.interface import Kind, Lasting, Scene, Strength
from wirespeed.bench.fault.places import functions, not_a_process
from wirespeed.bench.function.wsdp_tasks import WsdpFunction
from wirespeed.bench.interface import Injection, Step
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.input.fault import Fault
from wirespeed.model.plan.plan import Decision, HostPlan, ProcessMemory
from wirespeed.model.study.spec import Frames

_PROCESS = "process"
# What a task of wsdp takes from an input at once.
_BURST = 32


class _OfVnf(Kind):
    def places(self, frames: Frames) -> tuple[str, ...]:
        return functions(frames)

    def refused(self, frames: Frames) -> Iterator[Fault]:
        return not_a_process(self.name, frames)

    def changed(self, frames: Frames, _strength: float) -> Frames:
        """In a process of its own, which alone is slow, stopped or ended."""
        apart = replace(frames.sut.vnf, placement=_PROCESS)
        return replace(frames, sut=replace(frames.sut, vnf=apart))


def _function(scene: Scene) -> WsdpFunction:
    part = scene.part(scene.place)
    if not isinstance(part, WsdpFunction):
        raise TypeError(f"{scene.place} is no process of wsdp's")
    return part


class SlowVnf(_OfVnf):
    name = "slow-vnf"
    summary = "a VNF sleeps after each burst, so that it takes at most N frames/s"
    strength = Strength("what it takes at most", "frames/s", 20_000, 4_000, 1_000_000)

    def injection(self, scene: Scene) -> Injection:
        return _Naps(scene)


class _Naps(Lasting):
    """While frames are offered it sleeps after each burst for as long as a burst lasts at that
    rate."""

    def steps(self, _duration_s: float) -> Sequence[Step]:
        nap_ns = round(_BURST / self.scene.strength * 1e9)
        return [(0.0, lambda: self._sleep(nap_ns))]

    def _sleep(self, nap_ns: int) -> None:
        _function(self.scene).program.ask(f"pause_pollers,ns={nap_ns}")

    def rest(self) -> None:
        self._sleep(0)


class StoppedVnf(_OfVnf):
    name = "stopped-vnf"
    summary = "a VNF's process is stopped for a part of each trial, or all of it (SIGSTOP)"
    strength = Strength("the share of the trial", "ratio", 0.5, 0.05, 1.0)

    def injection(self, scene: Scene) -> Injection:
        return _Stops(scene)


class _Stops(Lasting):
    """Should we be killed meanwhile, the process ends as every program of the bench does: SIGKILL
    does not wait for SIGCONT."""

    def steps(self, duration_s: float) -> Sequence[Step]:
        stopped_s = self.scene.strength * duration_s
        begin_s = self.scene.chance.random() * (duration_s - stopped_s)
        return [(begin_s, self._stop), (begin_s + stopped_s, self._continue)]

    def _stop(self) -> None:
        for process in self.scene.part(self.scene.place).processes:
            process.signal(signal.SIGSTOP)

    def _continue(self) -> None:
        for process in self.scene.part(self.scene.place).processes:
            process.signal(signal.SIGCONT)

    def rest(self) -> None:
        self._continue()

    def down(self) -> None:
        self._continue()


class CrashingVnf(_OfVnf):
    name = "crashing-vnf"
    summary = "a VNF's process is killed in each trial and started again"
    strength = Strength("when in the trial, as a share of it", "ratio", 0.3, 0.05, 0.9)

    def injection(self, scene: Scene) -> Injection:
        return _Crashes(scene)


class _Crashes(Lasting):
    def steps(self, duration_s: float) -> Sequence[Step]:
        return [(self.scene.strength * duration_s, self._crash)]

    def _crash(self) -> None:
        function = _function(self.scene)
        function.crash()
        function.restart()

    def rest(self) -> None:
        await_ready(self.scene.parts)


class FewMbufs(_OfVnf):
    name = "few-mbufs"
    summary = "a VNF's memory pool holds fewer buffers than its rings"
    strength = Strength("what the pool holds", "buffers", 2_500, 1_024, 65_536)
    opens = False

    def planned(self, plan: HostPlan, _facts: HostFacts, strength: float, place: str) -> HostPlan:
        guests = tuple(
            replace(guest, process=_with_mbufs(guest.process, round(strength)))
            if guest.name == place and guest.process is not None
            else guest
            for guest in plan.guests
        )
        return replace(plan, guests=guests)


def _with_mbufs(process: Decision[ProcessMemory], mbufs: int) -> Decision[ProcessMemory]:
    return Decision(replace(process.value, mbufs=mbufs), "fault.kind = few-mbufs")
