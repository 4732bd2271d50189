# SPDX-License-Identifier: Apache-2.0
"""How were the programs of a TCP run treated: what was stolen, what did they wait, for whom?"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wirespeed.bench.others import Others, Usage, look, others
from wirespeed.bench.threads import steal_ns, waited_ns
from wirespeed.model.tcp import TcpProgram
from wirespeed.remote.interface import Process, Runner


@dataclass(frozen=True, slots=True)
class Program:
    """One end of the test, or the vSwitch. processes: those that run before and after it."""

    name: str
    cpus: frozenset[int]
    processes: tuple[Process, ...] = ()


@dataclass(frozen=True, slots=True)
class Stand:
    """What the kernel has counted so far; steal and waits by program."""

    usage: Mapping[int, Usage]
    steal_ns: Mapping[str, int]
    waited_ns: Mapping[str, int]


def stand(runner: Runner, programs: Sequence[Program]) -> Stand:
    return Stand(
        look(runner),
        {program.name: steal_ns(runner, program.cpus) for program in programs},
        {
            program.name: sum(waited_ns(runner, process.pid) for process in program.processes)
            for program in programs
        },
    )


def between(
    runner: Runner,
    before: Stand,
    after: Stand,
    programs: Sequence[Program],
    ended_waited_ns: Mapping[str, int],
) -> tuple[tuple[TcpProgram, ...], Others]:
    """How each program was treated between two stands, and what others used in that time.

    ended_waited_ns: by program, how long processes waited that lived only in between.
    """
    treated = tuple(
        TcpProgram(
            program.name,
            len(program.cpus),
            (after.steal_ns[program.name] - before.steal_ns[program.name]) / 1e9,
            _waited_ns(program.name, before, after, ended_waited_ns) / 1e9,
        )
        for program in programs
    )
    strangers = others(
        runner,
        before.usage,
        after.usage,
        bench=[process.pid for program in programs for process in program.processes],
        parent=os.getpid(),
        cpus=frozenset().union(*(program.cpus for program in programs)),
    )
    return treated, strangers


def _waited_ns(name: str, before: Stand, after: Stand, ended_waited_ns: Mapping[str, int]) -> int:
    # A thread that has ended takes its count with it.
    waited_ns = max(0, after.waited_ns[name] - before.waited_ns[name])
    return waited_ns + ended_waited_ns.get(name, 0)
