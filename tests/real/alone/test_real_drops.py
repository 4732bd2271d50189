# SPDX-License-Identifier: Apache-2.0
"""Check that every forced drop appears at its hop, with its cause, to the frame."""

from __future__ import annotations

import math
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.real_bench import (
    drops,
    frames_are_conserved,
    in_traffic,
    opened,
    planned,
    point,
    process,
    vswitch,
)
from wirespeed.bench import session
from wirespeed.bench.function import l3fwd
from wirespeed.bench.function.interface import Setup
from wirespeed.bench.host.process import await_true
from wirespeed.bench.interface import BenchError
from wirespeed.bench.session import RealBench
from wirespeed.model.frame import FlowField
from wirespeed.model.plan.plan import Decision
from wirespeed.model.result.hop_counts import DropCause
from wirespeed.model.result.observation import Observation
from wirespeed.model.study.spec import Frames, Impair, Sut, Topology, Vnf

pytestmark = pytest.mark.usefixtures("needs_root")

LOAD_FPS = 50_000.0


@pytest.fixture
def pvp(tmp_path: Path, own_state: None) -> Iterator[RealBench]:  # noqa: ARG001
    """Yield a bench with a function in its own process, so that it can be stopped alone."""
    with opened(point("pvp", vnf=Vnf(placement="process")), tmp_path) as bench:
        yield bench


def dropped_at(seen: Observation, hop: str, cause: DropCause) -> int:
    """Return the frames dropped there; no lost frame is unexplained.

    Not all are lost there: where the test shares its CPUs, a burst after a pause may overflow other
    rings, too.
    """
    assert frames_are_conserved(seen), seen.drops
    dropped = drops(seen)[hop, cause]
    assert dropped > 0, seen.drops
    return dropped


def test_frames_without_a_route_are_dropped_at_the_router(tmp_path: Path, own_state: None) -> None:  # noqa: ARG001
    """The opposite direction is not in its table: it loses all frames, the other direction none."""
    lines = l3fwd._lines

    def one_way(setup: Setup) -> Iterator[str]:
        yield from (line for line in lines(setup) if not line.startswith("route 198.19.1.1/"))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(l3fwd, "_lines", one_way)
        patch.setattr(session, "_OPEN_S", 5.0)
        spec = point("pvp", bidirectional=True, vnf=Vnf("l3fwd"))
        lost = r"of \d+ frames .*missing: .*\d+ at vnf0 \(no_route\)"
        with pytest.raises(BenchError, match=lost) as error, opened(spec, tmp_path):
            pass
    assert "unknown" not in str(error.value)


def lossless(bench: RealBench) -> bool:
    seen = bench.measure(LOAD_FPS, 0.1)
    return seen.total("received") == seen.total("offered")


