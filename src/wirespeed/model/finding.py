# SPDX-License-Identifier: Apache-2.0
"""What did one audit rule say about one host?

A rule gives one Finding for each thing it objects to, or a single one that says that it passed,
that it does not apply, or that it could not look. "Not checked" is never counted as passed.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """critical: it breaks or halves the data plane. low: tidiness."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        return list(Severity).index(self)


class Status(StrEnum):
    FAILED = "failed"
    PASSED = "passed"
    NOT_CHECKED = "not checked"
    NOT_APPLICABLE = "not applicable"
    SUPPRESSED = "suppressed"


@dataclass(frozen=True, slots=True)
class Finding:
    """One rule's word on one subject (a port, a guest, a node; "" for the host).

    found: what is there, or why nothing could be said. fix: commands, comments start with "#".
    suppressed_because: the reason given in the suppression file.
    """

    rule: str
    name: str
    title: str
    severity: Severity
    status: Status
    found: str
    wanted: str
    why: str
    source: str
    subject: str = ""
    fix: tuple[str, ...] = ()
    suppressed_because: str | None = None


@dataclass(frozen=True, slots=True)
class AuditReport:
    """All findings of one host, in rule order.

    faults: configuration values that make no sense (a mask wider than the host). notes: about the
    suppression file (expired, unused).
    """

    host: str
    findings: tuple[Finding, ...]
    faults: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def with_status(self, status: Status) -> tuple[Finding, ...]:
        return tuple(f for f in self.findings if f.status is status)

    @property
    def worst(self) -> Severity | None:
        """The highest severity that failed and is not suppressed."""
        failed = [f.severity for f in self.with_status(Status.FAILED)]
        return max(failed, key=lambda severity: severity.rank, default=None)
