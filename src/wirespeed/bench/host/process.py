# SPDX-License-Identifier: Apache-2.0
"""Start, await, watch and stop a program of the bench."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Collection, Mapping, Sequence

from wirespeed.bench.host.directories import Directories
from wirespeed.bench.host.host import Host
from wirespeed.bench.interface import BenchError, UnpolledPart
from wirespeed.remote.ending import end_process
from wirespeed.remote.interface import Process, Runner

_STOP_S = 10.0


def await_true(
    condition: Callable[[], object],
    *,
    within_s: float,
    every_s: float = 0.01,
    alive: Callable[[], str | None],
    otherwise: Callable[[], str],
) -> None:
    """Return once the condition holds.

    Raises BenchError as soon as a needed program has ended, as `alive` reports. At the deadline it
    raises BenchError with the text of `otherwise`.
    """
    deadline = time.monotonic() + within_s
    while not condition():
        if (ended := alive()) is not None:
            raise BenchError(ended)
        if time.monotonic() > deadline:
            raise BenchError(f"{otherwise()} (after {within_s:g} s)")
        time.sleep(every_s)


class Daemon:
    """A program that runs as long as the bench does."""

    def __init__(self, name: str, host: Host, dirs: Directories) -> None:
        self.name = name
        self.log = str(dirs.log / f"{name}.log")
        self.command: tuple[str, ...] = ()
        self._host = host
        self._process: Process | None = None

    def start(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cpus: Collection[int] | None = None,
    ) -> None:
        self.command = tuple(argv)
        # Text of an earlier run would be taken for this run's.
        self._host.runner.write(self.log, "")
        self._process = self._host.spawn(argv, log=self.log, env=env, cpus=cpus)

    def await_socket(self, path: str, within_s: float) -> None:
        """Return once the program has made its socket."""
        await_true(
            lambda: self._host.runner.glob(path),
            within_s=within_s,
            alive=self.ended,
            otherwise=lambda: (
                f"{self.name} did not make {path}: " + last_words(self._host.runner, self.log)
            ),
        )

    def ended(self) -> str | None:
        """Return how it ended; None while it runs or before its start."""
        code = None if self._process is None else self._process.poll()
        if code is None:
            return None
        how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
        return f"{self.name} ended ({how}): {last_words(self._host.runner, self.log)}"

    def log_bytes(self) -> int:
        """Return the size of its log."""
        return int(self._host.runner.run(["stat", "-c", "%s", self.log]).stdout)

    def logged_since(self, octets: int) -> str:
        """Return its log behind the first octets. Raises RemoteError above 16 MiB."""
        return self._host.runner.run(["tail", "-c", f"+{octets + 1}", self.log]).stdout

    @property
    def processes(self) -> tuple[Process, ...]:
        return () if self._process is None else (self._process,)

    def kill(self) -> None:
        """Kill it at once; afterwards it counts as never started."""
        for process in self.processes:
            process.signal(signal.SIGKILL)
            process.wait(_STOP_S)
        self._process = None

    def stop(self) -> None:
        """Stop it in an orderly way if it still runs, else by force."""
        for process in self.processes:
            end_process(process, _STOP_S)


def last_words(runner: Runner, log: str) -> str:
    """Return what a program's log says about its end: its last errors, else its last lines."""
    try:
        lines = [line.strip() for line in runner.read(log).splitlines() if line.strip()]
    except FileNotFoundError:
        return "it left no log"
    words = ("ERR|", "EMER|", "error", "Cause:", "cannot", "Cannot", "failed", "FATAL")
    errors = [line for line in lines if any(w in line for w in words)]
    said = " / ".join((errors or lines)[-3:]) or "it said nothing"
    return f"{said} ({log})"


class DaemonsPart(UnpolledPart):
    """Base of a component that consists of several programs."""

    def __init__(self, daemons: Sequence[Daemon] = ()) -> None:
        self._daemons = list(daemons)

    def alive(self) -> str | None:
        return next((ended for daemon in self._daemons if (ended := daemon.ended())), None)

    @property
    def processes(self) -> tuple[Process, ...]:
        return tuple(process for daemon in self._daemons for process in daemon.processes)

    @property
    def programs(self) -> tuple[int, ...]:
        return tuple(process.pid for process in self.processes)