def test_drops_of_a_pvp_bench(pvp: RealBench) -> None:
    """One bench serves several faults: starting one takes longer than forcing a drop."""
    control = vswitch(pvp).control
    vnf, daemon = process(pvp, "vnf0"), process(pvp, "Open vSwitch")

    # A function hangs for a while: frames that it does not take overflow its vhost ring.
    stop, go = (lambda n=n: vnf.signal(n) for n in (signal.SIGSTOP, signal.SIGCONT))
    with in_traffic(stop, go):
        seen = pvp.measure(LOAD_FPS, 1.0)
    assert dropped_at(seen, "switch:vnf0a", DropCause.VHOST_TX_RING_FULL) < seen.total("offered")

    # A vSwitch hangs: its ingress ring rejects frames that were offered on schedule.
    stop, go = (lambda n=n: daemon.signal(n) for n in (signal.SIGSTOP, signal.SIGCONT))
    with in_traffic(stop, go):
        seen = pvp.measure(LOAD_FPS, 1.0)
    assert dropped_at(seen, "sut-ingress", DropCause.RX_RING_FULL) < seen.total("offered")
    assert seen.total("unsent") + seen.total("offered") == seen.total("intended")

    # The vSwitch stops polling the function's output: the function's ring there fills up.
    control.ofctl("mod-port", "vnf0b", "down")
    configs = control.port_configs(control.bridge)
    assert (configs["vnf0a"], configs["vnf0b"]) == ("0", "PORT_DOWN")
    seen = pvp.measure(LOAD_FPS, 0.5)
    stuck = drops(seen).pop(("vnf0:b-switch:vnf0b", DropCause.UNKNOWN))
    assert stuck == seen.ring_frames  # frames in the ring stay in flight forever
    full = drops(seen)["vnf0", DropCause.VNF_TX_RING_FULL]
    assert full + stuck == seen.total("offered") > 2 * stuck
    control.ofctl("mod-port", "vnf0b", "up")
    await_true(
        lambda: lossless(pvp),
        within_s=10.0,
        alive=lambda: None,
        otherwise=lambda: "the way back stays shut",
    )

    # The generator sleeps between two looks at its ports, so that more comes back than its ring
    # holds. Where the host slows the senders down less comes back, hence several looks.
    for _ in range(15):
        with in_traffic(lambda: pvp.rig.generator.program.ask("pause_pollers,ns=10000000")):
            seen = pvp.measure(20 * LOAD_FPS, 1.0)
        if (full := drops(seen).get(("switch:west", DropCause.TG_RX_RING_FULL), 0)) > 0:
            break
    assert full > 0
    assert frames_are_conserved(seen), seen.drops

    # Frames from the function have no rule. What the datapath has counted so far is credited to the
    # rules first, else the drop rule would get it.
    control.ask("revalidator/purge")
    control.ofctl("del-flows", "in_port=4,dl_dst=02:00:01:00:00:00")
    seen = pvp.measure(LOAD_FPS, 0.1)
    assert dropped_at(seen, "switch:vnf0b", DropCause.NO_FLOW) == seen.total("offered") > 0

    # Frames from the generator have no rule, either.
    control.ask("revalidator/purge")
    control.ofctl("del-flows", "in_port=1,dl_dst=02:01:00:00:00:00")
    seen = pvp.measure(LOAD_FPS, 0.1)
    assert dropped_at(seen, "switch:east", DropCause.NO_FLOW) == seen.total("offered") > 0

    # A policer at the ingress.
    control.vsctl("set", "Interface", "east", "ingress_policing_rate=100",
                  "ingress_policing_burst=10")  # fmt: skip
    seen = pvp.measure(LOAD_FPS, 0.1)
    assert drops(seen)["switch:east", DropCause.POLICER] > 0
    assert frames_are_conserved(seen)


def test_an_overloaded_path_loses_at_its_entrance(pvp: RealBench) -> None:
    seen = pvp.measure(math.inf, 0.2)
    assert drops(seen)["sut-ingress", DropCause.RX_RING_FULL] > 0
    assert frames_are_conserved(seen)


def test_upcalls_that_nobody_answers(tmp_path: Path, own_state: None) -> None:  # noqa: ARG001
    """A vSwitch that restarts its revalidators first deletes the datapath's flows.

    Nobody answers upcalls for new flows then, so frames that the PMD polls meanwhile are lost. It
    may have polled none.
    """
    spec = point("p2p")
    spec = replace(spec, traffic=replace(spec.traffic, flows=4000, flow_field=FlowField.SRC_MAC))
    with opened(spec, tmp_path) as bench:
        control = vswitch(bench).control
        # The rule matches source addresses: each gets a flow, and deleting them takes a while.
        control.ofctl("add-flow", "priority=9999,dl_src=06:00:00:00:00:06,actions=drop")
        for attempt in range(20):
            threads = f"other_config:n-revalidator-threads={2 + attempt % 2}"
            with in_traffic(lambda: control.vsctl("set", "Open_vSwitch", ".", threads)):  # noqa: B023
                seen = bench.measure(4 * LOAD_FPS, 1.5)
            if ("switch", DropCause.UPCALL) in drops(seen):
                break
    assert dropped_at(seen, "switch", DropCause.UPCALL) < seen.total("offered")


def test_frames_above_the_mtu_are_dropped_and_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "_OPEN_S", 0.5)
    spec = point("p2p", frame="1600")
    plan = planned(spec)
    vswitch_plan = plan.hosts[0].vswitch
    assert vswitch_plan is not None
    small = replace(vswitch_plan, mtu=Decision(1500, "to see what a frame above it does"))
    cut = replace(plan, hosts=(replace(plan.hosts[0], vswitch=small),))
    with (
        pytest.raises(
            BenchError, match=r"do not pass the SUT: .* 0 arrived; .* at switch:west \(mtu\)"
        ),
        opened(spec, tmp_path, cut),
    ):
        pass


def test_the_reference_sut_drops_what_it_says(tmp_path: Path) -> None:
    spec = Frames(Topology("wire"), sut=Sut(impair=Impair(loss_every=10)))
    with opened(spec, tmp_path) as bench:
        seen = bench.measure(LOAD_FPS, 0.2)
    assert dropped_at(seen, "impair", DropCause.IMPAIRED) == seen.total("offered") // 10
