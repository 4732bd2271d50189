# SPDX-License-Identifier: Apache-2.0
"""Does every drop that is really forced show at its hop, with its cause, to the frame?"""

from __future__ import annotations

import math
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.bench.real import books_close, drops, meanwhile, opened, planned, point, process, vswitch
from wirespeed.bench import session
from wirespeed.bench.interface import BenchError
from wirespeed.bench.session import RealBench
from wirespeed.model.plan import Decision
from wirespeed.model.spec import Impair, PointSpec, Sut, Topology, TopologyKind, Vnf
from wirespeed.model.trial import DropCause, Observation

pytestmark = [pytest.mark.root, pytest.mark.usefixtures("needs_root")]

LOAD_FPS = 50_000.0


@pytest.fixture
def pvp(tmp_path: Path, own_state: None) -> Iterator[RealBench]:  # noqa: ARG001
    """One function in a process of its own, so that it can be stopped alone."""
    with opened(point(TopologyKind.PVP, vnf=Vnf(own_process=True)), tmp_path) as bench:
        yield bench


def most(seen: Observation, hop: str, cause: DropCause) -> int:
    """The frames dropped there, which are most of those that were lost, and none is unexplained.

    Not all: a burst that follows a pause may overflow the next ring, too.
    """
    assert books_close(seen), seen.drops
    lost = seen.total("offered") - seen.total("received")
    dropped = drops(seen)[hop, cause]
    assert 2 * dropped > lost > 0, seen.drops
    return dropped


def test_drops_of_a_pvp_bench(pvp: RealBench) -> None:
    """One bench for several faults: bringing one up takes longer than forcing a drop."""
    control = vswitch(pvp).control
    vnf, daemon = process(pvp, "vnf0"), process(pvp, "Open vSwitch")

    # A function that hangs for a while: what it does not take overflows its vhost ring.
    stop, go = (lambda n=n: vnf.signal(n) for n in (signal.SIGSTOP, signal.SIGCONT))
    with meanwhile((0.3, stop), (0.6, go)):
        seen = pvp.measure(LOAD_FPS, 1.0)
    assert most(seen, "ovs:vnf0a", DropCause.VHOST_TX_RING_FULL) < seen.total("offered")

    # A vSwitch that hangs: its ingress ring refuses frames that were offered on schedule.
    stop, go = (lambda n=n: daemon.signal(n) for n in (signal.SIGSTOP, signal.SIGCONT))
    with meanwhile((0.3, stop), (0.6, go)):
        seen = pvp.measure(LOAD_FPS, 1.0)
    assert most(seen, "sut-ingress", DropCause.RX_RING_FULL) < seen.total("offered")
    assert seen.total("unsent") + seen.total("offered") == seen.total("intended")

    # No rule for what comes back from the function. What the datapath has counted so far is
    # credited to the rules first, or it would be to the drop rule.
    control.ask("revalidator/purge")
    control.ofctl("del-flows", "in_port=4,dl_dst=02:00:01:00:00:00")
    seen = pvp.measure(LOAD_FPS, 0.1)
    assert most(seen, "ovs:vnf0b", DropCause.NO_FLOW) == seen.total("offered") > 0

    # Nor for what the generator sends.
    control.ask("revalidator/purge")
    control.ofctl("del-flows", "in_port=1,dl_dst=02:01:00:00:00:00")
    seen = pvp.measure(LOAD_FPS, 0.1)
    assert most(seen, "ovs:east", DropCause.NO_FLOW) == seen.total("offered") > 0

    # A policer on the way in.
    control.vsctl("set", "Interface", "east", "ingress_policing_rate=100",
                  "ingress_policing_burst=10")  # fmt: skip
    seen = pvp.measure(LOAD_FPS, 0.1)
    assert drops(seen)["ovs:east", DropCause.POLICER] > 0
    assert books_close(seen)


def test_an_overloaded_path_loses_at_its_entrance(pvp: RealBench) -> None:
    seen = pvp.measure(math.inf, 0.2)
    assert drops(seen)["sut-ingress", DropCause.RX_RING_FULL] > 0
    assert books_close(seen)


def test_frames_above_the_mtu_are_dropped_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "_OPEN_S", 0.5)
    spec = point(TopologyKind.P2P, frame="1600")
    plan = planned(spec)
    vswitch_plan = plan.hosts[0].vswitch
    assert vswitch_plan is not None
    small = replace(vswitch_plan, mtu=Decision(1500, "to see what a frame above it does"))
    cut = replace(plan, hosts=(replace(plan.hosts[0], vswitch=small),))
    with (
        pytest.raises(BenchError, match=r"does not open: .* 0 arrived; .* at ovs:west \(mtu\)"),
        opened(spec, tmp_path, cut),
    ):
        pass


def test_the_reference_sut_drops_what_it_says(tmp_path: Path) -> None:
    spec = PointSpec(Topology(TopologyKind.WIRE), sut=Sut(impair=Impair(loss_every=10)))
    with opened(spec, tmp_path) as bench:
        seen = bench.measure(LOAD_FPS, 0.2)
    assert most(seen, "impair", DropCause.IMPAIRED) == seen.total("offered") // 10
