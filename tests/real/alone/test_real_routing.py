# SPDX-License-Identifier: Apache-2.0
"""Check that a Linux router gets a generated table from real routing daemons and still forwards."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from functools import partial
from ipaddress import ip_network
from itertools import pairwise
from pathlib import Path

import pytest

from tests.support.effort import EXHAUSTIVE, cases
from tests.support.real_bench import frames_are_conserved, in_traffic, leftovers, opened, point
from wirespeed.bench.function.kernel_router import KernelRouter
from wirespeed.bench.interface import BenchError
from wirespeed.bench.routing import learned, programs
from wirespeed.bench.routing.part import LoadsRoutes
from wirespeed.bench.routing.table import RoutingTable, hop_address
from wirespeed.model.frame import FrameSizes
from wirespeed.model.study.spec import (
    Destinations,
    Frames,
    Routing,
    RoutingDaemon,
    Sut,
    Topology,
    Traffic,
    Vnf,
    Vswitch,
)
from wirespeed.remote.local import LocalRunner

pytestmark = pytest.mark.usefixtures("needs_root")

LOAD_FPS, DURATION_S = 2_000.0, 0.3
BOTH_PORTS = (0, 1)


def routed(routing: Routing, version: int = 4) -> Frames:
    spec = point("p2p", bidirectional=True)
    traffic = Traffic(FrameSizes.parse("128"), ip_version=version)
    sut = replace(spec.sut, vswitch=Vswitch(kind="linux-router"))
    return replace(spec, sut=sut, traffic=traffic, routing=routing)


# l3fwd's frames to each prefix of such a table arrive: test_frames_to_each_prefix_arrive.
@pytest.mark.parametrize(("kind", "ecmp"), [*([("l3fwd", 1)] if EXHAUSTIVE else []), ("router", 2)])
def test_routers_of_wsdp_take_a_generated_table(kind: str, ecmp: int, tmp_path: Path) -> None:
    routing = Routing(ipv4=1_000, ipv6=200, next_hops=3, ecmp=ecmp, seed=7)
    spec = replace(point("host", bidirectional=True, vnf=Vnf(kind)), routing=routing)
    with opened(spec, tmp_path) as bench:
        seen = bench.measure(LOAD_FPS, DURATION_S)
        assert frames_are_conserved(seen), seen.drops
        assert seen.total("received") == seen.total("offered") > 0


def routes_of_kernel(version: int, protocol: str, of: str = "switch") -> dict[str, set[str]]:
    """Return the next hops of each prefix as ip(8) prints them."""
    [path] = LocalRunner().glob(f"/run/netns/ws*-{of}")
    namespace = path.rpartition("/")[2]
    text = LocalRunner().run(
        ["ip", "-o", "-n", namespace, f"-{version}", "route", "show", "proto", protocol]
    )
    found = {}
    for line in text.stdout.splitlines():
        words = line.replace("\\", " ").split()
        vias = {after for word, after in pairwise(words) if word == "via"}
        found[str(ip_network(words[0]))] = vias
    return found


@pytest.mark.parametrize(
    ("daemon", "protocol"),
    [
        (RoutingDaemon.STATIC, "static"),
        (RoutingDaemon.BIRD, "bird"),
        (RoutingDaemon.FRR, "bgp"),
    ],
)
def test_linux_router_has_the_table_of_its_daemon(
    daemon: RoutingDaemon, protocol: str, tmp_path: Path
) -> None:
    routing = Routing(daemon, ipv4=1_000, ipv6=200, next_hops=3, ecmp=2, seed=7)
    table = RoutingTable(routing, BOTH_PORTS)
    with opened(routed(routing), tmp_path) as bench:
        for version in (4, 6):
            wanted = {
                str(ip_network(prefix)): {hop_address(version, m) for m in table.members(hop)}
                for prefix, hop in table.routes(version)
            }
            assert routes_of_kernel(version, protocol) == wanted
        seen = bench.measure(LOAD_FPS, DURATION_S)
        assert frames_are_conserved(seen), seen.drops
        assert seen.total("received") == seen.total("offered") > 0
        ours = ("Linux router", "IPv4 prefixes", "IPv6 prefixes")
        assert [str(change) for change in seen.changes if change.what.startswith(ours)] == []
    assert leftovers() == []


# IPv4 through each daemon's table has the test of routes that stay, while others change.
@pytest.mark.parametrize("version", (4, 6) if EXHAUSTIVE else (6,))
@pytest.mark.parametrize(
    ("daemon", "protocol"),
    [
        (RoutingDaemon.STATIC, "static"),
        # BIRD's table in a kernel, and changes of it, are in the tests of other routers.
        *([(RoutingDaemon.BIRD, "bird")] if EXHAUSTIVE else []),
        (RoutingDaemon.FRR, "bgp"),
    ],
)
def test_router_of_wsdp_forwards_by_the_kernel_of_its_daemon(
    daemon: RoutingDaemon, protocol: str, version: int, tmp_path: Path
) -> None:
    routing = Routing(daemon, ipv4=1_000, ipv6=600, next_hops=3, ecmp=2, seed=7,
                      destinations=Destinations.PREFIXES)  # fmt: skip
    spec = replace(
        point("host", bidirectional=True, vnf=Vnf("router")),
        traffic=Traffic(FrameSizes.parse("128"), ip_version=version), routing=routing,
    )  # fmt: skip
    with opened(spec, tmp_path) as bench:
        assert len(routes_of_kernel(4, protocol, "vnf0")) == routing.ipv4
        assert len(routes_of_kernel(6, protocol, "vnf0")) == routing.ipv6
        [router] = [part for part in bench.rig.parts if isinstance(part, KernelRouter)]
        assert router.behind() == ""
        seen = bench.measure(10_000.0, DURATION_S)
        assert frames_are_conserved(seen), seen.drops
        assert seen.total("foreign") == seen.total("misdirected") == 0
        assert seen.total("received") == seen.total("offered") > routing.prefixes(version)
        assert [str(change) for change in seen.changes if "routes" in change.what] == []
    assert leftovers() == []


CHURNED = Routing(ipv4=1_000, ipv6=600, next_hops=2, seed=7, churn_per_s=400,
                  destinations=Destinations.PREFIXES)  # fmt: skip
# A frame to each IPv4 prefix takes 0.2 s, a change of a route 2.5 ms.
CHURN_S = 0.5


CHANGES = cases(
    {f"{kind}, {daemon}": (kind, daemon) for kind in ("linux-router", "router")
     for daemon in RoutingDaemon},
    # Each daemon changes the kernel's routes, and each router follows them, in another case.
    "linux-router, frr", "router, static", "router, bird",
)  # fmt: skip


@pytest.mark.parametrize(("kind", "daemon"), CHANGES.values(), ids=CHANGES.keys())
def test_routes_that_stay_lose_no_frame_while_others_change(
    kind: str, daemon: RoutingDaemon, tmp_path: Path
) -> None:
    topology = Topology("p2p" if kind == "linux-router" else "host", bidirectional=True)
    traffic = Traffic(FrameSizes.parse("128"))
    spec = Frames(topology, traffic, ROUTERS[kind], routing=replace(CHURNED, daemon=daemon))
    with opened(spec, tmp_path) as bench:
        for _ in range(2):  # the second one begins with all routes
            seen = bench.measure(5_000.0, CHURN_S)
            assert frames_are_conserved(seen), seen.drops
            assert seen.total("foreign") == seen.total("misdirected") == 0
            assert seen.total("received") == seen.total("offered") > CHURNED.ipv4
            assert seen.churn is not None
            assert seen.churn.changes > 0
            assert [str(change) for change in seen.changes if "prefixes" in change.what] == []
        [router] = [part for part in bench.rig.parts if isinstance(part, LoadsRoutes)]
        assert router.missing() == ""
    assert leftovers() == []


def test_each_router_of_a_chain_follows_a_kernel_of_its_own(tmp_path: Path) -> None:
    spec = replace(point("chain", 2, bidirectional=True, vnf=Vnf("router")), routing=CHURNED)
    spec = replace(spec, traffic=Traffic(FrameSizes.parse("128")))
    with opened(spec, tmp_path) as bench:
        for name in ("vnf0", "vnf1"):
            assert len(routes_of_kernel(4, "static", name)) == CHURNED.ipv4
        seen = bench.measure(5_000.0, CHURN_S)
        assert frames_are_conserved(seen), seen.drops
        assert seen.total("received") == seen.total("offered") > 0
        routers = [part for part in bench.rig.parts if isinstance(part, LoadsRoutes)]
        assert [router.missing() for router in routers] == ["", ""]


@pytest.mark.parametrize("daemon", [RoutingDaemon.BIRD, RoutingDaemon.FRR])
def test_bfd_session_that_flaps_in_a_trial_is_a_finding(
    daemon: RoutingDaemon, tmp_path: Path
) -> None:
    spec = replace(
        point("host", vnf=Vnf("router")), routing=Routing(daemon, ipv4=500, bfd=True)
    )  # fmt: skip
    with opened(spec, tmp_path) as bench:
        # A session without a CPU for 150 ms is really lost: one trial in which it is not is enough.
        quiet = (bench.measure(LOAD_FPS, DURATION_S).changes for _ in range(5))
        assert any("BFD session" not in " ".join(map(str, changes)) for changes in quiet)
        [path] = LocalRunner().glob("/run/netns/ws*-peer")
        namespace = path.rpartition("/")[2]

        def set_link(state: str) -> None:
            LocalRunner().run(["ip", "-n", namespace, "link", "set", "bgp", state])

        with in_traffic(partial(set_link, "down"), partial(set_link, "up")):
            seen = bench.measure(LOAD_FPS, 1.0)
        found = [change for change in seen.changes if change.what == "BFD session of 10.255.0.1"]
        assert len(found) == 1
        assert found[0].before.startswith("Up since ")
    assert leftovers() == []


ROUTERS = {
    "linux-router": Sut(Vswitch(kind="linux-router")),
    "router": Sut(vnf=Vnf("router")),
    "l3fwd": Sut(vnf=Vnf("l3fwd")),
}


# The other kinds and versions pass the same table in the tests of daemons and of changes.
PREFIXES = cases(
    {f"{kind}, IPv{version}": (kind, version) for kind in ROUTERS for version in (4, 6)},
    "linux-router, IPv4", "l3fwd, IPv4", "router, IPv4", "router, IPv6",
)  # fmt: skip


@pytest.mark.parametrize(("kind", "version"), PREFIXES.values(), ids=PREFIXES.keys())
def test_frames_to_each_prefix_arrive(kind: str, version: int, tmp_path: Path) -> None:
    routing = Routing(ipv4=1_000, ipv6=600, next_hops=2, destinations=Destinations.PREFIXES)
    topology = Topology("p2p" if kind == "linux-router" else "host", bidirectional=True)
    traffic = Traffic(FrameSizes.parse("128"), ip_version=version)
    spec = Frames(topology, traffic, ROUTERS[kind], routing=routing)
    with opened(spec, tmp_path) as bench:
        seen = bench.measure(10_000.0, DURATION_S)
    assert frames_are_conserved(seen), seen.drops
    assert seen.total("foreign") == seen.total("duplicated") == 0
    assert seen.total("received") == seen.total("offered") > routing.prefixes(version)


def test_daemon_that_ends_is_named(tmp_path: Path) -> None:
    routing = Routing(RoutingDaemon.FRR, ipv4=200)
    with opened(routed(routing), tmp_path) as bench:
        [part] = [part for part in bench.rig.parts if part.name == "routes"]
        bgpd = part.processes[-1]
        bgpd.signal(signal.SIGKILL)
        bgpd.wait(10.0)
        with pytest.raises(BenchError, match=r"bgpd ended \(killed by SIGKILL\)"):
            bench.measure(LOAD_FPS, DURATION_S)
    assert leftovers() == []


def traces(tag: str) -> list[str]:
    """Return what there is of a bench: namespaces, files in memory, processes."""
    runner = LocalRunner()
    found = [*runner.glob(f"/run/netns/{tag}*"), *runner.glob(f"/dev/hugepages/*{tag}*")]
    run = os.environ["XDG_RUNTIME_DIR"].encode()
    for words in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if run in (text := words.read_bytes()):
                found.append(text.decode(errors="replace"))
        except OSError:
            continue  # it has ended
    return found


def test_kill_of_all_programs_of_a_router_leaves_nothing_behind(tmp_path: Path) -> None:
    """TAPs and routes end with the namespaces, huge pages with the processes."""
    spec = replace(point("host", bidirectional=True, vnf=Vnf("router")),
                   routing=Routing(RoutingDaemon.FRR, ipv4=200))  # fmt: skip
    with opened(spec, tmp_path) as bench:
        [path] = LocalRunner().glob("/run/netns/ws*-vnf0")
        tag = path.rpartition("/")[2].removesuffix("-vnf0")
        assert len(traces(tag)) > 4  # two namespaces, wsdp, zebra, bgpd, BIRD
        killed = {process.pid: process for part in bench.rig.parts for process in part.processes}
        for process in killed.values():
            process.signal(signal.SIGKILL)
        with pytest.raises(BenchError, match="SIGKILL"):
            bench.measure(LOAD_FPS, DURATION_S)
    assert len(killed) > 3
    assert traces(tag) == []
    assert leftovers() == []


# BIRD ends; FRR would go on without the line.
REFUSED = {
    "bird": (RoutingDaemon.BIRD, "bird", "nonsense;", "syntax error"),
    "frr": (RoutingDaemon.FRR, "frr_bgpd", "nonsense", "bgpd refuses .* line 1: nonsense"),
}


@pytest.mark.parametrize("refused", REFUSED.values(), ids=REFUSED.keys())
def test_configuration_that_a_daemon_refuses_is_an_error_in_its_own_words(
    refused: tuple[RoutingDaemon, str, str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    daemon, texts, line, words = refused
    monkeypatch.setattr(learned, texts, lambda _: (line,))
    with (
        pytest.raises(BenchError, match=words),
        opened(routed(Routing(daemon, ipv4=200)), tmp_path) as bench,
    ):
        bench.measure(LOAD_FPS, DURATION_S)
    assert leftovers() == []


def test_missing_daemon_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "BIRD", "/nonexistent/bird")
    with (
        pytest.raises(BenchError, match="has no /nonexistent/bird") as error,
        opened(routed(Routing(RoutingDaemon.BIRD, ipv4=200)), tmp_path),
    ):
        pass
    assert error.value.next_step.endswith("apt install bird2")
    assert leftovers() == []
