# SPDX-License-Identifier: Apache-2.0
"""Compare routers at 64 octets with a full routing table, on the same wire and on the best one.

Frames go one way through one router between two ports (p2p), as many as it takes. Linux forwarding
and this project's `wsdp-router` have 1,000,000 IPv4 and 200,000 IPv6 prefixes; Open vSwitch routes
by the flows alone, for it takes no table.

- best wire each: `wsdp-router` on vhost-user next to Linux on veth, and next to Open vSwitch on
  vhost-user, with 64 and with 65,536 destinations.
- same wire: both on veth, all programs by XDP sockets, with the CPU seconds per million frames.
- full table: `wsdp-router` next to itself with 10,000 prefixes.

Each line has what is asked. Rates are medians of trials in turns: the trials of one kind are spread
over the whole time of a bench, but benches follow each other, so run it on a quiet host. It takes
some minutes and 6 GiB. Prints `name value unit ratio-to-what`. Needs root and Open vSwitch.
"""

from __future__ import annotations

import argparse
import math
import statistics
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.shared.figures import show
from tests.support.real_bench import opened

from wirespeed.model.frame import FlowField, FrameSizes
from wirespeed.model.study.ovs import Ovs
from wirespeed.model.study.spec import (
    Frames,
    KernelDriver,
    Routing,
    Sut,
    Topology,
    Traffic,
    Vswitch,
)

FEW, MANY = 64, 65_536
FULL, SMALL = Routing(ipv4=1_000_000, ipv6=200_000, next_hops=4), Routing(ipv4=10_000, next_hops=4)
LINUX = Vswitch(kind="linux-router", driver=KernelDriver.AF_XDP)
WSDP = Vswitch(kind="wsdp-router", own=(("ports", "vhost-user"),))
WSDP_VETH = Vswitch(kind="wsdp-router", own=(("ports", "veth"),), driver=KernelDriver.AF_XDP)
OVS = Vswitch(ovs=Ovs(routes=True))


@dataclass(frozen=True, slots=True)
class Router:
    """A router with its table and the number of destinations."""

    name: str
    vswitch: Vswitch
    routing: Routing | None
    flows: int

    @property
    def frames(self) -> Frames:
        traffic = Traffic(FrameSizes.parse("64"), flows=self.flows, flow_field=FlowField.DST_IP)
        return Frames(Topology("p2p"), traffic, Sut(self.vswitch), routing=self.routing)


@dataclass(frozen=True, slots=True)
class Rate:
    """Medians of a router's trials."""

    fps: float
    cpu_s: float | None
    """CPU seconds of the router per million frames; None if unknown."""


def measured(router: Router, trials: int, seconds: float, logs: Path) -> Rate:
    """Run trials without a rate limit; print and return their medians."""
    rates, costs = [], []
    with opened(router.frames, logs / router.name) as bench:
        for _ in range(trials):
            seen = bench.measure(math.inf, seconds)
            received = seen.total("received")
            rates.append(received / seen.duration_s)
            if seen.sut_cpu is not None and (cost := seen.sut_cpu.per_million_s(received)):
                costs.append(cost)
    found = Rate(statistics.median(rates), statistics.median(costs) if costs else None)
    show(f"{router.name}_rate", found.fps / 1e6, "Mpps")
    if found.cpu_s is not None:
        show(f"{router.name}_cpu", found.cpu_s, "s/Mframes")
    return found


def routers(full: Routing) -> Iterator[Router]:
    yield Router("linux_veth", LINUX, full, FEW)
    yield Router("wsdp_veth", WSDP_VETH, full, FEW)
    for flows in (FEW, MANY):
        yield Router(f"ovs_vhost_{flows}", OVS, None, flows)
        yield Router(f"wsdp_vhost_{flows}", WSDP, full, flows)
    yield Router("wsdp_vhost_small_table", WSDP, SMALL, FEW)


def asked(name: str, least: float, one: Rate, other: Rate, to: str) -> None:
    """Print the quotient of two rates next to the one that is asked."""
    show(f"{name} asked >= {least:g}x measured", one.fps / 1e6, "Mpps", one.fps / other.fps, to)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=9, help="of each router")
    parser.add_argument("--seconds", type=float, default=3.0, help="of a trial")
    parser.add_argument("--ipv4", type=int, default=FULL.ipv4, help="prefixes of the full table")
    parser.add_argument("--ipv6", type=int, default=FULL.ipv6)
    args = parser.parse_args()
    full = Routing(ipv4=args.ipv4, ipv6=args.ipv6, next_hops=FULL.next_hops)
    with tempfile.TemporaryDirectory() as folder:
        found = {
            router.name: measured(router, args.trials, args.seconds, Path(folder))
            for router in routers(full)
        }
    best, linux = found[f"wsdp_vhost_{FEW}"], found["linux_veth"]
    asked("best_wire_each", 10.0, best, linux, "linux_veth")
    asked(f"best_wire_{FEW}_destinations", 1.0, best, found[f"ovs_vhost_{FEW}"], "ovs_vhost")
    many = found[f"wsdp_vhost_{MANY}"]
    asked(f"best_wire_{MANY}_destinations", 2.0, many, found[f"ovs_vhost_{MANY}"], "ovs_vhost")
    asked("same_wire", 1.0, found["wsdp_veth"], linux, "linux_veth")
    asked("full_table", 0.85, best, found["wsdp_vhost_small_table"], "10,000_routes")


if __name__ == "__main__":
    main()
