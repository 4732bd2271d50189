# SPDX-License-Identifier: Apache-2.0
"""Find out without traffic which gaps the CPUs of this host have, and which rings they need."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise

from wirespeed.bench.interface import BenchError
from wirespeed.bench.noise import interrupts
from wirespeed.bench.program.wsdp import Wsdp
from wirespeed.model.cpus import CpuPair, CpuPlacement, Placed
from wirespeed.qualify.attribute import Gap, interrupters, with_counts
from wirespeed.qualify.pollers import polling
from wirespeed.qualify.qualification import BusyInterrupt, Qualification, QualifiedCpu
from wirespeed.qualify.rings import backlog_ns, ring_needs
from wirespeed.qualify.slices import GAP_LIMIT_NS, Slice, SliceRecorder
from wirespeed.remote.interface import Runner
from wirespeed.sources.interrupts import Counts, read_interrupts
from wirespeed.sources.scheduler import steal_by_cpu
from wirespeed.sources.smi import smi_counts

_INTERRUPTS = 3


class Counted:
    """Counts of the kernel and the processor at one moment."""

    def __init__(self, runner: Runner, cpus: Collection[int]) -> None:
        self.steal: Mapping[int, int] = steal_by_cpu(runner.read("/proc/stat"))
        self.smis = smi_counts(cpus)
        self.interrupts: Counts = read_interrupts(runner, cpus)

    def steal_since(self, before: Counted, cpu: int) -> int:
        """Return the steal time of a CPU in ns."""
        return self.steal.get(cpu, 0) - before.steal.get(cpu, 0)

    def smis_since(self, before: Counted, cpu: int) -> int | None:
        """Return the SMIs of a CPU; None where it does not tell."""
        if cpu not in self.smis or cpu not in before.smis:
            return None
        return self.smis[cpu] - before.smis[cpu]

    def busiest_since(self, before: Counted, cpu: int, elapsed_s: float) -> Iterable[BusyInterrupt]:
        seen = interrupts.since(before.interrupts, self.interrupts, elapsed_s)
        of_it = [each for each in seen if each.cpu == cpu]
        return (BusyInterrupt(each.source, each.per_s) for each in of_it[:_INTERRUPTS])


def qualify(
    runner: Runner, cpus: Sequence[int], allowed: Collection[int], seconds: float
) -> Qualification:
    """Poll on these CPUs for some time and return their gaps. Raises BenchError.

    allowed: CPUs that a program may use here.
    """
    with polling(runner, cpus, allowed) as (program, priority):
        placed, unplaced = _placed(program, cpus)
        pollers = {seen["cpu"]: seen["tid"] for seen in program.ask("lcores").values()}
        recorder = SliceRecorder(program, runner, program.tsc_hz, pollers)
        before = Counted(runner, cpus)
        slices = list(recorder.slices(seconds))
        after = Counted(runner, cpus)
        placed_after, unplaced_after = _placed(program, cpus)
    found = tuple(_cpu(cpu, slices, before, after) for cpu in cpus)
    unseen = [each for one in slices for each in one.unseen] + unplaced + unplaced_after
    return Qualification(
        watched_s=sum(one.watched_s for one in slices),
        gap_limit_ns=GAP_LIMIT_NS,
        priority=priority,
        cpus=found,
        rings=ring_needs(max(each.backlog_ns for each in found)),
        moved=None if placed is None or placed_after is None else placed != placed_after,
        unseen=tuple(dict.fromkeys(unseen)),
        host=runner.read("/proc/sys/kernel/hostname").strip(),
    )


def _cpu(cpu: int, slices: Sequence[Slice], before: Counted, after: Counted) -> QualifiedCpu:
    steal_ns, smis = after.steal_since(before, cpu), after.smis_since(before, cpu)
    gaps = with_counts([gap for one in slices for gap in one.gaps[cpu]], steal_ns, smis or 0)
    longest = max(gaps, key=lambda gap: gap.length_ns, default=None)
    elapsed_s = sum(one.watched_s for one in slices)
    return QualifiedCpu(
        cpu=cpu,
        gaps=len(gaps),
        longest_ns=longest.length_ns if longest else 0,
        longest_by=longest.words if longest else "",
        total_ns=sum(gap.length_ns for gap in gaps),
        backlog_ns=max((backlog_ns(_times(one.gaps[cpu])) for one in slices), default=0),
        interrupters=interrupters(gaps),
        interrupts=tuple(after.busiest_since(before, cpu, elapsed_s)),
        steal_ns=steal_ns,
        smis=smis,
    )


def _times(gaps: Iterable[Gap]) -> Iterable[tuple[int, int]]:
    return ((gap.begin_ns, gap.length_ns) for gap in gaps)


def _placed(program: Wsdp, cpus: Sequence[int]) -> tuple[Placed | None, list[str]]:
    """Return what each CPU shares with the next one, or why that is not known.

    Neighbours alone: of all pairs there are too many on a large host.
    """
    pairs = []
    for a, b in pairwise(cpus):
        try:
            found = program.placement(a, b)
        except BenchError as error:
            return None, [f"where the CPUs are is not known: {error.what}"]
        pairs.append(CpuPair("", (a, b), found.core_to_core_ns, found.slowdown))
    placement = CpuPlacement.of(tuple(pairs))
    return (None if placement is None else placement.placed), []
