# SPDX-License-Identifier: Apache-2.0
"""Check that the kernel routes real frames between two ports, and accounts for every loss."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.real_bench import conserving_trials, drops, frames_are_conserved, opened, point
from wirespeed.bench.host.network import inside
from wirespeed.model.frame import FlowField, FrameSizes
from wirespeed.model.result.hop_counts import DropCause
from wirespeed.model.study.spec import Frames, Traffic, Vswitch
from wirespeed.remote.local import LocalRunner

pytestmark = pytest.mark.usefixtures("needs_root")

LOAD_FPS, DURATION_S = 2_000.0, 0.3


def routed(spec: Frames) -> Frames:
    return replace(spec, sut=replace(spec.sut, vswitch=Vswitch(kind="linux-router")))


CASES = {
    "both ways": point("p2p", bidirectional=True),
    "200,000 destinations": replace(
        point("p2p"), traffic=Traffic(flows=200_000, flow_field=FlowField.DST_IP)
    ),
    "IPv6, both ways": replace(
        point("p2p", bidirectional=True), traffic=Traffic(FrameSizes.parse("128"), ip_version=6)
    ),
}


@pytest.mark.parametrize("spec", CASES.values(), ids=CASES.keys())
def test_frames_are_conserved(spec: Frames, tmp_path: Path) -> None:
    with opened(routed(spec), tmp_path) as bench:
        conserving_trials(bench, LOAD_FPS, DURATION_S)
        assert "Linux router" in bench.describe()


def test_it_routes_and_does_not_bridge(tmp_path: Path) -> None:
    """Without the route nothing passes, and IP's counters show why."""
    with opened(routed(point("p2p")), tmp_path) as bench:
        [namespace] = LocalRunner().glob("/run/netns/ws*-switch")
        name = namespace.rpartition("/")[2]
        LocalRunner().run(["ip", "-n", name, "route", "flush", "table", "main"])
        seen = bench.measure(LOAD_FPS, DURATION_S)
    assert frames_are_conserved(seen), seen.drops
    assert drops(seen)["switch", DropCause.NO_ROUTE] == seen.total("offered") > 0


@pytest.mark.skipif(shutil.which("nft") is None, reason="needs nft (Debian package nftables)")
def test_rule_of_a_packet_filter_is_reported_with_the_trial_that_it_ruined(tmp_path: Path) -> None:
    with opened(routed(point("p2p")), tmp_path) as bench:
        before = bench.measure(LOAD_FPS, DURATION_S)
        [namespace] = LocalRunner().glob("/run/netns/ws*-switch")
        drops_all = "table ip w { chain c { type filter hook forward priority 0; policy drop; }; }"
        name = namespace.rpartition("/")[2]
        LocalRunner().run([*inside(name), "nft", f"add {drops_all}"])
        seen = bench.measure(LOAD_FPS, DURATION_S)
    assert [str(change) for change in before.changes if "nftables" in change.what] == []
    [chain] = [change for change in seen.changes if "chain c" in change.what]
    assert chain.what == "Linux router: nftables chain c of ip w"
    assert (chain.before, chain.splits) == ("", True)
    assert seen.total("received") < seen.total("offered")
