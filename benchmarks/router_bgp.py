# SPDX-License-Identifier: Apache-2.0
"""Load a full table by BGP into a kernel that wsdp's router follows, and read it anew.

A BIRD peer announces the routes of `wirespeed router table`, four next hops, to FRR, which gives
them to the kernel of a namespace: 1,000,000 IPv4 and 200,000 IPv6 prefixes.

- `kernel`, `router`: time from the start of the daemons until the kernel has all routes, and until
  they are in force in the router; `late`: time between these.
- `heap`, `peak`: most octets in use of DPDK's heap, and of the process in memory (no huge pages
  here, so the heap is a part of it).
- `offered`, `lost`: frames of a route that no daemon has, up to 1,000 a second meanwhile.
- `dump4`: a router that starts with a kernel that has the IPv4 prefixes, until all is in force;
  `dump`: the same with all. These routes are of `ip -batch`: Linux deletes the next-hop objects of
  an interface that loses its carrier, and FRR's routes with them.

The kernel is asked twice a second, as counting costs a CPU that the daemons need. Its time is that
of the last answer without all routes, so `late` is up to 0.5 s too large. `--sizes small`
has 10,000 and 2,000 prefixes. Prints `name value unit ratio-to-what`. Needs root, bird2 and frr;
with the full table 6 GiB and two minutes.
"""

from __future__ import annotations

import argparse
import errno
import socket
import struct
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from benchmarks.shared.figures import show
from scapy.layers.inet import UDP
from scapy.packet import Raw
from tests.dataplane.bgp_peer import bird
from tests.dataplane.frr import frr
from tests.dataplane.kernel_router import (
    Cables,
    KernelRouter,
    Wsdp,
    cables,
    frame_to,
    know_neighbours,
    persist,
    run,
    set_up,
)
from tests.dataplane.program import PREFIX
from tests.router.netlink import SO_RCVBUFFORCE

from wirespeed.bench.host.peak_memory import peak_kib
from wirespeed.bench.program.dpdk import telemetry_socket
from wirespeed.bench.program.wsdp import heap_bytes
from wirespeed.bench.routing.kernel import RouterNamespace
from wirespeed.bench.routing.table import RoutingTable
from wirespeed.bench.routing.texts import frr_bgpd, ip_commands, peer, peer_end, router_end
from wirespeed.model.study.routing import Routing, RoutingDaemon
from wirespeed.remote.local import LocalRunner
from wirespeed.sources.telemetry import Telemetry

SIZES = {"small": (10_000, 512), "full": (1_000_000, 3072)}
NEXT_HOPS = 4
UNTOUCHED, B = "203.0.113.7", "10.2.0.2"
FRAMES_PER_S = 1_000  # at most
LOOK_S, KERNEL_LOOK_S = 0.05, 0.5
DEADLINE_S = 600.0
ASKED_LATE_S, ASKED_RATIO, ASKED_PEAK_GIB = 2.0, 1.1, 2.5
ASKED_DUMP_S = {"dump": 15.0, "dump4": 10.0}


class Frames:
    """Frames of one flow from host a to host b, each with its number."""

    def __init__(self, router: KernelRouter) -> None:
        self._a, self._b = router.a.socket, router.b.socket
        self._begin = bytes(frame_to(router, UNTOUCHED) / UDP(dport=9) / Raw(b"wirespeed"))
        self._ended = threading.Event()
        self.offered, self.arrived = 0, set[int]()

    def _send(self) -> None:
        while not self._ended.wait(1 / FRAMES_PER_S):
            try:
                self._a.send(self._begin + struct.pack("!I", self.offered))
            except OSError as fault:
                if fault.errno != errno.ENOBUFS:
                    raise
                continue  # the cable is full
            self.offered += 1

    def _receive(self) -> None:
        self._b.settimeout(0.5)
        while True:
            try:
                octets = self._b.recv(2048)
            except TimeoutError:
                if self._ended.is_set():
                    return
                continue
            if octets[42:51] == b"wirespeed":
                self.arrived.add(struct.unpack_from("!I", octets, 51)[0])

    @contextmanager
    def offering(self) -> Iterator[None]:
        """Send until the end, and wait for what is under way."""
        # Room for all frames: a busy CPU may read none for seconds.
        self._b.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 28)
        with ThreadPoolExecutor(2) as threads:
            under_way = [threads.submit(each) for each in (self._send, self._receive)]
            try:
                yield
            finally:
                self._ended.set()
            for each in under_way:
                each.result()


@dataclass
class Watch:
    """Times at which kernel and router had all routes, in s of the monotonic clock."""

    router: KernelRouter
    kernel: RouterNamespace
    wanted: dict[str, dict[int, int]]
    """Routes by IP version, as `kernel` and `router` count them."""
    kernel_s: float = 0.0
    router_s: float = 0.0
    heap_bytes: int = 0

    def run(self) -> None:
        looked, without_s, deadline = 0.0, time.monotonic(), time.monotonic() + DEADLINE_S
        path = telemetry_socket(PurePosixPath(self.router.wsdp.directory), PREFIX)
        telemetry = Telemetry(LocalRunner(), path)
        while not (self.kernel_s and self.router_s):
            now = time.monotonic()
            assert now < deadline, self.router.figures()
            if not self.kernel_s and now - looked > KERNEL_LOOK_S:
                looked = now
                seen = self.kernel.prefixes()
                if all(seen[version] >= least for version, least in self.wanted["kernel"].items()):
                    self.kernel_s = without_s
                without_s = now
            self.heap_bytes = max(self.heap_bytes, heap_bytes(telemetry))
            if in_force(self.router, self.wanted["router"]):
                self.router_s = time.monotonic()
            time.sleep(LOOK_S)  # a CPU that asks all the time takes it from the daemons


