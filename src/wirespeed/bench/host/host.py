# SPDX-License-Identifier: Apache-2.0
"""Change a host so that every change is journalled first and undone last.

Each method of `Host` makes one type of change, after the journal has recorded it. Leaving the
context undoes everything, newest first, on success, failure and Ctrl-C alike.
"""

from __future__ import annotations

import copy
import logging
import os
import signal
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Protocol

from wirespeed.bench.host.change import Change
from wirespeed.bench.host.changes import (
    DirectoryMade,
    MountPointMade,
    ProcessStarted,
    SysctlSet,
    start_ticks,
)
from wirespeed.bench.host.journal import Journal, Undone
from wirespeed.bench.host.journal_file import one_at_a_time
from wirespeed.bench.host.leftovers import hosts_left, leftovers, nobodys
from wirespeed.bench.interface import BenchError
from wirespeed.model.errors import WirespeedError
from wirespeed.remote.interface import LOCALHOST, Process, Runner
from wirespeed.sources.kernel_value import same_value, selected

log = logging.getLogger("wirespeed.bench")


class ChangeLog(Protocol):
    """Log where changes are recorded before they are made.

    Either a Journal, which outlives this process, or a log that ends with the host itself.
    """

    def note(self, change: Change) -> int: ...

    def undo(self, number: int, runner: Runner, others: tuple[Change, ...]) -> str | None: ...

    def forget(self, number: int) -> None: ...

    def others(self) -> tuple[Change, ...]:
        """Return what other, living runs have changed on this host."""
        ...


class Host:
    """Changes of one run on one host.

    state_dir: local directory with the journals of all hosts. wsdp: path of the data plane program
    from a testbed file. nice: niceness of programs started from now on.
    """

    def __init__(
        self, runner: Runner, state_dir: Path, journal: ChangeLog, wsdp: str | None = None
    ) -> None:
        self.runner = runner
        self.state_dir = state_dir
        self.wsdp = wsdp
        self.nice: int | None = None
        self._journal = journal
        self._prefix: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.runner.name

    @property
    def is_local(self) -> bool:
        """Return whether this is the local machine."""
        return self.runner.address == LOCALHOST

    def note(self, change: Change) -> int:
        """Journal a change that is about to be made; return its number for `undo`."""
        return self._journal.note(change)

    def undo(self, number: int) -> str | None:
        """Undo one change before the end."""
        return self._journal.undo(number, self.runner, self.others())

    def forget(self, number: int) -> None:
        """Remove a change from the journal: it was not made."""
        self._journal.forget(number)

    def others(self) -> tuple[Change, ...]:
        """Return what other, living runs have changed on this host."""
        return self._journal.others()

    def running_by(self, prefix: Sequence[str]) -> Host:
        """Return this host as one that starts programs by a command that execs them."""
        made = copy.copy(self)
        made._prefix = tuple(prefix)
        return made

    def spawn(
        self,
        argv: Sequence[str],
        *,
        log: str,
        env: Mapping[str, str] | None = None,
        cpus: Collection[int] | None = None,
    ) -> Process:
        """Start a process that is found and ended later, even if this process is killed.

        Its PID is known only after the start. Until that is journalled, the kernel ends the process
        when its parent dies.
        """
        whole = [*self._prefix, *argv]
        process = self.runner.spawn(whole, log=log, env=env, cpus=cpus, nice=self.nice)
        ticks = start_ticks(self.runner, process.pid)
        if ticks is not None:
            self.note(ProcessStarted(process.pid, ticks, os.path.basename(argv[0])))
        return process

    def make_directory(self, path: str) -> None:
        """Make a directory that is removed at the end, with its content."""
        self.note(DirectoryMade(path))
        self.runner.run(["mkdir", "-p", "-m", "0700", "--", path])

    def make_mount_point(self, path: str) -> None:
        """Ensure that a directory exists.

        If it was absent, the last run that needs it removes it, provided that it is empty.
        """
        change = MountPointMade(path)
        with one_at_a_time(self.state_dir):
            if not self.runner.glob(path) or change in self.others():
                self.note(change)
                self.runner.run(["mkdir", "-p", "--", path])

    def set_sysctl(self, name: str, to: str) -> str | None:
        """Set a kernel parameter; return why that failed, or None."""
        return self.set_sysctl_file("/proc/sys/" + name.replace(".", "/"), to)

    def set_sysctl_file(self, path: str, to: str) -> str | None:
        """Set a kernel parameter by its file: interface names may hold dots."""
        name = path.removeprefix("/proc/sys/").replace("/", ".")
        with one_at_a_time(self.state_dir):
            try:
                was = selected(self.runner.read(path))
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
                return f"{name} cannot be set to {to}: by root only, or fixed by this kernel"
            except OSError as error:
                self.forget(number)
                return f"{name} cannot be set to {to}: {error.strerror}"
            self._note_as_shown(number, SysctlSet(path, was, to))
        return None

    def _note_as_shown(self, number: int, change: SysctlSet) -> None:
        """Journal the value that the kernel shows, where it is not the one that was written.

        The kernel rounds or formats some values; undo must know its own value again.
        """
        shown = selected(self.runner.read(change.path))
        if not same_value(change.path, shown, change.to):
            self.note(replace(change, to=shown))
            self.forget(number)


