# SPDX-License-Identifier: Apache-2.0
"""Measure how fast the page of a recording opens and scrubs, and how large its one file is.

Headless Chromium opens `wirespeed live`'s server: an hour of 500 series and a day of 2,000 series,
each at 10 Hz; in the hour all counters change, in the day one in ten. A page is open when it has
drawn its lanes and shown its values. Frames are counted while the time is moved once a frame.
Prints `name value unit asked GOAL`.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import numpy as np
from sqlalchemy import insert
from tests.support.chromium import Page, chromium

from wirespeed.live.exported import write_file
from wirespeed.live.server import LiveServer
from wirespeed.live.stored import StoredRecording
from wirespeed.model.result.recording import RecordedSeries, RecordingClock
from wirespeed.model.result.series import SeriesKind
from wirespeed.store.chunk_codec import Reads, packed
from wirespeed.store.extremes import packed_extremes, stored_extremes, whole_octets
from wirespeed.store.recording_writer import RecordingWriter
from wirespeed.store.store import Store, open_to_read
from wirespeed.store.tables import CHUNKS, EXTREMES

HZ, S = 10, 1_000_000_000
MINUTE_READS = 60 * HZ
SCRUBBED_S = 3
ROUNDS = 3
READY = "document.documentElement?.dataset.state === 'ready'"
# Kinds of series in turn, as a host with a switch has them.
KINDS = (
    ("cpu_user_seconds", "cpu", "ns", SeriesKind.COUNTER),
    ("cpu_steal_seconds", "cpu", "ns", SeriesKind.COUNTER),
    ("cpu_interrupts", "cpu", "1", SeriesKind.COUNTER),
    ("port_packets", "interface", "packets", SeriesKind.COUNTER),
    ("port_dropped_packets", "interface", "packets", SeriesKind.COUNTER),
    ("thread_wait_seconds", "thread", "ns", SeriesKind.COUNTER),
    ("thread_cpu", "thread", "1", SeriesKind.GAUGE),
    ("mempool_free", "mempool", "1", SeriesKind.GAUGE),
    ("pmd_upcalls", "cpu", "packets", SeriesKind.COUNTER),
    ("memory_free_bytes", "node", "B", SeriesKind.GAUGE),
)
SOURCES = 10
# Moves the time once a frame over the shown time, and counts the frames of a second.
SCRUB = """(async (seconds) => {
  const { begin, end } = page.bounds();
  let frames = 0;
  const start = performance.now(), until = start + seconds * 1000;
  await new Promise((done) => {
    function frame(now) {
      frames += 1;
      page.seek(begin + (end - begin) * ((now - start) / (seconds * 1000)));
      if (now < until) requestAnimationFrame(frame); else done();
    }
    requestAnimationFrame(frame);
  });
  return frames / ((performance.now() - start) / 1000);
})"""


def series_of(count: int) -> list[RecordedSeries]:
    found = []
    for number in range(count):
        key, label, unit, kind = KINDS[number % len(KINDS)]
        labels = ((label, f"{number // len(KINDS)}"),)
        found.append(RecordedSeries(f"source {number % SOURCES}", key, labels, unit, kind))
    return found


def minute_of(
    source: int, numbers: Sequence[int], series: Sequence[RecordedSeries], idle: int = 1
) -> Reads:
    """Return a minute of a source: counters that change by about 1% more or less, and gauges.

    idle: one counter in as many changes.
    """
    random = np.random.default_rng(source)
    steps = random.normal(1e6, 1e4, size=(MINUTE_READS, len(numbers))).astype(np.int64)
    steps[:, [column for column in range(len(numbers)) if column % idle]] = 0
    values = np.cumsum(steps, axis=0)
    for column, number in enumerate(numbers):
        if series[number].kind is SeriesKind.GAUGE:
            values[:, column] = random.integers(0, 64, MINUTE_READS)
        elif "dropped" in series[number].key:
            values[:, column] = np.arange(MINUTE_READS) > MINUTE_READS // 2
    begin = np.arange(MINUTE_READS, dtype=np.int64) * (S // HZ) + source * 1_000_000
    took = np.full(MINUTE_READS, 70_000, dtype=np.int64)
    return Reads(f"source {source}", "e", np.array(numbers), begin, took, values)


def fill(path: Path, count: int, minutes: int, idle: int) -> str:
    """Write a recording: one minute's packed reads again and again.

    The page reads and unpacks them as any others; to pack a day would take much longer.
    """
    series = series_of(count)
    with Store(str(path)) as store:
        writer = RecordingWriter.start(store, "host", RecordingClock("b", 0, 0), HZ, sparse=False)
        writer.add_reads(series, (), ())
        for source in range(SOURCES):
            numbers = [n for n in range(count) if n % SOURCES == source]
            reads = minute_of(source, numbers, series, idle)
            counters = np.array([series[n].kind is SeriesKind.COUNTER for n in numbers])
            found = stored_extremes(reads, None, counters)
            same = {
                "recording_id": writer.id, "source": reads.source, "columns": len(numbers),
                "series": packed(reads.series[np.newaxis]),
            }  # fmt: skip
            chunk = same | {
                "epoch": "e", "reads": MINUTE_READS, "took": packed(reads.took_ns),
                "values": packed(reads.values),
            }  # fmt: skip
            least = same | {
                "buckets": len(found.least), "whole": whole_octets(found),
                "fine": packed_extremes(found),
            }  # fmt: skip
            with store.transaction() as connection:
                for minute in range(minutes):
                    shift = minute * 60 * S
                    at = {
                        "number": minute, "begin_ns": int(reads.begin_ns[0]) + shift,
                        "end_ns": reads.end_ns + shift,
                    }  # fmt: skip
                    moments = packed(reads.begin_ns + shift)
                    connection.execute(insert(CHUNKS), chunk | at | {"moments": moments})
                    edges = packed(found.edges_ns + shift)
                    connection.execute(insert(EXTREMES), least | at | {"edges": edges})
        writer.finish()
        return writer.id


@contextmanager
def served(path: Path, recording: str) -> Iterator[str]:
    with open_to_read(str(path)) as store:
        server = LiveServer("127.0.0.1", 0, "t" * 24, [StoredRecording(store, recording)], "x")
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.url
        finally:
            server.end()
            thread.join()


def opens_s(page: Page, url: str) -> float:
    """Return the time from the navigation until lanes are drawn and values are shown."""
    page.command("Page.navigate", url="about:blank")
    begun = time.monotonic()
    page.command("Page.navigate", url=url)
    page.wait(READY, "the page")
    page.wait("[...document.querySelectorAll('.legend b')].some((each) => "
              "/[0-9]/.test(each.textContent))", "values")  # fmt: skip
    return time.monotonic() - begun


def pages(page: Page, folder: Path) -> None:
    sizes = (("hour_500", 500, 60, 1, 2), ("day_2000", 2000, 1440, 10, 5))
    for name, count, minutes, idle, asked in sizes:
        path = folder / f"{name}.sqlite"
        recording = fill(path, count, minutes, idle)
        with served(path, recording) as url:
            took = [opens_s(page, url) for _ in range(ROUNDS)]
            print(f"{name}_opens {median(took):.2f} s asked {asked}", flush=True)
            if minutes == 60:
                rates = [page.run(f"{SCRUB}({SCRUBBED_S})") for _ in range(ROUNDS)]
                print(f"{name}_scrubs {median(rates):.0f} frames/s asked 30", flush=True)
        path.unlink()


def one_file(page: Page, folder: Path) -> None:
    store_path, path = folder / "ten.sqlite", folder / "ten.html"
    series = series_of(500)
    with Store(str(store_path)) as store:
        writer = RecordingWriter.start(store, "host", RecordingClock("b", 0, 0), HZ, sparse=False)
        writer.add_reads(series, (), ())
        for source in range(SOURCES):
            numbers = [n for n in range(len(series)) if n % SOURCES == source]
            minute = minute_of(source, numbers, series)
            for number in range(10):
                begin = minute.begin_ns + number * 60 * S
                values = minute.values + number * minute.values[-1]
                writer.add_reads(
                    (),
                    [Reads(minute.source, "e", minute.series, begin, minute.took_ns, values)],
                    (),
                )
        writer.finish()
        recorded = StoredRecording(store, writer.id).recorded()
        with path.open("w", encoding="utf-8") as file:
            write_file(store, recorded, file)
    print(f"file_size {path.stat().st_size / 1e6:.1f} MB asked 15")
    took = [opens_s(page, path.as_uri()) for _ in range(ROUNDS)]
    print(f"file_opens {median(took):.2f} s")
    page.run("page.player.setSpeed(100)")
    page.click("#play")
    page.wait("page.player.t > 60e9", "a minute of play")
    page.run("page.player.play(false)")
    frames = page.run(f"{SCRUB}({SCRUBBED_S})")
    print(f"file_scrubs {frames:.0f} frames/s")
    asked = [event["request"]["url"].split("#")[0] for event in
             page.events("Network.requestWillBeSent")]  # fmt: skip
    elsewhere = [url for url in asked if not url.startswith(("data:", "file:", "about:"))]
    print(f"file_asks_for {len(elsewhere)} other addresses asked 0")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        profile = Path(folder) / "profile"
        with chromium(profile) as page:
            page.resize(1280, 900)
            one_file(page, Path(folder))
            pages(page, Path(folder))


if __name__ == "__main__":
    main()
