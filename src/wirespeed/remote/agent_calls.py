# SPDX-License-Identifier: Apache-2.0
"""What does a host do for us, one call after another: read, find and write files, run commands?

Sent along with agent.py, for python3 there to run. A call is one line of JSON on standard input:
what to do, and its words. The answer is one line on standard output: {"got": value}, or an error
as {"errno": number}, {"invalid": text}, {"late": true} or {"long": true}.
"""

from __future__ import annotations

import glob
import json
import os
import queue
import subprocess
import threading
from typing import Any

# Of the modules of ours only this one is there.
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
    """The calls of one connection."""

    def __init__(self) -> None:
        self._asked: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._running: subprocess.Popen[bytes] | None = None
        # Held while a command is started: it runs before anybody knows its number.
        self._starting = threading.Lock()

    def answer(self) -> None:
        """Answer for as long as somebody is heard."""
        threading.Thread(target=self._hear, daemon=True).start()
        say()
        while True:
            wanted = json.loads(self._asked.get())
            say(**self._answer(wanted.pop("do"), wanted))

    def _hear(self) -> None:
        """In a thread of its own: a file or command may take long, and nobody be there any more."""
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
        """Exit code, standard output and error. A command that is late or prints too much is killed
        with what it started."""
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
                # It only makes system calls, so a thread's lock cannot be waited for.
                preexec_fn=in_child(os.getpid()),  # noqa: PLW1509
            )
        return self._running

    def _kill_running(self) -> None:
        """The command with its children: they are in a session of their own."""
        if self._running is not None and self._running.returncode is None:
            kill_session(self._running)

    def read(self, path: str) -> str:
        """The content. What is not UTF-8 is replaced."""
        return read_text(path)

    def read_many(self, paths: list[str]) -> dict[str, dict[str, Any]]:
        """For each path the answer that `read` would be."""
        return {path: self._answer("read", {"path": path}) for path in paths}

    def write(self, path: str, text: str) -> None:
        """Replace the content."""
        with open(path, "wb") as file:
            file.write(text.encode())

    def glob(self, patterns: list[str]) -> list[str]:
        """Existing paths that match one of the patterns, sorted."""
        return sorted({path for pattern in patterns for path in glob.glob(pattern)})

    def readlink(self, path: str) -> str:
        """The target, as os.path.realpath."""
        return os.path.realpath(path)


def main() -> None:
    """Answer calls."""
    Calls().answer()
