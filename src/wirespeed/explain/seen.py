# SPDX-License-Identifier: Apache-2.0
"""What did all trials of a point show together, disturbed time included?

Faults do not wait for undisturbed time: a stopped VNF disturbs the trial itself. So whole trials
are added up here, but for those that only warm up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from wirespeed.explain.loss import first_loss, total_drops
from wirespeed.model.plan.plan import Plan
from wirespeed.model.result.change import Change
from wirespeed.model.result.evidence import DisturbanceKind, Source
from wirespeed.model.result.hop_counts import Counted, DropCause
from wirespeed.model.result.observation import Competitor, Observation, PollingThread
from wirespeed.model.result.result import SearchResult
from wirespeed.model.result.thread_time import ThreadTime, Throttle
from wirespeed.model.result.trial import Stage, Trial

# How Open vSwitch names its polling threads.
PMD = "pmd-"
_NOT_JUDGED = (Stage.WARM_UP, Stage.LATENCY)
# Rings between the generator and what is measured, which overflow when somebody is too slow.
RINGS_OF_SUT = frozenset(
    {DropCause.RX_RING_FULL, DropCause.VHOST_TX_RING_FULL, DropCause.VNF_TX_RING_FULL,
     DropCause.VNF_RX_RING_FULL, DropCause.BACKLOG_FULL, DropCause.SOCKET_FULL}
)  # fmt: skip


@dataclass(slots=True)
class Spent:
    """Where the time of one polling thread went over trials, in ns, with its CPUs."""

    role: str
    cpus: set[int] = field(default_factory=set)
    elapsed_ns: int = 0
    waiting_ns: int = 0
    asleep_ns: int = 0
    stopped_ns: int = 0
    stops: int = 0
    sleeps: bool = False
    stopped_by: str = ""
    throttle: Throttle | None = None
    throttled: int = 0

    @property
    def not_running_ns(self) -> int:
        return self.waiting_ns + self.asleep_ns + self.stopped_ns


@dataclass(frozen=True, slots=True)
class Fate:
    """Frames that were to be sent, and which shares of them were lost, and not sent."""

    intended: int
    lost: float
    unsent: float


@dataclass(frozen=True, slots=True)
class Changed:
    """Settings that changed during a trial or between it and the one before it.

    number: of that trial, from 1. before, after: what became of the frames of the trials before it,
    and from it on; None where no trial was before it: there is nothing to compare with.
    """

    number: int
    changes: tuple[Change, ...]
    before: Fate | None
    after: Fate

    @property
    def lost(self) -> float:
        """Frames lost from then on, beyond the share that was lost before."""
        return self._beyond(lambda fate: fate.lost)

    @property
    def unsent(self) -> float:
        """The same of frames that the generator gave up."""
        return self._beyond(lambda fate: fate.unsent)

    def _beyond(self, share: Callable[[Fate], float]) -> float:
        if self.before is None:
            return 0.0
        return max(0.0, share(self.after) - share(self.before)) * self.after.intended


@dataclass(slots=True)
class Seen:
    """Sums over trials. Times in ns.

    held: whether one load was held. A search drives the SUT to its limit, where some ring must
    overflow: that by itself says nothing there.
    stops: by role and source, how long threads were away; longest: the longest of each. beyond: by
    role, how long that was after a ring had filled, each time. waits: by
    name of a thread, how long it waited for its CPU. shares: of competitors by name and CPU, of all
    the time; beside: the last of each. spent: of polling threads by name. planned: CPUs that the
    plan gives each of these. interrupts: by CPU and source; softirq_ns: time that they took, by the
    same. load_fps: the mean. pmd_nodes,
    other_nodes: the NUMA nodes that the switch's threads, and all others, poll on.
    """

    held: bool = False
    ring_frames: int = 0
    time_ns: int = 0
    intended: int = 0
    offered: int = 0
    unsent: int = 0
    steal_ns: int = 0
    drops: Counter[tuple[str, DropCause]] = field(default_factory=Counter)
    events: Counter[tuple[str, Counted]] = field(default_factory=Counter)
    queues: Counter[tuple[str, int]] = field(default_factory=Counter)
    stops: Counter[tuple[str, Source]] = field(default_factory=Counter)
    beyond: Counter[str] = field(default_factory=Counter)
    longest: dict[tuple[str, Source], int] = field(default_factory=dict)
    waits: Counter[str] = field(default_factory=Counter)
    shares: Counter[tuple[str, int]] = field(default_factory=Counter)
    pmd_nodes: set[int] = field(default_factory=set)
    other_nodes: set[int] = field(default_factory=set)
    spent: dict[str, Spent] = field(default_factory=dict)
    interrupts: Counter[tuple[int, str]] = field(default_factory=Counter)
    softirq_ns: Counter[tuple[int, str]] = field(default_factory=Counter)
    beside: dict[tuple[str, int], Competitor] = field(default_factory=dict)
    changed: list[Changed] = field(default_factory=list)
    planned: Mapping[str, AbstractSet[int]] = field(default_factory=dict)
    forwarding: set[int] = field(default_factory=set)
    generating: set[int] = field(default_factory=set)

    @property
    def lost(self) -> int:
        """Frames that a hop dropped, or that were lost without trace. Unsent ones are not lost."""
        return sum(self.drops.values())

    @property
    def load_fps(self) -> float:
        return self.intended / self.time_ns * 1e9 if self.time_ns else 0.0

    def away_ns(self, *roles: str) -> int:
        """How long threads of these roles were away, by whatever shows it."""
        return sum(ns for (role, _), ns in self.stops.items() if role in roles)

    def competitor(self, cpus: set[int]) -> tuple[str, int, float]:
        """Which other program used one of these CPUs most: its name, the CPU, its share of the
        time; nobody's is 0."""
        here = {key: ns for key, ns in self.shares.items() if key[1] in cpus}
        if not here or not self.time_ns:
            return "", -1, 0.0
        name, cpu = max(here, key=lambda key: here[key])
        return name, cpu, here[name, cpu] / self.time_ns

    def generates(self, name: str) -> bool:
        """Return whether a polling thread ran on a CPU that generates."""
        spent = self.spent[name]
        return spent.role == "generator" or not self.generating.isdisjoint(spent.cpus)

    def frames_in(self, time_ns: float) -> float:
        """What is offered in so much time."""
        return time_ns * self.load_fps / 1e9

    def dropped(self, causes: Iterable[DropCause], at: str = "") -> int:
        """Frames lost for these causes at hops whose name begins so."""
        wanted = frozenset(causes)
        return sum(n for (hop, cause), n in self.drops.items()
                   if cause in wanted and hop.startswith(at))  # fmt: skip


