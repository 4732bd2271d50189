# SPDX-License-Identifier: Apache-2.0
"""Record counters during a run, in a process of its own, and mark its points and trials."""

from __future__ import annotations

import json
import os
import select
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO

from wirespeed.cli.console import print_line
from wirespeed.live.recording_cost import add_price
from wirespeed.measure.interface import Progress
from wirespeed.model.cpus import placement_words
from wirespeed.model.cpuset import format_list
from wirespeed.model.host.installed import own_module
from wirespeed.model.plan.plan import HostPlan, Plan
from wirespeed.model.result.recording import MarkKind
from wirespeed.model.result.result import SearchResult
from wirespeed.model.result.trial import Trial
from wirespeed.model.study.study import Point
from wirespeed.model.words import mpps, seconds, share
from wirespeed.store.errors import StoreError
from wirespeed.store.recordings import recording_of_run
from wirespeed.store.store import Store
from wirespeed.study.interface import Watcher

# The recorder stores what is left, and ends.
_END_S = 60.0
# The recorder starts before the bench: where all CPUs poll, its start would take minutes.
_START_S = 30.0
_RECORD = (*own_module("wirespeed.cli.main"), "kpi", "record")


def polling_cpus(plan: Plan) -> frozenset[int]:
    """Return the CPUs that will poll on this host; none where the plan has other hosts."""
    if len(plan.hosts) != 1:
        return frozenset()
    return frozenset(cpu for cpus in _polling(plan.hosts[0]) for cpu in cpus)


def _polling(host: HostPlan) -> Iterator[Sequence[int]]:
    for switch in (host.vswitch, host.partner):
        if switch is not None:
            yield switch.pmd_cpus.value
    for guest in host.guests:
        yield guest.cpus.value
    if host.generator is not None:
        yield host.generator.cpus.value


@contextmanager
def recording(
    watcher: Watcher,
    run_id: str,
    polled: frozenset[int],
    store: str | None,
    rate_hz: float | None = None,
) -> Iterator[Watcher]:
    """Record while the body runs; yield the watcher with the run's events as marks.

    The body begins after the recorder's first read.
    rate_hz: reads a second, also while frames flow on a host without a CPU to spare.
    A recorder that fails ends no run: what it said is printed at the end.
    """
    words = [*_RECORD, "--run", run_id]
    if polled:
        words += ["--polled", format_list(sorted(polled))]
    if rate_hz is not None:
        words += ["--rate", f"{rate_hz:g}", "--full"]
    environment = dict(os.environ)
    if store is not None:
        environment["WIRESPEED_STORE"] = store  # may hold a password: no argument that ps shows
    with tempfile.TemporaryFile() as said:
        recorder = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said,
            env=environment, start_new_session=True,
        )  # fmt: skip
        assert recorder.stdin is not None
        assert recorder.stdout is not None
        os.set_blocking(recorder.stdin.fileno(), False)
        try:
            ready, _, _ = select.select([recorder.stdout], [], [], _START_S)
            if not ready:
                print_line(f"kpi: the recorder read nothing within {_START_S:g} s", stderr=True)
            yield Marking(watcher, recorder.stdin)
        finally:
            recorder.stdin.close()
            recorder.stdout.close()
            try:
                recorder.wait(_END_S)
            except subprocess.TimeoutExpired:
                recorder.kill()
                print_line(f"kpi: the recorder did not end within {_END_S:g} s", stderr=True)
            said.seek(0)
            for line in said.read().decode(errors="replace").splitlines():
                print_line(f"kpi: {line}", stderr=True)
            _price(run_id, store)


def _price(run_id: str, store: str | None) -> None:
    """Store and print what the recording cost. A store that fails ends no run."""
    try:
        with Store(store, exists=True) as opened:
            found = recording_of_run(opened, run_id)
            if found is not None:
                print_line(f"kpi: {found.id}: {add_price(opened, found)}", stderr=True)
    except StoreError as fault:
        print_line(f"kpi: no price of the recording: {fault.what}", stderr=True)


class Marking:
    """Hands every event on, and marks it in the recording. Never waits for the recorder."""

    def __init__(self, watcher: Watcher, recorder: IO[bytes]) -> None:
        self._watcher, self._recorder = watcher, recorder

    def point_skipped(self, point: Point, why: str) -> None:
        self._watcher.point_skipped(point, why)

    def point_started(self, point: Point) -> None:
        self._mark(MarkKind.POINT, f"{point.label}: begun")
        self._watcher.point_started(point)

    def progress(self, progress: Progress) -> None:
        self._tell("traffic", "1")
        load = mpps(progress.load_fps)
        self._mark(
            MarkKind.TRIAL, f"{progress.stage} {load} Mpps for {seconds(progress.duration_s)}"
        )
        self._watcher.progress(progress)

    def trial(self, trial: Trial) -> None:
        self._tell("traffic", "0")
        where = "" if trial.placement is None else f"; {placement_words(trial.placement)}"
        load = mpps(trial.intended_load_fps)
        self._mark(MarkKind.TRIAL, f"{trial.stage} {load} Mpps: judged{where}")
        if (excluded := _excluded(trial)) is not None:
            self._mark(MarkKind.GATE, excluded)
        self._watcher.trial(trial)

    def run_ended(self, rates: str, number: int) -> None:
        self._mark(MarkKind.TRIAL, f"TCP run {number}: judged")
        self._watcher.run_ended(rates, number)

    def run_failed(self, why: str) -> None:
        self._mark(MarkKind.TRIAL, f"TCP run failed: {why}")
        self._watcher.run_failed(why)

    def point_complete(self, point: Point, result: SearchResult) -> None:
        fault = point.parameters.get("fault")
        if fault:  # only now: nobody who explains the point may know it before
            self._mark(MarkKind.FAULT, f"{point.label}: {fault['kind']} was injected")
        self._mark(MarkKind.POINT, f"{point.label}: complete")
        self._watcher.point_complete(point, result)

    def _mark(self, kind: MarkKind, text: str) -> None:
        self._tell(kind.value, text[:500])

    def _tell(self, kind: str, text: str) -> None:
        line = json.dumps([kind, time.monotonic_ns(), text]) + "\n"
        with suppress(OSError):  # it has ended, or is 64 KiB of marks behind
            os.write(self._recorder.fileno(), line.encode())


def _excluded(trial: Trial) -> str | None:
    """Return what a trial's gate excluded; None where nothing was."""
    if trial.gated is None:
        return f"the whole trial: {trial.fault or trial.disturbed or 'nothing in it can count'}"
    parts = [f"{share(each.share)} {each.why}" for each in trial.gated.left_out if each.share > 0]
    return f"excluded: {', '.join(parts)}" if parts else None
