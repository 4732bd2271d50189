# SPDX-License-Identifier: Apache-2.0
"""Check that a source that hangs, ends or changes its text delays no other, and is logged once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import cast

import pytest

from tests.unit.kpi.fake_host import FakeHost
from wirespeed.kpi import sampler
from wirespeed.kpi.collectors.own import Meter
from wirespeed.kpi.frames import Frame, Layout, Note, Sample, parsed, written
from wirespeed.kpi.interface import Collector, KpiError, Metric, Missing, Source, Values
from wirespeed.kpi.pace import Pace, Traffic
from wirespeed.kpi.sampler import Output, Reader, Sessions
from wirespeed.remote.interface import HostLost, Runner
from wirespeed.sources.errors import NoAnswer

NAME = ("cpu_user_seconds", ("0",))


class Frames:
    """Frames that the readers write, and a moment to wait for."""

    def __init__(self) -> None:
        self.seen: list[Frame] = []
        self.broken = threading.Event()
        self._more = threading.Condition()

    def write(self, frame: Frame) -> None:
        with self._more:
            self.seen.append(frame)
            self._more.notify_all()

    def note(self, text: str) -> None:
        self.write(Note(0, text))

    def wait(self, reached: Callable[[list[Frame]], bool]) -> None:
        with self._more:
            assert self._more.wait_for(lambda: reached(self.seen), 60)

    @property
    def notes(self) -> list[str]:
        return [frame.text for frame in self.seen if isinstance(frame, Note)]

    def reads(self, source: str) -> int:
        return sum(isinstance(f, Sample) and f.source == source for f in self.seen)


class Reading:
    """A collector with one source; `act` is what each read does."""

    cheap = True
    metrics: tuple[Metric, ...] = ()

    def __init__(self, name: str, act: Callable[[], Values]) -> None:
        self.name, self.read = name, act

    def probe(self, runner: Runner) -> Sequence[Source] | Missing:  # noqa: ARG002
        return (cast(Source, self),)

    def close(self) -> None: ...


def value() -> Values:
    return Values("epoch", {NAME: 1})


@pytest.fixture
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampler, "PROBE_S", 0.01)


def run(frames: Frames, *collectors: Reading) -> tuple[threading.Event, list[threading.Thread]]:
    stopped = threading.Event()
    readers = [
        Reader(
            cast(Runner, FakeHost()), cast(Collector, each),
            Pace(cast(Collector, each), Traffic(sparse=False), 50), cast(Output, frames), stopped,
        )
        for each in collectors
    ]  # fmt: skip
    threads = [threading.Thread(target=reader.run, daemon=True) for reader in readers]
    for thread in threads:
        thread.start()
    return stopped, threads


@pytest.mark.usefixtures("fast")
def test_source_that_hangs_delays_no_other_and_is_reported_once() -> None:
    frames, released = Frames(), threading.Event()
    calls = iter(range(10**9))

    def hang() -> Values:
        if next(calls) < 2:
            assert released.wait(60)
            raise NoAnswer("no answer within 1 s")
        return value()

    stopped, threads = run(frames, Reading("slow", hang), Reading("good", value))
    frames.wait(lambda _: frames.reads("good") >= 5)
    assert frames.reads("slow") == 0
    released.set()
    frames.wait(lambda _: frames.reads("slow") >= 3)
    stopped.set()
    for thread in threads:
        thread.join()
    about = [text for text in frames.notes if not text.startswith(("good", "slow: cannot"))]
    assert about[0] == "slow: no value: no answer within 1 s"
    assert about.count(about[0]) <= 2
    assert any(text.startswith("slow: there now") for text in about)


@pytest.mark.usefixtures("fast")
def test_broken_connection_is_made_anew_and_reported_once(monkeypatch: pytest.MonkeyPatch) -> None:
    frames, runners = Frames(), []

    @contextmanager
    def reached(address: str) -> Iterator[Runner]:
        assert address == "ssh://far"
        runners.append(cast(Runner, FakeHost()))
        yield runners[-1]

    def read() -> Values:
        if len(runners) == 1 and frames.reads("cpu") >= 3:
            raise HostLost("the connection to far broke")
        return value()

    monkeypatch.setattr(sampler, "reach", reached)
    monkeypatch.setattr(sampler, "collectors", lambda _: (Reading("cpu", read),))
    sessions = Sessions("ssh://far", (), 50, Traffic(sparse=False), cast(Output, frames))
    working = threading.Thread(target=sessions.run)
    working.start()
    frames.wait(lambda _: frames.reads("cpu") >= 6)
    sessions.end()
    working.join()
    assert len(runners) == 2
    about = [text for text in frames.notes if "cannot keep up" not in text]
    assert about == [
        "cpu: no value: the connection to far broke",
        "ssh://far: the connection broke; it is made anew",
    ]
    layouts = [frame for frame in frames.seen if isinstance(frame, Layout)]
    assert len(layouts) == 2


@pytest.mark.usefixtures("fast")
def test_answer_in_another_layout_is_no_value_and_no_traceback() -> None:
    frames = Frames()

    def lacks() -> Values:
        raise KeyError("busy_ns")

    stopped, threads = run(frames, Reading("wsdp", lacks))
    frames.wait(lambda _: bool(frames.notes))
    stopped.set()
    for thread in threads:
        thread.join()
    assert frames.notes[0] == "wsdp: no value: its answer lacks 'busy_ns'"


def test_frames_are_read_back_and_others_are_refused() -> None:
    for frame in (
        Layout("cpu", (NAME,)), Sample("cpu", 1, 2, "e", (3, -4)), Note(5, "a\nb"),
    ):  # fmt: skip
        assert parsed(written(frame)) == frame
    for line in (b"", b"[]", b'["read","cpu"]', b"[" * 1000, b'["layout","x",[1]]'):
        with pytest.raises(KpiError, match="wrote no frame"):
            parsed(line)


def _raise(fault: Exception) -> Values:
    raise fault


@pytest.mark.usefixtures("fast")
@pytest.mark.parametrize(
    ("act", "said"),
    [
        (lambda: Values("e", {NAME: 1 << 63}), "cpu_user_seconds 0 has more than 64 bits: 9.223e"),
        (lambda: Values("e", {NAME: 1, ("x", ()): int(-1e30)}), "x has more than 64 bits: -1.000e"),
        (lambda: _raise(OverflowError("infinity")), "infinity"),
        (lambda: _raise(AttributeError("no items")), "no items"),
    ],
)
def test_source_with_a_value_that_cannot_be_stored_ends_no_other(
    act: Callable[[], Values], said: str
) -> None:
    frames, odd = Frames(), threading.Event()
    stopped, threads = run(
        frames, Reading("odd", lambda: value() if odd.is_set() else act()), Reading("good", value)
    )
    frames.wait(lambda _: frames.reads("good") >= 2 and len(frames.notes) > 0)
    assert any(text.startswith(f"odd: no value: {said}") for text in frames.notes)
    assert frames.reads("odd") == 0
    odd.set()  # its thread lives
    frames.wait(lambda _: frames.reads("odd") >= 2)
    stopped.set()
    for thread in threads:
        thread.join()


@pytest.mark.usefixtures("fast")
def test_cpu_time_of_a_collector_grows_over_a_new_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    meter, frames = Meter(), Frames()
    monkeypatch.setattr(sampler, "METER", meter)
    # As if each thread had taken 1 ms when it is first asked, and 2 ms from then on.
    own = threading.local()

    def thread_time_ns() -> int:
        own.asked = getattr(own, "asked", 0) + 1
        return 1_000_000 if own.asked == 1 else 2_000_000

    monkeypatch.setattr("wirespeed.kpi.sampler.time.thread_time_ns", thread_time_ns)
    for connection in (1, 2):
        reached = frames.reads("cpu") + 3
        stopped, threads = run(frames, Reading("cpu", value))
        frames.wait(lambda _, reached=reached: frames.reads("cpu") >= reached)  # type: ignore[misc]
        stopped.set()
        for thread in threads:
            thread.join()
        cpu_ns, reads = meter.used()["cpu"]
        assert cpu_ns == connection * 2_000_000
        assert reads == frames.reads("cpu")
