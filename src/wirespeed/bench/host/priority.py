# SPDX-License-Identifier: Apache-2.0
"""Give polling threads priority over other programs of their host.

The bench and its controller run at nice -20 while the bench is up. The scheduler's autogroups are
off meanwhile: with them, niceness counts only within a session.

The controller of a local bench runs by SCHED_RR, too. It sleeps while frames are offered, and reads
counters in between. Where every CPU polls, each of its many short waits would otherwise last a time
slice of a poller: half a second a trial of 0.2 s.
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
# Walks from this shell up to the first sshd (sshd-session since OpenSSH 9.8); the agent that runs
# our commands is in between. Niceness applies to one thread.
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
    """Start programs of the host at high priority from now on; yield what was done.

    The priority of this process and of the sshd that serves it is raised, too.
    """
    with _asking_first() as raised, ExitStack() as stack:
        if not (raised if host.is_local else effective_user(host.runner) == "0"):
            yield f"nice {os.getpriority(os.PRIO_PROCESS, 0)}: only root may ask for more"
            return
        if not host.is_local:
            stack.enter_context(_served_first(host.runner))
        host.nice = _MOST_URGENT
        try:
            done = [f"nice {_MOST_URGENT}", host.set_sysctl(_AUTOGROUP, "0") or "autogroups off"]
            if host.is_local:
                done.append(stack.enter_context(_reading_at_once()))
            yield ", ".join(done)
        finally:
            host.nice = None


@contextmanager
def _served_first(runner: Runner) -> Iterator[None]:
    """Raise the sshd of our connection and its commands, until the connection ends.

    On a host whose CPUs all poll, each command would otherwise wait up to 250 ms for a CPU.
    """
    before = runner.run(["nice"]).stdout.strip()
    runner.run(["sh", "-c", _RENICE_SSHD, "sh", str(_MOST_URGENT)])
    try:
        yield
    finally:
        with suppress(HostUnreachable):
            runner.run(["sh", "-c", _RENICE_SSHD, "sh", before])


@contextmanager
def _asking_first() -> Iterator[bool]:
    """Raise the priority of this process; yield whether that succeeded."""
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


@contextmanager
def _reading_at_once() -> Iterator[str]:
    """Run this process by SCHED_RR; yield what was done. Programs that it starts do not inherit it.

    Short commands that it runs do: it waits for them.
    """
    policy, parameters = os.sched_getscheduler(0), os.sched_getparam(0)
    least = os.sched_param(os.sched_get_priority_min(os.SCHED_RR))
    try:
        os.sched_setscheduler(0, os.SCHED_RR, least)
    except PermissionError:
        yield "controller not SCHED_RR: not permitted"
        return
    try:
        yield "controller SCHED_RR"
    finally:
        os.sched_setscheduler(0, policy, parameters)
