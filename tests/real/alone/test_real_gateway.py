# SPDX-License-Identifier: Apache-2.0
"""Check a gateway's frames behind real ports, and that all of them are accounted for.

The loads are small, so that a busy machine carries them.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.effort import cases
from tests.support.real_bench import drops, frames_are_conserved, opened
from wirespeed.model.frame import FrameSizes
from wirespeed.model.result.hop_counts import DropCause
from wirespeed.model.result.trial import Stage, Trial
from wirespeed.model.study.gateway import Access, Bng, GatewayDirection
from wirespeed.model.study.spec import (
    Frames,
    Sut,
    Topology,
    Traffic,
    Vnf,
    VnfMode,
)
from wirespeed.study.load import load_study

LOAD_FPS, DURATION_S = 20_000.0, 0.3
GATEWAY, PLAIN = Vnf("bng"), Vnf("wsdp", VnfMode.IO)


def gateway_point(kind: str, frame: str, vnf: Vnf = GATEWAY, bng: Bng | None = None) -> Frames:
    return Frames(
        Topology(kind),
        Traffic(FrameSizes.parse(frame)),
        Sut(vnf=vnf),
        bng=bng or Bng(users=1024, routes=512),
    )


STUDY = load_study("s1-bng", ["topology.kind=pvp", "traffic.frame=256"])
POINTS = {
    "a point of the shipped study, through Open vSwitch": STUDY.points[0].workload,
    "through Open vSwitch, larger than Ethernet's MTU": gateway_point("pvp", "1518"),
    "plain ports, minimum size, hashed, no labels": gateway_point(
        "host", "64", bng=Bng(users=1000, routes=100, mpls=False, sparse=True)
    ),
    "plain ports, PPPoE": gateway_point(
        "host", "256", bng=Bng(users=1000, routes=100, access=Access.PPPOE)
    ),
    "plain forwarder, for comparison": gateway_point("pvp", "64", PLAIN),
}
# test_real_topologies.py has forwarders on these ports.
SHORT = cases(POINTS, "plain forwarder, for comparison")


@pytest.mark.usefixtures("needs_root")
@pytest.mark.parametrize("spec", SHORT.values(), ids=SHORT.keys())
def test_every_frame_arrives_as_the_tables_say(spec: Frames, tmp_path: Path) -> None:
    with opened(spec, tmp_path) as bench:
        seen = bench.measure(LOAD_FPS, DURATION_S)
    assert frames_are_conserved(seen), seen.drops
    trial = Trial(seen, Stage.CONSTANT, quiet=True)
    # The gateway consumes the announcements, 0.2 % of the upstream frames.
    announces = spec.sut.vnf == GATEWAY and spec.bng is not None and spec.bng.arp_every
    announced = seen.directions[0].offered // 500 if announces else 0
    assert drops(seen) == ({("vnf0", DropCause.VNF_HANDLED): announced} if announced else {})
    assert (trial.lost, seen.handled) == (0, announced)
    assert trial.received + announced == trial.offered > 0
    assert [(d.name, d.misdirected, d.corrupted, d.foreign) for d in seen.directions] == [
        ("east-west", 0, 0, 0), ("west-east", 0, 0, 0)
    ]  # fmt: skip
    assert (seen.latency is not None) == (spec.traffic.frame.text != "64")


@pytest.mark.usefixtures("needs_root")
def test_one_direction_alone(tmp_path: Path) -> None:
    """Downstream: the only stream starts in the west."""
    spec = gateway_point("host", "128")
    spec = replace(spec, bng=Bng(GatewayDirection.DOWN, users=64, routes=64))
    with opened(spec, tmp_path) as bench:
        seen = bench.measure(LOAD_FPS, DURATION_S)
    [direction] = seen.directions
    assert direction.name == "west-east"
    assert direction.received == direction.offered > 0


@pytest.mark.usefixtures("needs_root")
def test_eight_workers_share_random_subscribers_evenly(tmp_path: Path) -> None:
    """S1's layout; both directions of a subscriber meet one worker, or frames would be dropped."""
    spec = gateway_point(
        "host",
        "128",
        Vnf("bng", workers=8),
        Bng(users=32_768, routes=512, sparse=True),
    )
    with opened(spec, tmp_path) as bench:
        seen = bench.measure(2 * LOAD_FPS, 2 * 32_768 / (2 * LOAD_FPS))
    assert frames_are_conserved(seen), seen.drops
    assert {drop.cause for drop in seen.drops} == {DropCause.VNF_HANDLED}
    loads = [share.frames for share in seen.workers]
    assert len(loads) == 8
    assert sum(loads) == seen.total("offered")
    mean = sum(loads) / len(loads)
    assert max(loads) < 1.05 * mean
    assert min(loads) > 0.95 * mean
