# SPDX-License-Identifier: Apache-2.0
"""Detect that another program or VM used a polling CPU's core (SMT contention probe).

In a virtual machine, another VM on the core's other thread takes up to half of the core's speed.
Neither steal time nor any counter in the guest shows it. wsdp times a fixed amount of work on each
polling CPU every 2 ms. Here each time becomes a ratio to the shortest time.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from statistics import median

from wirespeed.bench.interface import BenchError
from wirespeed.bench.noise.clock import TrialClock
from wirespeed.bench.noise.interface import WatchingProgram
from wirespeed.model.input.bounded import load_json
from wirespeed.model.result.evidence import ContentionSamples
from wirespeed.remote.interface import Runner

_FORMAT = "wirespeed-contention-1"
# At 4 ms the probe misses half of all 1 ms stops; at 1 ms it takes 3% of a CPU.
PERIOD_NS = 2_000_000
# A window counts only between two samples, and the last window of a trial needs one as well. The
# generator may start later than the probe if programs share a CPU.
_MARGIN_NS = 40_000_000
# Quantile of a trial's samples that counts as fast: neither luck nor an outlier.
_FASTEST = 0.1
_SESSIONS = 16
# A core whose best is slower by this factor than in earlier sessions is always shared, or clocked
# down.
_MOVED = 1.1


@dataclass(frozen=True, slots=True)
class ProbeStop:
    """A stop of the probe itself on a CPU: it woke up late, or its work took far too long."""

    cpu: int
    begin_ns: int
    """Last time at which it was known to run."""
    end_ns: int
    """Time at which it ran again."""


@dataclass(slots=True)
class Reference:
    """Shortest time of the probe's work, in cycles by CPU, over sessions on this host.

    A session has no fast sample of its own if a core is shared all the time.
    """

    runner: Runner
    path: str
    earlier: Mapping[int, list[int]] = field(default_factory=dict)
    best: dict[int, int] = field(default_factory=dict)

    @classmethod
    def open(cls, runner: Runner, path: str) -> Reference:
        """Read the values of earlier sessions; start without them if the file is unreadable."""
        if not runner.glob(path):
            return cls(runner, path)
        try:
            kept = {
                int(cpu): [int(c) for c in v] for cpu, v in load_json(runner.read(path)).items()
            }
        except (ValueError, AttributeError, TypeError):
            kept = {}  # The file is only a cache; unreadable values are measured again.
        return cls(runner, path, kept)

    def learn(self, cpu: int, works: Collection[int]) -> None:
        """Update the best value of a CPU with the samples of one trial."""
        fast = sorted(works)[int(_FASTEST * len(works))]
        self.best[cpu] = min(fast, self.best.get(cpu, fast))

    def cycles(self, cpu: int) -> int:
        """Return the smaller one of this session's best and the usual best of earlier sessions."""
        usual = self._usual(cpu)
        return min(self.best[cpu], usual) if usual else self.best[cpu]

    def moved(self, cpu: int) -> str | None:
        """Return a sentence if this session's best is far above that of earlier sessions."""
        usual = self._usual(cpu)
        if usual is None or self.best[cpu] <= _MOVED * usual:
            return None
        return (
            f"CPU {cpu} was never as fast as in earlier sessions "
            f"(at best {self.best[cpu] / usual:.2f}x as slow): shared all the time, or clocked down"
        )

    def _usual(self, cpu: int) -> int | None:
        found = self.earlier.get(cpu)
        return round(median(found)) if found else None

    def keep(self) -> None:
        """Store this session's best for later sessions."""
        kept = {str(cpu): list(values) for cpu, values in self.earlier.items()}
        for cpu, cycles in self.best.items():
            kept[str(cpu)] = [*kept.get(str(cpu), []), cycles][-_SESSIONS:]
        self.runner.write(self.path, json.dumps(kept))


@dataclass(slots=True)
class ContentionProbe:
    """Contention probe of one host."""

    program: WatchingProgram
    cpus: frozenset[int]
    forwarding: frozenset[int]
    """CPUs of the SUT's polling threads."""
    reference: Reference
    period_ns: int = PERIOD_NS
    refused: str | None = None
    """Reason why wsdp does not sample; None if it does."""
    host: str = ""
    """As in ContentionSamples."""

    def start(self, before_ns: int, duration_s: float) -> None:
        """Start to sample; the traffic is requested next and begins before_ns later."""
        self.refused = None
        length_ns = before_ns + round(duration_s * 1e9) + _MARGIN_NS
        asked = ",".join(f"cpu={cpu}" for cpu in sorted(self.cpus))
        try:
            self.program.ask(
                f"contention,after_ns=0,duration_ns={length_ns},period_ns={self.period_ns},{asked}"
            )
        except BenchError as error:
            if self.program.ended() is not None:
                raise
            self.refused = error.what

    def stop(
        self, clock: TrialClock
    ) -> tuple[tuple[ContentionSamples, ...], tuple[ProbeStop, ...], tuple[str, ...]]:
        """Return the samples, the stops of the probe itself, and what could not be watched."""
        if self.refused is not None:
            return (), (), (f"nobody watched whether cores were shared: {self.refused}",)
        file = load_json(self.program.export("contention_samples"))
        if file["format"] != _FORMAT:
            raise BenchError(f"wsdp writes samples as {file['format']}, not as {_FORMAT}")
        samples: list[ContentionSamples] = []
        stopped: list[ProbeStop] = []
        unseen: list[str] = []
        for name, found in file["cpus"].items():
            cpu, taken = int(name), found["samples"]
            if not taken:
                unseen.append(f"the SMT contention probe got no turn on CPU {cpu}")
                continue
            self.reference.learn(cpu, [work for _, work, _ in taken])
            cycles = self.reference.cycles(cpu)
            samples.append(
                ContentionSamples(
                    cpu,
                    cpu in self.forwarding,
                    tuple(clock.at_ns(tsc) for tsc, _, _ in taken),
                    tuple(round(work / cycles, 4) for _, work, _ in taken),
                    self.host,
                )
            )
            stopped += _stops(cpu, taken, clock)
            if cpu in self.forwarding and (sentence := self.reference.moved(cpu)) is not None:
                unseen.append(sentence)
        return tuple(samples), tuple(stopped), tuple(unseen)


# Delay beyond the usual wake-up, or length of the work, that proves a stopped CPU.
_STOPPED_NS = 100_000


def _stops(cpu: int, taken: list[list[int]], clock: TrialClock) -> list[ProbeStop]:
    usually_ns = median(late_ns for _, _, late_ns in taken)
    found = []
    ran_ns = clock.at_ns(taken[0][0])
    for tsc, work, late_ns in taken[1:]:
        at_ns, work_ns = clock.at_ns(tsc), clock.length_ns(work)
        if late_ns - usually_ns > _STOPPED_NS or work_ns > _STOPPED_NS:
            found.append(ProbeStop(cpu, ran_ns, at_ns + work_ns))
        ran_ns = at_ns
    return found
