# SPDX-License-Identifier: Apache-2.0
"""Join a sampler and the store: one recorder a host."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from wirespeed.cli.console import print_line
from wirespeed.kpi.assembler import CHUNK_NS, Assembler
from wirespeed.kpi.collectors.files import BOOT_ID
from wirespeed.kpi.collectors.registry import metrics
from wirespeed.kpi.frames import Frame, Layout, Note, Sample
from wirespeed.kpi.interface import KpiError
from wirespeed.kpi.sampling import Sampler, seat_on
from wirespeed.live.recording_cost import add_price
from wirespeed.model.result.recording import Chunk, Mark, MarkKind, RecordingClock
from wirespeed.remote.interface import LOCALHOST, Runner
from wirespeed.remote.local import LocalRunner
from wirespeed.remote.reach import reach
from wirespeed.store.recording_queue import RecordingQueue
from wirespeed.store.recording_writer import RecordingWriter
from wirespeed.store.recordings import recording_of
from wirespeed.store.store import Store

# Steps of the wall clock that are reported; slewing stays below it.
_STEP_NS = 50_000_000
_END_S = 30.0


class HostRecorder:
    """Records one host into the store."""

    def __init__(
        self,
        store: Store,
        address: str,
        names: Sequence[str],
        rate_hz: float,
        *,
        polled: Collection[int] = (),
        run_id: str | None = None,
        full: bool = False,
    ) -> None:
        """Start the sampler. full: read at rate_hz also where each read stops a polling thread."""
        with reach(address) as runner:
            seat = seat_on(runner, polled, local=address == LOCALHOST)
            host = os.uname().nodename if address == LOCALHOST else address
        spare = not seat.sparse
        if full:
            seat = replace(seat, sparse=False)
        self._store, self._of_run = store, run_id is not None
        self._clock = read_clock(LocalRunner())
        self._steps = ClockSteps(self._clock)
        self.writer = RecordingWriter.start(
            store, host, self._clock, rate_hz, sparse=seat.sparse, run_id=run_id
        )
        self.sampler = Sampler(address, names, rate_hz, seat)
        self.has_begun = False
        """True after the first read, or a note that says what cannot be read."""
        self._assembler = Assembler(metrics())
        self._queue = RecordingQueue(self.writer, lambda text: print_line(text, stderr=True))
        self._queue.start()
        if seat.sparse:
            self._put(marks=[_note("no CPU to spare: while frames flow, cheap reads at 1 Hz only")])
        elif not spare:
            said = f"no CPU to spare; all reads at {rate_hz:g} Hz while frames flow, as asked"
            self._put(marks=[_note(said)])

    def take(self) -> None:
        """Take what the sampler has written, and store each second.

        Raises KpiError at its end, RecordingDeleted.
        """
        chunks, marks = self._sorted(self.sampler.frames())
        marks += self._steps.look(time.monotonic_ns(), time.time_ns())
        chunks += self._assembler.flush(time.monotonic_ns() - CHUNK_NS)
        self._put(chunks, marks)
        if self._queue.deleted is not None:
            raise self._queue.deleted
        if self.sampler.ended is not None:
            raise KpiError(
                f"recording {self.writer.id}: its sampler ended with {self.sampler.ended}",
                "What was recorded up to here is kept. Start it again.",
            )

    def mark(self, made: Mark) -> None:
        self._put(marks=[made])

    def end(self) -> None:
        """End the sampler, and store what is left. Raises KpiError where the store fails."""
        chunks, marks = self._sorted(self.sampler.end())
        chunks += self._assembler.flush()
        self._put(chunks, marks)
        if not self._queue.end(_END_S):
            raise KpiError(
                f"recording {self.writer.id}: the store took nothing for {_END_S:g} s; its end is "
                "lost",
                "Check the store; what it took before is kept.",
            )
        if self._queue.deleted is not None:
            return
        try:
            if not self._of_run:  # the run's trials are known to the run alone
                price = add_price(self._store, recording_of(self._store, self.writer.id))
                print_line(f"{self.writer.id}: {price}", stderr=True)
        finally:
            self.writer.finish()  # after the price: a page that follows shows it

    def _sorted(self, frames: Iterable[Frame]) -> tuple[list[Chunk], list[Mark]]:
        chunks: list[Chunk] = []
        marks: list[Mark] = []
        for frame in frames:
            match frame:
                case Layout():
                    chunks += self._assembler.layout(frame)
                case Sample():
                    self.has_begun = True
                    chunks += self._assembler.sample(frame)
                case Note():
                    self.has_begun = True
                    marks.append(Mark(frame.at_ns, MarkKind.NOTE, frame.text))
        return chunks, marks

    def _put(self, chunks: Sequence[Chunk] = (), marks: Sequence[Mark] = ()) -> None:
        series, self._assembler.new = self._assembler.new, []
        if series or chunks or marks:
            self._queue.put(series, chunks, marks)


class ClockSteps:
    """Notices steps of the wall clock; moments of a recording are of CLOCK_MONOTONIC."""

    def __init__(self, clock: RecordingClock) -> None:
        self._clock = clock
        self._step_ns = 0

    def look(self, monotonic_ns: int, realtime_ns: int) -> list[Mark]:
        """Return a mark where the wall clock moved against CLOCK_MONOTONIC since the last look."""
        step_ns = realtime_ns - self._clock.realtime_of(monotonic_ns)
        moved = step_ns - self._step_ns
        if abs(moved) < _STEP_NS:
            return []
        self._step_ns = step_ns
        text = f"the wall clock was stepped by {moved / 1e9:+.3f} s"
        return [Mark(monotonic_ns, MarkKind.CLOCK, text)]


def read_clock(runner: Runner) -> RecordingClock:
    """Return this machine's clocks."""
    return RecordingClock(runner.read(BOOT_ID).strip(), time.monotonic_ns(), time.time_ns())


def _note(text: str) -> Mark:
    return Mark(time.monotonic_ns(), MarkKind.NOTE, text)
