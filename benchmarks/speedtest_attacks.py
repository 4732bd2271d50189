# SPDX-License-Identifier: Apache-2.0
"""Measure what attacks on the speed-test server cost its other clients.

`python -m benchmarks.speedtest_attacks [ATTACK...]`. In each round a stock iperf3 test and then an
ndt7 test, both into the server, run alone and then during each attack (attacks/kinds.py). An
attack uses 1, 2 and 8 connections, or 8 times as many as its type needs. /metrics is polled
meanwhile. All run over loopback: one server with an operator's limits (LIMITS), and attackers at
separate addresses. Results under attack stand next to those of the unattacked run of the same
round. A second unattacked run of each round is judged in the same way (`no attack`): other programs
on the machine cause its misses.

Required, and printed as met or not met:
- the rate of both tests: at least 80% of fair. Fair is the unattacked rate as far as CPU allows:
  left = CPU time of the machine - of attackers - of other programs - stolen by the hypervisor;
  the tests' share = what the attack leaves of `left` unused, or half of `left`, if that is more;
  fair = unattacked rate * min(1, share / CPU time of the unattacked tests, client and server).
  What the server spends on the attack: its CPU time less what the tests took of it unattacked, for
  each bit moved.
- /metrics answers within 50 ms (p99), each test is admitted within 5 s (its time beyond the
  requested seconds), nobody moves more than 1% beyond the limits, the log grows by at most
  LOG_GROWTH a second, the file of results stays within `results.max_bytes`, and the results of the
  tests are in it.

Prints `name value unit ratio-to-what`; exits 1 when something was not met.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.attacks.kinds import ATTACKS
from benchmarks.attacks.round import Outcome, attacked, unattacked
from benchmarks.attacks.server import LIMITS, RATE_BPS, RESULTS_BYTES, AttackServer, attack_server
from benchmarks.shared.figures import show

CONNECTIONS = (1, 2, 8)
CONTROL = "no attack"
FAIR = 0.8
METRICS_MS = 50.0
ADMITTED_S = 5.0
BEYOND = 1.01
LOG_GROWTH = 64 << 10


@dataclass(frozen=True, slots=True)
class Asked:
    """One requirement on one run."""

    what: str
    value: float
    unit: str
    met: bool
    beside: str

    def line(self) -> str:
        verdict = "met" if self.met else "NOT MET"
        return f"  {self.what} {self.value:,.4g} {self.unit} ({self.beside}): {verdict}"


def judged(under: Outcome, alone: Outcome) -> Iterator[Asked]:
    """Yield the requirements.

    under: the run with an attack. alone: the one without of the same round.
    """
    fair = under.fair_share(alone)
    for name, rate in under.rates.items():
        share = rate / (alone.rates[name] * fair) if alone.rates[name] else 0.0
        beside = f"{rate / 1e9:.2f} Gbps, unattacked {alone.rates[name] / 1e9:.2f}"
        beside += f", fair is {fair:.2f} of that"
        yield Asked(f"{name}: of fair", share, "x-fair", share >= FAIR, beside)
    yield Asked(
        "/metrics p99", under.metrics_ms(0.99), "ms", under.metrics_ms(0.99) <= METRICS_MS,
        f"p50 {under.metrics_ms(0.5):.1f}; unattacked {alone.metrics_ms(0.5):.1f} and "
        f"{alone.metrics_ms(0.99):.1f}",
    )  # fmt: skip
    waited = max(under.admitted_s.values())
    before = max(alone.admitted_s.values())
    yield Asked("admitted after", waited, "s", waited <= ADMITTED_S, f"unattacked {before:.2f}")
    most = max([under.attack_bps, *under.rates.values()]) / RATE_BPS
    yield Asked(
        "bytes, of what limits allow", most, "x-allowed", most <= BEYOND,
        f"an attacker's {under.attack_bps / RATE_BPS:.3f}",
    )  # fmt: skip
    rate = under.log_bytes / under.wall_s
    yield Asked(
        "log: growth", rate / 1024, "KiB/s", rate <= LOG_GROWTH, f"allowed {LOG_GROWTH >> 10}"
    )
    share = under.results_bytes / RESULTS_BYTES
    yield Asked("results: bytes, of what is allowed", share, "x-allowed", share <= 1, "after it")
    yield Asked(
        "results: tests kept", under.kept, "tests", under.kept == under.finished,
        f"ended well {under.finished}",
    )  # fmt: skip


def verdicts(case: str, under: Outcome, alone: Outcome) -> list[str]:
    """Print each requirement; return what was not met."""
    missed = []
    for asked in judged(under, alone):
        print(asked.line(), flush=True)
        if not asked.met:
            missed.append(f"{case}: {asked.what} {asked.value:.4g} {asked.unit}")
    return missed


def round_of(server: AttackServer, name: str, over: str) -> list[str]:
    """Run one attack over one protocol, from every number of connections; return what failed."""
    alone = unattacked(server)
    case = f"{name}, {over}, {CONTROL}"
    print(case)
    missed = verdicts(case, unattacked(server), alone)
    for connections in CONNECTIONS:
        under = attacked(server, name, over, connections)
        case = f"{name}, {over}, {connections * ATTACKS[name].connections_each} connections"
        show(f"{case}: attackers", under.attackers_cpu_s / under.wall_s, "CPUs")
        used = under.server_cpu_s / under.wall_s
        show(f"{case}: server", used, "CPUs", used * alone.wall_s / alone.server_cpu_s, "alone")
        show(f"{case}: attack", under.units / under.attacked_s, "units/s")
        missed += verdicts(case, under, alone)
    return missed


def main(wanted: list[str]) -> int:
    unknown = sorted(set(wanted) - set(ATTACKS))
    if unknown:
        print(f"no attack {', '.join(unknown)}; there are: {', '.join(ATTACKS)}")
        return 2
    print(f"# limits of the server: {' '.join(LIMITS.split())}")
    missed, count = [], 0
    for name in wanted or ATTACKS:
        for over in ATTACKS[name].over:
            # Each attack gets a new server, so that what it fills does not count against the next
            # one.
            with tempfile.TemporaryDirectory() as folder, attack_server(Path(folder)) as server:
                missed += round_of(server, name, over)
            count += len(CONNECTIONS)
    by_attack = [line for line in missed if f", {CONTROL}:" not in line]
    print(f"# not met: {len(by_attack)} in {count} attacked runs, "
          f"{len(missed) - len(by_attack)} in {count // len(CONNECTIONS)} without")  # fmt: skip
    print("\n".join(f"#   {line}" for line in missed))
    return 1 if by_attack else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
