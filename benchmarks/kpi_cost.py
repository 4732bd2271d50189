# SPDX-License-Identifier: Apache-2.0
"""Measure what recording costs: CPU and memory of the sampler, octets a sample, and the rate.

The first part records 500 series or more at 10 Hz: the collectors of this host's files, with as
many interfaces in a network namespace as that takes. The second part measures a path in turns
without, with, with and without recording (ABBA): its MRR, and the 99.9th percentile of the latency
at half of that. Needs root.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean, median, stdev

import numpy as np
from benchmarks.shared.cpu_counter import counting

from wirespeed.bench.assembly.hosts import BenchHost, BenchHosts
from wirespeed.bench.host.peak_memory import peak_kib
from wirespeed.bench.session import open_bench
from wirespeed.host.collect import collect
from wirespeed.measure.interface import UNLIMITED
from wirespeed.model.frame import FrameSizes
from wirespeed.model.result.recording import Chunk, RecordedSeries, RecordingClock
from wirespeed.model.result.series import SeriesKind
from wirespeed.model.study.spec import Frames, Sut, Topology, Traffic
from wirespeed.remote.local import LocalRunner
from wirespeed.session.guests import GuestSource
from wirespeed.session.rig import plan_of
from wirespeed.store.recording_writer import RecordingWriter
from wirespeed.store.recordings import recording_of
from wirespeed.store.store import Store

SERIES, HZ = 500, 10
# One interface has this number of series.
PER_INTERFACE = 8
LONG_S = 65.0
PAIRS = 10
TRIAL_S, WARM_UP_S = 2.0, 2.0
# Student's t for 95% and PAIRS - 1 degrees of freedom.
T_95 = 2.262
SPACE = "kpi-cost"
RECORD = (sys.executable, "-m", "wirespeed.cli.main", "kpi")


@contextmanager
def interfaces(number: int) -> Iterator[None]:
    """Make pairs of interfaces in a network namespace of their own."""
    subprocess.run(["ip", "netns", "add", SPACE], check=True)
    try:
        words = [
            f"link add kc{n}a type veth peer name kc{n}b" for n in range(math.ceil(number / 2))
        ]
        subprocess.run(
            ["ip", "-n", SPACE, "-batch", "-"], input="\n".join(words), text=True, check=True
        )
        yield
    finally:
        subprocess.run(["ip", "netns", "del", SPACE], check=True)


def child_of(process: subprocess.Popen[str]) -> int:
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while not (found := children.read_text().split()):
        if process.poll() is not None:
            raise SystemExit(f"the recorder ended: {process.communicate()[1]}")
    return int(found[0])


@contextmanager
def recorder(store: Path, *words: str, space: str | None = None) -> Iterator[subprocess.Popen[str]]:
    inside = ["ip", "netns", "exec", space] if space else []
    process = subprocess.Popen(
        [*inside, *RECORD, "record", "--store", str(store), *words],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    process.stderr.readline()
    try:
        yield process
    finally:
        process.terminate()
        process.communicate()


def summary(store: Path) -> dict[str, float]:
    done = subprocess.run(
        [*RECORD, "list", "--json", "--store", str(store)], capture_output=True, check=True
    )
    found: dict[str, float] = json.loads(done.stdout)[0]
    return found


def sampling(folder: Path) -> None:
    """Print CPU, memory and octets of a recording of files."""
    store = folder / "long.sqlite"
    files = [
        word
        for name in ("cpu", "interrupts", "memory", "interfaces")
        for word in ("--collector", name)
    ]
    with (
        interfaces(SERIES // PER_INTERFACE),
        recorder(store, "--for", f"{LONG_S:g}s", *files, space=SPACE) as process,
    ):
        sampler = child_of(process)
        with counting(sampler) as sampled, counting(process.pid) as stored:
            await_load(process, LONG_S - 5)
            used, wrote = sampled(), stored()
            peak, peak_stored = (
                peak_kib(LocalRunner(), pid) / 1024 for pid in (sampler, process.pid)
            )
        process.wait()
    found = summary(store)
    seconds = LONG_S - 5
    # Machines with a cycle counter give cycles; cpu_counter says ns on the others.
    print(f"series {found['series']:.0f} series asked {SERIES}")
    print(f"sampler_cpu {used / seconds / 1e9 * 100:.2f} % of a CPU asked 3")
    print(f"recorder_cpu {wrote / seconds / 1e9 * 100:.2f} % of a CPU")
    print(f"sampler_memory {peak:.1f} MiB asked 60")
    print(f"recorder_memory {peak_stored:.1f} MiB")
    ratio = found["octets"] / found["samples"]
    print(f"octets_of_files {ratio:.2f} octets/sample; most of these interfaces are idle")
    steady = steady_octets(folder)
    print(f"octets {steady:.2f} octets/sample of {SERIES} counters that all change asked 3")
    hourly = steady * SERIES * HZ * 3600 / 1e6
    print(f"hour {hourly:.1f} MB/hour of {SERIES} series at {HZ} Hz asked 54")
    begin, end = found["begin_ns"], found["end_ns"]
    print(f"reads {found['reads'] / ((end - begin) / 1e9) / 4:.2f} Hz of each collector asked {HZ}")


def steady_octets(folder: Path) -> float:
    """Return the octets a sample that the store takes of counters of a load with noise of 1%."""
    steps = np.random.default_rng(1).normal(1e6, 1e4, size=(60 * HZ, SERIES)).astype(np.int64)
    counts = np.cumsum(steps, axis=0)
    number = tuple(range(SERIES))
    series = [
        RecordedSeries("load", "load", (("n", str(n)),), "packets", SeriesKind.COUNTER)
        for n in number
    ]
    with Store(str(folder / "steady.sqlite")) as store:
        clock = RecordingClock("boot", 0, 0)
        writer = RecordingWriter.start(store, "host", clock, HZ, sparse=False)
        for first in range(0, len(counts), HZ):
            begin = tuple(n * 10**9 // HZ for n in range(first, first + HZ))
            rows = tuple(map(tuple, counts[first : first + HZ].tolist()))
            chunk = Chunk("load", "e", number, begin, (10_000,) * HZ, rows)
            writer.add(series if first == 0 else (), [chunk], [])
        writer.finish()
        found = recording_of(store)
    return found.octets / found.samples


def await_load(process: subprocess.Popen[str], seconds: float) -> None:
    """Wait, or end early where the recorder does."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return
    raise SystemExit("the recorder ended early")


