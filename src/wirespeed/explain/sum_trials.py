# SPDX-License-Identifier: Apache-2.0
"""Sum what all trials of a point showed, including time with noise.

A fault is noise itself: a stopped VNF makes its trial noisy. So whole trials are summed here,
except warm-ups.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from wirespeed.explain.loss import first_loss, total_drops
from wirespeed.explain.seen import PMD, Changed, Disturbed, Fate, Seen, Spent
from wirespeed.model.plan.plan import Plan
from wirespeed.model.result.evidence import DisturbanceKind
from wirespeed.model.result.hop_counts import Counted
from wirespeed.model.result.observation import Competitor, Observation, PollingThread
from wirespeed.model.result.result import SearchResult
from wirespeed.model.result.thread_time import ThreadTime
from wirespeed.model.result.trial import Stage, Trial

_NOT_JUDGED = (Stage.WARM_UP, Stage.LATENCY)


def seen(result: SearchResult, plan: Plan | None = None) -> Seen:
    """Sum the trials of the point that are judged.

    A search is summed up to the load of the first loss, because later losses follow from it.
    """
    found = Seen(held=_held(result))
    judged = _judged(result)
    for trial in judged:
        _add(found, trial)
    known = {id(trial) for trial in judged}
    for trial in result.trials:
        if id(trial) not in known:
            _add_late(found, trial)
    found.changed = list(_changed(result.trials))
    if plan is not None:
        found.planned = {name: _planned(plan, name, spent) for name, spent in found.spent.items()}
    return found


def _held(result: SearchResult) -> bool:
    return result.ndr is None and result.pdr is None and result.mrr_fps is None


def _planned(plan: Plan, name: str, spent: Spent) -> AbstractSet[int]:
    """Return the CPUs that the plan assigns to a polling thread; empty if unknown."""
    sut, generator = plan.sut_host, plan.generator_host.generator
    if spent.role == "generator":
        shared = set() if sut.partner is None else set(sut.partner.pmd_cpus.value)
        return shared | set(generator.cpus.value if generator is not None else ())
    if name.startswith(PMD):
        return set(sut.vswitch.pmd_cpus.value) if sut.vswitch is not None else set()
    owner = name.partition("/")[0]
    of_it = [guest for guest in sut.guests if guest.name == owner]
    return {cpu for g in of_it for cpu in (g.floats_over or g.cpus).value}


def _changed(trials: Sequence[Trial]) -> Iterator[Changed]:
    for number, trial in enumerate(trials, start=1):
        if not trial.observation.changes:
            continue
        earlier = trials[: number - 1]
        before = _fate(earlier) if earlier else None
        yield Changed(number, trial.observation.changes, before, _fate(trials[number - 1 :]))


def _fate(trials: Sequence[Trial]) -> Fate:
    intended = sum(trial.observation.total("intended") for trial in trials)
    unsent = sum(trial.observation.total("unsent") for trial in trials)
    lost = sum(trial.lost for trial in trials)
    return Fate(intended, lost / max(1, intended), unsent / max(1, intended))


def _add_late(found: Seen, trial: Trial) -> None:
    """Add events that Open vSwitch reports up to a second late, maybe in an unjudged trial."""
    for event in trial.observation.events:
        if event.what is Counted.FLOWS_DELETED:
            found.events[event.hop, event.what] += event.count


def _ring_ns(observation: Observation) -> float:
    """Return the time in which the smallest ring of a direction fills; 0 if unknown."""
    one_way_fps = observation.intended_load_fps / max(1, len(observation.directions))
    return 1e9 * observation.ring_frames / one_way_fps if one_way_fps else 0.0


def _judged(result: SearchResult) -> list[Trial]:
    usable = [t for t in result.trials if t.stage not in _NOT_JUDGED and t.fault is None]
    if not _held(result):  # A load that fits one CPU placement may overload another.
        usable = [t for t in usable if not result.elsewhere(t)]
    first = first_loss(usable, result)
    if first is None:
        return usable
    return [t for t in usable if t.intended_load_fps <= first[1].intended_load_fps]


def _add(found: Seen, trial: Trial) -> None:
    observation = trial.observation
    length_ns = round(trial.duration_s * 1e9)
    found.ring_frames = observation.ring_frames
    found.time_ns += length_ns
    found.intended += observation.total("intended")
    found.offered += observation.total("offered")
    found.unsent += observation.total("unsent")
    found.steal_ns += observation.steal_ns
    for drop in total_drops(trial):
        found.drops[drop.hop, drop.cause] += abs(drop.frames)
        if drop.direction:
            found.unclosed[drop.hop, drop.direction] += abs(drop.frames)
    for event in observation.events:
        found.events[event.hop, event.what] += event.count
    for queue in observation.queues:
        found.queues[queue.port, queue.queue] += queue.frames
    _add_disturbed(found, trial)
    for each in observation.evidence.disturbances:
        if each.kind is DisturbanceKind.STOPPED:
            key = (each.role, each.source)
            found.stops[key] += each.length_ns
            found.longest[key] = max(found.longest.get(key, 0), each.length_ns)
            found.beyond[each.role] += max(0, each.length_ns - round(_ring_ns(observation)))
    for thread in observation.threads:
        found.waits[thread.name] += thread.runqueue_wait_ns
        (found.forwarding if thread.role == "sut" else found.generating).add(thread.cpu)
        if thread.node is not None:
            pmd = thread.name.startswith(PMD)
            (found.pmd_nodes if pmd else found.other_nodes).add(thread.node)
        _add_time(found, thread)
    for other in observation.competitors:
        found.shares[other.name, other.cpu] += round(taken(observation, other) * length_ns)
        found.beside[other.name, other.cpu] = other
    for source in observation.interrupts:
        key_of = source.cpu, source.source
        found.interrupts[key_of] += round(source.per_s * trial.duration_s)
        found.softirq_ns[key_of] += round(source.time_share * length_ns)


def _add_disturbed(found: Seen, trial: Trial) -> None:
    """Add the events of each kind of disturbance, and once the frames of the trial."""
    disturbances = trial.observation.evidence.disturbances
    for kind in {each.kind for each in disturbances}:
        of_kind = found.disturbed.setdefault(kind, Disturbed())
        of_kind.unsent += trial.observation.total("unsent")
        for drop in total_drops(trial):
            of_kind.drops[drop.cause] += abs(drop.frames)
    for each in disturbances:
        found.disturbed[each.kind].events[each.cpu] += each.count


def taken(observation: Observation, other: Competitor) -> float:
    """Return the share of the time that a competitor took from the threads that poll on its CPU.

    Time that these threads did not wait for was free: they were stopped, asleep or throttled.
    """
    times = [t.time for t in observation.threads if t.cpu == other.cpu and t.time is not None]
    waited = (_waited_ns(time) / time.elapsed_ns for time in times if time.elapsed_ns)
    return min(other.share, max(waited, default=1.0))


def _waited_ns(time: ThreadTime) -> int:
    """Return the time that a thread waited for other threads, not for its quota."""
    throttled_ns = time.throttle.throttled_ns if time.throttle is not None else 0
    return max(0, time.waiting_ns - throttled_ns)


def _add_time(found: Seen, thread: PollingThread) -> None:
    """Add a thread's time; results of older versions have none."""
    time = thread.time
    if time is None:
        return
    spent = found.spent.setdefault(thread.name, Spent(thread.role))
    spent.cpus.add(thread.cpu)
    spent.elapsed_ns += time.elapsed_ns
    spent.waiting_ns += time.waiting_ns
    spent.asleep_ns += time.asleep_ns
    spent.stopped_ns += time.stopped_ns
    spent.stops += time.left_cpu if time.stopped_ns else 0
    spent.left_cpu += time.left_cpu
    spent.kernel_ns += time.kernel_ns
    spent.minor_faults += time.minor_faults
    spent.major_faults += time.major_faults
    spent.calls_kernel = spent.calls_kernel or thread.calls_kernel
    spent.sleeps = spent.sleeps or thread.sleeps
    if time.stopped_ns:
        spent.stopped_by = time.stopped_by or spent.stopped_by
    if time.throttle is not None:
        spent.throttle = time.throttle
        spent.throttled += time.throttle.times
