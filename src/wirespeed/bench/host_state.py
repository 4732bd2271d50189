# SPDX-License-Identifier: Apache-2.0
"""How does a run change this host so that every change is journalled first and undone last?

`HostState` is one run's hand on the host: each method makes one kind of change, after the journal
has it. Leaving the context undoes everything, newest first, on success, failure and Ctrl-C alike.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from wirespeed.bench.changes import (
    Change,
    DirectoryMade,
    ProcessStarted,
    SysctlSet,
    start_ticks,
)
from wirespeed.bench.interface import BenchError
from wirespeed.bench.journal import Journal, leftovers, of_living_runs, one_at_a_time
from wirespeed.remote.interface import Process, Runner

log = logging.getLogger("wirespeed.bench")


class HostState:
    """The changes of one run on one host."""

    def __init__(self, runner: Runner, state_dir: Path, journal: Journal) -> None:
        self.runner = runner
        self.state_dir = state_dir
        self._journal = journal

    def note(self, change: Change) -> int:
        """Journal a change that is about to be made; the number is for `undo`."""
        return self._journal.note(change)

    def undo(self, number: int) -> str | None:
        """Undo one change before its turn."""
        return self._journal.undo(number, self.runner, self.others())

    def forget(self, number: int) -> None:
        """Take a change back out of the journal: it was not made after all."""
        self._journal.forget(number)

    def others(self) -> tuple[Change, ...]:
        """What other, living runs have changed on this host."""
        return of_living_runs(self.state_dir, self.runner.name, besides=self._journal)

    def spawn(
        self,
        argv: Sequence[str],
        *,
        log: str,
        env: Mapping[str, str] | None = None,
        cpus: Collection[int] | None = None,
    ) -> Process:
        """Start a process that is found and ended later whatever becomes of us.

        Until it is journalled (its number is known only then), it is its parent's death that
        ends it.
        """
        process = self.runner.spawn(argv, log=log, env=env, cpus=cpus)
        ticks = start_ticks(self.runner, process.pid)
        if ticks is not None:
            self.note(ProcessStarted(process.pid, ticks, os.path.basename(argv[0])))
        return process

    def make_directory(self, path: str) -> None:
        """Make a directory that is removed, with all it then holds, at the end."""
        self.note(DirectoryMade(path))
        self.runner.run(["mkdir", "-p", "-m", "0700", "--", path])

    def set_sysctl(self, name: str, to: str) -> str | None:
        """Set a kernel parameter; returns why it could not be, or None."""
        path = "/proc/sys/" + name.replace(".", "/")
        with one_at_a_time(self.state_dir):
            try:
                was = self.runner.read(path).strip()
            except FileNotFoundError:
                return f"this kernel has no {name}"
            for other in self.others():
                if isinstance(other, SysctlSet) and other.path == path:
                    was = other.was
            number = self.note(SysctlSet(path, was, to))
            try:
                self.runner.write(path, to)
            except PermissionError:
                self.forget(number)
                return f"{name} can be set by root only"
        return None


@contextmanager
def changing_host(runner: Runner, state_dir: Path) -> Iterator[HostState]:
    """First tidies up after runs that were killed, then yields; everything is undone at the end."""
    for sentence in tidy_up(runner, state_dir):
        log.warning("left by an earlier run: %s", sentence)
    journal = Journal.create(state_dir, runner.name)
    state = HostState(runner, state_dir, journal)
    try:
        yield state
    finally:
        with _uninterrupted():
            failed = [
                s for s in journal.undo_all(runner, state.others()) if s.startswith("could not")
            ]
            journal.close()
    if failed:
        raise BenchError("; ".join(failed), "Run `wirespeed clean` once the cause is removed.")


def tidy_up(runner: Runner, state_dir: Path) -> list[str]:
    """Undo what killed runs left on this host; one sentence for each thing found and removed.

    Runs that are still alive are left alone, and so is what they rely on.
    """
    said: list[str] = []
    for journal in leftovers(state_dir, runner.name):
        said += journal.undo_all(runner, of_living_runs(state_dir, runner.name, journal))
        journal.close()
    return said


@contextmanager
def terminated_like_interrupted() -> Iterator[None]:
    """SIGTERM unwinds the stack as Ctrl-C does, so that the bench is taken down.

    Only the main thread may choose handlers; elsewhere the program's own choice stands.
    """
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    ):
        yield
        return

    def end(number: int, _frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """A further Ctrl-C or SIGTERM does not stop the undoing half-way."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # A function and not SIG_IGN: commands run meanwhile would inherit that.
    old = {n: signal.signal(n, lambda *_: None) for n in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
