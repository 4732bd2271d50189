# SPDX-License-Identifier: Apache-2.0
"""Read counters in a process of its own, and write them to standard output.

One thread a collector, so that a source that hangs delays no other. Standard input carries
"traffic" or "rest", one word a line; its end ends the sampler. It runs at the priority that it was
started with, and imports no numpy and no database: it stays small.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from wirespeed.kpi.collectors.own import METER
from wirespeed.kpi.collectors.registry import collectors
from wirespeed.kpi.frames import Frame, Layout, Note, Sample, written
from wirespeed.kpi.interface import FAILURES, Collector, Missing, Name, Source
from wirespeed.kpi.pace import Pace, Traffic
from wirespeed.remote.interface import HostLost, Runner
from wirespeed.remote.reach import reach

# Time between two looks for new sources, and the longest pause after a source failed.
PROBE_S, _RETRY_MOST_S = 2.0, 30.0
# Longest wait for the threads of a connection at its end.
_END_S = 2.0
# What a recording stores: whole numbers of 64 bits.
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1
TRAFFIC, REST = "traffic", "rest"


class Output:
    """Frames of all threads, each written whole."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stream = sys.stdout.buffer
        self.broken = threading.Event()

    def write(self, frame: Frame) -> None:
        line = written(frame)
        with self._lock:
            try:
                self._stream.write(line)
                self._stream.flush()
            except OSError:  # the recorder is gone
                self.broken.set()

    def note(self, text: str) -> None:
        self.write(Note(time.monotonic_ns(), text))


@dataclass(slots=True)
class Reader:
    """One collector: probes, reads when due, and reports what is missing once."""

    runner: Runner
    collector: Collector
    pace: Pace
    output: Output
    stopped: threading.Event
    offset_s: float = 0.0
    """Begin of its first read; collectors take turns."""
    _sources: Sequence[Source] = ()
    _layouts: dict[str, tuple[Name, ...]] = field(default_factory=dict)
    _said: str = ""
    _retry_s: float = PROBE_S
    _cpu_ns: int = 0
    """CPU time of its thread at the last note; a thread begins at 0."""

    def run(self) -> None:
        """Read until stopped."""
        due = time.monotonic() + self.offset_s
        probe_at = due
        while not self.stopped.wait(max(0.0, due - time.monotonic())):
            if self.output.broken.is_set():
                self.stopped.set()
                return
            period_s = self.pace.period_s()
            if period_s is None:  # paused while frames flow
                due = time.monotonic() + 0.05
                continue
            if time.monotonic() >= probe_at:
                self._probe()
                probe_at = time.monotonic() + (PROBE_S if self._sources else self._retry_s)
            begun = time.monotonic()
            if not self._read_all():
                probe_at = begun + self._retry_s
                self._retry_s = min(_RETRY_MOST_S, self._retry_s * 2)
            if self._sources:
                cpu_ns = time.thread_time_ns()
                METER.add(self.collector.name, cpu_ns - self._cpu_ns)
                self._cpu_ns = cpu_ns
            note = self.pace.note(begun - due, time.monotonic() - begun)
            if note is not None:
                self.output.note(note)
            # Moments that have passed meanwhile are skipped.
            due = max(due + period_s, begun + period_s / 2)

    def _probe(self) -> None:
        try:
            found = self.collector.probe(self.runner)
        except FAILURES as fault:
            found = Missing(_line(fault))
            self._check(fault)
        if isinstance(found, Missing):
            self._sources = ()
            self._say(f"{self.collector.name}: missing because {found.because}")
            return
        new = {source.name for source in found} - {source.name for source in self._sources}
        self._sources = found
        if new and self._said:
            self._say("")
            self.output.note(f"{self.collector.name}: there now ({', '.join(sorted(new))})")

    def _read_all(self) -> bool:
        """Read every source; return whether all answered."""
        failed = False
        for source in self._sources:
            begin_ns = time.monotonic_ns()
            try:
                found = source.read()
                _check_bounds(found.values)
            except FAILURES as fault:
                failed = True
                source.close()
                self._check(fault)
                self._say(f"{source.name}: no value: {_line(fault)}")
                continue
            end_ns = time.monotonic_ns()
            names = tuple(found.values)
            if self._layouts.get(source.name) != names:
                self._layouts[source.name] = names
                self.output.write(Layout(source.name, names))
            values = tuple(found.values.values())
            self.output.write(Sample(source.name, begin_ns, end_ns - begin_ns, found.epoch, values))
        if failed:
            self._sources = ()
        elif self._sources:
            self._retry_s = PROBE_S
            self._said = ""
        return not failed

    def _check(self, fault: BaseException) -> None:
        """Stop where the connection to the host broke: its Runner never answers again."""
        if isinstance(fault, HostLost):
            self.stopped.set()

    def _say(self, text: str) -> None:
        """Report a text once, until another one follows."""
        if text and text != self._said:
            self.output.note(text)
        self._said = text


