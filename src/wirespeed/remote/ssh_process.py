# SPDX-License-Identifier: Apache-2.0
"""A child on another machine that ends when the ssh connection to it ends.

sshd does not kill what it started when the connection breaks, but it closes the child's standard
input. So a small shell stands watch there: end of input kills the child.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
from collections.abc import Callable

from wirespeed.remote.interface import RemoteError

# $1 is the log, the rest the command. First line on stdout: the child's pid. The watcher reads the
# saved standard input (3) until it ends; the child itself gets /dev/null.
WATCHED_CHILD = """
log=$1; shift
exec 3<&0
"$@" </dev/null >>"$log" 2>&1 3<&- &
child=$!
echo "$child"
( cat <&3 >/dev/null; kill -KILL "$child" 2>/dev/null ) >/dev/null 2>&1 &
watcher=$!
wait "$child"
code=$?
kill "$watcher" 2>/dev/null
exit "$code"
"""
START_TIMEOUT_S = 15.0
SIGNALLED_EXIT = 128


class SshProcess:
    """The remote child, seen through the local ssh client that carries it."""

    def __init__(
        self, popen: subprocess.Popen[bytes], pid: int, kill: Callable[[int, int], None]
    ) -> None:
        self._popen = popen
        self._pid = pid
        self._kill = kill
        self._pidfd = os.pidfd_open(popen.pid)

    @classmethod
    def started(
        cls, popen: subprocess.Popen[bytes], kill: Callable[[int, int], None], what: str
    ) -> SshProcess:
        """Wait for the child's pid. Raises RemoteError when it does not come."""
        assert popen.stdout is not None
        ready, _, _ = select.select([popen.stdout], [], [], START_TIMEOUT_S)
        line = popen.stdout.readline().strip() if ready else b""
        if not line.isdigit():
            popen.kill()
            _, stderr = popen.communicate()
            said = stderr.decode(errors="replace").strip() or "no answer"
            raise RemoteError(f"{what} could not be started: {said}")
        return cls(popen, int(line), kill)

    @property
    def pid(self) -> int:
        """The child's pid on its own machine."""
        return self._pid

    def fileno(self) -> int:
        return self._pidfd

    def poll(self) -> int | None:
        return _exit_code(self._popen.poll())

    def wait(self, timeout_s: float) -> int:
        try:
            return _exit_code(self._popen.wait(timeout_s)) or 0
        except subprocess.TimeoutExpired:
            raise TimeoutError(
                f"process {self._pid} is still running after {timeout_s:g} s"
            ) from None

    def signal(self, number: int) -> None:
        self._kill(self._pid, number)

    def __del__(self) -> None:
        os.close(self._pidfd)


def _exit_code(code: int | None) -> int | None:
    """A shell says 128 + n for a child killed by signal n; Python says -n."""
    if code is None or code <= SIGNALLED_EXIT:
        return code
    number = code - SIGNALLED_EXIT
    return -number if number in set(signal.Signals) else code
