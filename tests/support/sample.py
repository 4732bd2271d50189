# SPDX-License-Identifier: Apache-2.0
"""Make up a stored run with everything a report can show: grades, loss, latency, timelines.

Nothing here is ever shown as a measurement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.support.fake_rig import FACTS, FakeHost, plan_of
from tests.support.made_trials import MadeTrials, Noise
from wirespeed.bench.assembly.kinds import sut_of
from wirespeed.explain.explain import explain
from wirespeed.explain.interface import Measured
from wirespeed.model.host.finding import AuditReport, Finding, Severity, Status
from wirespeed.model.result.hop_counts import DropCause
from wirespeed.model.result.reason import Reason
from wirespeed.model.result.result import (
    AsIs,
    Bound,
    Bracket,
    Grade,
    Interval,
    LatencyAtLoad,
    SearchResult,
    Undisturbed,
)
from wirespeed.model.result.trial import LeftOut, Stage, Trial
from wirespeed.model.study.spec import Frames, TcpStreams
from wirespeed.model.study.study import Point
from wirespeed.store.read import read_run
from wirespeed.store.records import PointRecord, RunRecord
from wirespeed.store.run_writer import Origin, RunWriter
from wirespeed.store.store import Store
from wirespeed.study.kinds.registry import kind_of
from wirespeed.study.load import load_study
from wirespeed.study.run import run_study

AUDIT = AuditReport(
    "testhost",
    (
        Finding(
            "WS25", "no-1g-pages", "The host has no 1 GiB huge pages", Severity.HIGH,
            Status.FAILED, "no 1 GiB huge page", "1 GiB huge pages, e.g. 2", "TLB misses.", "S0",
            fix=('grubby --update-kernel=ALL --args="hugepages=2"', "reboot"),
        ),
        Finding(
            "WS33", "vfs", "A NIC does not have the planned number of VFs", Severity.LOW,
            Status.NOT_CHECKED, "needs a plan", "as planned", "No port.", "S2",
        ),
        Finding(
            "WS08", "cpu0", "CPU 0 is isolated", Severity.LOW, Status.PASSED, "CPU 0 is not",
            "CPU 0 for the host", "Timers run there.", "S0",
        ),
    ),
)  # fmt: skip
ORIGIN = Origin(
    ["wirespeed", "run", "quickstart"],
    {"wirespeed": "0.1.0", "python": "3.11.2", "kernel": "6.1.0-28-amd64"},
    FACTS,
    (AUDIT,),
)
COPY_NS_PER_OCTET = 0.35
TRIAL_S = 2.0

# The host becomes more and less noisy from point to point.
NOISE = {
    Grade.A: Noise(),
    Grade.B: Noise(shared=0.06, pmd=0.002, generator=0.003),
    Grade.C: Noise(shared=0.72, pmd=0.012, generator=0.03),
    Grade.D: Noise(shared=0.97, pmd=0.012, generator=0.03),
}
BECAUSE = {
    Grade.A: (),
    Grade.B: ("something else used the SUT's core for 6% of the time",),
    Grade.C: ("something else used the SUT's core for 72% of the time",),
    Grade.D: ("the SUT's core was shared all the time: no window of the deciding trials was fast",),
}
# Grades of the quickstart study's points, in their order.
GRADES = (Grade.C, Grade.B, Grade.A, Grade.D, Grade.C, Grade.B)


def capacity_fps(spec: Frames) -> float:
    """Return the capacity from a cost per frame and one per octet, as real switches have.

    A VNF adds to it.
    """
    base_ns = 105.0 if spec.topology.kind == "p2p" else 240.0
    return 1e9 / (base_ns + COPY_NS_PER_OCTET * spec.traffic.frame.mean_bytes)


@dataclass
class MadeUp:
    """One point: its trials in order."""

    spec: Frames
    grade: Grade
    seed: int
    trials: list[Trial] = field(default_factory=list)

    @property
    def capacity_fps(self) -> float:
        return capacity_fps(self.spec)

    def _trial(self, share: float, stage: Stage, duration_s: float = TRIAL_S) -> Trial:
        hop = ("sut-ingress", DropCause.RX_RING_FULL)
        limited_by = None
        if self.spec.topology.kind != "p2p":
            hop, limited_by = ("switch:vnf0a", DropCause.VHOST_TX_RING_FULL), "shared_lcore"
        path = sut_of(self.spec).paths[0]
        host = MadeTrials(self.capacity_fps, NOISE[self.grade], hop, path, limited_by)
        number = self.seed + len(self.trials)
        self.trials.append(host.trial(share * self.capacity_fps, duration_s, stage, number))
        return self.trials[-1]

    def search(self) -> SearchResult:
        """Make the trials of a search: overload, and but for the kind "mrr" all that follows.

        That is bisection, fresh trials and latency.
        """
        self._trial(0.5, Stage.WARM_UP, 0.5)
        mrrs = [self._trial(2.0, Stage.MRR, 1.0) for _ in range(3)]
        if self.spec.search.kind == "mrr":
            return SearchResult(
                "mrr", False, (), mrr_fps=self.capacity_fps, mrr_half_interval=0.01,
                limited_by=mrrs[0].observation.limited_by,
            )  # fmt: skip
        for share in (1.5, 0.5, 1.05, 0.75, 1.02, 0.9, 1.005, 0.99):
            self._trial(share, Stage.SEARCH)
        confirmed = [self._trial(0.99, Stage.CONFIRM) for _ in range(3)]
        latency = [self._latency(share) for share in (0.1, 0.5, 0.9)]
        found = self._d(mrrs) if self.grade is Grade.D else self._figures(mrrs, confirmed)
        return replace(found, latency=tuple(latency), limited_by=mrrs[0].observation.limited_by)

    def _latency(self, share: float) -> LatencyAtLoad:
        trial = self._trial(share * 0.995, Stage.LATENCY, 1.0)
        assert trial.observation.latency is not None
        undisturbed = trial.gated.latency if trial.gated else None
        return LatencyAtLoad(share, trial.intended_load_fps, trial.observation.latency, undisturbed)

    def _figures(self, mrrs: Sequence[Trial], confirmed: Sequence[Trial]) -> SearchResult:
        ndr, above = 0.99 * self.capacity_fps, 1.005 * self.capacity_fps
        lower, upper = Bound(ndr, ndr, 0.0), Bound(above, self.capacity_fps, 0.005)
        pdr = Bound(1.003 * ndr, 1.003 * ndr, 0.002)
        losses = [trial.loss_ratio for trial in confirmed]
        quiet = self.grade is Grade.A
        return SearchResult(
            "quick", False, (), Interval(lower, upper), Interval(pdr, upper),
            mrr_fps=self.capacity_fps, mrr_half_interval=0.01, grade=self.grade,
            because=BECAUSE[self.grade], undisturbed=rests_on(confirmed, ndr),
            as_is=AsIs(
                sorted(trial.forwarding_fps for trial in mrrs)[1], ndr, min(losses), max(losses),
                ndr if quiet else 0.5 * self.capacity_fps, TRIAL_S,
            ),
        )  # fmt: skip

    def _d(self, mrrs: Sequence[Trial]) -> SearchResult:
        return SearchResult(
            "quick", False, (), grade=Grade.D, because=BECAUSE[Grade.D],
            as_is=AsIs(
                sorted(trial.forwarding_fps for trial in mrrs)[1],
                lossless_fps=0.5 * self.capacity_fps, lossless_s=TRIAL_S,
            ),
            bracket=Bracket(0.5 * self.capacity_fps, 1.05 * self.capacity_fps),
        )  # fmt: skip


def rests_on(trials: Sequence[Trial], load_fps: float) -> Undisturbed:
    """Return the evidence of those trials, without their time with noise."""
    gated = [trial.gated for trial in trials if trial.gated is not None]
    runs = [run for one in gated for run in one.runs]
    windows, offered = sum(run.windows for run in runs), sum(run.offered for run in runs)
    total_s = sum(trial.duration_s for trial in trials)
    left_out: dict[Reason, float] = {}
    for one in gated:
        for out in one.left_out:
            left_out[out.why] = left_out.get(out.why, 0.0) + out.share / len(gated)
    shares = sorted(left_out.items(), key=lambda pair: -pair[1])
    return Undisturbed(
        load_fps, total_s, windows * 1e-3, windows, len(runs), offered,
        sum(run.lost for run in runs), 3 / offered,
        max(0.0, sum(run.growth_frames for run in runs) / offered), 0.0008, 0.005,
        tuple(LeftOut(why, share) for why, share in shares),
    )  # fmt: skip


class Nobody:
    """A watcher that watches nothing."""

    def point_skipped(self, point: Point, why: str) -> None: ...
    def point_started(self, point: Point) -> None: ...
    def point_complete(self, point: Point, result: SearchResult) -> None: ...
    def progress(self, progress: object) -> None: ...
    def trial(self, trial: Trial) -> None: ...
    def run_ended(self, rates: str, number: int) -> None: ...
    def run_failed(self, why: str) -> None: ...


BENCH = {
    "Open vSwitch": {
        "version": "ovs-vswitchd 3.1.0",
        "dpdk_version": "DPDK 22.11.7",
        "flows": ["in_port=1,dl_dst=02:01:00:00:00:00,actions=output:3"],
    },
    "generator": {"version": "0.1.0", "config": "[eal]\nmain_lcore = 0\n"},
}


def observing(point: PointRecord, **changes: object) -> PointRecord:
    """Return the point with these values in the observation of every trial."""
    return replace(
        point,
        trials=tuple(
            replace(
                stored,
                trial=replace(
                    stored.trial,
                    observation=replace(stored.trial.observation, **changes),  # type: ignore[arg-type]
                ),
            )
            for stored in point.trials
        ),
    )


def sample_run(directory: Path, *overrides: str, study: str = "quickstart") -> RunRecord:
    """Return a study as if it had been run, written to a real store and read back."""
    loaded = load_study(study, overrides)
    with Store(str(directory / "sample.sqlite")) as store:
        writer = RunWriter.start(store, loaded, ORIGIN)
        if any(isinstance(point.workload, TcpStreams) for point in loaded.points):
            run_study(loaded, writer, FakeHost().rig, Nobody())
        else:
            for number, point in enumerate(loaded.points):
                _record(writer, point, GRADES[number % len(GRADES)], number)
            writer.finish()
        return read_run(store, writer.run_id, series=True)


def _record(writer: RunWriter, point: Point, grade: Grade, number: int) -> None:
    assert isinstance(point.workload, Frames)
    made = MadeUp(point.workload, grade, 100 * number)
    result = made.search()
    plan = plan_of(point.workload)
    sut = kind_of(point.workload).sut
    writer.begin_point(point.id, plan, sut)
    writer.add_bench(point.id, BENCH)
    for trial in made.trials:
        writer.add_trial(point.id, trial)
    whole = replace(result, trials=tuple(made.trials))
    measured = Measured(sut, whole, workload=point.workload, plan=plan, host=FACTS)
    writer.complete_point(point.id, result, explain(measured))
