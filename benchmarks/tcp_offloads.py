# SPDX-License-Identifier: Apache-2.0
"""Measure what TSO, GSO and GRO gain between two hosts, direct and through Open vSwitch.

S0 gained 2.4x in its first scenario. Here the hosts are network namespaces, 1500 octets of MTU, one
stream and four, the server sending. Each point runs once in each of three rounds with offloads off
and on in turns, so that noise affects both. Rates are over all time. (The third path, ovs-pmd,
carries no offloads.) Prints `name value unit ratio-to-what`; exits 1 when a gain is below S0's, or
when no run of a point has a rate. Needs root.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from statistics import median

from benchmarks.shared.figures import show

from wirespeed.model.errors import WirespeedError
from wirespeed.model.result.tcp import TcpResult
from wirespeed.model.study.spec import TcpStreams
from wirespeed.model.study.tcp import Tcp, TcpDirection
from wirespeed.session.rig import local_rig
from wirespeed.study.interface import Rig
from wirespeed.study.kinds.tcp import RepeatedTcp

ROUNDS = 3
SECONDS = 2
CONGESTION = "cubic"
S0_GAIN = 2.4


class Counting:
    """Counts the runs that failed."""

    def __init__(self) -> None:
        self.discarded = 0

    def run_failed(self, why: str) -> None:  # noqa: ARG002
        self.discarded += 1

    def run_ended(self, rates: str, number: int) -> None: ...


def points() -> Iterator[tuple[str, int]]:
    for path in ("veth", "ovs"):
        for streams in (1, 4):
            yield path, streams


def measured(rig: Rig, watcher: Counting, path: str, streams: int, offloads: bool) -> TcpResult:
    """Return the result of one run, or two. Raises WirespeedError where none has a rate."""
    tcp = Tcp(path=path, streams=streams, offloads=offloads, direction=TcpDirection.DOWN,
              seconds=SECONDS, omit_s=0, congestion=CONGESTION, repeats=1)  # fmt: skip
    spec = TcpStreams(tcp)
    with rig.open_own(spec, rig.plan(spec), f"benchmark-{offloads}") as bench:
        assert isinstance(bench, RepeatedTcp)
        found = bench.measure(watcher)
    if found.tcp is None:
        raise WirespeedError(f"over {path}, streams {streams}: {found.not_measurable}")
    return found.tcp


def main() -> int:
    if os.geteuid() != 0:
        print("needs root, for network namespaces")
        return 1
    print(f"# {CONGESTION}, MTU 1500, download, median of {ROUNDS} rounds of {SECONDS} s")
    rig, watcher = local_rig(), Counting()
    enough = True
    for path, streams in points():
        done: dict[bool, list[TcpResult]] = {False: [], True: []}
        for _ in range(ROUNDS):
            for offloads, results in done.items():
                results.append(measured(rig, watcher, path, streams, offloads))
        off, on = (median(r.total_bps for r in results) for results in done.values())
        off_ms, on_ms = (
            median(r.cpu_s_per_gbit * 1e3 for r in results) for results in done.values()
        )
        name = f"{path}, {streams} stream{'s' if streams > 1 else ''}"
        show(f"{name}, offloads on:", on / 1e9, "Gbps", on / off, f"off ({off / 1e9:.2f})")
        show(f"{name}, offloads on:", on_ms, "CPU ms/Gbit", on_ms / off_ms, f"off ({off_ms:.1f})")
        show(f"{name}, gain:", on / off, "x", on / off / S0_GAIN, f"S0's ({S0_GAIN})")
        enough = enough and on / off >= S0_GAIN
    print(f"# {watcher.discarded} runs failed")
    return 0 if enough else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except WirespeedError as error:
        print(f"not measurable: {error.what}")
        sys.exit(1)
