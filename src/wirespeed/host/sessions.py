# SPDX-License-Identifier: Apache-2.0
"""Find the connections that use and manage a host: logins, and agents of its cluster.

They are read from the kernel's sockets (ss(8)), not from SSH_CONNECTION: sudo drops that variable,
and a tmux or screen server keeps it after the connection has ended. A login server is recognised by
its name, or because this command runs below the process that holds the connection.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from wirespeed.remote.interface import ProgramMissing, Runner

_SSH = frozenset({"sshd", "sshd-session", "dropbear"})
_LOGINS = _SSH | {"telnetd", "in.telnetd", "cockpit-tls", "cockpit-ws"}
_AGENTS = frozenset({"nova-compute", "kubelet", "pacemaker-remot"})
_PROCESS = re.compile(r'\("([^"]*)",pid=(\d+)')
# Without root, ss names only the caller's own processes.
_SSH_PORT = "22"


@dataclass(frozen=True, slots=True)
class Connection:
    """An established TCP connection."""

    local: str
    peer: str
    interface: str
    """Interface of a link-local address, else ""."""
    why: str
    """Description, e.g. "an ssh session from 192.0.2.7"."""
    login: bool
    """True if a user works through it."""


def connections(runner: Runner) -> tuple[Connection, ...]:
    """Return the connections of logins and agents; empty where ss is missing."""
    try:
        shown = runner.run(["ss", "-Htnp", "state", "established"], check=False).stdout
    except ProgramMissing:
        return ()
    above = frozenset(_processes_above(runner))
    found = (_connection(line.split(None, 4), above) for line in shown.splitlines())
    return tuple(dict.fromkeys(each for each in found if each is not None))


def _connection(columns: list[str], above: frozenset[str]) -> Connection | None:
    if len(columns) < 4:
        return None
    (local, port, interface), (peer, _, _) = _address(columns[2]), _address(columns[3])
    holders = _PROCESS.findall(columns[4]) if len(columns) > 4 else []
    names = [name for name, _ in holders]
    program = next((name for name in names if name in _LOGINS | _AGENTS), next(iter(names), ""))
    login = program in _LOGINS or any(pid in above for _, pid in holders)
    if program in _SSH or (not holders and port == _SSH_PORT):
        return Connection(local, peer, interface, f"an ssh session from {peer}", login=True)
    if login:
        why = f"a session of {program} from {peer}"
        return Connection(local, peer, interface, why, login=True)
    if program in _AGENTS:
        return Connection(local, peer, interface, f"{program}'s connection to {peer}", login=False)
    return None


def _address(text: str) -> tuple[str, str, str]:
    """Split 192.0.2.1:22, [::ffff:192.0.2.1]:22 or [fe80::1]%eth0:22.

    Returns address, port and interface.
    """
    host, _, port = text.rpartition(":")
    host, _, interface = host.replace("[", "").replace("]", "").partition("%")
    return host.removeprefix("::ffff:"), port, interface


def _processes_above(runner: Runner) -> Iterator[str]:
    """Yield the process that runs this Runner's commands on the host, and its ancestors."""
    # The parent of this shell is the process that started it.
    pid = runner.run(["sh", "-c", "echo $PPID"], check=False).stdout.strip()
    while pid not in ("", "0", "1"):
        yield pid
        try:
            # The name in parentheses may contain blanks and parentheses itself.
            pid = runner.read(f"/proc/{pid}/stat").rpartition(")")[2].split()[1]
        except (OSError, LookupError):
            return
