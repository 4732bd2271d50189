# SPDX-License-Identifier: Apache-2.0
"""What does dropping uploads inside the kernel bring, beside a server that reads and discards them?

The other server is speedtest/baseline: tungstenite and hyper on tokio. Both get the same client,
ours, which sends out of one warm buffer whose bytes count as masked already. Over loopback with
cubic, in turns, five rounds of two seconds, one stream and four; medians. CPU is user and system
time of the server process. Prints `name value unit ratio-to-what`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from statistics import median

from benchmarks.speedtest_iperf3 import (
    CONGESTION,
    OURS,
    ROUNDS,
    SECONDS,
    Run,
    cpu_s,
    free_port,
    server,
)

WORKSPACE = OURS.parents[2]
BASELINE = OURS.parent / "speedtest-baseline"
BUILD = ["cargo", "build", "--release", "--quiet", "--locked", "-p", "speedtest-baseline"]
WANTED = 3.0


def measure(protocol: str, port: int, pid: int, streams: int) -> Run:
    before = cpu_s(pid)
    command = [str(OURS), "client", f"127.0.0.1:{port}", "--protocol", protocol, "--json"]
    options = ["--time", str(SECONDS), "--parallel", str(streams), "--congestion", CONGESTION]
    done = subprocess.run([*command, *options], check=True, capture_output=True, text=True)
    way = json.loads(done.stdout)["results"][0]["directions"][0]
    used_s = cpu_s(pid) - before
    return Run(way["bits_per_second"] / 1e9, used_s / (way["bytes"] * 8 / 1e9))


def report(name: str, runs: list[tuple[Run, Run]]) -> float:
    rate, other_rate = (median(pair[side].gbps for pair in runs) for side in (0, 1))
    cpu, other_cpu = (median(pair[side].cpu_s_per_gbit for pair in runs) for side in (0, 1))
    print(f"{name}: {rate:.1f} Gbps {rate / other_rate:.2f}x reading it ({other_rate:.1f})")
    print(
        f"{name}: {cpu * 1e3:.2f} server CPU ms per Gbit "
        f"{cpu / other_cpu:.2f}x reading it ({other_cpu * 1e3:.2f})",
        flush=True,
    )
    return rate / other_rate


def main() -> int:
    if not OURS.exists():
        print(f"{OURS} is missing; build it with: cargo build --release (in speedtest/)")
        return 1
    subprocess.run(BUILD, cwd=WORKSPACE, check=True)
    ours_port, ws_port, http_port = free_port(), free_port(), free_port()
    ours = [str(OURS), "serve", "--http", f"127.0.0.1:{ours_port}"]
    other = [str(BASELINE), f"127.0.0.1:{ws_port}", f"127.0.0.1:{http_port}"]
    print(f"# {CONGESTION}, loopback, median of {ROUNDS} rounds of {SECONDS} s")
    ratios = []
    with server(ours, ours_port) as ours_pid, server(other, http_port) as other_pid:
        for protocol, other_port in (("ndt7", ws_port), ("librespeed", http_port)):
            for streams in (1, 4):
                runs = [
                    (
                        measure(protocol, ours_port, ours_pid, streams),
                        measure(protocol, other_port, other_pid, streams),
                    )
                    for _ in range(ROUNDS)
                ]
                ratios.append(report(f"{protocol} upload, {streams} streams", runs))
    print(f"# wanted: {WANTED}x; the least of these is {min(ratios):.2f}x")
    return 0


if __name__ == "__main__":
    sys.exit(main())
