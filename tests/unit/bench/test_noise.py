# SPDX-License-Identifier: Apache-2.0
"""Check that reports of the probes become evidence of the right kind, time and length."""

from __future__ import annotations

import json
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from tests.unit.bench.fake_host import FakeHost
from wirespeed.bench.interface import BenchError, GapLog, Poller
from wirespeed.bench.noise.clock import TrialClock
from wirespeed.bench.noise.contention import ContentionProbe, ProbeStop, Reference
from wirespeed.bench.noise.poll_gaps import read_gap_logs, stops, told_apart, unseen
from wirespeed.bench.noise.silence import corroborated, silences
from wirespeed.bench.noise.switches import CpuRun, Switched, SwitchRecords
from wirespeed.bench.noise.watch import NoiseWatch
from wirespeed.model.result.evidence import ContentionSamples, Disturbance, DisturbanceKind, Source

GHZ = 1_000_000_000
CLOCK = TrialClock(started_tsc=5 * GHZ, tsc_hz=GHZ)
MS = 1_000_000


class Program:
    """A wsdp with canned answers; a command without one is rejected."""

    def __init__(self, **exports: dict[str, Any]) -> None:
        self.exports = exports
        self.asked: list[str] = []
        self.refuse: str | None = None

    def ask(self, command: str) -> Any:
        self.asked.append(command)
        if self.refuse is not None:
            raise BenchError(self.refuse)
        return {"ok": 1}

    def export(self, command: str) -> str:
        return json.dumps(self.exports[command])

    def ended(self) -> str | None:
        return None


def contention(samples: list[list[int]]) -> Program:
    cpus = {"1": {"ran_ns": 0, "samples": samples}}
    return Program(
        contention_samples={"format": "wirespeed-contention-1", "tsc_hz": GHZ, "cpus": cpus}
    )


def probe(program: Program, host: FakeHost | None = None) -> ContentionProbe:
    reference = Reference.open(host or FakeHost({}), "/state/contention.json")
    return ContentionProbe(program, frozenset({1}), frozenset({1}), reference)


def every_2_ms(works: list[int], late_ns: int = 60_000) -> list[list[int]]:
    return [[5 * GHZ + 2 * i * MS, work, late_ns] for i, work in enumerate(works)]


def test_samples_are_relative_to_the_fastest_tenth() -> None:
    watched = probe(contention(every_2_ms([1000] * 8 + [1500, 2000])))
    [samples], stopped, blind = watched.stop(CLOCK)
    assert samples.slowness == (1.0,) * 8 + (1.5, 2.0)
    assert samples.at_ns == tuple(2 * i * MS for i in range(10))
    assert samples.forwards
    assert (stopped, blind) == ((), ())


def test_a_core_shared_all_session_long_is_slower_than_in_earlier_sessions() -> None:
    host = FakeHost({})
    first = probe(contention(every_2_ms([1000] * 10)), host)
    first.stop(CLOCK)
    first.reference.keep()
    later = probe(contention(every_2_ms([1500] * 10)), host)
    [samples], _, blind = later.stop(CLOCK)
    assert samples.slowness == (1.5,) * 10
    assert "never as fast as in earlier sessions" in blind[0]


def test_a_reference_that_cannot_be_read_is_measured_anew() -> None:
    host = FakeHost({"/state/contention.json": "[3"})
    [samples], _, _ = probe(contention(every_2_ms([1500] * 10)), host).stop(CLOCK)
    assert samples.slowness == (1.0,) * 10


def test_a_probe_that_woke_up_late_bears_stop_from_when_it_last_ran() -> None:
    samples = every_2_ms([1000] * 4)
    samples[2][2] = 700_000
    _, [stop], _ = probe(contention(samples)).stop(CLOCK)
    assert (stop.cpu, stop.begin_ns) == (1, 2 * MS)
    assert stop.end_ns == 4 * MS + 1000


def test_a_probe_that_always_wakes_up_late_bears_no_stop() -> None:
    _, stopped, _ = probe(contention(every_2_ms([1000] * 10, late_ns=150_000))).stop(CLOCK)
    assert stopped == ()