def seen(result: SearchResult, plan: Plan | None = None) -> Seen:
    """All trials of the point that are judged; of a search those up to the load that first lost
    frames, since what gives way later follows from that."""
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
    """The CPUs that the plan gives a polling thread; none where it does not name them."""
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
    """Open vSwitch's threads tell what they deleted up to a second later: maybe in another
    trial."""
    for event in trial.observation.events:
        if event.what is Counted.FLOWS_DELETED:
            found.events[event.hop, event.what] += event.count


def _ring_ns(observation: Observation) -> float:
    """How long the shallowest ring of a direction takes to fill; 0 where that is not known."""
    one_way_fps = observation.intended_load_fps / max(1, len(observation.directions))
    return 1e9 * observation.ring_frames / one_way_fps if one_way_fps else 0.0


def _judged(result: SearchResult) -> list[Trial]:
    usable = [t for t in result.trials if t.stage not in _NOT_JUDGED and t.fault is None]
    if not _held(result):  # What one placement carries may overload the SUT in another.
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
    for event in observation.events:
        found.events[event.hop, event.what] += event.count
    for queue in observation.queues:
        found.queues[queue.port, queue.queue] += queue.frames
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


def taken(observation: Observation, other: Competitor) -> float:
    """Return the share of the time that a competitor took from the threads that poll on its CPU.

    What they did not wait for, they left to it: they were stopped, asleep or throttled.
    """
    times = [t.time for t in observation.threads if t.cpu == other.cpu and t.time is not None]
    waited = (_waited_ns(time) / time.elapsed_ns for time in times if time.elapsed_ns)
    return min(other.share, max(waited, default=1.0))


def _waited_ns(time: ThreadTime) -> int:
    """Return how long a thread waited for others, not for its quota."""
    throttled_ns = time.throttle.throttled_ns if time.throttle is not None else 0
    return max(0, time.waiting_ns - throttled_ns)


def _add_time(found: Seen, thread: PollingThread) -> None:
    """Of a version that did not account for it, nothing."""
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
    spent.sleeps = spent.sleeps or thread.sleeps
    if time.stopped_ns:
        spent.stopped_by = time.stopped_by or spent.stopped_by
    if time.throttle is not None:
        spent.throttle = time.throttle
        spent.throttled += time.throttle.times
