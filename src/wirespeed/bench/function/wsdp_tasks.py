# SPDX-License-Identifier: Apache-2.0
"""Build network functions from wsdp tasks, which run in any wsdp process.

Such a function shares the generator's process, or runs in one of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol, runtime_checkable

from wirespeed.bench.function.counts import TaskCounts, plus, task_settings, task_stats
from wirespeed.bench.function.interface import Demand, Setup, polled_function
from wirespeed.bench.host.directories import Directories
from wirespeed.bench.host.host import Host
from wirespeed.bench.interface import HopCount, Part, Poller
from wirespeed.bench.program.config import WsdpConfig, WsdpRing, WsdpTask
from wirespeed.bench.program.part import WsdpPart
from wirespeed.bench.program.wsdp import Wsdp
from wirespeed.model.input.fault import Fault
from wirespeed.model.result.hop_counts import Counted
from wirespeed.model.study.spec import Frames
from wirespeed.model.study.sut import SutDescription


@runtime_checkable
class RunsAsTasks(Protocol):
    """A type of function whose tasks run in any wsdp process."""

    def tasks(self, setup: Setup) -> tuple[WsdpTask, ...]: ...

    def rings(self, setup: Setup) -> tuple[WsdpRing, ...]:
        """Return the rings between its tasks."""
        ...

    def files(self, setup: Setup) -> Mapping[str, str]:
        """Return the files that its tasks read, by path on their host."""
        ...

    def counts(self, setup: Setup) -> TaskCounts:
        """Return how to read the counters of its tasks."""
        ...


class WsdpFunctionKind:
    """Base of the types made of wsdp tasks; a type adds rewritten, tasks and counts."""

    name = ""
    summary = ""

    def faults(self, _frames: Frames) -> Iterator[Fault]:
        return iter(())

    def demand(self, _frames: Frames) -> Demand:
        return Demand()

    def description(self, _frames: Frames) -> SutDescription:
        return polled_function(self.name)

    def tasks(self, setup: Setup) -> tuple[WsdpTask, ...]:
        raise NotImplementedError

    def rings(self, _setup: Setup) -> tuple[WsdpRing, ...]:
        return ()

    def files(self, _setup: Setup) -> Mapping[str, str]:
        return {}

    def counts(self, setup: Setup) -> TaskCounts:
        raise NotImplementedError

    def part(self, host: Host, dirs: Directories, process: WsdpConfig, setup: Setup) -> Part:
        config = self.config(process, setup)
        for path, text in self.files(setup).items():
            host.runner.write(path, text)
        return WsdpFunction(Wsdp(setup.name, host, dirs, config), [self.counts(setup)])

    def config(self, process: WsdpConfig, setup: Setup) -> WsdpConfig:
        """Add the function's tasks to the process."""
        return replace(process, tasks=self.tasks(setup), rings=self.rings(setup))


class WsdpFunction(WsdpPart):
    """A wsdp process with the tasks of a function, as a component of a bench."""

    def __init__(self, program: Wsdp, counts: Sequence[TaskCounts]) -> None:
        super().__init__(program, role="sut")
        self._counts = tuple(counts)
        self._earlier: tuple[HopCount, ...] = ()
        self._restarts = 0

    def read(self) -> tuple[HopCount, ...]:
        """Read the counts, including those of earlier processes of this function."""
        stats, missed = task_stats(self.program, self._counts), self.program.missed()
        found = tuple(counts.read(stats, missed) for counts in self._counts)
        if self._earlier:
            found = tuple(map(plus, self._earlier, found))
        return tuple(replace(count, events=self._events(count.hop)) for count in found)

    def crash(self) -> None:
        """Kill its process without notice; `restart` starts another."""
        self._earlier = self.read()
        self._restarts += 1
        self.program.crash()

    def restart(self) -> None:
        """Start the next process; `waits_for` reports when it is ready."""
        self.program.start()

    def pollers(self) -> tuple[Poller, ...]:
        """Return its lcores; none between crash and restart."""
        return super().pollers() if self.program.answers else ()

    def settings(self) -> Mapping[str, str]:
        """Return the settings of its ports and tasks; see noise.settings.Configured."""
        return {**super().settings(), **task_settings(self.program, self._counts)}

    def _events(self, hop: str) -> Mapping[tuple[str, Counted], int]:
        return {
            (hop, Counted.RESTARTS): self._restarts,
            (hop, Counted.NO_BUFFERS): self.program.without_buffers(),
        }
