# SPDX-License-Identifier: Apache-2.0
"""Check that the gateway reaches half the rate of `io` on the same ports of OVS-DPDK.

Each direction runs alone: frames of minimum size (64 octets from subscribers, 78 from the network),
of 32,768 users in random order and 8,192 routes, through vhost-user to one lcore and back. The
other function on that lcore forwards the same frames unchanged. Both take turns, each turn on a
bench of its own. A turn's result is the maximum forwarding rate (RFC 2285: the highest rate
delivered over several loads); the median turn counts. Every frame that arrives is checked: one that
is wrong, or that the gateway dropped on purpose, ends the benchmark. Needs root.
"""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from statistics import median

from benchmarks.shared.figures import show
from benchmarks.shared.point import bench_of, point_of

from wirespeed.bench.interface import Bench
from wirespeed.model.result.hop_counts import DropCause
from wirespeed.model.result.observation import Observation
from wirespeed.model.study.gateway import Bng, GatewayDirection
from wirespeed.model.study.spec import Frames, Vnf, VnfMode

TURNS = 3
TRIAL_S = 0.5
# Relative to what arrives at full rate: the sender shares the function's CPU, and takes less of it
# at a lower load.
LOADS = (0.9, 1.1, 1.3, 1.6)
REQUIRED = 0.5
FUNCTIONS = {"bng": Vnf("bng"), "io": Vnf("wsdp", VnfMode.IO)}
WRONG = (DropCause.MISDIRECTED, DropCause.CORRUPTED, DropCause.VNF_DISCARD)


def point(direction: GatewayDirection, vnf: Vnf) -> Frames:
    """Return a point without announcements: both functions are offered the same frames."""
    spec = point_of("s1-bng", "topology.kind=pvp", "traffic.frame=64")
    bng = Bng(direction, users=32_768, routes=8192, arp_share=0.0)
    return replace(spec, bng=bng, sut=replace(spec.sut, vnf=vnf))


def delivered_fps(seen: Observation) -> float:
    wrong = {d.cause: d.frames for d in seen.drops if d.cause in WRONG and d.frames}
    if wrong or seen.total("foreign"):
        sys.exit(f"frames came out wrong: {wrong}, {seen.total('foreign')} foreign")
    return seen.total("received") / seen.duration_s


def maximum_fps(bench: Bench) -> float:
    """Return the highest rate delivered over several loads."""
    overload = delivered_fps(bench.measure(math.inf, TRIAL_S))
    loads = (overload * share for share in LOADS)
    return max(overload, *(delivered_fps(bench.measure(load, TRIAL_S)) for load in loads))


def turn(direction: GatewayDirection) -> dict[str, float]:
    found = {}
    for name, vnf in FUNCTIONS.items():
        with bench_of(point(direction, vnf)) as bench:
            found[name] = maximum_fps(bench)
    print(f"# {direction}: " + ", ".join(f"{k} {v / 1e6:.2f} Mpps" for k, v in found.items()))
    return found


def main() -> int:
    enough = True
    for direction in (GatewayDirection.UP, GatewayDirection.DOWN):
        turns = [turn(direction) for _ in range(TURNS)]
        fps = {name: median(one[name] for one in turns) for name in FUNCTIONS}
        ratio = fps["bng"] / fps["io"]
        show(f"io_through_ovs_{direction}", fps["io"], "fps")
        show(f"bng_through_ovs_{direction}", fps["bng"], "fps", ratio, "io-on-the-same-ports")
        enough = enough and ratio >= REQUIRED
    if not enough:
        print(f"below {REQUIRED} of io")
    return 0 if enough else 1


if __name__ == "__main__":
    sys.exit(main())
