# SPDX-License-Identifier: Apache-2.0
"""Run legitimate clients once, with or without attackers, and account for the CPU time."""

from __future__ import annotations

import http.client
import json
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.attacks.kinds import ATTACKS, CONNECTIONS_OF_ONE
from benchmarks.attacks.server import AttackServer
from benchmarks.speedtest_iperf3 import OURS, cpu_s

TEST_S = 2
# A client that is not done by then counts as never admitted.
GIVE_UP_S = 30
POLL_S = 0.02
POLL_PATIENCE_S = 5.0
# Data that attackers sent at once is in the queues by then, and results are written.
SETTLE_S = 0.5
CPUS = os.cpu_count() or 1
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass(slots=True)
class Outcome:
    """Outcome of one run."""

    rates: dict[str, float] = field(default_factory=dict)
    """Bits per second by test; 0 for one that failed."""
    admitted_s: dict[str, float] = field(default_factory=dict)
    latencies_s: list[float] = field(default_factory=list)
    wall_s: float = 0.0
    server_cpu_s: float = 0.0
    clients_cpu_s: float = 0.0
    attackers_cpu_s: float = 0.0
    # CPU time of all CPUs: not idle, and taken by the hypervisor.
    busy_cpu_s: float = 0.0
    stolen_cpu_s: float = 0.0
    test_bytes: int = 0
    # Rate of one attacking address, each of which is a client.
    attack_bps: float = 0.0
    log_bytes: int = 0
    # Size of the file of results, at the end.
    results_bytes: int = 0
    # Results of this run's tests in the file, and the number of tests that ended well.
    kept: int = 0
    finished: int = 0
    # Units that attackers sent, and for how long.
    units: int = 0
    attacked_s: float = 0.0

    def metrics_ms(self, share: float) -> float:
        ordered = sorted(self.latencies_s)
        return ordered[min(int(share * len(ordered)), len(ordered) - 1)] * 1e3

    def fair_share(self, alone: Outcome) -> float:
        """Return how much of the unattacked rate the CPUs allow: see speedtest_attacks.py."""
        ours = self.server_cpu_s + self.clients_cpu_s + self.attackers_cpu_s
        others = max(self.busy_cpu_s - ours, 0.0)
        left = CPUS * self.wall_s - self.attackers_cpu_s - others - self.stolen_cpu_s
        for_tests = alone.server_cpu_s / max(alone.test_bytes, 1) * self.test_bytes
        for_attack = max(self.server_cpu_s - for_tests, 0.0)
        needed = (alone.server_cpu_s + alone.clients_cpu_s) / alone.wall_s
        share = max(left - for_attack, left / 2) / self.wall_s
        return min(1.0, max(share, 0.0) / needed)


@contextmanager
def polling(port: int, latencies_s: list[float]) -> Iterator[None]:
    """Poll /metrics; a missing answer counts as the whole patience."""
    over = threading.Event()

    def poll() -> None:
        while not over.wait(POLL_S):
            began = time.monotonic()
            try:
                metrics(port, POLL_PATIENCE_S)
                latencies_s.append(time.monotonic() - began)
            except OSError:
                latencies_s.append(POLL_PATIENCE_S)

    thread = threading.Thread(target=poll)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def metrics(port: int, patience_s: float) -> dict[str, float]:
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=patience_s)
    link.request("GET", "/metrics")
    lines = link.getresponse().read().decode().splitlines()
    link.close()
    pairs = (line.split() for line in lines if not line.startswith("#"))
    return {name.removeprefix("wirespeed_speedtest_"): float(value) for name, value in pairs}


def moved(port: int) -> float:
    counted = metrics(port, GIVE_UP_S)
    return counted["received_bytes_total"] + counted["sent_bytes_total"]


def iperf3(server: AttackServer) -> tuple[float, int]:
    """Return bits per second, and bytes, of stock iperf3 into the server."""
    port = server.ports["iperf3"]
    done = client(["iperf3", "-c", "127.0.0.1", "-p", str(port), "-t", str(TEST_S), "-J"])
    received = json.loads(done)["end"]["sum_received"]
    return received["bits_per_second"], received["bytes"]


def ndt7(server: AttackServer) -> tuple[float, int]:
    command = [str(OURS), "client", f"127.0.0.1:{server.ports['http']}", "--protocol", "ndt7"]
    done = client([*command, "--time", str(TEST_S), "--json"])
    way = json.loads(done)["results"][0]["directions"][0]
    return way["bits_per_second"], way["bytes"]


