# SPDX-License-Identifier: Apache-2.0
"""Define the result of one audit rule on one host.

A rule gives one Finding for each subject that fails. It gives a single Finding if it passed, does
not apply or could not be checked. "Not checked" never counts as passed.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from wirespeed.model.input.text import HostName, Line, Word


class Severity(StrEnum):
    """Severity: critical breaks the data plane or halves its rate; low concerns tidiness."""

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
    """Result of one rule for one subject: a port, a guest or a node; "" for the host.

    `found` is the current state, or why it could not be checked. `fix` lists commands; comments
    start with "#". `suppressed_because` is the reason given in the suppression file.
    """

    rule: Word
    name: Word
    title: Line
    severity: Severity
    status: Status
    found: Line
    wanted: Line
    why: Line
    source: Line
    subject: Line = ""
    fix: tuple[Line, ...] = ()
    suppressed_because: Line | None = None


@dataclass(frozen=True, slots=True)
class AuditReport:
    """All findings of one host, in rule order.

    `faults` lists invalid configuration values, e.g. a CPU mask wider than the host. `notes`
    concern the suppression file, e.g. expired or unused entries.
    """

    host: HostName
    findings: tuple[Finding, ...]
    faults: tuple[Line, ...] = ()
    notes: tuple[Line, ...] = ()

    def with_status(self, status: Status) -> tuple[Finding, ...]:
        return tuple(f for f in self.findings if f.status is status)

    @property
    def failed(self) -> tuple[Finding, ...]:
        """Failed findings that are not suppressed, the most severe first."""
        failed = self.with_status(Status.FAILED)
        return tuple(sorted(failed, key=lambda finding: (-finding.severity.rank, finding.rule)))

    @property
    def worst(self) -> Severity | None:
        """Highest severity of the failed findings that are not suppressed; None if none failed."""
        return self.failed[0].severity if self.failed else None

    @property
    def counts(self) -> str:
        """Number of findings of each status, in words."""
        return ", ".join(f"{len(self.with_status(status))} {status}" for status in Status)
