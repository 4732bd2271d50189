# SPDX-License-Identifier: Apache-2.0
"""Compare our event loop with tokio, where both drop uploads inside the kernel.

The other servers are speedtest/baseline on tokio, each once with tokio's multi-threaded runtime and
once with a loop a core (`1/core`): with our own parsers (`tokio`), and hyper whose connection drops
bodies in the kernel (`hyper, dropping`). All use MSG_TRUNC and our threshold for waking up.
Unmodified hyper and tungstenite, which read what they discard, are shown next to them; a WebSocket
library must read its frames. The one client is ours; loopback, cubic, one connection and four,
rounds of a second, each over all servers in random order. Shown are medians over the rounds of each
result and of its ratio to ours in the same round. `least` is over all rounds, as other programs on
the machine only ever add CPU time. CPU of the server process is in cycles, or in ns of CPU time
where the machine counts no cycles. On two CPUs the one client process is often the limit of the
rate; CPU for each Gbit then separates the servers. Our server does more than the others: limits,
TCP_INFO, results.

Prints `name value unit ratio-to-what`, then whether tokio is within 10% of ours.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from statistics import median

from benchmarks.shared.cpu_counter import counting, has_cycles
from benchmarks.shared.figures import show
from benchmarks.speedtest_iperf3 import CONGESTION, OURS, server
from benchmarks.speedtest_uploads import BASELINE, BUILD, WORKSPACE
from tests.support.ports import reserved_port

ROUNDS = 11
SECONDS = 1
CONNECTIONS = (1, 4)
WITHIN = 0.10
READS_HTTP, READS_WS = "hyper, reading", "tungstenite, reading"
# Our client's protocol, and the kinds of speedtest/baseline that speak it.
KINDS = {
    "librespeed": {
        "tokio": "http-dropping",
        "hyper, dropping": "hyper-dropping",
        READS_HTTP: "hyper",
    },
    "ndt7": {"tokio": "ws-dropping", READS_WS: "tungstenite"},
}
RUNTIMES = {"": [], ", 1/core": ["--loop-a-core"]}
US = "ours"


@dataclass(frozen=True, slots=True)
class Server:
    name: str
    port: int
    pid: int


@dataclass(frozen=True, slots=True)
class Run:
    """Result of one run."""

    gbps: float
    cpu_per_gbit: float
    """In millions of cycles, or in ms."""


def measure(protocol: str, to: Server, connections: int) -> Run:
    command = [str(OURS), "client", f"127.0.0.1:{to.port}", "--protocol", protocol, "--json"]
    options = ["--time", str(SECONDS), "--parallel", str(connections), "--congestion", CONGESTION]
    with counting(to.pid) as used:
        done = subprocess.run([*command, *options], check=True, capture_output=True, text=True)
        cpu = used()
    way = json.loads(done.stdout)["results"][0]["directions"][0]
    return Run(way["bits_per_second"] / 1e9, cpu / 1e6 / (way["bytes"] * 8 / 1e9))


@contextmanager
def servers() -> Iterator[dict[str, list[Server]]]:
    """Yield our server and all others, up, for each protocol; ours is the first."""
    with ExitStack() as stack:
        port = reserved_port()
        ours = [str(OURS), "serve", "--http", f"127.0.0.1:{port}"]
        pid = stack.enter_context(server(ours, port))
        found = {protocol: [Server(US, port, pid)] for protocol in KINDS}
        for suffix, options in RUNTIMES.items():
            at = {kind: reserved_port() for kinds in KINDS.values() for kind in kinds.values()}
            addresses = [f"{kind}=127.0.0.1:{port}" for kind, port in at.items()]
            command = [str(BASELINE), *options, *addresses]
            pid = stack.enter_context(server(command, list(at.values())[-1]))
            for protocol, kinds in KINDS.items():
                found[protocol] += [
                    Server(name + suffix, at[kind], pid)
                    for name, kind in kinds.items()
                    if not suffix or name not in (READS_HTTP, READS_WS)
                ]
        yield found


def compare(protocol: str, all_of_it: list[Server], connections: int) -> bool:
    """Run one case over all servers; return whether the best of tokio is within 10% of ours."""
    runs: dict[str, list[Run]] = {each.name: [] for each in all_of_it}
    for number in range(ROUNDS):
        for each in random.Random(number).sample(all_of_it, len(all_of_it)):
            runs[each.name].append(measure(protocol, each, connections))
    unit = "Mcycles/Gbit" if has_cycles() else "ms-CPU/Gbit"
    case = f"{protocol} upload, {connections} connections"
    ratios = {}
    for name, mine in runs.items():
        pairs = list(zip(mine, runs[US], strict=True))
        rate = median(run.gbps / ours.gbps for run, ours in pairs)
        cpu = median(run.cpu_per_gbit / ours.cpu_per_gbit for run, ours in pairs)
        least = min(run.cpu_per_gbit for run in mine)
        show(f"{case}: {name}", median(run.gbps for run in mine), "Gbps", rate, US)
        show(f"{case}: {name}", median(run.cpu_per_gbit for run in mine), unit, cpu, US)
        least_of_ours = min(run.cpu_per_gbit for run in runs[US])
        show(f"{case}: {name}, least", least, unit, least / least_of_ours, US)
        if name.startswith("tokio"):
            ratios[name] = min(rate, 1 / cpu)
    best = max(ratios, key=lambda name: ratios[name])
    within = ratios[best] >= 1 - WITHIN
    print(
        f"# {case}: {best} is {'within' if within else 'not within'} {WITHIN:.0%} of ours: "
        f"{ratios[best]:.2f}, the worse of rate and 1/CPU",
        flush=True,
    )
    return within


def main() -> int:
    if not OURS.exists():
        print(f"{OURS} is missing; build it with: cargo build --release (in speedtest/)")
        return 1
    subprocess.run(BUILD, cwd=WORKSPACE, check=True)
    counted = "cycles" if has_cycles() else "CPU time; this machine counts no cycles"
    print(f"# {CONGESTION}, loopback, {ROUNDS} rounds of {SECONDS} s, medians; {counted}")
    with servers() as found:
        within = [
            compare(protocol, all_of_it, connections)
            for protocol, all_of_it in found.items()
            for connections in CONNECTIONS
        ]
    print(f"# tokio is within {WITHIN:.0%} of ours in {sum(within)} of {len(within)} cases")
    return 0


if __name__ == "__main__":
    sys.exit(main())
