# SPDX-License-Identifier: Apache-2.0
"""Check that this project's router between two ports forwards real frames and accounts for all."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.real_bench import conserving_trials, frames_are_conserved, leftovers, opened
from wirespeed.bench.routing.part import LoadsRoutes
from wirespeed.model.frame import FrameSizes
from wirespeed.model.study.spec import (
    Destinations,
    Frames,
    KernelDriver,
    Routing,
    RoutingDaemon,
    Sut,
    Topology,
    Traffic,
    Vswitch,
)

pytestmark = pytest.mark.usefixtures("needs_root")

ROUTING = Routing(RoutingDaemon.BIRD, ipv4=1_000, ipv6=600, next_hops=2, churn_per_s=400, bfd=True,
                  destinations=Destinations.PREFIXES)  # fmt: skip


def routed(ports: str, driver: KernelDriver = KernelDriver.AF_PACKET, version: int = 4) -> Frames:
    vswitch = Vswitch(kind="wsdp-router", own=(("ports", ports),), driver=driver)
    traffic = Traffic(FrameSizes.parse("128"), ip_version=version)
    return Frames(Topology("p2p", bidirectional=True), traffic, Sut(vswitch))


@pytest.mark.parametrize(
    ("ports", "driver"),
    [
        ("vhost-user", KernelDriver.AF_PACKET),
        ("veth", KernelDriver.AF_PACKET),
        ("veth", KernelDriver.AF_XDP),
    ],
)
def test_frames_are_conserved(ports: str, driver: KernelDriver, tmp_path: Path) -> None:
    with opened(routed(ports, driver), tmp_path) as bench:
        conserving_trials(bench, 2_000.0, 0.3)
    assert leftovers() == []


@pytest.mark.parametrize(("ports", "version"), [("vhost-user", 4), ("veth", 6)])
def test_routes_of_a_daemon_forward_while_others_change(
    ports: str, version: int, tmp_path: Path
) -> None:
    spec = replace(routed(ports, KernelDriver.AF_PACKET, version), routing=ROUTING)
    with opened(spec, tmp_path) as bench:
        seen = bench.measure(10_000.0, 0.5)
        assert frames_are_conserved(seen), seen.drops
        assert seen.total("foreign") == seen.total("misdirected") == 0
        assert seen.total("received") == seen.total("offered") > ROUTING.prefixes(version)
        assert seen.churn is not None
        assert seen.churn.changes > 0
        [router] = [part for part in bench.rig.parts if isinstance(part, LoadsRoutes)]
        assert router.missing() == ""
    assert leftovers() == []


def test_time_of_a_daemon_on_the_routers_cpu_is_no_noise(tmp_path: Path) -> None:
    """A gap of a round of the daemon is the router's: no disturbance of its time is left."""
    routing = replace(ROUTING, ipv4=5_000, churn_per_s=1_000, bfd=False)
    spec = replace(routed("vhost-user"), routing=routing)
    with opened(spec, tmp_path) as bench:
        seen = bench.measure(10_000.0, 1.0)
        [router] = [part for part in bench.rig.parts if isinstance(part, LoadsRoutes)]
        [polling] = [thread for thread in seen.threads if thread.role == "sut"]
        if seen.limited_by != "shared_control":
            pytest.skip("this host has a CPU for the control plane")
        [watch] = bench.rig.watches
        assert watch.shared == {polling.cpu}
        assert set(router.programs) & watch.control()
        assert polling.time is not None
        assert polling.time.waiting_ns > 0
    assert leftovers() == []
