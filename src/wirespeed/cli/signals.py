# SPDX-License-Identifier: Apache-2.0
"""End a command on Ctrl-C and SIGTERM by unwinding it, so that everything is undone."""

from __future__ import annotations

import signal
import socket
from types import FrameType
from typing import NoReturn

from wirespeed.cli.console import print_line


class Interrupted(BaseException):
    """A signal ends the command. As a BaseException it passes every `except Exception`."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number

    @property
    def exit_code(self) -> int:
        """Exit code that a shell reports for a process ended by the signal: 130, 143."""
        return 128 + self.number


def unwind_on_signals() -> None:
    """Make SIGINT, SIGTERM and SIGHUP raise Interrupted once; further ones do not stop the undo.

    A signal in the microseconds before a blocking system call is handled when the call returns, as
    Python's handlers run between bytecodes. A second signal ends the call.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _raise_once)


def wait_for_signal() -> NoReturn:
    """Wait in the main thread until a signal raises Interrupted, also one that comes right now.

    The signal itself writes what the wait reads, so it ends a wait that begins after it, too.
    """
    reading, writing = socket.socketpair()
    with reading, writing:
        writing.setblocking(False)
        signal.set_wakeup_fd(writing.fileno())
        try:
            while True:
                reading.recv(1)
        finally:
            signal.set_wakeup_fd(-1)


def _raise_once(number: int, _frame: FrameType | None) -> None:
    for other in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(other, _undoing_already)
    raise Interrupted(number)


def _undoing_already(_number: int, _frame: FrameType | None) -> None:
    print_line("wirespeed: undoing its changes to this host; one moment", stderr=True)
