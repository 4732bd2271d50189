# SPDX-License-Identifier: Apache-2.0
"""Check that a real withdrawal, learned by FRR, moves real frames to the backup."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.real_bench import RUNNER, leftovers, planned, point
from wirespeed.bench.convergence.bench import open_convergence_bench
from wirespeed.bench.site import Site
from wirespeed.model.frame import FrameSizes
from wirespeed.model.study.convergence import Convergence, EventKind
from wirespeed.model.study.spec import (
    Destinations,
    RouterConvergence,
    Routing,
    RoutingDaemon,
    Traffic,
    Vnf,
)

pytestmark = pytest.mark.usefixtures("needs_root")

PREFIXES, TRACKED = 2_000, 100


def test_withdrawn_prefixes_take_the_backup(tmp_path: Path) -> None:
    routing = Routing(
        RoutingDaemon.FRR, ipv4=PREFIXES, seed=7, destinations=Destinations.PREFIXES,
        destination_prefixes=TRACKED, backup=True,
    )  # fmt: skip
    path = replace(
        point("host", vnf=Vnf("router")), traffic=Traffic(FrameSizes.parse("128")), routing=routing
    )
    wanted = Convergence((EventKind.WITHDRAWAL,), rate_fps=10_000, before_s=0.2, watch_s=1.5)
    with open_convergence_bench(
        RouterConvergence(wanted, path), planned(path), Site(RUNNER, tmp_path)
    ) as bench:
        seen = bench.run(EventKind.WITHDRAWAL)
    assert seen.prefixes == seen.rerouted == TRACKED
    assert seen.unreachable == seen.misrouted == seen.looped == seen.duplicated == 0
    assert seen.protocol is not None
    assert seen.reroute is not None
    assert 0 < seen.protocol.p50_ms < seen.reroute.max_ms < 1_500
    assert not leftovers()
