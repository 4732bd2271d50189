# SPDX-License-Identifier: Apache-2.0
"""Answer calls on a host, one after another: read, find and write files, run commands.

This file is sent with agent.py to the host's python3. A call is one line of JSON on standard input:
the function and its arguments. The answer is one line on standard output: {"got": value}, or an
error as {"errno": number}, {"invalid": text}, {"late": true} or {"long": true}.
"""

from __future__ import annotations

import glob
import json
import os
import queue
import subprocess
import threading
from typing import Any

# The only module of wirespeed that exists on the host.
from wirespeed.remote.agent import (
    STILL_HERE,
    TooMuch,
    exchange,
    heard,
    in_child,
    kill_session,
    read_text,
    say,
)


class Calls:
    """Calls of one connection."""

    def __init__(self) -> None:
        self._asked: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._running: subprocess.Popen[bytes] | None = None
        # Held while a command starts, since it runs before its process object is stored.
        self._starting = threading.Lock()

    def answer(self) -> None:
        """Answer calls as long as the caller is heard."""
        threading.Thread(target=self._hear, daemon=True).start()
        say()
        while True:
            wanted = json.loads(self._asked.get())
            say(**self._answer(wanted.pop("do"), wanted))

    def _hear(self) -> None:
        """Read calls in a thread of its own, so that a slow call does not hide a lost caller."""
        pending = b""
        for piece in heard():
            pending += (piece or b"").replace(STILL_HERE, b"")
            *lines, pending = pending.split(b"\n")
            for line in lines:
                self._asked.put(line)
        with self._starting:
            self._kill_running()
            os._exit(0)

    def _answer(self, do: str, words: dict[str, Any]) -> dict[str, Any]:
        try:
            return {"got": getattr(self, do)(**words)}
        except OSError as fault:
            return {"errno": fault.errno}
        except ValueError as fault:
            return {"invalid": str(fault)}
        except subprocess.TimeoutExpired:
            return {"late": True}
        except TooMuch:
            return {"long": True}

    def run(
        self, argv: list[str], timeout_s: float, stdin: str | None, env: dict[str, str]
    ) -> tuple[int, str, str]:
        """Return exit code, standard output and error.

        A command that is late or prints too much is killed with the processes that it started.
        """
        with self._started(argv, stdin is not None, env) as running:
            try:
                stdout, stderr = exchange(running, stdin, timeout_s)
            except (subprocess.TimeoutExpired, TooMuch):
                self._kill_running()
                raise
            return running.returncode, stdout, stderr

    def _started(
        self, argv: list[str], listens: bool, env: dict[str, str]
    ) -> subprocess.Popen[bytes]:
        with self._starting:
            self._running = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE if listens else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**os.environ, **env},
                start_new_session=True,
                # preexec_fn makes only system calls, so it cannot wait for a lock of another
                # thread.
                preexec_fn=in_child(os.getpid()),  # noqa: PLW1509
            )
        return self._running

    def _kill_running(self) -> None:
        """Kill the command and its children, which are in a session of their own."""
        if self._running is not None and self._running.returncode is None:
            kill_session(self._running)

    def read(self, path: str) -> str:
        """Return the content of a file; octets that are not UTF-8 are replaced."""
        return read_text(path)

    def read_many(self, paths: list[str]) -> dict[str, dict[str, Any]]:
        """Return for each path the answer that `read` would give."""
        return {path: self._answer("read", {"path": path}) for path in paths}

    def write(self, path: str, text: str) -> None:
        """Replace the content of a file."""
        with open(path, "wb") as file:
            file.write(text.encode())

    def glob(self, patterns: list[str]) -> list[str]:
        """Return the existing paths that match one of the patterns, sorted."""
        return sorted({path for pattern in patterns for path in glob.glob(pattern)})

    def readlink(self, path: str) -> str:
        """Return the target, as os.path.realpath does."""
        return os.path.realpath(path)


def main() -> None:
    """Answer calls until the caller is gone."""
    Calls().answer()
