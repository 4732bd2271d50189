# SPDX-License-Identifier: Apache-2.0
"""Check that real frames take each topology's path, and are all accounted for.

The loads are small, so that a busy machine carries them. Assertions are on the path of frames, not
on their rate.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.effort import cases
from tests.support.real_bench import conserving_trials, opened, point
from wirespeed.bench.assembly.kinds import sut_of
from wirespeed.model.frame import Encapsulation, FrameSizes
from wirespeed.model.result.observation import Observation
from wirespeed.model.study.routing import Routing
from wirespeed.model.study.spec import Frames, Sut, Traffic, Vnf, VnfMode, Vswitch

LOAD_FPS, DURATION_S = 20_000.0, 0.2

TOPOLOGIES = {
    "p2p": point("p2p"),
    "p2p, both ways, QinQ": point("p2p", bidirectional=True, frame="1526", tags=Encapsulation.QINQ),
    "p2p, jumbo": point("p2p", frame="9000"),
    "pvp, 2 queues": replace(point("pvp"), sut=Sut(Vswitch(rx_queues=2))),
    "pvp, own process, macswap": point(
        "pvp", bidirectional=True, vnf=Vnf(mode=VnfMode.MACSWAP, placement="process")
    ),
    "pvp, testpmd": point("pvp", vnf=Vnf("testpmd")),
    "chain of 2, io": point("chain", 2, bidirectional=True, vnf=Vnf(mode=VnfMode.IO)),
    "3 in parallel": point("parallel", 3, bidirectional=True),
    "host": point("host", bidirectional=True),
    "pvp, router": point("pvp", bidirectional=True, vnf=Vnf("l3fwd")),
    "2 routers in parallel": point("parallel", 2, bidirectional=True, vnf=Vnf("router")),
    "chain of 2 routers, own processes": point("chain", 2, vnf=Vnf("l3fwd", placement="process")),
    "host, router, IPv6": replace(
        point("host", bidirectional=True, frame="256", vnf=Vnf("router")),
        traffic=Traffic(FrameSizes.parse("256"), ip_version=6),
        routing=Routing(ipv6=5000),
    ),
    "host, testpmd": point("host", vnf=Vnf("testpmd")),
}
# p2p's path is that of the next two. Three in parallel and chained routers take that of two in
# parallel, of one router and of a chain; hosts with a router or testpmd that of a host. testpmd in
# pvp carries frames in test_real_long_paths.py, too.
SHORT = cases(
    TOPOLOGIES, "p2p", "2 routers in parallel", "chain of 2, io", "pvp, router", "host",
    "pvp, testpmd",
)  # fmt: skip


def assert_watched(seen: Observation) -> None:
    """Check that every window is accounted for, and that every polling CPU was observed."""
    assert seen.windows is not None
    # All but what was sent in the partial windows at the beginning and the end, and while it is not
    # known whether the trial had begun.
    least = 0.9 - 2 * seen.began_error_ns / 1e9 / seen.duration_s
    for way, windows in zip(seen.directions, seen.windows.directions, strict=True):
        assert sum(windows.received) <= way.received
        assert sum(windows.offered) >= least * way.offered
        assert sum(windows.received) >= least * way.received
    assert seen.evidence.unseen == ()
    pollers = {thread.cpu for thread in seen.threads}
    assert {samples.cpu for samples in seen.evidence.contention} >= pollers
    for samples in seen.evidence.contention:
        assert samples.at_ns[0] < 0
        assert samples.at_ns[-1] > 0.5 * DURATION_S * 1e9  # the last one may come late
        assert len(samples.at_ns) > DURATION_S / 0.004
    assert seen.latency_rows is not None
    rows = sum(frames for row in seen.latency_rows.rows for _, frames in row)
    assert seen.latency is not None
    assert rows == seen.latency.count


def assert_ports_agree(seen: Observation, spec: Frames) -> None:
    """Check that every port of every path is counted, and that cables lose nothing."""
    counts = {count.port: count for count in seen.ports}
    paths = sut_of(spec).paths
    assert paths
    for path in paths:
        for origin, target in zip(path[::2], path[1::2], strict=True):
            assert counts[origin].left == counts[target].entered > 0


@pytest.mark.usefixtures("needs_root")
@pytest.mark.parametrize("spec", SHORT.values(), ids=SHORT.keys())
def test_all_frames_are_accounted_for(spec: Frames, tmp_path: Path) -> None:
    with opened(spec, tmp_path) as bench:
        for seen in conserving_trials(bench, LOAD_FPS, DURATION_S):
            assert len(seen.directions) == (2 if spec.topology.bidirectional else 1)
            assert_ports_agree(seen, spec)
        assert {thread.role for thread in seen.threads} == {"generator", "sut"}
        assert_watched(seen)
        assert seen.latency is not None
        assert seen.latency.count == seen.total("received")
        assert {"generator", "priority"} <= bench.describe().keys()