@contextmanager
def changing_host(runner: Runner, state_dir: Path, wsdp: str | None = None) -> Iterator[Host]:
    """Clean up after killed runs, then yield the host; undo everything at the end.

    What cannot be undone stays in the journal. It raises BenchError, or warns where an error
    already ends the run.
    """
    found = tidy_up(runner, state_dir)
    for sentence in (*found.done, *found.failed):
        log.warning("left by an earlier run: %s", sentence)
    journal = Journal.create(state_dir, runner.address)
    host = Host(runner, state_dir, journal, wsdp)
    try:
        yield host
    except BaseException:
        for sentence in _undo_all(journal, host).failed:
            log.warning("%s", sentence)
        raise
    undone = _undo_all(journal, host)
    for sentence in undone.left:
        log.warning("%s", sentence)
    if undone.standing:
        raise BenchError(
            "; ".join(undone.standing), "Run `wirespeed clean` once the cause is removed."
        )


def _undo_all(journal: Journal, host: Host) -> Undone:
    with _uninterrupted():
        undone = journal.undo_all(host.runner)
        journal.close()
    return undone


def tidy_up(runner: Runner, state_dir: Path) -> Undone:
    """Undo what killed runs left on this host.

    Living runs are not touched, nor are changes that they rely on.
    """
    undone = Undone()
    for journal in leftovers(state_dir, runner.address):
        undone += journal.undo_all(runner)
        journal.close()
    return undone


def tidy_up_everywhere(
    reach: Callable[[str], AbstractContextManager[Runner]], state_dir: Path
) -> Undone:
    """Undo what killed runs left on every host that a journal names.

    reach: makes a Runner for a host's address.
    """
    undone = Undone(failed=nobodys(state_dir))
    for address in hosts_left(state_dir):
        try:
            with reach(address) as runner:
                undone += tidy_up(runner, state_dir)
        except WirespeedError as fault:
            undone += Undone(failed=(f"{address} is not cleaned: {fault.what}",))
    return undone


@contextmanager
def terminated_like_interrupted() -> Iterator[None]:
    """Let SIGTERM unwind the stack as Ctrl-C does, so that the bench is taken down.

    Only the main thread may install handlers; elsewhere the program's own handlers stay.
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
    """Ignore further Ctrl-C and SIGTERM while changes are undone."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # A function, not SIG_IGN: commands started meanwhile would inherit SIG_IGN.
    old = {n: signal.signal(n, lambda *_: None) for n in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
