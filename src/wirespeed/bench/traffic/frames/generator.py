# SPDX-License-Identifier: Apache-2.0
"""Run the traffic generator: a wsdp process with gen and sink tasks, and perhaps functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from wirespeed.bench.function.counts import TaskCounts, task_settings, task_stats
from wirespeed.bench.interface import HopCount
from wirespeed.bench.noise.clock import TrialClock
from wirespeed.bench.program.part import WsdpPart
from wirespeed.bench.program.wsdp import Wsdp
from wirespeed.bench.topology.wiring import GENERATOR
from wirespeed.bench.traffic.frames.figures import TrialFigures
from wirespeed.bench.traffic.frames.latency import SinkLatency, merged
from wirespeed.bench.traffic.frames.streams import Direction
from wirespeed.bench.traffic.frames.windows import DirectionBins, read_bins, read_latency_rows
from wirespeed.model.result.hop_counts import Counted, DropCause
from wirespeed.model.result.observation import Latency, LatencyRows

# Short enough for frames still in flight.
_PAUSE_NS = 50_000
# The trial number in a stamp has 8 bits; 0 is a generator's initial value.
_TRIALS = 255
# Time from the command to the first frame: the caller, which may share the CPU, sleeps by then.
AFTER_NS = 30_000_000


class Generator(WsdpPart):
    """The component of a bench that offers and receives its traffic."""

    def __init__(
        self, program: Wsdp, directions: Sequence[Direction], functions: Sequence[TaskCounts]
    ) -> None:
        super().__init__(program, role="generator")
        self._directions = tuple(directions)
        self._functions = tuple(functions)
        self._trials = 0

    def waits_for(self) -> str | None:
        waits = super().waits_for()
        if waits is None:
            self.pause()
        return waits

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

    def running(self) -> bool:
        return any(self._task(g)["running"] for d in self._directions for g in d.generators)

    def pause(self) -> None:
        """Leave the CPUs to the processes that read counters, until the next start.

        On a small host these would otherwise run only every few milliseconds.
        """
        self.program.ask(f"pause_pollers,ns={_PAUSE_NS}")

    def read(self) -> tuple[HopCount, ...]:
        """Return the generator's own hop, which its sinks enter, and those of its functions."""
        stats, missed = task_stats(self.program, self._functions), self.program.missed()
        lost = {d.to_port: missed.get(d.to_port, 0) for d in self._directions}
        entered = {d.to_port: stats[d.sink]["rx"] + lost[d.to_port] for d in self._directions}
        left = {d.from_port: sum(stats[g]["tx"] for g in d.generators) for d in self._directions}
        drops = {(f"{GENERATOR}:{p}", DropCause.TG_RX_RING_FULL): n for p, n in lost.items()}
        own = HopCount(
            GENERATOR, entered, left, drops,
            events={(GENERATOR, Counted.NO_BUFFERS): self.program.without_buffers()},
            queues=self._queues(stats),
        )  # fmt: skip
        return (own, *(function.read(stats, missed) for function in self._functions))

    def _queues(self, stats: Mapping[str, Mapping[str, int]]) -> Mapping[tuple[str, int], int]:
        """Return the frames offered to each queue, of ports with several."""
        found: Counter[tuple[str, int]] = Counter()
        for direction in self._directions:
            for number, generator in enumerate(direction.generators):
                if direction.queues > 1:
                    queue = number % direction.queues
                    found[direction.from_port, queue] += stats[generator]["tx"]
        return found

    def hear_only(self, path: int) -> None:
        """Count frames by other paths as lost until the next start; sinks must track flows."""
        self.program.ask(f"set,{self._directions[0].sink},only_path={path}")

    def flow_gaps(self) -> str:
        """Return the gaps that the sink of the first direction recorded in the last trial."""
        return self.program.export(f"flow_gaps,{self._directions[0].sink}")

    def holds(self) -> int:
        """Return frames that tasks delay (the reference SUT): not lost, not yet sent on."""
        return sum(int(seen["held"]) for seen in self.program.ask("stats").values())

    def figures(self) -> TrialFigures:
        """Return what every task has counted since `begin`."""
        names = (name for d in self._directions for name in (*d.generators, d.sink))
        return TrialFigures(
            self._directions, {name: self._task(name) for name in names}, self.program.tsc_hz
        )

    def latency(self, seen: TrialFigures) -> Latency | None:
        """Return the latency since `begin`, over all directions; None if no frame was stamped."""
        return merged(
            [
                SinkLatency(
                    self.program.export(f"histogram,{direction.sink}"),
                    float(seen.tasks[direction.sink]["jitter_ns"]),
                )
                for direction in self._directions
            ]
        )

    def _task(self, name: str) -> Mapping[str, int]:
        answer: Mapping[str, int] = self.program.ask(f"task,{name}")
        return answer

    def bins(self, seen: TrialFigures) -> tuple[DirectionBins, ...]:
        """Return the frames of the last trial by their time of sending."""
        return tuple(
            DirectionBins(
                direction.name,
                tuple(read_bins(self.program.export(f"windows,{g}")) for g in direction.generators),
                read_bins(self.program.export(f"windows,{direction.sink}")),
                seen.refused_by_nic(direction),
                seen.tasks[direction.sink]["clock_behind"],
            )
            for direction in self._directions
        )

    def latency_rows(self, clock: TrialClock) -> LatencyRows | None:
        """Return latency by time of sending, over all directions."""
        texts = [
            self.program.export(f"latency_rows,{direction.sink}") for direction in self._directions
        ]
        return read_latency_rows(texts, clock)

    def settings(self) -> Mapping[str, str]:
        """Return the settings of its ports and of its functions' tasks."""
        return {**super().settings(), **task_settings(self.program, self._functions)}

    def describe(self) -> dict[str, object]:
        config = self.program.config
        queues = max((port.queues for port in config.ports), default=1)
        flows = "by the Toeplitz hash, as a NIC with RSS" if queues > 1 else "one queue"
        return {**super().describe(), "flows_over_queues": flows}
