# SPDX-License-Identifier: Apache-2.0
"""Check that real frames pass Linux bridges, and that every lost one is accounted for.

The loads are what the kernel's path carries on a busy machine; overload is more than that.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.effort import cases
from tests.support.real_bench import conserving_trials, drops, opened, planned, point
from wirespeed.bench.site import Site
from wirespeed.bench.tcp_session.streams import RealTcpBench, open_tcp_bench
from wirespeed.model.frame import Encapsulation
from wirespeed.model.result.hop_counts import DropCause
from wirespeed.model.study.spec import Frames, TcpStreams, Vnf, VnfMode, Vswitch
from wirespeed.model.study.tcp import Tcp
from wirespeed.remote.local import LocalRunner

pytestmark = pytest.mark.usefixtures("needs_root")

LOAD_FPS, DURATION_S = 2_000.0, 0.3


def bridged(spec: Frames) -> Frames:
    return replace(spec, sut=replace(spec.sut, vswitch=Vswitch(kind="linux-bridge")))


TOPOLOGIES = {
    "p2p, both ways, VLAN": point("p2p", bidirectional=True, tags=Encapsulation.VLAN),
    "p2p, 1518 B": point("p2p", frame="1518"),
    "pvp, io": point("pvp", vnf=Vnf(mode=VnfMode.IO), bidirectional=True),
    "pvp, own process": point("pvp", vnf=Vnf(placement="process")),
    "2 in parallel": point("parallel", 2),
    "chain of 2": point("chain", 2),
}
# Differ from the others in the size, the process or the number of functions next to each other.
SHORT = cases(TOPOLOGIES, "p2p, 1518 B", "pvp, own process", "2 in parallel")


@pytest.mark.parametrize("spec", SHORT.values(), ids=SHORT.keys())
def test_frames_are_conserved(spec: Frames, tmp_path: Path) -> None:
    with opened(bridged(spec), tmp_path) as bench:
        _, flooded = conserving_trials(bench, LOAD_FPS, DURATION_S)
        assert any("softirqs" in sentence for sentence in flooded.evidence.unseen)
        assert "Linux bridge" in bench.describe()


def test_frames_dropped_in_the_bridge_are_unknown_drops_at_the_switch(tmp_path: Path) -> None:
    """A bridge's internal drops have no counter: they are reported as unknown."""
    with opened(bridged(point("p2p")), tmp_path) as bench:
        [namespace] = LocalRunner().glob("/run/netns/ws*-switch")
        name = namespace.rpartition("/")[2]
        LocalRunner().run(["ip", "-n", name, "link", "set", "west", "nomaster"])
        seen = bench.measure(LOAD_FPS, DURATION_S)
    assert drops(seen)["switch", DropCause.UNKNOWN] == seen.total("offered") > 0


def test_tcp_passes_a_bridge(tmp_path: Path) -> None:
    streams = TcpStreams(Tcp(path="bridge", clients=2, seconds=1, omit_s=0))
    with open_tcp_bench(streams, planned(streams), Site(LocalRunner(), tmp_path)) as bench:
        assert isinstance(bench, RealTcpBench)
        run = bench.run()
    assert run.vswitch_cpu_s is None
    assert min(direction.bytes for direction in run.directions) > 1_000_000
