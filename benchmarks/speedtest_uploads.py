# SPDX-License-Identifier: Apache-2.0
"""What does dropping uploads inside the kernel bring, beside a server that reads and discards them?

The other server is speedtest/baseline: tungstenite and hyper on tokio. Both get the same client,
ours, which sends out of one warm buffer whose bytes count as masked already. Over loopback with
cubic, five rounds of two seconds, one stream and four; each round takes both in turn, every second
round the other first. Medians of the rounds, also of their ratios, with the least and the most. CPU
is user and system time of the server process: where the one client can send no faster, that is what
is left to compare. Prints `name value unit ratio-to-what`.
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
    # A round's two runs have the machine's mood in common, so the ratios are compared by round.
    ratios = [ours.gbps / other.gbps for ours, other in runs]
    ratio = median(ratios)
    spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
    print(f"{name}: {rate:.1f} Gbps {ratio:.2f}x reading it ({other_rate:.1f}; {spread})")
    print(
        f"{name}: {cpu * 1e3:.2f} server CPU ms per Gbit "
        f"{cpu / other_cpu:.2f}x reading it ({other_cpu * 1e3:.2f})",
        flush=True,
    )
    return ratio


def both(
    protocol: str, servers: list[tuple[int, int]], streams: int, number: int
) -> tuple[Run, Run]:
    """One round over our server and the other, each a port and a process: (ours, other)."""
    turns = servers if number % 2 == 0 else servers[::-1]
    runs = [measure(protocol, port, pid, streams) for port, pid in turns]
    ours, other = runs if number % 2 == 0 else runs[::-1]
    return ours, other


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
                servers = [(ours_port, ours_pid), (other_port, other_pid)]
                runs = [both(protocol, servers, streams, number) for number in range(ROUNDS)]
                ratios.append(report(f"{protocol} upload, {streams} streams", runs))
    print(f"# wanted: {WANTED}x; the least of these is {min(ratios):.2f}x")
    return 0


if __name__ == "__main__":
    sys.exit(main())