def test_a_probe_without_permission_is_reported() -> None:
    program = Program()
    program.refuse = "wsdp refused contention: Operation not permitted"
    watched = probe(program)
    watched.start(30 * MS, 1.0)
    assert watched.stop(CLOCK) == (
        (), (), (f"nobody watched whether cores were shared: {program.refuse}",)
    )  # fmt: skip


def test_a_silence_is_where_nothing_arrives_whoever_sent_in_it() -> None:
    # Sent every 10 µs; from 100 µs on nothing arrives before 400 µs.
    sent = np.arange(0, 500_000, 10_000, dtype=float)
    latency = np.where((sent >= 100_000) & (sent < 400_000), 400_000 - sent, 2_000.0)
    assert silences(sent, latency) == ((92_000, 400_000),)


@pytest.mark.parametrize(
    ("stop", "found"),
    [
        (ProbeStop(1, 0, 300_000), (100_000, 200_000)),
        (ProbeStop(1, 200_000, 900_000), (200_000, 500_000)),
        (ProbeStop(1, 600_000, 900_000), None),
        (ProbeStop(1, 0, 150_000), None),
    ],
)
def test_a_silence_counts_as_long_as_its_stop_was_stopped(
    stop: ProbeStop, found: tuple[int, int] | None
) -> None:
    """A SUT that stalls for longer is not excused for the rest."""
    told = list(corroborated([(100_000, 700_000)], [stop]))
    if found is None:
        assert told == []
        return
    [stop] = told
    assert (stop.begin_ns, stop.length_ns) == found
    assert (stop.source, stop.role, stop.cpu) == (Source.SINK_SILENCE, "sut", 1)


def test_each_stop_counts_in_each_silence_that_it_meets() -> None:
    quiet = [(0, 150_000), (400_000, 900_000), (1_000_000, 1_200_000), (2_000_000, 2_300_000)]
    stops = [ProbeStop(1, 500_000, 1_150_000), ProbeStop(2, 0, 900_000)]
    assert [(each.cpu, each.begin_ns, each.length_ns) for each in corroborated(quiet, stops)] == [
        (1, 500_000, 400_000), (1, 1_000_000, 150_000), (2, 0, 150_000), (2, 400_000, 500_000),
    ]  # fmt: skip


def test_without_the_probe_a_silence_is_the_suts() -> None:
    assert list(corroborated([(0, 5 * MS)], [])) == []


def test_gap_logs_become_stops_and_missing_records_are_reported() -> None:
    lcores = {"1": {"cpu": 3, "overflowed": 7, "gaps": [[5 * GHZ + MS, 250_000, 32]]}}
    text = json.dumps({"format": "wirespeed-gaps-1", "tsc_hz": GHZ, "lcores": lcores})
    [log] = read_gap_logs(text, "generator", "generator")
    [stop] = stops(log, CLOCK)
    assert (stop.cpu, stop.begin_ns, stop.length_ns) == (3, MS, 250_000)
    assert (stop.kind, stop.source) == (DisturbanceKind.STOPPED, Source.POLL_GAP)
    assert list(unseen(log)) == ["generator/lcore1 stopped 7 times more than its log has room for"]


def switch_file(*stops: list[int], lost: int = 0) -> dict[str, Any]:
    threads = {"77": {"lost": lost, "stops": list(stops)}}
    return {"format": "wirespeed-switches-1", "tsc_hz": GHZ, "threads": threads, "cpus": {}}


def test_only_what_was_taken_from_a_thread_is_a_stop() -> None:
    taken, left = [5 * GHZ, 300_000, 1, 4], [5 * GHZ + MS, 900_000, 0, 4]
    records = SwitchRecords(Program(switches_stop=switch_file(taken, left, lost=2)))
    records.start([(77, "sut")])
    seen = records.stop(CLOCK)
    [stop], [blind] = seen.stops, seen.unseen
    assert (stop.cpu, stop.begin_ns, stop.length_ns, stop.role) == (4, 0, 300_000, "sut")
    assert stop.source is Source.CONTEXT_SWITCH
    assert blind == "2 context switches of the SUT were not recorded: too many at once"