def in_force(router: KernelRouter, wanted: dict[int, int]) -> bool:
    seen = router.figures()
    return bool(seen["in_step"]) and all(seen[f"routes_ipv{v}"] >= n for v, n in wanted.items())


def routes_of(router: KernelRouter) -> dict[int, int]:
    seen = router.figures()
    return {version: seen[f"routes_ipv{version}"] for version in (4, 6)}


def cable(router: str, namespace: str) -> None:
    """Join the router's namespace and the peer's."""
    run("ip", "link", "add", "bgp", "netns", router, "type", "veth",
        "peer", "name", "bgp", "netns", namespace)  # fmt: skip
    for where, address in ((router, router_end(0)), (namespace, peer_end(0))):
        run("ip", "-n", where, "address", "add", f"{address}/24", "dev", "bgp")
        run("ip", "-n", where, "link", "set", "bgp", "up")


def by_bgp(
    made: Cables, macs: dict[str, str], wsdp: Wsdp, table: RoutingTable, folder: Path
) -> None:
    """Load the table by BGP."""
    kernel = RouterNamespace(LocalRunner(), made.router)
    cable(made.router, made.b.namespace)
    with made.running(wsdp) as running:
        router = KernelRouter(made.a, made.b, made.router, macs, running)
        know_neighbours(router)
        kernel.prepare(table)
        router.ip("route", "add", "203.0.113.0/24", "via", B)
        router.settle()
        had = {"kernel": kernel.prefixes(), "router": routes_of(router)}
        wanted = {
            who: {v: count + table.routing.prefixes(v) for v, count in counts.items()}
            for who, counts in had.items()
        }
        watch = Watch(router, kernel, wanted)
        frames = Frames(router)
        configurations = {"zebra": "", "bgpd": "\n".join(frr_bgpd(table))}
        with (
            bird(made.b.namespace, "\n".join(peer(table)), folder / "peer"),
            frames.offering(),
        ):
            began = time.monotonic()
            with frr(made.router, configurations) as daemons:
                watch.run()
                daemons.kill_all()  # their orderly end would take the routes back
        report(watch, began, frames)
        assert router.differences() == 0, router.log()


def settings(memory_mib: int, table: RoutingTable) -> Wsdp:
    """Return a router with room for the table from the start."""
    room = {f"room_ipv{version}": table.routing.prefixes(version) for version in (4, 6)}
    return Wsdp("".join(f"{key} = {count}\n" for key, count in room.items()), memory_mib)


def report(watch: Watch, began: float, frames: Frames) -> None:
    kernel, router = watch.kernel_s - began, watch.router_s - began
    show("kernel", kernel, "s")
    show("router", router, "s", router / kernel, f"of-kernel, {ASKED_RATIO:g} asked")
    show("late", router - kernel, f"s asked {ASKED_LATE_S:g}")
    show("heap", watch.heap_bytes / 2**30, "GiB")
    peak = peak_kib(LocalRunner(), watch.router.wsdp.process.pid)
    show("peak", peak / 2**20, f"GiB asked {ASKED_PEAK_GIB:g}")
    seen = watch.router.figures()
    for name in ("notifications", "notifications_lost", "dumps", "builds", "updates"):
        show(name, seen[name], "")
    show("offered", frames.offered, "frames")
    show("lost", frames.offered - len(frames.arrived), "frames asked 0")


def from_dump(
    name: str, made: Cables, macs: dict[str, str], wsdp: Wsdp, wanted: dict[int, int]
) -> None:
    """Start a router next to the kernel as it is, which has as many routes at least."""
    began = time.monotonic()
    with made.running(wsdp) as running:
        router = KernelRouter(made.a, made.b, made.router, macs, running)
        while not in_force(router, wanted):
            assert time.monotonic() - began < DEADLINE_S, router.figures()
            time.sleep(LOOK_S)
        show(name, time.monotonic() - began, f"s asked {ASKED_DUMP_S[name]:g}")
        assert router.differences() == 0, router.log()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", choices=list(SIZES), default="full")
    prefixes, memory_mib = SIZES[parser.parse_args().sizes]
    routing = Routing(RoutingDaemon.FRR, ipv4=prefixes, ipv6=prefixes // 5, next_hops=NEXT_HOPS)
    table = RoutingTable(routing, (0, 1))
    with cables() as made, tempfile.TemporaryDirectory() as folder:
        persist(made)
        macs = set_up(made.router)
        wsdp = settings(memory_mib, table)
        by_bgp(made, macs, wsdp, table, Path(folder))
        run("ip", "-n", made.router, "nexthop", "flush")
        kernel, wanted = RouterNamespace(LocalRunner(), made.router), dict[int, int]()
        for version, name in ((4, "dump4"), (6, "dump")):
            kernel.batch(ip_commands(table, version), DEADLINE_S)
            wanted[version] = routing.prefixes(version)
            from_dump(name, made, macs, wsdp, wanted)


if __name__ == "__main__":
    main()
