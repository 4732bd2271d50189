# SPDX-License-Identifier: Apache-2.0
"""Compare dropping uploads inside the kernel with a server that reads and discards them.

The other server is speedtest/baseline: tungstenite and hyper on tokio. Both get the same client,
ours, which sends from one warm buffer whose bytes count as masked already. Over loopback with
cubic, rounds of two seconds, one stream and four; each round takes both in turn, every second round
the other first. Shown are medians of the rounds, also of their ratios, with minimum and maximum.
CPU is user and system time of the server process. On two CPUs the one client process is often the
limit, so all is measured three times: unlimited; with each server limited to the same share of one
CPU (`at 10% of a CPU`, shared/cpu_quota.py), where the rate is what the server achieves with
it; and with BIG TCP (IPv6 over the loopback of a separate host, segments of 512 KiB), where sending
costs less than half. Prints `name value unit ratio-to-what`; exits 1 when one of the three could
not be set up, which needs root.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median

from benchmarks.shared.cpu_quota import held_to
from benchmarks.speedtest_iperf3 import (
    CONGESTION,
    OURS,
    QUOTA,
    ROUNDS,
    SECONDS,
    Run,
    cpu_s,
    server,
)
from tests.support.ports import reserved_port

from wirespeed.bench.host.host import changing_host
from wirespeed.bench.host.network import Network, inside
from wirespeed.bench.interface import BenchError
from wirespeed.remote.interface import RemoteError
from wirespeed.remote.local import LocalRunner
from wirespeed.remote.state import state_directory

WORKSPACE = OURS.parents[2]
BASELINE = OURS.parent / "speedtest-baseline"
BUILD = ["cargo", "build", "--release", "--quiet", "--locked", "-p", "speedtest-baseline"]
WANTED = 3.0
SPECIAL_ROUNDS = 3
SEGMENT_BYTES = str(512 * 1024 - 8)


@dataclass(frozen=True, slots=True)
class Host:
    """A host."""

    words: tuple[str, ...]
    """Prefix of commands that run on it."""
    address: str
    """Address of its loopback, as in a URL."""


@dataclass(frozen=True, slots=True)
class Server:
    host: Host
    port: int
    pid: int


@contextmanager
def big_tcp() -> Iterator[Host]:
    """Yield a host whose loopback takes segments of 512 KiB; IPv4 needs ip-link(8) 6.3, too."""
    with changing_host(LocalRunner(), state_directory(os.environ)) as host:
        name = Network(host, f"{os.getpid()}").host("big")
        sizes = ("gso_max_size", SEGMENT_BYTES, "gro_max_size", SEGMENT_BYTES)
        host.runner.run(["ip", "-n", name, "link", "set", "dev", "lo", *sizes])
        yield Host(inside(name), "[::1]")


def measure(protocol: str, to: Server, streams: int) -> Run:
    before = cpu_s(to.pid)
    target = f"{to.host.address}:{to.port}"
    command = [*to.host.words, str(OURS), "client", target, "--protocol", protocol, "--json"]
    options = ["--time", str(SECONDS), "--parallel", str(streams), "--congestion", CONGESTION]
    done = subprocess.run([*command, *options], check=True, capture_output=True, text=True)
    way = json.loads(done.stdout)["results"][0]["directions"][0]
    used_s = cpu_s(to.pid) - before
    return Run(way["bits_per_second"] / 1e9, used_s / (way["bytes"] * 8 / 1e9))


def report(name: str, runs: list[tuple[Run, Run]]) -> float:
    rate, other_rate = (median(pair[side].gbps for pair in runs) for side in (0, 1))
    cpu, other_cpu = (median(pair[side].cpu_s_per_gbit for pair in runs) for side in (0, 1))
    # A round's two runs share the machine's state, so the ratios are compared by round.
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


def both(protocol: str, servers: list[Server], streams: int, number: int) -> tuple[Run, Run]:
    """Run one round over our server and the other: (ours, other)."""
    turns = servers if number % 2 == 0 else servers[::-1]
    runs = [measure(protocol, to, streams) for to in turns]
    ours, other = runs if number % 2 == 0 else runs[::-1]
    return ours, other


@contextmanager
def servers_on(host: Host) -> Iterator[dict[str, list[Server]]]:
    """Yield our server and the other, up, for each protocol."""
    ours_port, ws_port, http_port = reserved_port(), reserved_port(), reserved_port()
    at = {port: f"{host.address}:{port}" for port in (ours_port, ws_port, http_port)}
    ours = [*host.words, str(OURS), "serve", "--http", at[ours_port]]
    kinds = [f"tungstenite={at[ws_port]}", f"hyper={at[http_port]}"]
    other = [*host.words, str(BASELINE), *kinds]
    with server(ours, ours_port) as ours_pid, server(other, http_port) as other_pid:
        yield {
            protocol: [Server(host, ours_port, ours_pid), Server(host, port, other_pid)]
            for protocol, port in (("ndt7", ws_port), ("librespeed", http_port))
        }


def compare(pairs: dict[str, list[Server]], rounds: int, how: str) -> None:
    """Run all cases, over each protocol's pair of servers."""
    ratios = []
    for protocol, servers in pairs.items():
        for streams in (1, 4):
            runs = [both(protocol, servers, streams, number) for number in range(rounds)]
            ratios.append(report(f"{protocol} upload, {streams} streams{how}", runs))
    print(f"# wanted: {WANTED}x; the least of these is {min(ratios):.2f}x", flush=True)


def compare_held_back(pairs: dict[str, list[Server]]) -> None:
    ours, other = pairs["ndt7"]
    with held_to(QUOTA, ours.pid), held_to(QUOTA, other.pid):
        compare(pairs, SPECIAL_ROUNDS, f", at {QUOTA:.0%} of a CPU")


def main() -> int:
    if not OURS.exists():
        print(f"{OURS} is missing; build it with: cargo build --release (in speedtest/)")
        return 1
    subprocess.run(BUILD, cwd=WORKSPACE, check=True)
    print(f"# {CONGESTION}, loopback, {SECONDS} s a round, medians")
    try:
        with servers_on(Host((), "127.0.0.1")) as pairs:
            compare(pairs, ROUNDS, "")
            compare_held_back(pairs)
        with big_tcp() as host, servers_on(host) as pairs:
            compare(pairs, SPECIAL_ROUNDS, ", BIG TCP")
    except (OSError, BenchError, RemoteError) as error:
        print(f"not measured from here on: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