def test_records_that_are_forbidden_are_reported() -> None:
    program = Program()
    program.refuse = "perf_event_open: Permission denied; kernel.perf_event_paranoid is 3"
    records = SwitchRecords(program)
    records.start([(77, "sut")])
    seen = records.stop(CLOCK)
    [blind] = seen.unseen
    assert seen.stops == seen.runs == ()
    assert "perf_event_paranoid is 3" in blind


def test_runs_of_a_shared_cpu_are_recorded_with_their_threads() -> None:
    file = switch_file() | {"cpus": {"1": {"lost": 3, "runs": [[5 * GHZ + 7, 90, 8]], "names": {}}}}
    program = Program(switches_stop=file)
    records = SwitchRecords(program)
    records.start([], {1})
    assert program.asked == ["switches,cpu=1"]
    seen = records.stop(CLOCK)
    assert seen.runs == (CpuRun(1, 7, 90, 8),)
    assert "3 context switches" in seen.unseen[0]


@pytest.mark.parametrize(("shared", "left_ns"), [({1}, [200_000]), (set(), [300_000])])
def test_gap_of_the_sut_is_shortened_by_its_control_plane_where_both_share_a_cpu(
    shared: set[int], left_ns: list[int]
) -> None:
    begin = 5 * GHZ + 10 * MS
    file = switch_file()
    if shared:
        runs = [[begin, 100_000, 8], [begin + 100_000, 200_000, 9]]
        file["cpus"] = {"1": {"lost": 0, "runs": runs, "names": {}}}
    program = Program(
        switches_stop=file,
        contention_samples={"format": "wirespeed-contention-1", "tsc_hz": GHZ, "cpus": {}},
    )
    watch = NoiseWatch(probe(program), SwitchRecords(program), None,
                       sut_unknown=False, tsc_invariant=True,
                       shared=frozenset(shared), control=lambda: {8})  # fmt: skip
    log = GapLog("router/lcore1", "sut", 1, ((begin, 300_000),), 0)
    part = Mock(gap_logs=lambda: (log,), unwatched=None)
    watch.start([], 0, 1.0)
    found = watch.stop((part,), CLOCK, GHZ, ())
    assert [each.length_ns for each in found.disturbances] == left_ns


def test_records_without_threads_ask_the_program_nothing() -> None:
    program = Program()
    records = SwitchRecords(program)
    records.start([])
    assert records.stop(CLOCK) == Switched()
    assert program.asked == []


def test_stops_on_another_host_are_widened_by_its_clock_error() -> None:
    stop = [5 * GHZ + 10 * MS, 2 * MS, 1, 1]
    program = Program(
        switches_stop={"format": "wirespeed-switches-1",
                       "threads": {"77": {"lost": 0, "stops": [stop]}}, "cpus": {}},
        contention_samples={"format": "wirespeed-contention-1", "cpus": {}},
    )  # fmt: skip
    watch = NoiseWatch(probe(program), SwitchRecords(program), None,
                       sut_unknown=False, tsc_invariant=True)  # fmt: skip
    watch.start([Poller(77, "pmd-c01", "sut", timed=False)], 0, 1.0)
    clock = TrialClock(5 * GHZ, GHZ, error_ns=MS // 2)
    found = watch.stop([], clock, 1000 * MS, [])
    [disturbance] = found.disturbances
    assert (disturbance.begin_ns, disturbance.length_ns) == (9_500_000, 3 * MS)
    assert found.clock_error_ns == MS // 2


@pytest.mark.parametrize(
    ("length_ms", "every_ms", "source"),
    [(100, 2, Source.FROZEN), (100, 200, Source.POLL_GAP), (12, 2, Source.POLL_GAP)],
    ids=["its CPU ran", "the CPU itself was gone", "a turn of the scheduler's"],
)
def test_a_program_that_was_stopped_is_distinguished_from_one_that_could_not_run(
    length_ms: int, every_ms: int, source: Source
) -> None:
    ms = 1_000_000
    gap = Disturbance(1, 50 * ms, length_ms * ms, DisturbanceKind.STOPPED, Source.POLL_GAP, "sut")
    at_ns = tuple(range(0, 300 * ms, every_ms * ms))
    samples = (ContentionSamples(1, True, at_ns, (1.0,) * len(at_ns)),)
    assert told_apart(gap, samples).source is source
