# SPDX-License-Identifier: Apache-2.0
"""How do polling threads get their CPUs rather than other programs of their host?

nice -20 for the bench and for whoever asks its questions, with the scheduler's autogroups off (with
them, niceness counts only within a session). That is for as long as the bench is up.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

from wirespeed.bench.host.host import Host
from wirespeed.bench.host.root import effective_user
from wirespeed.remote.interface import HostUnreachable, Runner

_AUTOGROUP = "kernel.sched_autogroup_enabled"
_MOST_URGENT = -20
# From this shell up to the first process that is sshd (sshd-session since OpenSSH 9.8): the agent
# that runs our commands is between them. A nice value is that of one thread.
_RENICE_SSHD = """
pid=$$ threads=
while [ "$pid" -gt 1 ]; do
  read -r name <"/proc/$pid/comm"
  threads="$threads $(ls "/proc/$pid/task")"
  case $name in sshd*) exec renice -n "$1" -p $threads >/dev/null;; esac
  pid=$(sed 's/.*) . //; s/ .*//' "/proc/$pid/stat")
done
"""


@contextmanager
def polling_first(host: Host) -> Iterator[str]:
    """What is started on the host from now on gets its CPUs first; yields what was done.

    So do we, on whichever host we are, and the sshd that serves us.
    """
    with _asking_first() as raised, ExitStack() as stack:
        if not (raised if host.is_local else effective_user(host.runner) == "0"):
            yield f"nice {os.getpriority(os.PRIO_PROCESS, 0)}: only root may ask for more"
            return
        if not host.is_local:
            stack.enter_context(_served_first(host.runner))
        host.nice = _MOST_URGENT
        try:
            hindrance = host.set_sysctl(_AUTOGROUP, "0")
            yield f"nice {_MOST_URGENT}, {hindrance or 'autogroups off'}"
        finally:
            host.nice = None


@contextmanager
def _served_first(runner: Runner) -> Iterator[None]:
    """The sshd of our connection, and every command over it: on a host whose CPUs all poll, each
    would wait for its turn a quarter of a second. That ends with the connection, too."""
    before = runner.run(["nice"]).stdout.strip()
    runner.run(["sh", "-c", _RENICE_SSHD, "sh", str(_MOST_URGENT)])
    try:
        yield
    finally:
        with suppress(HostUnreachable):
            runner.run(["sh", "-c", _RENICE_SSHD, "sh", before])


@contextmanager
def _asking_first() -> Iterator[bool]:
    """Our own priority; whether it could be raised."""
    before = os.getpriority(os.PRIO_PROCESS, 0)
    try:
        os.setpriority(os.PRIO_PROCESS, 0, _MOST_URGENT)
    except PermissionError:
        yield False
        return
    try:
        yield True
    finally:
        os.setpriority(os.PRIO_PROCESS, 0, before)
