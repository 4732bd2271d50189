# SPDX-License-Identifier: Apache-2.0
"""Describe what runs of counted TCP connections showed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wirespeed.model.result.explanation import EvidenceFigure
from wirespeed.model.result.outcome import Quantity, Verdict
from wirespeed.model.result.series import Series
from wirespeed.model.result.tcp import TcpLeftOut, TcpProgram
from wirespeed.model.result.tcp_evidence import TcpEvidence
from wirespeed.model.study.sessions import SessionsMode

# Name of the series of accepted connections.
ACCEPTED = "accepted"
UNITS = {
    SessionsMode.RATE: "connections/s",
    SessionsMode.CONCURRENT: "concurrent connections",
}


@dataclass(frozen=True, slots=True)
class Failures:
    """Connections that failed for one reason."""

    cause: str
    count: int


@dataclass(frozen=True, slots=True)
class ConnectTimes:
    """Time of the TCP handshake in µs; of several clients, that of the slowest."""

    p50_us: float
    p90_us: float
    p99_us: float
    p999_us: float
    max_us: float


@dataclass(frozen=True, slots=True)
class SessionsRun:
    """One run of all clients."""

    connections: float
    """Connections per second that were answered, or connections open at once."""
    answered: int
    """Connections that were answered in the time that counts."""
    failures: tuple[Failures, ...]
    connect: ConnectTimes | None
    """None without an answered connection."""
    elapsed_s: float
    server_cpu_share: float
    """CPU time of the server, as a share of its CPUs."""
    clients_cpu_share: float
    """CPU time of the clients, as a share of their CPUs."""
    opening_s: float | None = None
    """Concurrent only, like the next two: time until all were open, in s."""
    answered_again: int | None = None
    """Connections that were answered after they had been held."""
    server_bytes_each: float | None = None
    """Growth of the server's resident memory for each connection, in bytes."""
    programs: tuple[TcpProgram, ...] = ()
    """See TcpRun, also for the fields below."""
    others: tuple[str, ...] = ()
    evidence: TcpEvidence | None = None
    payload: tuple[Series, ...] = ()
    """Connections that the server's host accepted in each interval."""

    @property
    def failed(self) -> int:
        return sum(each.count for each in self.failures)


@dataclass(frozen=True, slots=True)
class SessionsFigure:
    """Connections per second, or connections open at once, over all runs."""

    unit: str
    median: float
    lowest: float
    highest: float
    limited_by: str
    because: str
    """Sentence."""
    undisturbed: float | None = None
    """Mean rate over clean time; None if there is too little of it, and for concurrent connections.
    """
    undisturbed_error: float | None = None
    """Half of its 95% interval."""

    @property
    def total(self) -> Quantity:
        return Quantity("sessions", self.median, self.unit)


@dataclass(frozen=True, slots=True)
class SessionsResult:
    """Result of a point with counted TCP connections."""

    figures: tuple[SessionsFigure, ...]
    """One."""
    runs: tuple[SessionsRun, ...]
    discarded: tuple[str, ...] = ()
    """Reasons why further runs failed."""
    watched_s: float = 0.0
    """See TcpResult, also for the fields below. Zero for concurrent connections."""
    clean_s: float = 0.0
    pieces: int = 0
    left_out: tuple[TcpLeftOut, ...] = ()

    @property
    def figure(self) -> SessionsFigure:
        return self.figures[0]

    @property
    def clean_share(self) -> float:
        """Clean share of the observed time."""
        return self.clean_s / self.watched_s if self.watched_s else 0.0

    @property
    def failures(self) -> Mapping[str, int]:
        """Failed connections of all runs, by cause; the most frequent first."""
        found: dict[str, int] = {}
        for each in (each for run in self.runs for each in run.failures):
            found[each.cause] = found.get(each.cause, 0) + each.count
        return dict(sorted(found.items(), key=lambda item: -item[1]))

    @property
    def total(self) -> Quantity:
        return self.figure.total

    @property
    def clean(self) -> Quantity | None:
        """Return the clean rate; concurrent connections with half of the spread of the runs."""
        figure = self.figure
        value, error = figure.undisturbed, figure.undisturbed_error
        if figure.unit == UNITS[SessionsMode.CONCURRENT]:
            value, error = figure.median, (figure.highest - figure.lowest) / 2
        if value is None:
            return None
        relative = error / value if error is not None and value else None
        return Quantity("sessions, clean", value, figure.unit, relative)

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        figure, runs = self.figure, self.runs
        server = max(run.server_cpu_share for run in runs)
        clients = max(run.clients_cpu_share for run in runs)
        evidence = (
            EvidenceFigure("median of the runs", figure.median, figure.unit, "runs"),
            EvidenceFigure("failed", sum(run.failed for run in runs), "connections", "runs"),
            EvidenceFigure("CPU use of the server", server * 100, "%", "runs"),
            EvidenceFigure("CPU use of the clients", clients * 100, "%", "runs"),
        )
        return (Verdict(figure.limited_by, figure.because, evidence),)

    @staticmethod
    def stored_total(figures: Sequence[Mapping[str, Any]]) -> Quantity:
        """Return the total of a stored result. figures: its field of this name."""
        return Quantity("sessions", figures[0]["median"], figures[0]["unit"])
