# SPDX-License-Identifier: Apache-2.0
"""Simulate a rig whose SUT forwards at a known rate: the whole flow runs anywhere, instantly.

Its rates are never shown as measurements.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from tests.support import simulated
from wirespeed.model.cpus import CpuPlacement
from wirespeed.model.host.facts import Cpu, HostFacts, Kernel, NumaNode
from wirespeed.model.plan.plan import Decision, HostPlan, Plan, VswitchPlan
from wirespeed.model.result.hop_counts import Drop, DropCause
from wirespeed.model.result.observation import Observation
from wirespeed.model.result.series import Series, SeriesKind
from wirespeed.model.result.tcp import TcpDirectionResult, TcpRun, TcpSample
from wirespeed.model.result.tcp_evidence import ProgramIntervals, TcpEvidence
from wirespeed.model.study.spec import Frames, TcpStreams, Workload
from wirespeed.model.study.tcp import Tcp, TcpDirection
from wirespeed.study.interface import Rig
from wirespeed.study.kinds.tcp import RepeatedTcp

FACTS = HostFacts(
    host="testhost",
    kernel=Kernel("6.1.0", "BOOT_IMAGE=/vmlinuz quiet"),
    cpus=(Cpu(0, siblings=(0,)), Cpu(1, siblings=(1,))),
    nodes=(NumaNode(0, (0, 1), 8_000_000, 6_000_000),),
    cpu_model="Imaginary CPU",
)
PLAN = Plan((HostPlan("testhost", Decision((), "nothing is real here")),))
NOBODY: Decision[tuple[int, ...]] = Decision((), "nothing is real here")
VSWITCH = VswitchPlan(NOBODY, NOBODY, NOBODY, *(Decision(1, "nothing is real here"),) * 3)
SWITCHED = ("p2p", "pvp", "chain", "parallel")


def plan_of(workload: Workload) -> Plan:
    """Return a plan, with a vSwitch where the point has one."""
    if (frames := workload.frames) is not None:
        switched = frames.topology.kind in SWITCHED
    else:
        switched = isinstance(workload, TcpStreams) and workload.tcp.path != "veth"
    return Plan((replace(PLAN.hosts[0], vswitch=VSWITCH if switched else None),))


@dataclass
class FakeBench:
    """Simulates a bench that forwards at most capacity_fps."""

    capacity_fps: float
    before_trial: Callable[[int], None] = lambda _number: None
    """May raise an exception, to break the bench during a run."""
    disturbed_share: float = 0.0
    """Share of the trials that noise disturbs; the host is quiet otherwise."""
    misread_share: float = 0.0
    """Share of the trials whose counters contradict each other."""
    emulated: str | None = None
    placement: CpuPlacement | None = None
    simulation: simulated.Rig = field(init=False)

    def __post_init__(self) -> None:
        self.simulation = simulated.Rig(
            simulated.Sharp(self.capacity_fps),
            generator_fps=10e6,
            disturbed_share=self.disturbed_share,
            misread_share=self.misread_share,
        )

    def measure(self, load_fps: float, duration_s: float) -> Observation:
        self.before_trial(len(self.simulation.calls))
        seen = self.simulation.measure(load_fps, duration_s)
        offered, received = seen.total("offered"), seen.total("received")
        lost = (Drop("impair", DropCause.RX_RING_FULL, offered - received),)
        return replace(
            seen,
            intended_load_fps=10e6 if math.isinf(load_fps) else load_fps,
            drops=lost if offered > received else (),
            placement=(self.placement, self.placement) if self.placement else None,
        )

    def place(self, after_s: float) -> CpuPlacement | None:  # noqa: ARG002
        return self.placement

    def describe(self) -> Mapping[str, object]:
        return {"generator": {"version": "fake 1.0"}}


@dataclass
class FakeTcpBench:
    """Simulates 10 Gbps with offloads and 4 without; each further run is 10% faster.

    Both directions at once have half each. Another stream or a jumbo MTU adds 1%, another queue
    takes 10%.
    """

    tcp: Tcp
    before_run: Callable[[int], None] = lambda _number: None
    is_stolen: Callable[[int, int], bool] = lambda _run, _interval: False
    """True if the hypervisor takes half of (run, interval), with half of its octets."""
    runs: int = 0
    emulated: str | None = None

    def run(self) -> TcpRun:
        self.before_run(self.runs)
        both = self.tcp.direction is TcpDirection.BOTH
        ways = (TcpDirection.UP, TcpDirection.DOWN) if both else (self.tcp.direction,)
        total_bps = (10e9 if self.tcp.offloads else 4e9) * (1 + self.runs / 10)
        total_bps *= 1 + self.tcp.streams / 100 - (self.tcp.queues - 1) / 10 + (
            self.tcp.mtu > 1500) / 100  # fmt: skip
        stolen = [self.is_stolen(self.runs, i) for i in range(10 * self.tcp.seconds)]
        self.runs += 1
        each_bps = total_bps / len(ways) / self.tcp.clients
        return TcpRun(
            tuple(self._way(way, each_bps) for _ in range(self.tcp.clients) for way in ways),
            elapsed_s=self.tcp.seconds + 0.1,
            server_cpu_s=1.0,
            clients_cpu_s=0.5,
            vswitch_cpu_s=2.0 if self.tcp.path == "ovs" else None,
            evidence=intervals(stolen),
            payload=tuple(_octets(way, total_bps / len(ways), stolen) for way in ways),
        )

    def _way(self, direction: TcpDirection, bits_per_second: float) -> TcpDirectionResult:
        samples = tuple(
            TcpSample(at, at * 1000, 90 + at // 10_000, 64_000, 3_000_000, 0, 9_000_000_000, 0)
            for at in range(0, 1_000_000, 250_000)
        )
        received = direction is TcpDirection.DOWN
        ratio, efficiency, delay = (1.5, 92.2, 30.0) if received else (None, None, None)
        return TcpDirectionResult(
            direction,
            round(bits_per_second * self.tcp.seconds / 8),
            bits_per_second,
            7,
            "path",
            ("7 of 90 segments (7.78 %) had to be sent again",),
            ratio,
            efficiency,
            delay,
            (samples,),
        )

    def describe(self) -> Mapping[str, object]:
        return {"speed-test server": {"version": "fake 1.0"}}


TENTH_NS = 100_000_000


def intervals(stolen: Sequence[bool]) -> TcpEvidence:
    """Return intervals of 0.1 s that all count; the hypervisor took half of some."""
    steal_ns = tuple(TENTH_NS // 2 if each else 0 for each in stolen)
    looks = tuple(range(0, TENTH_NS * (len(stolen) + 1), TENTH_NS))
    programs = (ProgramIntervals("server", 1, steal_ns, (0,) * len(stolen)),)
    return TcpEvidence(looks, 0, looks[-1], programs, (0,) * len(stolen))


def _octets(way: TcpDirection, bits_per_second: float, stolen: Sequence[bool]) -> Series:
    each = [bits_per_second / 80 / (2 if half else 1) for half in stolen]
    ends = tuple(TENTH_NS * (i + 1) for i in range(len(stolen)))
    return Series(str(way), "octets", SeriesKind.COUNT, "traffic", ends, tuple(each))


@dataclass
class FakeHost:
    """Counts the benches that it opened and closed."""

    capacity_fps: float | None = None
    """None: the rate is sut.impair.rate_fps."""
    before_trial: Callable[[int], None] = lambda _number: None
    disturbed_share: float = 0.0
    misread_share: float = 0.0
    emulated: str | None = None
    placement: CpuPlacement | None = None
    capacity_of: Callable[[Frames], float] | None = None
    """Rate by the point; None: the same for all points."""
    before_bench: Callable[[int], None] = lambda _number: None
    """May raise an exception, to end a run between its points."""
    opened: list[Workload] = field(default_factory=list)
    closed: int = 0

    @property
    def rig(self) -> Rig:
        return Rig(FACTS, plan_of, self._open, self.open_own)

    @contextmanager
    def _open(self, spec: Frames, _plan: Plan, _name: str) -> Iterator[FakeBench]:
        self.before_bench(len(self.opened) + 1)
        self.opened.append(spec)
        try:
            capacity_fps = self.capacity_fps or spec.sut.impair.rate_fps
            if self.capacity_of is not None:
                capacity_fps = self.capacity_of(spec)
            yield FakeBench(
                capacity_fps, self.before_trial, self.disturbed_share, self.misread_share,
                self.emulated, self.placement,
            )  # fmt: skip
        finally:
            self.closed += 1

    @contextmanager
    def open_own(self, spec: Workload, plan: Plan, name: str) -> Iterator[RepeatedTcp]:
        assert isinstance(spec, TcpStreams)
        with self.open_tcp(spec, plan, name) as bench:
            yield RepeatedTcp(spec.tcp, bench)

    @contextmanager
    def open_tcp(self, spec: TcpStreams, _plan: Plan, _name: str) -> Iterator[FakeTcpBench]:
        self.opened.append(spec)
        try:
            yield FakeTcpBench(spec.tcp, self.before_trial)
        finally:
            self.closed += 1
