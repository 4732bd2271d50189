# SPDX-License-Identifier: Apache-2.0
"""The traffic generator: a wsdp process with gen and sink tasks, and perhaps functions besides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wirespeed.bench.interface import GapLog, HopCount, Poller
from wirespeed.bench.nf.roles import Function
from wirespeed.bench.noise.clock import TrialClock
from wirespeed.bench.topology.wiring import GENERATOR
from wirespeed.bench.traffic.latency import SinkLatency, merged
from wirespeed.bench.traffic.streams import Direction
from wirespeed.bench.traffic.windows import DirectionBins, read_bins, read_latency_rows
from wirespeed.bench.wsdp.program import Wsdp
from wirespeed.model.cpus import CpuPlacement
from wirespeed.model.trial import DirectionCount, Latency, LatencyRows
from wirespeed.remote.interface import Process

# Short enough for what is still on its way.
_PAUSE_NS = 50_000
# The trial's number in a stamp has 8 bits; 0 is what a generator starts with.
_TRIALS = 255
# Until the first frame is due, whoever asked for it has gone to sleep: it may share the CPU.
AFTER_NS = 30_000_000


class Generator:
    """The part of a bench that offers and receives its traffic."""

    name = "generator"

    def __init__(
        self, program: Wsdp, directions: Sequence[Direction], functions: Sequence[Function]
    ) -> None:
        self.program = program
        self._directions = tuple(directions)
        self._functions = tuple(functions)
        self._trials = 0

    def up(self) -> None:
        self.program.start()

    def waits_for(self) -> str | None:
        waits = self.program.waits_for()
        if waits is None:
            self.pause()
        return waits

    def alive(self) -> str | None:
        return self.program.ended()

    @property
    def processes(self) -> tuple[Process, ...]:
        return self.program.processes

    def begin(self) -> None:
        self.program.ask("reset")

    def start(self, load_fps: float, duration_s: float) -> None:
        """Offer load_fps over all directions (0: as fast as possible) for duration_s."""
        senders = sum(len(d.generators) for d in self._directions)
        trial = self._trials % _TRIALS + 1
        self._trials += 1
        rate_fps = load_fps / senders
        duration_ns = round(duration_s * 1e9)
        self.program.ask(
            f"start,rate_fps={rate_fps:.6f},duration_ns={duration_ns},trial={trial},"
            f"after_ns={AFTER_NS}"
        )

    def placement(self, cpu: int, other: int) -> CpuPlacement:
        """What two CPUs share. Raises BenchError if they are not to be had."""
        found = self.program.ask(f"placement,{cpu},{other}")
        return CpuPlacement(float(found["core_to_core_ns"]), found["slowdown_pct"] / 100)

    def running(self) -> bool:
        return any(self._task(g)["running"] for d in self._directions for g in d.generators)

    def pause(self) -> None:
        """Leave the CPUs to those who read the counters, until the next start.

        On a small host they would otherwise get their turn only every few milliseconds.
        """
        self.program.ask(f"pause_pollers,ns={_PAUSE_NS}")

    def read(self) -> tuple[HopCount, ...]:
        """The generator's own hop (its sinks are the entrance) and those of its functions."""
        stats = self.program.ask("stats")
        entered = {d.to_port: stats[d.sink]["rx"] for d in self._directions}
        left = {d.from_port: sum(stats[g]["tx"] for g in d.generators) for d in self._directions}
        own = HopCount(GENERATOR, entered, left)
        return (own, *(function.read(stats) for function in self._functions))

    def holds(self) -> int:
        """Frames that tasks keep back (the reference SUT's delay): they are on their way."""
        return sum(int(seen["held"]) for seen in self.program.ask("stats").values())

    def directions(self) -> tuple[DirectionCount, ...]:
        """What was offered and received since `begin`."""
        return tuple(self._direction(way) for way in self._directions)

    def _direction(self, way: Direction) -> DirectionCount:
        seen = [self._task(name) for name in way.generators]
        sink = self._task(way.sink)
        refused = _refused_by_nic(way, seen)
        return DirectionCount(
            name=way.name,
            intended=_sum(seen, "intended"),
            offered=_sum(seen, "offered") - refused,
            sent=_sum(seen, "tx"),
            unsent=_sum(seen, "unsent") + refused,
            received=sink["received"],
            duplicated=sink["duplicated"],
            reordered=sink["reordered"],
            foreign=sink["foreign"],
            misdirected=sink["misdirected"],
            corrupted=sink["corrupt"],
        )

    def latency(self) -> Latency | None:
        """Over all directions, since `begin`; None when no frame carried a time stamp."""
        return merged([self._sink_latency(way.sink) for way in self._directions])

    def _sink_latency(self, sink: str) -> SinkLatency:
        jitter_ns = float(self._task(sink)["jitter_ns"])
        return SinkLatency(self.program.export(f"histogram,{sink}"), jitter_ns)

    def elapsed_ns(self) -> int:
        """How long frames were offered."""
        return max(int(self._task(g)["elapsed_ns"]) for d in self._directions for g in d.generators)

    def _task(self, name: str) -> Mapping[str, int]:
        answer: Mapping[str, int] = self.program.ask(f"task,{name}")
        return answer

    def clock(self) -> TrialClock:
        """When the first frame of the last trial was due."""
        started = [self._task(g)["started_tsc"] for d in self._directions for g in d.generators]
        return TrialClock(min(started), self.program.ask("info")["tsc_hz"])

    def bins(self) -> tuple[DirectionBins, ...]:
        """Frames of the last trial by when they were sent."""
        return tuple(
            DirectionBins(
                way.name,
                tuple(read_bins(self.program.export(f"windows,{g}")) for g in way.generators),
                read_bins(self.program.export(f"windows,{way.sink}")),
                _refused_by_nic(way, [self._task(g) for g in way.generators]),
                self._task(way.sink)["clock_behind"],
            )
            for way in self._directions
        )

    def latency_rows(self, clock: TrialClock) -> LatencyRows | None:
        """Latency by when frames were sent, over all directions."""
        texts = [self.program.export(f"latency_rows,{way.sink}") for way in self._directions]
        return read_latency_rows(texts, clock)

    def pollers(self) -> tuple[Poller, ...]:
        return self.program.pollers("generator")

    def gap_logs(self) -> tuple[GapLog, ...]:
        return self.program.gap_logs("generator")

    def down(self) -> None:
        self.program.stop()

    def describe(self) -> dict[str, object]:
        return self.program.describe()


def _refused_by_nic(way: Direction, tasks: Sequence[Mapping[str, int]]) -> int:
    """A NIC that takes no more is at its line rate; what a ring of the SUT does not take is its
    loss."""
    return 0 if way.feeds_sut else _sum(tasks, "offered") - _sum(tasks, "tx")


def _sum(tasks: Sequence[Mapping[str, int]], figure: str) -> int:
    return sum(int(task[figure]) for task in tasks)