def client(command: list[str]) -> str:
    return subprocess.run(
        command, check=True, capture_output=True, text=True, timeout=GIVE_UP_S
    ).stdout


def run_tests(server: AttackServer, outcome: Outcome) -> None:
    for name, test in (("iperf3", iperf3), ("ndt7", ndt7)):
        began = time.monotonic()
        try:
            outcome.rates[name], count = test(server)
        except (subprocess.SubprocessError, ValueError, KeyError):
            outcome.rates[name], outcome.admitted_s[name] = 0.0, float("inf")
            continue
        outcome.admitted_s[name] = time.monotonic() - began - TEST_S
        outcome.test_bytes += count


def cpus_s() -> tuple[float, float]:
    """Return the CPU time of the machine so far: used, and taken by the hypervisor."""
    fields = [int(word) for word in Path("/proc/stat").read_text().split("\n")[0].split()[1:]]
    user, nice, system, _idle, _waiting, interrupts, softirqs, stolen = fields[:8]
    return (user + nice + system + interrupts + softirqs) / TICKS_PER_S, stolen / TICKS_PER_S


def children_cpu_s() -> float:
    """Return the CPU time of clients that have ended; attackers still run."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measured(server: AttackServer, attackers: list[int]) -> Outcome:
    """Run the tests while the processes `attackers` run."""
    outcome = Outcome()
    log_bytes, kept = server.log.stat().st_size, kept_tests(server.results)
    began = time.monotonic()
    busy, stolen = cpus_s()
    before = cpu_s(server.pid), children_cpu_s(), sum(cpu_s(pid) for pid in attackers)
    with polling(server.ports["metrics"], outcome.latencies_s):
        run_tests(server, outcome)
    outcome.server_cpu_s = cpu_s(server.pid) - before[0]
    outcome.clients_cpu_s = children_cpu_s() - before[1]
    outcome.attackers_cpu_s = sum(cpu_s(pid) for pid in attackers) - before[2]
    outcome.wall_s = time.monotonic() - began
    now_busy, now_stolen = cpus_s()
    outcome.busy_cpu_s, outcome.stolen_cpu_s = now_busy - busy, now_stolen - stolen
    outcome.log_bytes = server.log.stat().st_size - log_bytes
    time.sleep(SETTLE_S)
    outcome.kept = kept_tests(server.results) - kept
    outcome.finished = sum(rate > 0 for rate in outcome.rates.values())
    outcome.results_bytes = server.results.stat().st_size
    return outcome


def kept_tests(results: Path) -> int:
    """Return the number of legitimate tests in the file; only attackers send telemetry."""
    if not results.exists():
        return 0
    with results.open("rb") as lines:
        return sum(b'"client":"127.0.0.1:' in line for line in lines)


def unattacked(server: AttackServer) -> Outcome:
    return measured(server, [])


def attacked(server: AttackServer, name: str, over: str, connections: int) -> Outcome:
    """Run an attack from one process per CPU, if there are enough connections."""
    processes, clients = min(connections, CPUS), 0
    bytes_before, began = moved(server.ports["metrics"]), time.monotonic()
    with ExitStack() as stack:
        running = []
        for number in range(processes):
            part = len(range(number, connections, processes))
            clients += -(-part * ATTACKS[name].connections_each // CONNECTIONS_OF_ONE)
            command = [sys.executable, "-m", "benchmarks.attacks.attacker", name, over]
            command += [str(server.ports[over]), str(part), str(1 + 100 * number)]
            one = stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
            stack.callback(one.kill)
            running.append(one)
        for one in running:
            assert one.stdout is not None
            one.stdout.readline()
        time.sleep(SETTLE_S)
        outcome = measured(server, [one.pid for one in running])
        for one in running:
            one.terminate()
        told = [json.loads(one.communicate(timeout=GIVE_UP_S)[0]) for one in running]
    # Only now: during the attack the page may be unavailable.
    grown = moved(server.ports["metrics"]) - bytes_before - outcome.test_bytes
    outcome.attacked_s = time.monotonic() - began
    outcome.attack_bps = max(grown, 0.0) * 8 / outcome.attacked_s / clients
    outcome.units = sum(counts["units"] for counts in told)
    return outcome