def rates(folder: Path, topology: str, frame: str) -> None:
    """Print the ratio of the MRR with recording to that without, with its interval."""
    runner = LocalRunner()
    spec = Frames(Topology(topology), Traffic(FrameSizes.parse(frame)), Sut())
    plan = plan_of(collect(runner), spec)
    guests = GuestSource(runner).guests_of(plan)
    ratios: list[float] = []
    latencies: dict[bool, list[float]] = {False: [], True: []}
    with open_bench(spec, plan, BenchHosts(BenchHost(runner)), folder / "logs", guests) as bench:

        def mrr(*, on: bool) -> float:
            bench.measure(UNLIMITED, WARM_UP_S)
            rate = bench.measure(UNLIMITED, TRIAL_S).total("received") / TRIAL_S
            if (latency := bench.measure(rate / 2, TRIAL_S).latency) is not None:
                latencies[on].append(latency.p999_ns / 1e3)
            return rate

        def recorded() -> float:
            # The warm-up also covers the start of the sampler.
            with recorder(folder / f"{topology}.sqlite", "--rate", f"{HZ}"):
                return mrr(on=True)

        for pair in range(PAIRS):
            first = mrr(on=False) if pair % 2 == 0 else recorded()
            second = recorded() if pair % 2 == 0 else mrr(on=False)
            off, on = (first, second) if pair % 2 == 0 else (second, first)
            ratios.append(on / off)
    mean, half = fmean(ratios), T_95 * stdev(ratios) / math.sqrt(PAIRS)
    print(
        f"mrr_{topology}_{frame} {mean:.4f} ratio with/without "
        f"[{mean - half:.4f}, {mean + half:.4f}] asked 0.99 to 1.01"
    )
    if all(latencies.values()):
        without, recording = median(latencies[False]), median(latencies[True])
        print(
            f"p999_{topology}_{frame} {recording:.1f} us with, {without:.1f} us without recording"
        )


def main() -> None:
    if os.geteuid() != 0:
        raise SystemExit("kpi_cost needs root")
    with tempfile.TemporaryDirectory() as folder:
        sampling(Path(folder))
        rates(Path(folder), "p2p", "64")
        rates(Path(folder), "pvp", "512")


if __name__ == "__main__":
    main()
