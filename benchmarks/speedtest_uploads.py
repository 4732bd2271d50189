# SPDX-License-Identifier: Apache-2.0
"""What does dropping uploads inside the kernel bring, beside a server that reads and discards them?

The other server is speedtest/baseline: tungstenite and hyper on tokio. Both get the same client,
ours, which sends out of one warm buffer whose bytes count as masked already. Over loopback with
cubic, five rounds of two seconds, one stream and four; each round takes both in turn, every second
round the other first. Medians of the rounds, also of their ratios, with the least and the most. CPU
is user and system time of the server process. On two CPUs the one client process is often the
limit, so all is measured twice: as it comes, and with each server held to the same part of one CPU
(`at 10% of a CPU`, benchmarks/cpu_quota.py; three rounds), where the rate is what the server can do
with it. Prints `name value unit ratio-to-what`; exits 1 when the quota could not be set, which
needs root.
"""

from __future__ import annotations

import json
import subprocess
import sys
from statistics import median

from benchmarks.cpu_quota import held_to
from benchmarks.speedtest_iperf3 import (
    CONGESTION,
    OURS,
    QUOTA,
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
QUOTA_ROUNDS = 3


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
    with server(ours, ours_port) as ours_pid, server(other, http_port) as other_pid:
        pairs = {
            protocol: [(ours_port, ours_pid), (port, other_pid)]
            for protocol, port in (("ndt7", ws_port), ("librespeed", http_port))
        }
        compare(pairs, ROUNDS, "")
        try:
            with held_to(QUOTA, ours_pid), held_to(QUOTA, other_pid):
                compare(pairs, QUOTA_ROUNDS, f", at {QUOTA:.0%} of a CPU")
        except OSError as error:
            print(f"servers held to a part of a CPU: not measured, {error}")
            return 1
    return 0


def compare(pairs: dict[str, list[tuple[int, int]]], rounds: int, how: str) -> None:
    """All cases, over each protocol's pair of servers."""
    ratios = []
    for protocol, servers in pairs.items():
        for streams in (1, 4):
            runs = [both(protocol, servers, streams, number) for number in range(rounds)]
            ratios.append(report(f"{protocol} upload, {streams} streams{how}", runs))
    print(f"# wanted: {WANTED}x; the least of these is {min(ratios):.2f}x", flush=True)


if __name__ == "__main__":
    sys.exit(main())
