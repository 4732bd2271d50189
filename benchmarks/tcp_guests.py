# SPDX-License-Identifier: Apache-2.0
"""Measure what offloads, placement and queues change for TCP of QEMU guests on vhost-user.

The server is a guest on a vhost-user port of Open vSwitch with DPDK; the client is a network
namespace outside, or a guest, too. Four streams, MTU 1500, the server sending. Side by side:

  outside   offloads off and on, the client outside
  between   the same between two guests, and then with their vCPUs on the PMD thread's CPU
  queues    one queue and two, of a guest with two vCPUs, the client outside

Each point is opened once in each of two rounds and run three times there; ratios are of medians.
Where guests are emulated, only the ratios mean something. A second queue gains nothing where
server, client and PMD thread share two CPUs, which is printed. S0 gained 2.4 by offloads (scenario
1), about 10 between guests with queues (scenario 3). Prints `name value unit ratio-to-what`; exits
1 when offloads gain less than 2 between guests, when the PMD thread's CPU costs nothing there, or
when no run of a point has a rate. Needs root and `make guest-image`. Arguments: names of
comparisons; all of them where none is given.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from statistics import median

from benchmarks.shared.figures import show

from wirespeed.bench.interface import BenchError
from wirespeed.model.errors import WirespeedError
from wirespeed.model.study.spec import Guest, TcpStreams
from wirespeed.model.study.tcp import Tcp, TcpDirection, TcpGuests, TcpPinning
from wirespeed.model.words import EMULATED
from wirespeed.session.rig import local_rig
from wirespeed.study.interface import Rig
from wirespeed.study.kinds.tcp import RepeatedTcp

ROUNDS, RUNS = 2, 3
WANTED_GAIN = 2.0
OUTSIDE = Tcp(path="vhost-user", streams=4, seconds=4, omit_s=1)
BETWEEN = replace(OUTSIDE, guests=TcpGuests.ALL)
# Each is compared with the one before it.
OFF, ON, ON_PMD = "offloads off", "offloads on", "vCPUs on the PMD thread's CPU"
ONE, TWO = "1 queue", "2 queues"


def point(tcp: Tcp, vcpus: int = 1) -> TcpStreams:
    return TcpStreams(tcp, guest=Guest(vcpus=vcpus))


COMPARISONS: Mapping[str, Mapping[str, TcpStreams]] = {
    "outside": {OFF: point(replace(OUTSIDE, offloads=False)), ON: point(OUTSIDE)},
    "between": {
        OFF: point(replace(BETWEEN, offloads=False)),
        ON: point(BETWEEN),
        ON_PMD: point(replace(BETWEEN, pinning=TcpPinning.ON_PMD)),
    },
    "queues": {ONE: point(OUTSIDE, 2), TWO: point(replace(OUTSIDE, queues=2), 2)},
}


class Rates:
    """Rates of every point in bits/s. emulated: why the guests' CPUs are emulated, if they are."""

    def __init__(self, rig: Rig) -> None:
        self._rig = rig
        self._found: dict[tuple[str, str], list[float]] = {}
        self.emulated: str | None = None

    def measure(self, comparison: str, name: str) -> None:
        """Open the point and run it. A run that fails is reported and has no rate."""
        spec, rates = COMPARISONS[comparison][name], self._found.setdefault((comparison, name), [])
        with self._rig.open_own(spec, self._rig.plan(spec), f"benchmark-{comparison}") as bench:
            assert isinstance(bench, RepeatedTcp)
            self.emulated = bench.emulated
            for _ in range(RUNS):
                try:
                    rates.append(bench.bench.run().rate_bps(TcpDirection.DOWN))
                except BenchError as failed:
                    print(f"# {comparison}, {name}: {failed.what}", flush=True)
        figures = ", ".join(f"{rate / 1e6:.0f}" for rate in rates)
        load = os.getloadavg()[0]
        print(f"# {comparison}, {name}: {figures} Mbps; load average {load:.1f}", flush=True)

    def median(self, comparison: str, name: str) -> float:
        """Return the median. Raises WirespeedError where no run has a rate."""
        rates = [rate for rate in self._found[comparison, name] if rate > 0]
        if not rates:
            raise WirespeedError(f"{comparison}, {name}: no run has a rate")
        return median(rates)


def print_figures(rates: Rates, wanted: list[str]) -> bool:
    """Print each point next to the one before it; return whether the requirements are met."""
    gains = {}
    for comparison in wanted:
        names = list(COMPARISONS[comparison])
        for before, name in pairwise(names):
            was, now = rates.median(comparison, before), rates.median(comparison, name)
            gains[comparison, name] = now / was
            show(f"{comparison}, {name}:", now / 1e6, "Mbps", now / was,
                 f"{before} ({was / 1e6:.0f})")  # fmt: skip
    return (
        gains.get(("between", ON), WANTED_GAIN) >= WANTED_GAIN
        and gains.get(("between", ON_PMD), 0.0) < 1
    )


def main(wanted: list[str]) -> int:
    if os.geteuid() != 0:
        print("needs root, for network namespaces and huge pages")
        return 1
    if unknown := sorted(set(wanted) - set(COMPARISONS)):
        print(f"no comparison {', '.join(unknown)}; there are: {', '.join(COMPARISONS)}")
        return 2
    wanted = wanted or list(COMPARISONS)
    rates = Rates(local_rig())
    for _ in range(ROUNDS):
        for comparison in wanted:
            for name in COMPARISONS[comparison]:
                rates.measure(comparison, name)
    if rates.emulated is not None:
        print(f"# {EMULATED} ({rates.emulated}): only the ratios count")
    as_asked = print_figures(rates, wanted)
    cpus = len(os.sched_getaffinity(0))
    if cpus < 4 and "queues" in wanted:
        print(f"# a second queue has no CPU to gain on: server, client and PMD thread share {cpus}")
    return 0 if as_asked else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except WirespeedError as error:
        print(f"not measurable: {error.what}")
        sys.exit(1)
