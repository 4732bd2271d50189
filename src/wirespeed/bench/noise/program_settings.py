# SPDX-License-Identifier: Apache-2.0
"""Read the settings of a bench's programs and of their threads from /proc."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence

from wirespeed.bench.interface import Part
from wirespeed.bench.noise.cgroups import Cgroups
from wirespeed.remote.interface import Runner

# Settings by id of the process or thread, and by name for people. A restarted one has other ids.
ThreadSettings = dict[tuple[int, str], str]

_POLICIES = {
    os.SCHED_OTHER: "other", os.SCHED_FIFO: "fifo", os.SCHED_RR: "rr",
    os.SCHED_BATCH: "batch", os.SCHED_IDLE: "idle", 6: "deadline",
}  # fmt: skip
_STATES = {"T": "stopped", "t": "traced"}
_STATUS = re.compile(r"^(Cpus_allowed_list|HugetlbPages):\s*(\S+)", re.MULTILINE)


def thread_names(runner: Runner, parts: Sequence[Part]) -> Mapping[int, str]:
    """Return the names of all programs' threads, by id.

    A polling thread has its own name. Another thread has the component's name and the kernel's,
    e.g. "vnf0/qemu-system-x86".
    """
    owners = {pid: part.name for part in parts for pid in part.programs}
    paths = runner.glob(*(f"/proc/{pid}/task/[0-9]*/comm" for pid in owners))
    found = {
        int(path.split("/")[4]): f"{owners[int(path.split('/')[2])]}/{text.strip()}"
        for path, text in runner.read_many(paths).items()
        if isinstance(text, str)
    }
    return found | {poller.tid: poller.name for part in parts for poller in part.pollers()}


def thread_settings(runner: Runner, names: Mapping[int, str], groups: Cgroups) -> ThreadSettings:
    """Read CPUs, policy, priorities and cgroups of each thread; an ended thread has none."""
    paths = {tid: f"/proc/{tid}/task/{tid}" for tid in names}
    files = runner.read_many([f"{p}/{f}" for p in paths.values() for f in ("status", "stat")])
    found: ThreadSettings = {}
    for tid, name in names.items():
        status, stat = (files[f"{paths[tid]}/{file}"] for file in ("status", "stat"))
        if isinstance(status, str) and isinstance(stat, str):
            said = {**_scheduled(status, stat), **_grouped(groups, tid)}
            found |= {(tid, f"{name}: {what}"): value for what, value in said.items()}
    return found


def _scheduled(status: str, stat: str) -> Mapping[str, str]:
    fields = stat.rpartition(")")[2].split()
    return {
        "CPUs": dict(_STATUS.findall(status)).get("Cpus_allowed_list", ""),
        "policy": _POLICIES.get(int(fields[38]), fields[38]),
        "nice": fields[16],
        "real-time priority": fields[37],
    }


def _grouped(groups: Cgroups, tid: int) -> Mapping[str, str]:
    of_it = groups.by_thread.get(tid)
    if of_it is None:
        return {}
    directories = " ".join(each.directory for each in of_it) or "none"
    return {"cgroups": directories, **{k: v for each in of_it for k, v in each.settings()}}


def program_settings(runner: Runner, parts: Sequence[Part]) -> Mapping[str, str]:
    """Read the command line and state of each program, and its mapped huge pages.

    A program that was restarted with the same arguments has the same settings.
    """
    found: dict[str, str] = {}
    for part in parts:
        for pid in part.programs:
            files = runner.read_many([f"/proc/{pid}/{name}" for name in ("cmdline", "stat")])
            command, stat = files.values()
            if isinstance(command, str) and isinstance(stat, str):
                name = f"{part.name}/{stat.partition('(')[2].rpartition(')')[0]}"
                state = stat.rpartition(")")[2].split()[0]
                found[f"{name}: state"] = _STATES.get(state, "running")
                found |= {f"{name}: {key}": value for key, value in _options(command)}
    return found


def _options(command: str) -> Iterator[tuple[str, str]]:
    """Yield the options of a command line with their values; equal options are joined."""
    found: dict[str, list[str]] = {}
    option = "command"
    for word in command.rstrip("\0").split("\0"):
        if word.startswith("-"):
            option, equals, value = word.partition("=")
            found.setdefault(option, []).extend([value] if equals else [])
        else:
            found.setdefault(option, []).append(word)
    yield from ((name, " ".join(values) or "given") for name, values in found.items())


def huge_pages_kib(runner: Runner, parts: Sequence[Part]) -> int:
    """Return the huge page memory that the programs have mapped, in KiB."""
    paths = [f"/proc/{pid}/status" for part in parts for pid in part.programs]
    texts = (text for text in runner.read_many(paths).values() if isinstance(text, str))
    return sum(int(dict(_STATUS.findall(text)).get("HugetlbPages", 0)) for text in texts)
