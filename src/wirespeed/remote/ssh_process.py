# SPDX-License-Identifier: Apache-2.0
"""Control a child on another host that ends with the ssh connection."""

from __future__ import annotations

import signal
from collections.abc import Callable

from wirespeed.remote.ssh_held import Held


class SshProcess:
    """A child on the other host."""

    def __init__(
        self, held: Held, pid: int, check: Callable[[], None], release: Callable[[Held], object]
    ) -> None:
        """Wrap an agent's child.

        check: raises HostLost when the connection is broken. release: called at the end.
        """
        self._held, self._pid, self._check, self._release = held, pid, check, release
        self._code: int | None = None

    @property
    def pid(self) -> int:
        return self._pid

    def fileno(self) -> int:
        """Return a descriptor that is readable after the child's end or a broken connection."""
        return self._held.socket.fileno()

    def poll(self) -> int | None:
        """Return the exit code; None while it runs. Raises HostLost on a broken connection."""
        try:
            return self.wait(0.0)
        except TimeoutError:
            return None

    def wait(self, timeout_s: float) -> int:
        if self._code is None:
            try:
                said = self._held.answer(timeout_s)
            except TimeoutError:
                raise TimeoutError(
                    f"process {self._pid} is still running after {timeout_s:g} s"
                ) from None
            if said is None:
                self._check()
            self._release(self._held)
            # An agent that was killed takes its child along.
            self._code = -signal.SIGKILL if said is None else int(said["code"])
        return self._code

    def signal(self, number: int) -> None:
        """Send a signal through the agent, which never signals another process with that pid."""
        self._held.send(bytes([number]))
