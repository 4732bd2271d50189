# SPDX-License-Identifier: Apache-2.0
"""Measure how soon frames follow the kernel's routes, with tables of several sizes.

wsdp's router follows the kernel of a network namespace; hosts are on veth (AF_PACKET). Routes are
those of `wirespeed router table`, one IPv6 prefix for five of IPv4. For each size:

- `load`: from the first route that `ip -batch` adds to all of them in force, next to the time in
  which the kernel has them.
- `one`: a route is led to another next hop 50 times. From the kernel's acknowledgement to the
  first frame on the new path: median, and the slowest.
- `burst`: 1,000 routes are led elsewhere by `ip -batch`. From its end to all of them in force.
- `moved`: a gateway of half of all routes has another MAC address. From the end of `ip` to the
  first frame with it.
- `new`: an interface has another MTU, so new tables are built. From the end of `ip` to these in
  force.

Prints `name value unit ratio-to-what`. `--sizes full` measures 1,000,000 + 200,000 prefixes, which
takes 4 GiB and minutes. Needs root.
"""

from __future__ import annotations

import argparse
import socket
import statistics
import struct
import tempfile
import time
from collections.abc import Iterator, Sequence
from ipaddress import IPv4Address
from pathlib import Path

from benchmarks.shared.figures import show
from scapy.layers.inet import UDP
from scapy.packet import Raw
from tests.dataplane.kernel_router import (
    KernelRouter,
    Wsdp,
    entered,
    frame_to,
    kernel_router,
    know_neighbours,
)

from wirespeed.published.prefixes import prefix_lengths, published_table
from wirespeed.routing.formats import prefix_text
from wirespeed.routing.generate import Route, Shape, generate

# IPv4 prefixes by size, and MiB of wsdp's memory.
SIZES = {"1k": (1_000, 512), "10k": (10_000, 512), "100k": (100_000, 1024)}
FULL = {"1m": (1_000_000, 4096)}
ASKED_ONE_MS, ASKED_SLOWEST_MS = 2.0, 10.0
ASKED_LOAD = 1.1
HOPS = 2
CHANGES = 50
BURST = 1000
# A prefix that no generated table has.
PROBED, PROBE = "198.18.7.0/24", "198.18.7.1"
FIRST_HOP = 10


def hop(version: int, number: int) -> str:
    host = FIRST_HOP + number
    return f"10.2.0.{host}" if version == 4 else f"2001:db8:2::{host:x}"


def hop_mac(number: int) -> str:
    return f"02:00:00:00:01:{number:02x}"


