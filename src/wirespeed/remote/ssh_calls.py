# SPDX-License-Identifier: Apache-2.0
"""Read files and run commands on another host in one session with agent_calls.py.

A call costs one round trip and, on the host, no process except the command that it runs.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from wirespeed.model.input.bounded import load_json
from wirespeed.remote import agent
from wirespeed.remote.bounds import printed_too_much
from wirespeed.remote.interface import Completed, ProgramMissing, RemoteError
from wirespeed.remote.ssh_client import SshClient
from wirespeed.remote.ssh_held import Held

_FILES_S = 30.0
# A broken connection is noticed within this time; the waiting call then reports that instead.
_MARGIN_S = agent.SILENCE_S


class AgentCalls:
    """One call at a time; another thread waits. Methods and errors: see Runner.

    When the agent ends while the connection still works, its current call raises RemoteError, and
    the next call starts another agent.
    """

    def __init__(self, client: SshClient, name: str) -> None:
        """Start an agent. name: the host's name in messages. Raises NoAgent, HostUnreachable."""
        self._client, self._name = client, name
        self._lock = threading.Lock()
        self._session: Held | None = client.hold_calls()

    def run(
        self,
        argv: Sequence[str],
        timeout_s: float,
        stdin: str | None,
        env: Mapping[str, str],
    ) -> Completed:
        command = f"`{' '.join(argv)}`"
        limit_s = timeout_s * self._client.patience
        words = {"argv": list(argv), "timeout_s": limit_s, "stdin": stdin, "env": dict(env)}
        try:
            answer = self._ask("run", command, words, timeout_s)
            if "late" in answer:
                raise RemoteError(f"{command} on {self._name} did not end within {limit_s:g} s")
            if "long" in answer:
                raise printed_too_much(f"{command} on {self._name}")
            code, stdout, stderr = _got(answer)
        except FileNotFoundError:
            raise ProgramMissing(f"{argv[0]} is not installed on {self._name}") from None
        except OSError as fault:
            raise RemoteError(
                f"{argv[0]} could not be started on {self._name}: {fault.strerror}"
            ) from fault
        return Completed(tuple(argv), code, stdout, stderr)

    def read(self, path: str) -> str:
        return str(_got(self._ask("read", path, {"path": path}), path))

    def read_many(self, paths: Sequence[str]) -> dict[str, str | OSError]:
        answer = self._ask("read_many", f"{len(paths)} files", {"paths": list(paths)})
        found: dict[str, str | OSError] = {}
        for path, each in _got(answer).items():
            try:
                found[path] = _got(each, path)
            except OSError as fault:
                found[path] = fault
        return found

    def write(self, path: str, text: str) -> None:
        _got(self._ask("write", path, {"path": path, "text": text}), path)

    def glob(self, patterns: Sequence[str]) -> tuple[str, ...]:
        return tuple(_got(self._ask("glob", patterns[0], {"patterns": list(patterns)})))

    def readlink(self, path: str) -> str:
        return str(_got(self._ask("readlink", path, {"path": path}), path))

    def _ask(
        self, do: str, what: str, words: Mapping[str, object], within_s: float = _FILES_S
    ) -> dict[str, Any]:
        """Return the agent's answer. what: the call's name in messages."""
        call = json.dumps({"do": do, **words}).encode() + b"\n"
        limit_s = (within_s + _MARGIN_S) * self._client.patience
        with self._lock:
            if self._session is None:
                self._session = self._client.hold_calls()
            try:
                line = self._session.ask(call, limit_s)
            except TimeoutError:
                self._end_session()
                raise RemoteError(
                    f"{self._name} did not answer within {limit_s:g} s: {what}"
                ) from None
            except BaseException:
                # The late answer would be taken for that of the next call.
                self._end_session()
                raise
            if line is None:
                said = self._end_session()
                self._client.check()
                raise RemoteError(
                    f"the agent on {self._name} ended before it answered: {what}"
                    + (f": {said}" if said else ""),
                    "It may or may not have been done. The next call starts another agent.",
                )
        try:
            answer: dict[str, Any] = load_json(line)
        except ValueError as fault:
            self._end_session()
            raise RemoteError(
                f"the answer of the agent on {self._name} is not JSON ({fault}): {what}",
                "It may or may not have been done. The next call starts another agent.",
            ) from None
        return answer

    def _end_session(self) -> str:
        """End the session; return the last line that the agent printed."""
        held, self._session = self._session, None
        said = self._client.release(held)[1] if held else ""
        return said.rpartition("\n")[2]


def _got(answer: Mapping[str, Any], path: str | None = None) -> Any:
    """Return the value of an answer.

    Raises the OSError that the agent met, and ValueError for text that cannot be a path.
    """
    if "errno" in answer:
        number = answer["errno"] or 0
        raise OSError(number, os.strerror(number), path)
    if "invalid" in answer:
        raise ValueError(answer["invalid"])
    return answer["got"]
