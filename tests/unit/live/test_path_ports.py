# SPDX-License-Identifier: Apache-2.0
"""Check that a stop with many ports shows the losses of all of them, without long computing."""

from __future__ import annotations

from unittest import mock

from tests.unit.live.path_recording import series
from wirespeed.live.path import path_of
from wirespeed.live.path_parts import PORTS_MAX
from wirespeed.live.path_series import PathSeries

PORTS = 40


def test_ports_beyond_the_listed_are_one_line_with_their_sums() -> None:
    known = [
        series("interfaces", "interface_packets", interface=f"eth{at}", direction=direction)
        for at in range(PORTS)
        for direction in ("rx", "tx")
    ]
    known += [
        series("interfaces", "interface_dropped_packets", interface=f"eth{at}", direction="rx")
        for at in (*range(14), PORTS - 1)
    ]
    [stop] = path_of(known).stops
    # Ports whose losses are counted come first.
    assert [port.name for port in stop.ports[:-1]] == [f"eth{at}" for at in range(PORTS_MAX)]
    rest = stop.ports[-1]
    assert rest.name == f"and {PORTS - PORTS_MAX} more"
    assert rest.into is not None
    assert rest.out is not None
    assert rest.lost is not None
    beyond = {f"eth{at}" for at in range(PORTS_MAX, PORTS)}
    for line, key, direction in (
        (rest.into, "interface_packets", "rx"), (rest.out, "interface_packets", "tx"),
    ):  # fmt: skip
        members = [known[number] for number in line.members]
        assert {(each.key, dict(each.labels)["direction"]) for each in members} == {
            (key, direction)
        }
        assert {dict(each.labels)["interface"] for each in members} == beyond
    assert rest.into.factor == stop.ports[0].into.factor  # type: ignore[union-attr]
    assert [dict(known[number].labels)["interface"] for number in rest.lost.members] == [
        "eth12", "eth13", "eth39",
    ]  # fmt: skip


def test_port_whose_losses_are_counted_is_listed_before_others() -> None:
    known = [
        series("interfaces", "interface_packets", interface=f"eth{at}", direction="rx")
        for at in range(PORTS)
    ]
    known.append(series("x", "interface_dropped_packets", interface="eth39", direction="rx"))
    [stop] = path_of(known).stops
    assert [port.name for port in stop.ports[:2]] == ["eth39", "eth0"]


def test_each_port_is_made_once_from_its_own_series() -> None:
    known = [
        series("ovs", "port_packets", switch="s", interface=f"p{at}", direction=direction)
        for at in range(PORTS)
        for direction in ("rx", "tx")
    ]
    known += [
        series("a", f"ethdev_{way}_packets", program="a", port=f"{at}")
        for at in range(PORTS)
        for way in ("rx", "tx")
    ]
    found = PathSeries(known)
    with mock.patch.object(PathSeries, "_switch_port", wraps=found._switch_port) as made:
        found.switches()
    assert made.call_count == PORTS
    with mock.patch.object(PathSeries, "_program_port", wraps=found._program_port) as made:
        found.programs()
    assert made.call_count == PORTS
    assert all(len(found.likely(key, labels)) <= 2 for key, labels in (
        ("port_packets", {"switch": "s", "interface": "p3"}),
        ("ethdev_rx_packets", {"program": "a", "port": "3"}),
    ))  # fmt: skip
