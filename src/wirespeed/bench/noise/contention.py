# SPDX-License-Identifier: Apache-2.0
"""Was a CPU as fast as it can be? (SMT contention probe)

In a virtual machine another one on the core's other thread takes up to half of what the core can
do, and neither steal nor any counter in the guest shows it. wsdp times a fixed piece of work on
each polling CPU every 2 ms; here that becomes a share of what the work takes at best.
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
# Half as often, it misses half of the stops of a millisecond; twice as often, it takes 3% of a CPU.
PERIOD_NS = 2_000_000
# A window counts between two samples, the last one of a trial as well; and where programs share a
# CPU, the generator gets its start later than the probe.
_MARGIN_NS = 40_000_000
# Of a trial's samples a tenth is faster: neither luck nor an exception.
_FASTEST = 0.1
_SESSIONS = 16
# A core whose best is so much slower than in earlier sessions is shared all the time, or clocked
# down.
_MOVED = 1.1


@dataclass(frozen=True, slots=True)
class ProbeStop:
    """The probe itself was stopped on this CPU: it woke up late, or its work took far too long.

    begin_ns: when it was seen to run last; end_ns: when it ran again.
    """

    cpu: int
    begin_ns: int
    end_ns: int


@dataclass(slots=True)
class Reference:
    """What the probe's work takes at best, in cycles by CPU; remembered over sessions of this host.

    A session in which a core is shared all the time has no fast sample of its own.
    """

    runner: Runner
    path: str
    earlier: Mapping[int, list[int]] = field(default_factory=dict)
    best: dict[int, int] = field(default_factory=dict)

    @classmethod
    def open(cls, runner: Runner, path: str) -> Reference:
        if not runner.glob(path):
            return cls(runner, path)
        try:
            kept = {
                int(cpu): [int(c) for c in v] for cpu, v in load_json(runner.read(path)).items()
            }
        except (ValueError, AttributeError, TypeError):
            kept = {}  # It only remembers: what cannot be read is measured anew.
        return cls(runner, path, kept)

    def learn(self, cpu: int, works: Collection[int]) -> None:
        fast = sorted(works)[int(_FASTEST * len(works))]
        self.best[cpu] = min(fast, self.best.get(cpu, fast))

    def cycles(self, cpu: int) -> int:
        """The least of this session, or what earlier ones usually had at best."""
        usual = self._usual(cpu)
        return min(self.best[cpu], usual) if usual else self.best[cpu]

    def moved(self, cpu: int) -> str | None:
        """A sentence where this session's best is far from the earlier ones'."""
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
        """Write this session's best down for the next ones."""
        kept = {str(cpu): list(values) for cpu, values in self.earlier.items()}
        for cpu, cycles in self.best.items():
            kept[str(cpu)] = [*kept.get(str(cpu), []), cycles][-_SESSIONS:]
        self.runner.write(self.path, json.dumps(kept))


@dataclass(slots=True)
class ContentionProbe:
    """forwarding: the CPUs that threads of the SUT poll on. host: see ContentionSamples."""

    program: WatchingProgram
    cpus: frozenset[int]
    forwarding: frozenset[int]
    reference: Reference
    period_ns: int = PERIOD_NS
    refused: str | None = None
    host: str = ""

    def start(self, before_ns: int, duration_s: float) -> None:
        """Sample from now on: the traffic, asked for next, begins before_ns after that."""
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
        """The samples, where the probe itself was stopped, and what could not be seen."""
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


# So much later than it usually wakes up, or for so long at its work: the CPU itself stood still.
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
