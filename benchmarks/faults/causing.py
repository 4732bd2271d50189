# SPDX-License-Identifier: Apache-2.0
"""Describe a kind of fault by mechanism: its act on a live bench, and what names it."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial

from benchmarks.faults.on_threads import moved

from wirespeed.bench.interface import Part, Step
from wirespeed.bench.session import RealBench
from wirespeed.bench.switch.ovs_dpdk.part import OvsDpdk
from wirespeed.model.result.hop_counts import INGRESS

GENERATOR, VNF, SWITCH = "generator", "vnf0", "switch"
Act = Callable[["Live"], AbstractContextManager[object]]
BOTH, PVP = ("p2p", "pvp"), ("pvp",)
# Loads of p2p and pvp: far below what two shared cores carry, and one where a CPU's share counts.
LOADS_FPS, HIGH_FPS = (40_000, 90_000), (400_000, 180_000)
PROGRAMS = frozenset({"python", "python3"})
# The hops at which each is found to be slow or away.
HOPS = {GENERATOR: ("tg",), VNF: ("vnf0", "switch:vnf0"), SWITCH: ("switch", INGRESS)}


@dataclass(frozen=True, slots=True)
class Live:
    """Give access to a bench that is up: its parts with their threads, and its switch."""

    parts: dict[str, Part]
    switch: OvsDpdk

    @classmethod
    def of(cls, bench: RealBench) -> Live:
        parts = {part.name: part for part in bench.rig.parts}
        return cls(parts, next(p for p in parts.values() if isinstance(p, OvsDpdk)))

    def part(self, name: str) -> Part:
        return self.switch if name == "switch" else self.parts[name]

    def tid(self, name: str) -> int:
        """Return the first polling thread of a part."""
        return self.part(name).pollers()[0].tid

    def cpu(self, name: str) -> int:
        return next(iter(os.sched_getaffinity(self.tid(name))))


@contextmanager
def nothing(_live: Live) -> Iterator[None]:
    yield


@dataclass(frozen=True, slots=True)
class Causing:
    """Describe a kind: its act, and the explanations that name it."""

    kind: str
    act: Act
    limits: tuple[str, ...] = ()
    """Limits that name its mechanism."""
    topologies: tuple[str, ...] = BOTH
    settings: tuple[str, ...] = ()
    """Keys of the study and their values."""
    stop: str | None = None
    """Part that SIGSTOP stops for a third of each trial, instead of an act."""
    setting: str = ""
    """Part of the sentence that names it as a changed setting."""
    at: tuple[str, ...] = (SWITCH,)
    """Parts at whose hops it may be found."""
    programs: frozenset[str] = frozenset()
    """Names of the programs that it runs."""
    outside: bool = False
    """True if a person who had not seen the explainers chose it, with its answer."""
    harms: bool = True
    """True if it may lose frames."""
    loads_fps: tuple[float, float] = LOADS_FPS
    """Loads on p2p and pvp, in frames/s."""
    prepared: Act = nothing
    """Act before all trials that is no fault."""

    @property
    def delays(self) -> bool:
        """Return whether it acts on the generator, so that unsent frames are its effect."""
        return GENERATOR in self.at

    def is_at(self, hop: str | None) -> bool:
        """Return whether this hop is one of those that it acts on."""
        return hop is not None and hop.startswith(tuple(h for each in self.at for h in HOPS[each]))

    @property
    def each_trial(self) -> bool:
        return self.stop is not None

    @property
    def before_traffic(self) -> bool:
        """Return whether it starts programs, so that starting them is no part of the trial."""
        return bool(self.programs)

    def runs(self, name: str, started: float, since: float) -> bool:
        """Return whether a program of this name is the kind's.

        started, since: when it started and when the bench opened, in s since the epoch.
        """
        return name in self.programs and (name not in PROGRAMS or started >= since)

    def pulses(self, live: Live, duration_s: float) -> Sequence[Step]:
        """Stop the part's program for a third of the trial."""
        send = partial(self._signal, live)
        return [(duration_s / 3, lambda: send(signal.SIGSTOP)),
                (2 * duration_s / 3, lambda: send(signal.SIGCONT))]  # fmt: skip

    def rest(self, live: Live) -> None:
        """Let the stopped program answer questions again."""
        self._signal(live, signal.SIGCONT)

    def _signal(self, live: Live, number: int) -> None:
        if self.stop is not None:
            live.part(self.stop).processes[0].signal(number)


def on(name: str, act: Callable[..., AbstractContextManager[None]], *words: object) -> Act:
    """Act on the first polling thread of a part."""
    return lambda live: act(live.tid(name), *words)


def on_cpu(name: str, act: Callable[..., AbstractContextManager[None]], *words: object) -> Act:
    """Act on the CPU of a part's first polling thread."""
    return lambda live: act(live.cpu(name), *words)


def on_switch(act: Callable[..., AbstractContextManager[None]], *words: object) -> Act:
    return lambda live: act(live.switch, *words)


def move(name: str, to: str) -> Act:
    return lambda live: moved(live.tid(name), live.cpu(to))
