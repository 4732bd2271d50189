# SPDX-License-Identifier: Apache-2.0
"""Check which series each lane of the page shows."""

from __future__ import annotations

from tests.unit.live.sample_recording import SERIES
from wirespeed.live.lanes import DROPS, Form, Lane, lanes_of, members
from wirespeed.model.result.recording import RecordedSeries
from wirespeed.model.result.series import SeriesKind


def series(key: str, unit: str = "1", source: str = "x", **labels: str) -> RecordedSeries:
    return RecordedSeries(source, key, tuple(labels.items()), unit, SeriesKind.COUNTER)


def by_name(found: tuple[Lane, ...]) -> dict[str, Lane]:
    return {lane.name: lane for lane in found}


def test_lanes_cpu_times_are_one_line_a_cpu() -> None:
    found = by_name(lanes_of(SERIES))
    [line] = found["CPU busy"].lines
    assert (line.label, line.members, line.form) == ("CPU 0", (0, 1), Form.SUM)
    assert found["CPU busy"].top == 100


def test_lanes_busy_share_pairs_busy_with_idle_of_the_same_thread() -> None:
    labels = [{"switch": "ovs", "numa": "0", "cpu": cpu} for cpu in ("2", "3")]
    found = by_name(lanes_of([
        *(series("pmd_busy_cycles", "cycles", **each) for each in labels),
        *(series("pmd_idle_cycles", "cycles", **each) for each in reversed(labels)),
    ]))  # fmt: skip
    lines = found["PMD and lcore busy"].lines
    assert [(line.members, line.rest, line.form) for line in lines] == [
        ((0,), (3,), Form.SHARE), ((1,), (2,), Form.SHARE),
    ]  # fmt: skip


def test_lanes_busy_share_without_its_other_half_is_no_line() -> None:
    assert lanes_of([series("pmd_busy_cycles", "cycles", cpu="1")]) == ()


def test_lanes_drops_are_counters_of_lost_packets_by_cause() -> None:
    found = by_name(lanes_of([
        series("port_packets", "packets", interface="p"),
        series("datapath_dropped_packets", "packets", switch="ovs", cause="drop_action"),
        series("device_rx_missed_packets", "packets", program="w", port="0"),
        series("mempool_free", "1", mempool="m"),
    ]))  # fmt: skip
    lane = found[DROPS]
    assert [line.members for line in lane.lines] == [(1,), (2,)]
    assert lane.loss
    assert "drop_action" in lane.lines[0].label


def test_members_are_those_that_a_lane_shows() -> None:
    assert members(lanes_of(SERIES)) == (0, 1, 3, 4, 5)
