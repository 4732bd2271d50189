# SPDX-License-Identifier: Apache-2.0
"""Check that bonds between two real Open vSwitches carry frames, and that losses are explained."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.shared.point import Silent

from tests.support.real_bench import drops, frames_are_conserved, opened, point, vswitch
from wirespeed.bench.assembly.kinds import sut_of
from wirespeed.explain.explain import explain
from wirespeed.explain.interface import Measured
from wirespeed.measure.run import run_search
from wirespeed.model.frame import Encapsulation, FlowField
from wirespeed.model.result.hop_counts import DropCause
from wirespeed.model.result.observation import Observation
from wirespeed.model.study.injected import InjectedFault
from wirespeed.model.study.ovs import BondMode, Ovs, VlanTranslation
from wirespeed.model.study.spec import (
    Frames,
    Search,
    SearchKind,
    Vswitch,
)

pytestmark = pytest.mark.usefixtures("needs_root")

# On two cores the partner takes turns with the SUT.
LOAD_FPS, DURATION_S = 10_000.0, 0.3


def bonded(spec: Frames, field: FlowField, **ovs: object) -> Frames:
    wanted = Vswitch(ovs=Ovs(**ovs))  # type: ignore[arg-type]
    return replace(
        spec,
        traffic=replace(spec.traffic, flow_field=field),
        sut=replace(spec.sut, vswitch=wanted),
    )


def by_link(seen: Observation) -> Counter[str]:
    """Return the frames that came in by the links of the port east of the switch."""
    wanted = ("switch:east0", "switch:east1")
    return Counter({p.port: p.entered for p in seen.ports if p.port in wanted})


@pytest.mark.parametrize(
    ("mode", "both"), [(BondMode.ACTIVE_BACKUP, False), (BondMode.BALANCE_SLB, True)]
)
def test_frames_pass_by_one_link_or_by_both(mode: BondMode, both: bool, tmp_path: Path) -> None:
    spec = bonded(point("p2p", bidirectional=True), FlowField.SRC_MAC, bond=mode)
    with opened(spec, tmp_path) as bench:
        seen = bench.measure(LOAD_FPS, DURATION_S)
        described = bench.describe()
    assert frames_are_conserved(seen), seen.drops
    assert all(way.received > 0 for way in seen.directions)
    links = by_link(seen)
    assert sum(links.values()) == next(p.entered for p in seen.ports if p.port == "switch:east")
    assert (links["switch:east1"] > 0) is both
    assert {"Open vSwitch", "bond partner"} <= set(described)


def test_lacp_agrees_and_a_link_that_goes_down_in_a_trial_is_named(tmp_path: Path) -> None:
    """Frames pass two bridges with different tags, as in S3."""
    spec = bonded(
        point("pvp", tags=Encapsulation.VLAN), FlowField.SRC_IP, bond=BondMode.BALANCE_TCP,
        bridges=2, vlan=VlanTranslation.REWRITE,
    )  # fmt: skip
    spec = replace(spec, fault=InjectedFault("bond-link-down", 0.1))
    search = Search(SearchKind.FIXED, load_fps=LOAD_FPS, trial_s=0.5, extension=1, latency=False)
    with opened(spec, tmp_path) as bench:
        lacp = vswitch(bench).control.ask("lacp/show")
        # The frame that makes a datapath's flow may be credited to no rule: a run warms up, too.
        bench.measure(LOAD_FPS, 0.5)
        seen = bench.measure(LOAD_FPS, 0.5)
        result = run_search(search, bench.measure, 10 * LOAD_FPS, Silent())
    assert lacp.count("current attached") == 4
    assert frames_are_conserved(seen), seen.drops
    found = drops(seen)
    assert found["switch:east", DropCause.LINK_DOWN] > 0
    # Once the other end knows, the remaining link has all traffic: most frames arrive.
    assert seen.total("received") > seen.total("offered") / 2
    # Next to much other work on this machine, that work may rightly come first.
    limits = explain(Measured(sut_of(spec), result))
    assert ("link_down", "switch:east") in [(each.limit, each.hop) for each in limits]


def test_open_vswitch_routes(tmp_path: Path) -> None:
    """A frame's TTL is decremented; without its rule the frame goes nowhere."""
    spec = bonded(point("p2p", bidirectional=True), FlowField.SRC_PORT, routes=True)
    with opened(spec, tmp_path) as bench:
        seen = bench.measure(LOAD_FPS, DURATION_S)
        control = vswitch(bench).control
        flows = control.ask("dpctl/dump-flows", "-m")
        control.ask("revalidator/purge")
        control.ofctl("del-flows", "in_port=1,ip")
        lost = bench.measure(LOAD_FPS, DURATION_S)
    assert frames_are_conserved(seen), seen.drops
    assert seen.total("received") == seen.total("offered")
    assert "ttl=63" in flows
    assert frames_are_conserved(lost), lost.drops
    assert drops(lost)["switch:east", DropCause.NO_FLOW] > 0