def table(prefixes: int) -> list[Route]:
    made: list[Route] = []
    for version, count in ((4, prefixes), (6, prefixes // 5)):
        shape = Shape(version, prefix_lengths(version), published_table(version).more_specific)
        made += generate(shape, count, HOPS, seed=1)
    return made


def batch(router: KernelRouter, lines: Iterator[str], file: Path) -> float:
    """Run lines of `ip`; return the seconds that it takes."""
    file.write_text("".join(f"{line}\n" for line in lines))
    began = time.monotonic()
    router.ip("-batch", str(file))
    return time.monotonic() - began


def await_figures(router: KernelRouter, wanted: dict[str, int]) -> None:
    """Wait until the tables in force follow the kernel and have at least these figures."""
    router.wsdp.control.await_task(
        "r",
        lambda seen: (
            bool(seen["in_step"]) and all(seen[name] >= least for name, least in wanted.items())
        ),
    )


class RouteSocket:
    """A netlink socket of the router's namespace that leads one IPv4 prefix to a next hop."""

    def __init__(self, router: KernelRouter, interface: str) -> None:
        self._socket = entered(
            router.router,
            lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE),
        )
        self._index = int(router.ip("-o", "link", "show", "dev", interface).split(":")[0])

    def lead(self, prefix: str, gateway: str) -> float:
        """Replace the route; return the time at which the kernel acknowledged it."""
        address, length = prefix.split("/")
        # struct rtmsg: main table, static, whole universe, unicast.
        body = struct.pack("BBBBBBBBI", socket.AF_INET, int(length), 0, 0, 254, 4, 0, 1, 0)
        for kind, octets in (
            (1, IPv4Address(address).packed),  # RTA_DST
            (5, IPv4Address(gateway).packed),  # RTA_GATEWAY
            (4, struct.pack("I", self._index)),  # RTA_OIF
        ):
            body += struct.pack("HH", 4 + len(octets), kind) + octets
        # RTM_NEWROUTE; NLM_F_REQUEST, ACK, REPLACE, CREATE.
        self._socket.send(struct.pack("IHHII", 16 + len(body), 24, 0x505, 1, 0) + body)
        reply = self._socket.recv(4096)
        acknowledged = time.monotonic()
        (error,) = struct.unpack_from("i", reply, 16)
        assert error == 0, error
        return acknowledged

    def close(self) -> None:
        self._socket.close()


def path(router: KernelRouter, frame: bytes) -> bytes:
    """Send a frame; return the address of the neighbour that it goes to."""
    router.a.socket.send(frame)
    while True:
        octets = router.b.socket.recv(2048)
        # Ethernet, IPv4, its destination: other frames are neighbour discovery and the like.
        if octets[12:14] == frame[12:14] and octets[30:34] == frame[30:34]:
            return octets[:6]


def await_path(router: KernelRouter, frame: bytes, mac: bytes) -> None:
    """Send the frame until it leaves to this MAC address."""
    end = time.monotonic() + 60
    while path(router, frame) != mac:
        if time.monotonic() > end:
            raise SystemExit(f"no frame leaves to {mac.hex(':')} within 60 s")


def one_by_one(router: KernelRouter) -> list[float]:
    """Return the milliseconds from each acknowledgement to the first frame on the new path."""
    frame = bytes(frame_to(router, PROBE) / UDP(dport=9) / Raw(b"x" * 18))
    routes = RouteSocket(router, "west")
    router.b.socket.settimeout(10)
    found = []
    try:
        for i in range(CHANGES):
            number = i % HOPS
            acknowledged = routes.lead(PROBED, hop(4, number))
            wanted = bytes.fromhex(hop_mac(number).replace(":", ""))
            await_path(router, frame, wanted)
            found.append(1e3 * (time.monotonic() - acknowledged))
            time.sleep(0.02)  # the other copy is changed, too
    finally:
        routes.close()
    return found


def load(router: KernelRouter, routes: Sequence[Route], file: Path) -> tuple[float, float]:
    """Add all routes; return the seconds of the kernel, and those until all are in force."""
    before = router.figures()
    kernel = batch(
        router,
        (f"route add {prefix_text(one)} via {hop(one.version, one.hop)}" for one in routes),
        file,
    )
    ended = time.monotonic()
    v4 = sum(one.version == 4 for one in routes)
    await_figures(
        router,
        {
            "routes_ipv4": before["routes_ipv4"] + v4,
            "routes_ipv6": before["routes_ipv6"] + len(routes) - v4,
        },
    )
    return kernel, kernel + time.monotonic() - ended


def burst(router: KernelRouter, routes: Sequence[Route], file: Path) -> float:
    """Lead routes elsewhere; return the milliseconds from the end of that to all in force."""
    step = max(1, len(routes) // BURST)
    moved = routes[::step][:BURST]
    before = router.figures()["notifications"]
    batch(
        router,
        (
            f"route replace {prefix_text(one)} via {hop(one.version, (one.hop + 1) % HOPS)}"
            for one in moved
        ),
        file,
    )
    ended = time.monotonic()
    await_figures(router, {"notifications": before + len(moved)})
    return 1e3 * (time.monotonic() - ended)


def moved_gateway(router: KernelRouter) -> float:
    """Return the milliseconds from a gateway's new address to the first frame with it."""
    frame = bytes(frame_to(router, PROBE) / UDP(dport=9) / Raw(b"x" * 18))
    router.ip("route", "replace", PROBED, "via", hop(4, 0))
    router.settle()
    mac = "02:00:00:00:02:01"
    router.ip("neighbour", "replace", hop(4, 0), "lladdr", mac, "dev", "west", "nud", "permanent")
    changed = time.monotonic()
    await_path(router, frame, bytes.fromhex(mac.replace(":", "")))
    return 1e3 * (time.monotonic() - changed)


def new_tables(router: KernelRouter) -> float:
    """Return the milliseconds from an interface's new MTU to new tables in force."""
    builds = router.figures()["builds"]
    router.ip("link", "set", "west", "mtu", "1400")
    changed = time.monotonic()
    await_figures(router, {"builds": builds + 1})
    return 1e3 * (time.monotonic() - changed)


def one_size(name: str, prefixes: int, memory_mib: int, file: Path) -> None:
    routes = table(prefixes)
    room = f"room_ipv4 = {prefixes}\nroom_ipv6 = {prefixes // 5}\n"
    with kernel_router(wsdp=Wsdp(room, memory_mib)) as router:
        know_neighbours(router)
        for number in range(HOPS):
            for version in (4, 6):
                router.ip("neighbour", "replace", hop(version, number),
                          "lladdr", hop_mac(number), "dev", "west", "nud", "permanent")  # fmt: skip
        router.settle()
        kernel, whole = load(router, routes, file)
        show(f"load_{name}_kernel", kernel, "s")
        show(f"load_{name}", whole, f"s asked {ASKED_LOAD * kernel:.2f}")
        await_figures(router, {"spare_tables": 1})
        ones = one_by_one(router)
        median = statistics.median(ones)
        show(f"one_{name}_median", median, f"ms asked {ASKED_ONE_MS:g}")
        show(f"one_{name}_slowest", max(ones), f"ms asked {ASKED_SLOWEST_MS:g}")
        show(f"burst_{name}", burst(router, routes, file), "ms")
        await_figures(router, {"spare_tables": 1})
        show(f"moved_{name}", moved_gateway(router), f"ms asked {ASKED_SLOWEST_MS:g}")
        anew = new_tables(router)
        show(f"new_{name}", anew, "ms", anew / median, "of-one-change")
        assert router.differences() == 0, router.log()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", choices=["small", "full"], default="small")
    sizes = SIZES if parser.parse_args().sizes == "small" else FULL
    with tempfile.TemporaryDirectory() as folder:
        for name, (prefixes, memory_mib) in sizes.items():
            one_size(name, prefixes, memory_mib, Path(folder) / "batch")


if __name__ == "__main__":
    main()
