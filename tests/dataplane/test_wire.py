# SPDX-License-Identifier: Apache-2.0
"""Check that the reference SUT, between gen and sink, loses and delays exactly as configured.

Times are not asserted: a shared machine may stop any lcore for a while. Counts are.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.dataplane.program import Control, running

RATE_FPS = 200_000
DURATION_NS = 100_000_000
INTENDED = RATE_FPS * DURATION_NS // 10**9
WIRE = """
[ring.in]
size = 4096
[ring.out]
size = 4096
[task.gen]
type = gen
lcore = 1
tx = ring:in
flows = 10
catchup_ns = 60000000000
[task.sut]
type = impair
lcore = 1
rx = ring:in
tx = ring:out
[task.sink]
type = sink
lcore = 1
rx = ring:out
flows = 10
"""


@pytest.fixture(scope="module")
def control() -> Iterator[Control]:
    with running(WIRE) as wsdp:
        yield wsdp.control


def trial(control: Control, number: int, **settings: int) -> dict[str, dict[str, int]]:
    """Return the counters of a complete run, with every frame accounted for."""
    every = {"rate_fps": 0, "bucket_frames": 32, "delay_ns": 0, "loss_every": 0,
             "queue_frames": 400} | settings  # fmt: skip
    pairs = [f"{key}={value}" for key, value in every.items()]
    assert control.ask("set", "sut", *pairs) == {"ok": 1}
    control.ask("reset")
    answer = control.ask(
        "start", f"rate_fps={RATE_FPS}", f"duration_ns={DURATION_NS}", f"trial={number}"
    )
    assert answer == {"ok": 1}
    while control.ask("task", "gen")["running"]:
        pass
    control.await_stats(
        lambda now: (
            now["sut"]["rx"] == now["gen"]["tx"]
            and now["sut"]["held"] == 0
            and now["sink"]["rx"] == now["sut"]["tx"]
        )
    )
    figures = {name: control.ask("task", name) for name in ("gen", "sut", "sink")}
    gen, sut, sink = figures["gen"], figures["sut"], figures["sink"]
    assert gen["offered"] == gen["tx"] == sut["rx"] == INTENDED
    assert sut["rx"] == sut["tx"] + sut["discard"]
    assert sut["discard"] == sut["lost"] + sut["queue_full"] + sut["delay_full"]
    assert sink["received"] == sut["tx"]
    assert sink["duplicated"] == sink["reordered"] == sink["foreign"] == sink["stale"] == 0
    return figures


def test_without_impairment_nothing_is_lost(control: Control) -> None:
    figures = trial(control, 1)
    assert figures["sut"]["discard"] == figures["sink"]["lost"] == 0


@pytest.mark.parametrize("every", [2, 7, 1000, INTENDED, INTENDED + 1])
def test_loss_is_exact_to_the_frame(control: Control, every: int) -> None:
    figures = trial(control, 2, loss_every=every)
    assert figures["sut"]["lost"] == INTENDED // every
    assert figures["sut"]["queue_full"] == 0


def test_no_frame_is_faster_than_the_delay(control: Control) -> None:
    figures = trial(control, 3, delay_ns=2_000_000)
    assert figures["sut"]["discard"] == 0
    assert figures["sink"]["latency_min_ns"] >= 2_000_000


def test_a_rate_below_the_load_loses_the_rest(control: Control) -> None:
    """Only a lower bound holds: gaps of the machine let more time pass, hence more frames."""
    rate_fps = 1000
    figures = trial(control, 4, rate_fps=rate_fps, queue_frames=50, bucket_frames=10)
    assert figures["sut"]["queue_full"] == INTENDED - figures["sut"]["tx"]
    assert figures["sut"]["tx"] >= rate_fps * DURATION_NS // 10**9


def test_a_rate_above_the_load_loses_nothing(control: Control) -> None:
    figures = trial(control, 5, rate_fps=10**9, queue_frames=50)
    assert figures["sut"]["discard"] == 0
