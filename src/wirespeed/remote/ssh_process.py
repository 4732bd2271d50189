# SPDX-License-Identifier: Apache-2.0
"""A child on another host that ends when the ssh connection to it does."""

from __future__ import annotations

import signal
from collections.abc import Callable

from wirespeed.remote.ssh_held import Held


class SshProcess:
    """A child on the other host."""

    def __init__(
        self, held: Held, pid: int, check: Callable[[], None], release: Callable[[Held], object]
    ) -> None:
        """check: raises HostLost when the connection is broken. release: called at the end."""
        self._held, self._pid, self._check, self._release = held, pid, check, release
        self._code: int | None = None

    @property
    def pid(self) -> int:
        return self._pid

    def fileno(self) -> int:
        """Readable once the agent has said the exit code, or the connection is broken."""
        return self._held.socket.fileno()

    def poll(self) -> int | None:
        """Raises HostLost where nobody can know any more."""
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
            # An agent that was killed itself takes its child along.
            self._code = -signal.SIGKILL if said is None else int(said["code"])
        return self._code

    def signal(self, number: int) -> None:
        """Sent by the agent: never to a stranger that was given the same number since."""
        self._held.send(bytes([number]))
