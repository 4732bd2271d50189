# SPDX-License-Identifier: Apache-2.0
"""Reduce the audit of a host to one verdict per rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from wirespeed.model.host.finding import AuditReport, Severity, Status


@dataclass(frozen=True, slots=True)
class Verdict:
    """The worst of a rule's findings on a host."""

    status: Status
    severity: Severity
    title: str
    state: str
    """Text of the finding."""


Verdicts = Mapping[str, Verdict]
# A rule's verdict is the first of these among its findings.
_ORDER = (
    Status.FAILED, Status.SUPPRESSED, Status.NOT_CHECKED, Status.PASSED, Status.NOT_APPLICABLE,
)  # fmt: skip


def verdicts(audit: AuditReport | None) -> Verdicts:
    """Return the verdict by rule; empty without an audit."""
    found: dict[str, Verdict] = {}
    for finding in audit.findings if audit else ():
        known = found.get(finding.rule)
        if known is None or _ORDER.index(finding.status) < _ORDER.index(known.status):
            state = f"{finding.subject}: {finding.found}" if finding.subject else finding.found
            found[finding.rule] = Verdict(finding.status, finding.severity, finding.title, state)
        elif finding.status is known.status is Status.FAILED:
            state = f"{known.state}; {finding.subject}: {finding.found}"
            found[finding.rule] = Verdict(known.status, known.severity, known.title, state)
    return found
