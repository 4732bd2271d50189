# SPDX-License-Identifier: Apache-2.0
"""Check a thousand clients at 1 Mbit/s each, and measure the memory that they take.

Both sides are our own, one process each, over loopback with cubic: 16 KiB blocks for 30 s. Prints
`name value unit ratio-to-what`; exits 1 when a client failed.
"""

from __future__ import annotations

import json
import subprocess
import sys

from benchmarks.speedtest_iperf3 import CONGESTION, OURS, cpu_s, server
from tests.support.ports import reserved_port

from wirespeed.bench.host.peak_memory import peak_kib
from wirespeed.remote.local import LocalRunner

CLIENTS = 1000
RATE_BPS = 1_000_000
SECONDS = 30


def main() -> int:
    port = reserved_port()
    serve = [str(OURS), "serve", "--iperf3", f"127.0.0.1:{port}", "--congestion", CONGESTION]
    client = [str(OURS), "client", f"127.0.0.1:{port}", "--clients", str(CLIENTS), "--json"]
    options = ["--rate", str(RATE_BPS), "--block", str(16 << 10), "--time", str(SECONDS)]
    with server(serve, port) as pid:
        done = subprocess.run([*client, *options], check=False, capture_output=True, text=True)
        memory_mib, used_s = peak_kib(LocalRunner(), pid) / 1024, cpu_s(pid)
    report = json.loads(done.stdout)
    finished = [result for result in report["results"] if result["error"] is None]
    off = [
        abs(way["bits_per_second"] / RATE_BPS - 1) * 100
        for result in finished
        for way in result["directions"]
    ]
    print(f"# {CLIENTS} clients, {RATE_BPS / 1e6:.0f} Mbit/s, {SECONDS} s, {CONGESTION}, loopback")
    print(f"finished: {len(finished)} clients {len(finished) / CLIENTS:.3f}x all")
    within = sum(share <= 2 for share in off)
    print(f"within 2 % of their rate: {within} clients {within / CLIENTS:.3f}x all")
    print(
        f"largest deviation: {max(off, default=100):.2f} % {max(off, default=100) / 2:.2f}x allowed"
    )
    print(f"server memory, peak: {memory_mib:.1f} MiB {memory_mib / 200:.3f}x allowed (200)")
    print(f"server CPU: {used_s / SECONDS * 100:.1f} % of a core {used_s / SECONDS:.3f}x a core")
    return 0 if len(finished) == CLIENTS == within else 1


if __name__ == "__main__":
    sys.exit(main())
