# SPDX-License-Identifier: Apache-2.0
"""Find the control sockets of running Open vSwitch daemons, and the processes behind them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from wirespeed.model.numbered import numbered
from wirespeed.remote.interface import Runner
from wirespeed.remote.socket_paths import socket_base

_SYSTEM = "/run/openvswitch/ovs-vswitchd.[0-9]*.ctl"
_SYSTEM_PID = re.compile(r"ovs-vswitchd\.(\d+)\.ctl$")
# A bench makes its own below the base of a run's directory.
_BENCH = "/wirespeed-*/vswitchd.ctl"
_DAEMON = "ovs-vswitchd"


@dataclass(frozen=True, slots=True)
class Daemon:
    """A running ovs-vswitchd."""

    name: str
    """ "system", or "bench" for one that a bench started; the second of either has "#2"."""
    path: str
    """Its unixctl socket."""
    pid: int


def daemons(runner: Runner) -> tuple[Daemon, ...]:
    """Return the daemons whose process is there; a socket that outlived its process is skipped."""
    bases = {socket_base(runner), "/run", "/tmp"}  # noqa: S108 (a bench may use any of them)
    paths = runner.glob(_SYSTEM, *(base + _BENCH for base in bases))
    if not paths:
        return ()
    commands = _commands(runner)
    found: list[Daemon] = []
    for path in paths:
        system = _SYSTEM_PID.search(path)
        pids = [pid for pid, words in commands.items() if system or f"--unixctl={path}" in words]
        pid = int(system[1]) if system else next(iter(pids), 0)
        if pid in pids:
            kind = "system" if system else "bench"
            name = numbered(kind, {each.name for each in found})
            found.append(Daemon(name, path, pid))
    return tuple(found)


def _commands(runner: Runner) -> dict[int, list[str]]:
    """Return the words of the command line of every ovs-vswitchd, by process."""
    names = runner.read_many(runner.glob("/proc/[0-9]*/comm"))
    pids = [
        int(path.split("/")[2])
        for path, name in names.items()
        if isinstance(name, str) and name.startswith(_DAEMON)
    ]
    lines = runner.read_many([f"/proc/{pid}/cmdline" for pid in pids])
    return {
        int(path.split("/")[2]): text.split("\0")
        for path, text in lines.items()
        if isinstance(text, str)
    }
