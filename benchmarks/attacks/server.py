# SPDX-License-Identifier: Apache-2.0
"""Run the server under attack: an operator's limits, all listeners, all results stored."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.attacks.kinds import CONNECTIONS_OF_ONE, H2, HTTP, HTTPS, IPERF3, UDP
from benchmarks.speedtest_iperf3 import OURS, listens
from tests.support.ports import reserved_port

RATE_BPS = 4_000_000_000
RESULTS_BYTES = 64 << 20
LIMITS = f"""
[limits]
connections_per_client = {CONNECTIONS_OF_ONE}
tests_per_client = 2
duration_s = 60
rate_bps = {RATE_BPS}
[results]
max_bytes = {RESULTS_BYTES}
"""
START_S = 10.0


@dataclass(frozen=True, slots=True)
class AttackServer:
    """A server under attack."""

    pid: int
    ports: dict[str, int]
    """Port by protocol, including `metrics`."""
    log: Path
    results: Path


def make_certificate(folder: Path) -> tuple[Path, Path]:
    cert, key = folder / "server.crt", folder / "server.key"
    command = ["openssl", "req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=server"]
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    paths = ["-keyout", str(key), "-out", str(cert)]
    subprocess.run([*command, *curve, *paths], check=True, capture_output=True)
    return cert, key


@contextmanager
def attack_server(folder: Path) -> Iterator[AttackServer]:
    """Keep a server up while the block runs."""
    cert, key = make_certificate(folder)
    ports = {name: reserved_port() for name in (IPERF3, HTTP, HTTPS, "metrics")}
    config, log, results = (folder / name for name in ("speedtest.toml", "log", "results.jsonl"))
    config.write_text(LIMITS)
    command = [str(OURS), "serve", "--config", str(config), "--log", "json"]
    for name, port in ports.items():
        command += [f"--{name}", f"127.0.0.1:{port}"]
    command += ["--tls-cert", str(cert), "--tls-key", str(key), "--results", str(results)]
    with log.open("wb") as output:
        process = subprocess.Popen(command, stderr=output)
    try:
        end = time.monotonic() + START_S
        while not all(listens(port, process.pid) for port in ports.values()):
            if process.poll() is not None or time.monotonic() > end:
                raise SystemExit(f"the server did not start: {log.read_text()}")
            time.sleep(0.05)
        ports |= {H2: ports[HTTPS], UDP: ports[IPERF3]}
        yield AttackServer(process.pid, ports, log, results)
        if process.poll() is not None:
            raise SystemExit(f"the server ended with {process.returncode}: see its last lines\n"
                             + log.read_text()[-2000:])  # fmt: skip
    finally:
        process.terminate()
        process.wait(60)
