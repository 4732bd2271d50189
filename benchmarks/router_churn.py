# SPDX-License-Identifier: Apache-2.0
"""Measure whether wsdp's router loses frames of routes that stay while others come and go.

The router follows the kernel of a namespace (topology host). One frame stream goes to an address in
each generated IPv4 prefix that stays. For each source of routes (`ip`, BIRD, FRR):

- `steady`: 1,000 changes a second for 60 s.
- `burst_10k`, `burst_100k`: as many prefixes are withdrawn at once, and announced again.

`lost` are frames that did not arrive and that no full ring explains; `wrong` frames arrived that
should not. `ring` counts the frames that found a ring full: noise on the host does that, too.
`late` is the longest delay of a change against its schedule, `behind` the time from the end of the
traffic until kernel and tables agree (`router check`). It takes some minutes and 3 GiB. Prints
`name value unit ratio-to-what`. Needs root, bird2 and frr.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from benchmarks.shared.figures import show
from tests.support.real_bench import opened, point

from wirespeed.bench.interface import Step
from wirespeed.bench.routing.churn import Churn
from wirespeed.bench.routing.part import LoadsRoutes
from wirespeed.bench.session import RealBench
from wirespeed.model.frame import FrameSizes
from wirespeed.model.result.hop_counts import DropCause
from wirespeed.model.result.observation import Observation
from wirespeed.model.study.spec import Destinations, Frames, Routing, RoutingDaemon, Traffic, Vnf

LOAD_FPS = 50_000.0
STEADY_PER_S = 1_000
PREFIXES = 400_000
BURSTS = {"burst_10k": 10_000, "burst_100k": 100_000}
# Groups of 5,000 prefixes, 100,000 together.
BURST_PER_S = 100_000
BURST_S = 10.0
_RINGS = (
    DropCause.TG_RX_RING_FULL,
    DropCause.VNF_RX_RING_FULL,
    DropCause.VNF_TX_RING_FULL,
    DropCause.RX_RING_FULL,
)


class Burst(Churn):
    """One burst of withdrawals in a trial, and one of announcements."""

    def __init__(self, source: LoadsRoutes, prefixes: int) -> None:
        super().__init__("router", source)
        groups = source.routes.table.churned
        self._burst = tuple(range(-(-prefixes // len(groups[0]))))
        if len(self._burst) > len(groups):
            raise ValueError(f"{prefixes} prefixes: only {len(groups)} groups of them may change")

    def steps(self, duration_s: float) -> Sequence[Step]:
        return [
            (0.1 * duration_s, partial(self.withdraw, *self._burst)),
            (0.5 * duration_s, self.announce),
        ]


def spec(daemon: RoutingDaemon, per_s: int, prefixes: int) -> Frames:
    routing = Routing(
        daemon, ipv4=prefixes, next_hops=4, churn_per_s=per_s, destinations=Destinations.PREFIXES
    )
    traffic = Traffic(FrameSizes.parse("128"))
    return replace(point("host", vnf=Vnf("router")), traffic=traffic, routing=routing)


def report(name: str, seen: Observation) -> None:
    """Print the counts of one trial."""
    full = sum(drop.frames for drop in seen.drops if drop.cause in _RINGS)
    lost = seen.total("offered") - seen.total("received") - full
    wrong = seen.total("foreign") + seen.total("misdirected") + seen.total("duplicated")
    assert seen.churn is not None
    show(f"{name}_offered", seen.total("offered"), "frames")
    show(f"{name}_lost", lost, "frames asked 0")
    show(f"{name}_wrong", wrong, "frames asked 0")
    show(f"{name}_ring", full, "frames")
    show(f"{name}_changes", seen.churn.changes, "routes")
    show(f"{name}_behind", seen.churn.behind_s, "s")


def bursts(daemon: RoutingDaemon, prefixes: int, sizes: dict[str, int], logs: Path) -> None:
    with opened(spec(daemon, BURST_PER_S, prefixes), logs) as bench:
        for name, size in sizes.items():
            burst(bench, f"{daemon}_{name}", size)


def burst(bench: RealBench, name: str, prefixes: int) -> None:
    [source] = [part for part in bench.rig.parts if isinstance(part, LoadsRoutes)]
    bench.rig = replace(bench.rig, injections=(Burst(source, prefixes),))
    report(name, bench.measure(LOAD_FPS, BURST_S))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="of steady changes")
    parser.add_argument(
        "--daemon", choices=[str(each) for each in RoutingDaemon], help="default: all"
    )
    args = parser.parse_args()
    chosen = [RoutingDaemon(args.daemon)] if args.daemon else list(RoutingDaemon)
    with tempfile.TemporaryDirectory() as folder:
        for daemon in chosen:
            logs = Path(folder) / str(daemon)
            with opened(spec(daemon, STEADY_PER_S, 100_000), logs / "steady") as bench:
                seen = bench.measure(LOAD_FPS, args.seconds)
                report(f"{daemon}_steady", seen)
                assert seen.churn is not None
                show(f"{daemon}_steady_late", seen.churn.late_s, "s")
            bursts(daemon, PREFIXES, BURSTS, logs / "bursts")


if __name__ == "__main__":
    main()