def _check_bounds(values: Mapping[Name, int]) -> None:
    """Raise ValueError for a value that no recording can store."""
    if values and not (min(values.values()) >= _LEAST and max(values.values()) <= _MOST):
        (key, labels), value = next(
            each for each in values.items() if not _LEAST <= each[1] <= _MOST
        )
        raise ValueError(f"{' '.join((key, *labels))} has more than 64 bits: {value:.3e}")


def _line(fault: BaseException) -> str:
    text = " ".join(str(fault).split())[:200]
    return f"its answer lacks {text}" if isinstance(fault, LookupError) else text


@dataclass(slots=True)
class Sessions:
    """Reads a host over one connection after another: one that broke is made anew."""

    address: str
    names: Sequence[str]
    rate_hz: float
    traffic: Traffic
    output: Output
    _stopped: threading.Event = field(default_factory=threading.Event)
    _ended: bool = False

    def run(self) -> None:
        """Read until end() is called, or nobody takes the frames."""
        while self._begin() and not self.output.broken.is_set():
            with reach(self.address) as runner:
                self._read(runner)
            if self._begin() and not self.output.broken.is_set():
                self.output.note(f"{self.address}: the connection broke; it is made anew")
                self._stopped.wait(PROBE_S)

    def end(self) -> None:
        self._ended = True
        self._stopped.set()

    def _begin(self) -> bool:
        """Forget what stopped the last connection; return whether to go on."""
        # end() after this line sets the new event.
        self._stopped = threading.Event()
        return not self._ended

    def _read(self, runner: Runner) -> None:
        # Collectors hold connections to programs, which ended with the last one to the host.
        chosen = collectors(self.names)
        readers = [
            Reader(
                runner, each, Pace(each, self.traffic, self.rate_hz), self.output, self._stopped,
                number / self.rate_hz / len(chosen),
            )
            for number, each in enumerate(chosen)
        ]  # fmt: skip
        threads = [threading.Thread(target=reader.run, daemon=True) for reader in readers]
        for thread in threads:
            thread.start()
        self._stopped.wait()
        for thread in threads:
            thread.join(timeout=_END_S)


def sample(
    address: str, names: Sequence[str], rate_hz: float, *, sparse: bool, polled: bool
) -> None:
    """Read the host of that address until standard input ends.

    sparse: no CPU to spare there. polled: frames flow from the begin, as on a host in service.
    """
    traffic = Traffic(sparse, polled)
    # A thread that parses lets another one begin its read in time.
    sys.setswitchinterval(0.0005)
    sessions = Sessions(address, names, rate_hz, traffic, Output())
    working = threading.Thread(target=sessions.run, daemon=True)
    working.start()
    for line in sys.stdin:
        traffic.running = line.strip() == TRAFFIC
    sessions.end()
    working.join(timeout=_END_S)


def main() -> None:
    """Run a sampler. Its first word is a JSON object of sample()'s arguments."""
    sample(**json.loads(sys.argv[1]))  # noqa: TID251 (written by the recorder that started it)


if __name__ == "__main__":
    main()
