# SPDX-License-Identifier: Apache-2.0
"""Compare the speed-test server with iperf3's own, with the same stock client on both.

One TCP stream and four into the server, and one out of it, run over loopback with cubic, in turns,
five rounds of two seconds; medians. CPU is user and system time of the server process, from /proc.
On two CPUs the one client process is often busier than the server; then the rate is the client's.
So the sinks are measured twice: unlimited, and with each server limited to the same share of one
CPU (`at 10% of a CPU`, shared/cpu_quota.py), where the rate is what the server achieves with
it. Prints `name value unit ratio-to-what`; exits 1 when the quota could not be set (needs root).
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.shared.cpu_quota import held_to
from tests.support.ports import reserved_port

OURS = Path(__file__).parent.parent / "speedtest/target/release/wirespeed-speedtest"
ROUNDS = 5
SECONDS = 2
CONGESTION = "cubic"
CASES = {
    "sink, 1 stream": [],
    "sink, 4 streams": ["-P", "4"],
    "source, 1 stream": ["-R"],
}
QUOTA = 0.1
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Run:
    gbps: float
    cpu_s_per_gbit: float


@contextlib.contextmanager
def server(command: list[str], port: int) -> Iterator[int]:
    """Start a server, wait until it listens, yield its PID, and end it."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while not listens(port, process.pid):
            if process.poll() is not None:
                raise SystemExit(f"{command[0]} ended with {process.returncode}")
            time.sleep(0.02)
        yield process.pid
    finally:
        process.terminate()
        process.wait(10)


def listens(port: int, pid: int) -> bool:
    """Return whether it listens; without connecting, which iperf3's server takes for a client."""
    wanted = f":{port:04X}"
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            local, state = line.split()[1], line.split()[3]
            if local.endswith(wanted) and state == "0A":
                return True
    return False


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_S


def measure(port: int, pid: int, options: list[str]) -> Run:
    before = cpu_s(pid)
    command = ["iperf3", "-c", "127.0.0.1", "-p", str(port), "-t", str(SECONDS)]
    done = subprocess.run(
        [*command, "-C", CONGESTION, "-J", *options], check=True, capture_output=True, text=True
    )
    received = json.loads(done.stdout)["end"]["sum_received"]
    used_s = cpu_s(pid) - before
    return Run(received["bits_per_second"] / 1e9, used_s / (received["bytes"] * 8 / 1e9))


def main() -> int:
    if not OURS.exists():
        print(f"{OURS} is missing; build it with: cargo build --release (in speedtest/)")
        return 1
    ours_port, stock_port = reserved_port(), reserved_port()
    ours = [str(OURS), "serve", "--iperf3", f"127.0.0.1:{ours_port}", "--congestion", CONGESTION]
    stock = ["iperf3", "-s", "-p", str(stock_port)]
    version = subprocess.run(["iperf3", "--version"], capture_output=True, text=True, check=True)
    print(
        f"# against {version.stdout.split(chr(10))[0]}, {CONGESTION}, loopback, "
        f"median of {ROUNDS} rounds of {SECONDS} s"
    )
    with server(ours, ours_port) as ours_pid, server(stock, stock_port) as stock_pid:
        sides = [(ours_port, ours_pid), (stock_port, stock_pid)]
        for name, options in CASES.items():
            report(name, rounds(sides, options))
        try:
            with held_to(QUOTA, ours_pid), held_to(QUOTA, stock_pid):
                for name, options in CASES.items():
                    if name.startswith("sink"):
                        report(f"{name}, at {QUOTA:.0%} of a CPU", rounds(sides, options))
        except OSError as error:
            print(f"servers held to a part of a CPU: not measured, {error}")
            return 1
    return 0


def rounds(sides: list[tuple[int, int]], options: list[str]) -> list[tuple[Run, Run]]:
    """Return our server's run and the other's of each round; `sides`: their ports and processes."""
    ours, stock = sides
    return [(measure(*ours, options), measure(*stock, options)) for _ in range(ROUNDS)]


def report(name: str, runs: list[tuple[Run, Run]]) -> None:
    rate, stock_rate = (median(pair[side].gbps for pair in runs) for side in (0, 1))
    cpu, stock_cpu = (median(pair[side].cpu_s_per_gbit for pair in runs) for side in (0, 1))
    print(f"{name}: {rate:.1f} Gbps {rate / stock_rate:.2f}x iperf3's server ({stock_rate:.1f})")
    print(
        f"{name}: {cpu * 1e3:.2f} server CPU ms per Gbit "
        f"{cpu / stock_cpu:.2f}x iperf3's server ({stock_cpu * 1e3:.2f})",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
