# SPDX-License-Identifier: Apache-2.0
"""Blame what took CPU time from a polling thread: quota, stop, sleep, poller or interrupts.

A suspect explains at most the frames that were offered while its thread did not run.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from wirespeed.explain.seen import PMD, RINGS_OF_SUT, Seen, Spent
from wirespeed.explain.suspect import MUCH, PLAINLY, STRAY, Suspect, figure
from wirespeed.model.result.explanation import EvidenceFigure, Explanation, Proposal
from wirespeed.model.result.hop_counts import DropCause
from wirespeed.model.result.thread_time import MANY_INTERRUPTS_PER_S, MUCH_SOFTIRQ_TIME
from wirespeed.model.words import counted, share

_SWITCH, _GENERATOR = "switch", "tg"
_SHARE = "pollers_share_cpu"
# A disk serves a page within this time; a thread that waited longer was stopped by something else.
_LONGEST_FAULT_NS = 100_000_000


def threads(found: Seen) -> Iterator[Suspect]:
    """Yield the most specific suspect of each polling thread that was off-CPU for long."""
    for name, spent in found.spent.items():
        if not spent.elapsed_ns:
            continue
        explanation = (
            _throttled(name, spent)
            or _paged(name, spent)
            or _stopped(name, spent)
            or _asleep(name, spent)
            or _beside_poller(found, name, spent)
        )
        if explanation is not None:
            # Pollers that share a CPU by plan always wait, so another suspect may matter more.
            as_planned = explanation.limit == _SHARE and not _strayed(found, name)
            much = spent.not_running_ns > PLAINLY * spent.elapsed_ns and not as_planned
            frames = explains(found, name, spent.not_running_ns)
            no_loss = frames <= STRAY * found.intended
            yield Suspect(frames, explanation, certain=much, harmless=no_loss)


def explains(found: Seen, name: str, away_ns: float) -> float:
    """Return the lost frames that such a time without polls of the thread can explain, at most.

    They are bounded by the frames offered in that time. On a generator CPU, unsent frames count as
    well. Frames for a VNF that was not connected are none of them: a slow reader stays connected.
    """
    spent = found.spent[name]
    lost = found.dropped((*RINGS_OF_SUT, DropCause.UNKNOWN))
    if found.generates(name):
        lost += found.unsent + found.dropped({DropCause.TG_RX_RING_FULL})
    return min(lost, away_ns / spent.elapsed_ns * found.intended)


def _throttled(name: str, spent: Spent) -> Explanation | None:
    limit = spent.throttle
    if limit is None or not spent.throttled or spent.not_running_ns < MUCH * spent.elapsed_ns:
        return None
    return Explanation(
        "throttled",
        f"{name} did not run for {share(spent.not_running_ns / spent.elapsed_ns)} of the time, "
        f"although it was ready: cgroup {limit.cgroup} may use {limit.quota_us:,} of each "
        f"{limit.period_us:,} \N{MICRO SIGN}s of CPU time, and its quota was used up "
        f"{counted(spent.throttled, 'time')}.",
        (*account(name, spent), figure("times throttled", spent.throttled, "1"),
         figure("quota", limit.cpus, "CPUs")),
        Proposal(f"Remove the CPU quota of cgroup {limit.cgroup}.", "cpu.max, or cpu.cfs_quota_us"),
        hop=thread_hop(name, spent),
    )  # fmt: skip


def _paged(name: str, spent: Spent) -> Explanation | None:
    """Blame pages that the kernel read from a disk or from swap while the thread waited."""
    away_ns = spent.stopped_ns + spent.asleep_ns
    often = spent.major_faults and spent.major_faults >= spent.left_cpu / 2
    slow = away_ns > _LONGEST_FAULT_NS * spent.major_faults
    if spent.stopped_by or slow or away_ns < MUCH * spent.elapsed_ns or not often:
        return None
    return Explanation(
        "page_faults",
        f"{name} waited for {counted(spent.major_faults, 'page')} that the kernel read from a disk "
        f"or from swap, {share(away_ns / spent.elapsed_ns)} of the time: its memory had been "
        "evicted.",
        (*account(name, spent), figure(f"major page faults of {name}", spent.major_faults, "1")),
        Proposal("Lock its memory (mlockall), and give the host more; see VmSwap in its status."),
        hop=thread_hop(name, spent),
    )


def _stopped(name: str, spent: Spent) -> Explanation | None:
    if spent.stopped_ns < MUCH * spent.elapsed_ns:
        return None
    how = spent.stopped_by or (
        "a signal, a freezer, a tracer or a lock; it ran again as the traffic ended, and the "
        "kernel keeps no record of which"
    )  # fmt: skip
    return Explanation(
        "poller_stopped" if thread_hop(name, spent) in (_SWITCH, _GENERATOR) else "vnf_stopped",
        f"{name} was stopped for {spent.stopped_ns / 1e6:,.0f} ms "
        f"({share(spent.stopped_ns / spent.elapsed_ns)} of the time) in "
        f"{counted(max(1, spent.stops), 'piece')}, although no other thread took its CPU: {how}.",
        account(name, spent),
        Proposal(f"Find out what stops {name}."),
        hop=thread_hop(name, spent),
    )


def _asleep(name: str, spent: Spent) -> Explanation | None:
    if spent.sleeps or spent.asleep_ns < MUCH * spent.elapsed_ns:
        return None
    hop = thread_hop(name, spent)
    setting = "other_config:pmd-maxsleep, pmd-sleep-max" if name.startswith(PMD) else None
    late = "are offered late or not at all" if hop == _GENERATOR else "wait until it wakes up"
    return Explanation(
        "poller_asleep"
        if hop == _SWITCH
        else "generator_slow"
        if hop == _GENERATOR
        else "slow_vnf",
        f"{name} slept between polls for {share(spent.asleep_ns / spent.elapsed_ns)} of the time, "
        f"although the plan lets it poll all the time: frames {late}.",
        account(name, spent),
        Proposal("Let the thread poll without sleeping.", setting),
        hop=hop,
    )


def _beside_poller(found: Seen, name: str, spent: Spent) -> Explanation | None:
    """Blame two polling threads on one CPU, once, for the thread that waited longer.

    A plan may intend that, so it is a cause only if frames were lost. If another program used the
    CPU for half of the wait, that program is the cause.
    """
    waited = spent.waiting_ns / spent.elapsed_ns
    others = [
        other
        for other, theirs in found.spent.items()
        if other != name
        and spent.cpus & theirs.cpus
        and theirs.waiting_ns > MUCH * theirs.elapsed_ns
    ]
    longest = max((name, *others), key=lambda each: found.spent[each].waiting_ns)
    used = found.competitor(spent.cpus)[2]
    if not others or longest != name or waited < max(MUCH, 2 * used):
        return None
    if explains(found, name, spent.not_running_ns) <= STRAY * found.intended:
        return None
    both = (name, *others)
    cpus = _listed({cpu for other in others for cpu in spent.cpus & found.spent[other].cpus})
    strayed = [told for each in both if (told := _strayed(found, each))]
    planned = f"{'; '.join(strayed)}." if strayed else "The plan has it so."
    return Explanation(
        _SHARE,
        f"{name} and {' and '.join(others)} polled on CPU {cpus} in turns: {name} waited for "
        f"{share(waited)} of the time, and no other program used that CPU for as long. {planned}",
        tuple(f for each in both for f in account(each, found.spent[each])),
        Proposal("Give each polling thread a CPU of its own; isolation does not help here."),
        hop=thread_hop(name, spent),
    )


def _strayed(found: Seen, name: str) -> str | None:
    """Describe where a thread ran outside its planned CPUs; None if it did not."""
    planned, ran = found.planned.get(name), found.spent[name].cpus
    if not planned or ran <= planned:
        return None
    return f"{name} ran on CPU {_listed(ran)}, the plan gives it CPU {_listed(planned)}"


def moved(found: Seen) -> Iterator[Suspect]:
    """Blame changed affinity of threads; by itself it costs no frames."""
    for name, spent in found.spent.items():
        if told := _strayed(found, name):
            frames = explains(found, name, spent.not_running_ns)
            yield Suspect(frames, Explanation(
                "poller_moved", f"{told}: somebody changed its affinity.", account(name, spent),
                Proposal(f"Pin {name} where the plan has it (taskset)."),
                hop=thread_hop(name, spent),
            ), certain=True, harmless=frames <= STRAY * found.intended)  # fmt: skip


def _listed(cpus: AbstractSet[int]) -> str:
    return ", ".join(map(str, sorted(cpus)))


def interrupts(found: Seen) -> Iterator[Suspect]:
    """Blame interrupts of one source that were too frequent, or took too long, on a polling CPU."""
    if not found.time_ns:
        return
    for (cpu, source), count in found.interrupts.most_common():
        per_s = count / found.time_ns * 1e9
        taken = found.softirq_ns[cpu, source] / found.time_ns
        if per_s < MANY_INTERRUPTS_PER_S and taken < MUCH_SOFTIRQ_TIME:
            continue
        forwards = cpu in found.forwarding
        lost = found.dropped(RINGS_OF_SUT) + (0 if forwards else found.unsent)
        time = f"; softirqs took {share(taken)} of its time" if taken else ""
        yield Suspect(lost, Explanation(
            "interrupts",
            f"{source} interrupted CPU {cpu}, which {'forwards' if forwards else 'generates'}, "
            f"{per_s:,.0f} times a second{time}.",
            (figure(f"{source} on CPU {cpu}", per_s, "1/s"),
             figure(f"softirqs on CPU {cpu}", taken, "ratio"), figure("lost", lost, "frames")),
            Proposal("Move the source of these interrupts to another CPU.",
                     "/proc/irq/N/smp_affinity_list for a device"),
            hop=_SWITCH if forwards else _GENERATOR,
        ), certain=True, harmless=lost <= STRAY * found.intended)  # fmt: skip


def thread_hop(name: str, spent: Spent) -> str:
    """Return the hop that the thread belongs to: switch, network function or generator."""
    if spent.role == "generator":
        return _GENERATOR
    owner, slash, _ = name.partition("/")
    return owner if slash and not name.startswith(PMD) else _SWITCH


def account(name: str, spent: Spent) -> tuple[EvidenceFigure, ...]:
    """Return the use of a thread's time as evidence."""
    ran_ns = spent.elapsed_ns - spent.not_running_ns
    return (
        figure(f"{name} on its CPU", ran_ns, "ns"),
        figure(f"{name} waiting", spent.waiting_ns, "ns"),
        figure(f"{name} stopped", spent.stopped_ns, "ns"),
        figure(f"{name} asleep", spent.asleep_ns, "ns"),
    )  # fmt: skip
