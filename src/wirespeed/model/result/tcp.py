# SPDX-License-Identifier: Apache-2.0
"""Describe what one run of TCP traffic between two hosts showed, and what several showed together.

The hosts are network namespaces or QEMU guests; each has one port. Rates count the payload that
the receiving program got (goodput), summed over all streams of all clients.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wirespeed.model.result.explanation import EvidenceFigure
from wirespeed.model.result.outcome import Quantity, Verdict
from wirespeed.model.result.series import Series
from wirespeed.model.result.tcp_evidence import TcpEvidence
from wirespeed.model.study.tcp import TcpDirection


@dataclass(frozen=True, slots=True)
class TcpSample:
    """TCP_INFO of one stream at one moment, from the server's kernel."""

    at_us: int
    bytes: int
    rtt_us: int
    cwnd_bytes: int
    snd_wnd_bytes: int
    rcv_wnd_bytes: int
    delivery_rate_bps: int
    retransmits: int


@dataclass(frozen=True, slots=True)
class TcpDirectionResult:
    """One direction of one client's test, over that test's own time.

    The RFC 6349 metrics are means over the streams; None if the server received.
    """

    direction: TcpDirection
    bytes: int
    bits_per_second: float
    retransmits: int
    limited_by: str
    """The server's verdict."""
    because: tuple[str, ...]
    """Reasons of the verdict."""
    transfer_time_ratio: float | None = None
    tcp_efficiency_percent: float | None = None
    buffer_delay_percent: float | None = None
    series: tuple[tuple[TcpSample, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class TcpProgram:
    """CPU time taken from all processes of the server, the clients or the vSwitch."""

    name: str
    cpus: int
    """Number of CPUs it may use."""
    steal_s: float
    """Steal time of these CPUs, in s."""
    waited_s: float
    """Run-queue wait of its threads, in s, whoever ran instead."""


@dataclass(frozen=True, slots=True)
class TcpRun:
    """One run of all clients.

    The CPU times are user and system time of the programs, without the share of the seconds that do
    not count.
    """

    directions: tuple[TcpDirectionResult, ...]
    """Results in the order of the clients and their processes."""
    elapsed_s: float
    """Time from before the first connection to after the last result, in s."""
    server_cpu_s: float
    clients_cpu_s: float
    vswitch_cpu_s: float | None = None
    """None without a vSwitch."""
    programs: tuple[TcpProgram, ...] = ()
    """CPU time taken from each program during elapsed_s."""
    others_cpu_s: float = 0.0
    """CPU time of foreign processes during elapsed_s that could run on the bench's CPUs, in s."""
    others: tuple[str, ...] = ()
    """Names of the foreign processes with the most CPU time."""
    evidence: TcpEvidence | None = None
    """CPU time taken by intervals. None if no traffic was seen, and in records of older versions.
    """
    payload: tuple[Series, ...] = ()
    """Octets that arrived in each interval, one series per direction. Counted at the hosts' ports
    without headers, so retransmitted segments count again."""

    def rate_bps(self, direction: TcpDirection) -> float:
        """Return the rate of all clients in the time that counts, in bit/s, noise included.

        The rate is counted at the ports, because on a busy host the clients' tests may begin
        seconds apart. The sum of the clients' own rates would exceed what was ever carried at once.
        Records of older versions have no counts of ports; only for these that sum is returned.
        """
        counted, evidence = self._payload(direction), self.evidence
        if counted is None or evidence is None:
            return sum(d.bits_per_second for d in self.directions if d.direction is direction)
        within = [i for i in range(len(counted)) if evidence.counts(i)]
        seconds = sum(evidence.lengths_ns[i] for i in within) / 1e9
        return sum(counted[i] for i in within) * 8 / seconds if seconds else 0.0

    def _payload(self, direction: TcpDirection) -> tuple[float, ...] | None:
        return next((s.values for s in self.payload if s.name == direction), None)

    def taken_ratio(self, program: TcpProgram) -> float:
        """Return an upper bound on the share of its CPUs' time that others took, 0 to 1.

        Its threads also wait for each other and for the bench's other programs on shared CPUs. That
        is part of the measurement, so waiting counts only up to the time that foreign processes
        ran. Foreign processes may have run on further CPUs, and several threads may have waited at
        once. The ratio is therefore capped at 1.
        """
        taken_s = program.steal_s + min(program.waited_s, self.others_cpu_s)
        return min(1.0, taken_s / (self.elapsed_s * program.cpus))


@dataclass(frozen=True, slots=True)
class TcpFigure:
    """One direction over all runs: over all time and over clean time."""

    direction: TcpDirection
    median_bps: float
    """Median rate of whole runs, noise included, in bit/s."""
    lowest_bps: float
    """Lowest rate of a whole run, in bit/s."""
    highest_bps: float
    """Highest rate of a whole run, in bit/s."""
    retransmits: int
    limited_by: str
    """Most frequent verdict of the tests (runs x clients)."""
    because: tuple[str, ...]
    """Reasons of the first test with that verdict."""
    agreeing: int
    """Number of tests with that verdict."""
    tests: int
    """Number of tests (runs x clients)."""
    transfer_time_ratio: float | None
    tcp_efficiency_percent: float | None
    buffer_delay_percent: float | None
    undisturbed_bps: float | None = None
    """Mean rate over clean time, in bit/s; None if there is too little of it."""
    undisturbed_error_bps: float | None = None
    """Half of its 95% interval, in bit/s."""

    @property
    def limit(self) -> str:
        """Return the verdict in words, with its number of tests unless all agree."""
        verdict = self.limited_by.replace("_", " ").replace("cpu", "CPU")
        agreed = "" if self.agreeing == self.tests else f" ({self.agreeing} of {self.tests})"
        return verdict + agreed

    @property
    def verdict(self) -> Verdict:
        direction = str(self.direction)
        source = f"runs, {direction}"
        evidence = (
            EvidenceFigure("rate over all time", self.median_bps, "bits/s", source),
            EvidenceFigure("tests with this verdict", self.agreeing, "tests", source),
            EvidenceFigure("tests", self.tests, "tests", source),
            EvidenceFigure("retransmitted segments", self.retransmits, "segments", source),
        )
        because = "; ".join(self.because)
        sentence = f"{direction.capitalize()}: {self.limit}, as {because}."
        return Verdict(self.limited_by, sentence, evidence)


@dataclass(frozen=True, slots=True)
class TcpLeftOut:
    """A share of the observed time that does not count."""

    why: str
    """Reason and the program that lost the time, e.g. "steal from server"."""
    share: float


@dataclass(frozen=True, slots=True)
class TcpResult:
    """Result of a point with TCP traffic."""

    figures: tuple[TcpFigure, ...]
    runs: tuple[TcpRun, ...]
    server_cpu_s_per_gbit: float
    """CPU time for each Gbit moved, both directions together; likewise below."""
    clients_cpu_s_per_gbit: float
    vswitch_cpu_s_per_gbit: float | None
    discarded: tuple[str, ...] = ()
    """Reasons why further runs failed."""
    watched_s: float = 0.0
    """Time of all runs that was observed by intervals, in s."""
    clean_s: float = 0.0
    """Clean time, in s."""
    pieces: int = 0
    """Number of pieces of at most 0.3 s that clean_s consists of."""
    left_out: tuple[TcpLeftOut, ...] = ()
    """Excluded shares of the observed time."""
    beaten_share: float | None = None
    """Share of rotations of the clean intervals against the rates that the true ones are faster
    than. None if little was excluded, or too little was clean."""

    @property
    def clean_share(self) -> float:
        """Clean share of the observed time."""
        return self.clean_s / self.watched_s if self.watched_s else 0.0

    @property
    def undisturbed_bps(self) -> float | None:
        """Clean rate of both directions together, in bit/s; None if unknown."""
        known = [f.undisturbed_bps for f in self.figures if f.undisturbed_bps is not None]
        return sum(known) if known and len(known) == len(self.figures) else None

    @property
    def total_bps(self) -> float:
        """Rate over all time: medians over the runs, both directions together, in bit/s."""
        return sum(figure.median_bps for figure in self.figures)

    @property
    def total(self) -> Quantity:
        return Quantity("TCP", self.total_bps, "bit/s")

    @property
    def clean(self) -> Quantity | None:
        if (bps := self.undisturbed_bps) is None:
            return None
        errors = [each.undisturbed_error_bps for each in self.figures]
        known = [error for error in errors if error is not None]
        error = math.hypot(*known) / bps if bps and len(known) == len(errors) else None
        return Quantity("TCP, clean", bps, "bit/s", error)

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        return tuple(figure.verdict for figure in self.figures)

    @staticmethod
    def stored_total(figures: Sequence[Mapping[str, Any]]) -> Quantity:
        """Return the total of a stored result. figures: its field of this name."""
        return Quantity("TCP", sum(figure["median_bps"] for figure in figures), "bit/s")

    @property
    def cpu_s_per_gbit(self) -> float:
        """CPU time of all programs for each Gbit moved, in s."""
        parts = (self.server_cpu_s_per_gbit, self.clients_cpu_s_per_gbit,
                 self.vswitch_cpu_s_per_gbit or 0.0)  # fmt: skip
        return sum(parts)
