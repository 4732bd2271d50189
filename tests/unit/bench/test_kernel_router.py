# SPDX-License-Identifier: Apache-2.0
"""Check what a router that follows a kernel asks of its namespace, and how its frames count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest

from tests.unit.bench.test_l3fwd import setup_of
from wirespeed.bench.assembly.kinds import placements_of, wiring_of
from wirespeed.bench.function.kernel_router import KernelRouter, tap_ports
from wirespeed.bench.function.router import Router
from wirespeed.bench.host.change import Change
from wirespeed.bench.host.directories import Directories
from wirespeed.bench.host.host import Host
from wirespeed.bench.program.config import WsdpConfig
from wirespeed.bench.routing.taps import TapNamespace
from wirespeed.model.plan.plan import ProcessMemory
from wirespeed.model.result.hop_counts import DropCause
from wirespeed.model.study.spec import (
    Frames,
    Routing,
    RoutingDaemon,
    Sut,
    Topology,
    Traffic,
    Vnf,
)
from wirespeed.remote.interface import Completed
from wirespeed.remote.local import LocalRunner
from wirespeed.study.kinds.registry import Tables, broken_rules

MEMORY = ProcessMemory(mbufs=1023, data_bytes=2176, memory_mib=64, huge_pages=False)


class Recording(LocalRunner):
    """A host that runs nothing and remembers what it was asked to run."""

    def __init__(self) -> None:
        super().__init__()
        self.commands: list[str] = []
        self.written: dict[str, str] = {}

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 30.0,  # noqa: ARG002
        stdin: str | None = None,
        env: Mapping[str, str] | None = None,  # noqa: ARG002
        check: bool = True,  # noqa: ARG002
    ) -> Completed:
        self.commands += [" ".join(argv), *(stdin or "").splitlines()]
        return Completed(tuple(argv), 0, "", "")

    def write(self, path: str, text: str) -> None:
        self.written[path] = text


class Notes:
    """A log of changes that nobody undoes."""

    def __init__(self) -> None:
        self.noted: list[Change] = []

    def note(self, change: Change) -> int:
        self.noted.append(change)
        return len(self.noted)

    def undo(self, *_: object) -> None:
        return None

    def forget(self, _number: int) -> None:
        return None

    def others(self) -> tuple[Change, ...]:
        return ()


def routed(kind: str = "host", vnfs: int = 1, *, both: bool = True, version: int = 4) -> Frames:
    return Frames(
        Topology(kind, vnfs, both), Traffic(ip_version=version), Sut(vnf=Vnf("router")),
        routing=Routing(ipv4=500, next_hops=2),
    )  # fmt: skip


def router_of(frames: Frames) -> KernelRouter:
    host = Host(Recording(), Path("/state"), Notes())
    dirs = Directories(PurePosixPath("/run/wirespeed-t"), PurePosixPath("/log"), "t")
    process = WsdpConfig("vnf0t", 3, (1,), MEMORY, (), ())
    part = Router().part(host, dirs, process, setup_of(frames, "vnf0"))
    assert isinstance(part, KernelRouter)
    return part


def test_tasks_follow_the_kernel_of_the_namespace_and_read_no_file() -> None:
    tasks = router_of(routed()).program.config.tasks
    assert len(tasks) == 2
    for task in tasks:
        assert task.keys == {
            "kernel": "east, west", "kernel_netns": "/run/netns/wst-vnf0",
            "room_ipv4": "500", "room_ipv6": "0",
        }  # fmt: skip
        assert task.tx == ("a:0", "b:0")


def test_ports_have_the_addresses_that_frames_are_sent_to() -> None:
    frames = routed()
    for port in tap_ports(setup_of(frames, "vnf0")):
        name = ("east", "west")[port.number]
        [mac] = {s.dst_mac for s in wiring_of(frames).streams if s.from_port == name}
        assert port.mac == mac
        assert port.target == f"02:00:0{port.number}:00:00:00"  # the generator's port
    behind = setup_of(routed("chain", 2), "vnf1")
    assert [port.mac for port in tap_ports(behind)] == ["02:01:02:00:00:00", "02:01:03:00:00:00"]


@pytest.mark.parametrize(("version", "hop"), [(4, "198.51.100.254"), (6, "2001:db8:0:2::fe")])
def test_namespace_has_a_route_to_each_flow_before_the_router_starts(
    version: int, hop: str
) -> None:
    runner = Recording()
    host = Host(runner, Path("/state"), Notes())
    ports = tuple(tap_ports(setup_of(routed(both=False, version=version), "vnf0")))
    TapNamespace(host, "t", "vnf0", ports, frozenset((4, version))).make()
    made = [line for line in runner.commands if line.startswith("tuntap add")]
    assert made == ["tuntap add dev east mode tap", "tuntap add dev west mode tap"]
    [route] = [line for line in runner.commands if line.startswith("route add")]
    assert route.endswith(f" via {hop} dev west")
    [neighbour] = [line for line in runner.commands if line.startswith("neighbour")]
    assert neighbour == f"neighbour replace {hop} dev west lladdr 02:00:01:00:00:00 nud permanent"
    sysctls = [line for line in runner.commands if "sysctl" in line]
    assert ("disable_ipv6=1" in sysctls[0]) == (version == 4)


def test_frames_that_the_kernel_gets_count_as_dropped_by_cause() -> None:
    [counts] = router_of(routed(both=False))._counts
    seen = dict.fromkeys(counts.causes, 0)
    seen |= {"rx": 20, "tx": 10, "tx_fail": 0, "discard": 3, "handled": 7, "no_route": 8}
    hop = counts.read({role.task: seen for role in counts.roles}, {})
    assert {cause: n for (_, cause), n in hop.drops.items() if n} == {
        DropCause.NO_ROUTE: 8, DropCause.VNF_DISCARD: 2,
    }  # fmt: skip


def refused(frames: Frames) -> list[str]:
    tables = Tables(
        frames.topology, frames.traffic, frames.sut, frames.search, routing=frames.routing
    )
    return [fault.key for fault in broken_rules(tables)]


@pytest.mark.parametrize("placement", ["shared", "container", "guest"])
def test_placement_without_the_hosts_namespaces_is_refused(placement: str) -> None:
    frames = routed("pvp")
    frames = replace(frames, sut=Sut(vnf=Vnf("router", placement=placement)))
    assert "sut.vnf.placement" in refused(frames)
    assert "sut.vnf.placement" not in refused(replace(frames, routing=None))


def test_daemon_of_several_routers_is_refused() -> None:
    frames = routed("chain", 2)
    assert refused(frames) == []
    daemon = replace(frames, routing=Routing(RoutingDaemon.BIRD, ipv4=500))
    assert refused(daemon) == ["routing.daemon"]


def test_plan_may_place_it_in_a_process_of_its_own_alone() -> None:
    assert [kind.name for kind in placements_of(routed("pvp"))] == ["process"]
