# SPDX-License-Identifier: Apache-2.0
"""One ssh connection to a host: commands over it, what is held there, and whether it still works.

A master connection (ControlMaster) carries everything, so that a command costs a round trip and no
handshake.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wirespeed.remote import agent
from wirespeed.remote.bounds import printed_too_much
from wirespeed.remote.interface import HostLost, HostUnreachable, ProgramMissing, RemoteError
from wirespeed.remote.shell_words import shell_line
from wirespeed.remote.socket_paths import local_socket_base
from wirespeed.remote.ssh_held import Heartbeat, Held, agent_command, calls_command
from wirespeed.remote.ssh_target import SshTarget

NOT_FOUND_EXIT = 127
_SSH_FAILED_EXIT = 255
# A connection on which nothing comes back for three times this long is broken.
_ALIVE_S = 4
_START_S = 15.0
# With a name to look up, a handshake and keys.
FIRST_S = 30.0
# Holds the sockets of a connection; the number is that of the process that has it.
_FOLDER = "wirespeed-ssh-"


class NoAgent(RemoteError):
    """The host has no python3 that our agent can use."""


class SshClient:
    """Once the connection broke, nothing more is tried: each call says so at once."""

    def __init__(
        self,
        target: SshTarget,
        name: str,
        program: str,
        first_s: float,
        patience: float = 1.0,
        *,
        sudo: bool = False,
    ) -> None:
        """name: what messages call the host. program: the ssh client. sudo: agents are root's.

        first_s: how long the first answer may take, of a machine that is booting. patience: see
        SshRunner.
        """
        self.sudo = sudo
        self._target, self._name, self._first_s = target, name, first_s
        self.patience = patience
        base = local_socket_base()
        _remove_stale_folders(base)
        self._folder = tempfile.TemporaryDirectory(prefix=f"{_FOLDER}{os.getpid()}-", dir=base)
        self._forwards: dict[str, str] = {}
        self._heartbeat = Heartbeat()
        self._reached = False
        self._lost: str | None = None
        where = ["-p", str(target.port)] if target.port is not None else []
        who = ["-l", target.user] if target.user is not None else []
        config = ["-F", target.config] if target.config is not None else []
        self._ssh = [
            program,
            *config,
            "-o", "BatchMode=yes",
            "-o", "ConnectTimeout=10",
            "-o", f"ServerAliveInterval={_ALIVE_S * patience:.0f}",
            "-o", "ServerAliveCountMax=2",
            "-o", "ControlMaster=auto",
            "-o", "ControlPersist=60",
            "-o", f"ControlPath={self._folder.name}/master",
            *where,
            *who,
        ]  # fmt: skip

    def close(self) -> None:
        """End what is held, the master connection and its socket."""
        self._heartbeat.end()
        self._master("exit")
        self._folder.cleanup()

    def call(
        self, line: str, stdin: str | None = None, timeout_s: float = 30.0
    ) -> subprocess.CompletedProcess[str]:
        """What the host's login shell makes of the line. Raises HostUnreachable, RemoteError."""
        if self._lost is not None:
            raise self._unreachable(self._lost)
        done = self._call(self._words(line), stdin, timeout_s)
        # The command itself may end with that number, too.
        if done.returncode == _SSH_FAILED_EXIT and not self._has_master():
            raise self._unreachable(done.stderr.strip())
        self._reached = True
        return done

    def check(self) -> None:
        """Raises HostUnreachable where the host does not answer, HostLost where it once did."""
        if self._lost is None and self._reached and not self._has_master():
            raise self._unreachable("nothing came back any more")
        self.call("true")

    def hold(
        self,
        do: str,
        words: Mapping[str, object],
        what: str,
        *,
        timeout_s: float | None = _START_S,
        still_here: bytes = agent.STILL_HERE,
    ) -> tuple[Held, dict[str, Any]]:
        """An agent that does this on the host, and what it said first.

        words: of agent.py's function. what: the error's words when it cannot. Raises OSError as
        the agent met it.
        """
        if not self._reached or self._lost is not None:
            self.call("true")
        command = agent_command(do, words)
        held, said = self._started(command, what, timeout_s, still_here)
        if said is not None and not said.keys() & {"errno", "refused"}:
            return held, said
        code, stderr = self.release(held)
        if said is None:
            self.check()
            if code == NOT_FOUND_EXIT:
                raise ProgramMissing(
                    f"python3 is not installed on {self._name}", "Install it there: 3.9 or newer."
                )
            raise RemoteError(f"{what}: {stderr or 'it ended without a word'}")
        if "refused" in said:
            raise RemoteError(f"{what}: {said['refused']}")
        number = said["errno"] or 0
        raise OSError(number, os.strerror(number), said["file"])

    def hold_calls(self) -> Held:
        """An agent on the host that answers calls. Raises HostUnreachable, NoAgent, RemoteError."""
        if self._lost is not None:
            raise self._unreachable(self._lost)
        what = f"the agent on {self._name} did not start"
        held, said = self._started(calls_command(), what, self._first_s, agent.STILL_HERE)
        if said is not None and "refused" not in said:
            self._reached = True
            return held
        code, stderr = self.release(held)
        if code == _SSH_FAILED_EXIT and not self._has_master():
            raise self._unreachable(stderr)
        self._reached = True
        if said is not None:
            raise NoAgent(said["refused"])
        if code == NOT_FOUND_EXIT:
            raise NoAgent("python3 is not installed there")
        raise RemoteError(f"{what}: {stderr or 'it ended without a word'}")

    def _started(
        self, command: Sequence[str], what: str, timeout_s: float | None, still_here: bytes
    ) -> tuple[Held, dict[str, Any] | None]:
        """An agent, and what it said first; None where it ended."""
        words = self._words(shell_line([*(["sudo", "-n", "--"] if self.sudo else []), *command]))
        try:
            held = self._heartbeat.hold(words, still_here)
        except OSError as fault:
            raise _no_client(words[0], fault) from fault
        try:
            return held, held.answer(None if timeout_s is None else timeout_s * self.patience)
        except TimeoutError:
            self.release(held)
            limit_s = (timeout_s or 0.0) * self.patience
            raise RemoteError(f"{what}: no answer within {limit_s:g} s") from None
        except BaseException:
            self.release(held)
            raise

    def release(self, held: Held) -> tuple[int, str]:
        """Let go; the agent's end. What its ssh client ended with and said."""
        return self._heartbeat.release(held)

    def forwarded(self, path: str) -> str:
        """The socket here behind which ssh reaches that stream socket there."""
        if path not in self._forwards:
            self.check()
            near = f"{self._folder.name}/forward{len(self._forwards)}"
            done = self._master("forward", "-L", f"{near}:{path}")
            if done.returncode != 0:
                raise RemoteError(
                    f"{path} on {self._name} cannot be forwarded: {done.stderr.strip()}"
                )
            self._forwards[path] = near
        return self._forwards[path]

    def _has_master(self) -> bool:
        return self._master("check").returncode == 0

    def _master(self, command: str, *options: str) -> subprocess.CompletedProcess[str]:
        """What the master connection here, which needs no network for it, says to a command."""
        words = [*self._ssh, "-O", command, *options, "--", self._target.host]
        return self._call(words, None, 10.0)

    def _words(self, line: str) -> list[str]:
        return [*self._ssh, "--", self._target.host, line]

    def _unreachable(self, said: str) -> HostUnreachable:
        if not self._reached:
            return HostUnreachable(
                f"{self._name} could not be reached: {said or 'ssh gave no reason'}",
                f"Check that `{self._target.command} true` works without a password.",
            )
        self._lost = said
        return HostLost(
            f"the connection to {self._name} broke: {said or 'ssh gave no reason'}",
            "What runs there ends by itself within 15 s. Once the host can be reached again, "
            "`wirespeed clean` undoes what is left.",
        )

    def _call(
        self, words: Sequence[str], stdin: str | None, timeout_s: float
    ) -> subprocess.CompletedProcess[str]:
        try:
            code, stdout, stderr = agent.run_bounded(words, stdin, timeout_s)
        except subprocess.TimeoutExpired:
            raise RemoteError(
                f"{self._name} did not answer within {timeout_s:g} s: `{words[-1][:80]}`"
            ) from None
        except agent.TooMuch:
            raise printed_too_much(f"{self._name}: `{words[-1][:80]}`") from None
        except OSError as fault:
            raise _no_client(words[0], fault) from fault
        return subprocess.CompletedProcess(list(words), code, stdout, stderr)


def _no_client(program: str, fault: OSError) -> RemoteError:
    return RemoteError(
        f"{program} could not be started: {fault.strerror}",
        "Install the OpenSSH client (`apt-get install openssh-client`).",
    )


def _remove_stale_folders(base: str) -> None:
    """Of processes of ours that were killed: nobody else knows of them."""
    for folder in Path(base).glob(f"{_FOLDER}[0-9]*-*"):
        owner = folder.name.removeprefix(_FOLDER).partition("-")[0]
        if not Path(f"/proc/{owner}").exists():
            shutil.rmtree(folder, ignore_errors=True)
