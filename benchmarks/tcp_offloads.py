# SPDX-License-Identifier: Apache-2.0
"""What do TSO, GSO and GRO gain between two hosts, straight and through Open vSwitch?

S0 gained 2.4x in its first scenario. Here the hosts are network namespaces, 1500 octets of MTU, one
stream and four, the server sending; each point once in each of three rounds with offloads off and
on in turns. Prints `name value unit ratio-to-what`; exits 1 when a gain is below S0's. Needs root.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from statistics import median

from benchmarks.figures import show

from wirespeed.bench.interface import TcpBench
from wirespeed.cli.rig import local_rig
from wirespeed.model.spec import PointSpec
from wirespeed.model.tcp import Tcp, TcpDirection, TcpPath, TcpRun
from wirespeed.study.interface import Rig

ROUNDS = 3
SECONDS = 2
CONGESTION = "cubic"
S0_GAIN = 2.4


def points() -> Iterator[tuple[TcpPath, int]]:
    for path in TcpPath:
        for streams in (1, 4):
            yield path, streams


def opened(rig: Rig, stack: ExitStack, path: TcpPath, streams: int, offloads: bool) -> TcpBench:
    tcp = Tcp(path=path, streams=streams, offloads=offloads, direction=TcpDirection.DOWN,
              seconds=SECONDS, omit_s=0, congestion=CONGESTION)  # fmt: skip
    spec = PointSpec(tcp=tcp)
    return stack.enter_context(rig.open_tcp(spec, rig.plan(spec), f"benchmark-{offloads}"))


def cpu_ms_per_gbit(run: TcpRun) -> float:
    gbit = sum(way.bytes for way in run.ways) * 8 / 1e9
    return (run.server_cpu_s + run.clients_cpu_s + (run.vswitch_cpu_s or 0.0)) * 1e3 / gbit


def main() -> int:
    if os.geteuid() != 0:
        print("needs root, for network namespaces")
        return 1
    print(f"# {CONGESTION}, MTU 1500, download, median of {ROUNDS} rounds of {SECONDS} s")
    rig = local_rig()
    enough = True
    for path, streams in points():
        runs: dict[bool, list[TcpRun]] = {False: [], True: []}
        for _ in range(ROUNDS):
            for offloads, done in runs.items():
                with ExitStack() as stack:
                    done.append(opened(rig, stack, path, streams, offloads).run())
        off, on = (
            median(run.rate_bps(TcpDirection.DOWN) for run in done) for done in runs.values()
        )
        off_ms, on_ms = (median(map(cpu_ms_per_gbit, done)) for done in runs.values())
        name = f"{path}, {streams} stream{'s' if streams > 1 else ''}"
        show(f"{name}, offloads on:", on / 1e9, "Gbps", on / off, f"off ({off / 1e9:.2f})")
        show(f"{name}, offloads on:", on_ms, "CPU ms/Gbit", on_ms / off_ms, f"off ({off_ms:.1f})")
        show(f"{name}, gain:", on / off, "x", on / off / S0_GAIN, f"S0's ({S0_GAIN})")
        enough = enough and on / off >= S0_GAIN
    return 0 if enough else 1


if __name__ == "__main__":
    sys.exit(main())
