# SPDX-License-Identifier: Apache-2.0
"""Read which failed findings are accepted, and mark them in the report.

    [[suppress]]
    rule = "WS11"                # id or name
    reason = "siblings paired on purpose, see NFV-123"
    host = "compute-*"           # optional shell pattern
    subject = "dpdk0"            # optional shell pattern: port, guest or node
    until = 2027-01-01           # optional: from that day on the finding counts again

An entry that is expired or matches nothing is reported, so that the file stays current.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from fnmatch import fnmatchcase
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic_core import ErrorDetails

from wirespeed.audit.registry import rule_named
from wirespeed.document.toml_kind import TomlKind
from wirespeed.document.validation import fault_of
from wirespeed.model.errors import BadInput, faulty_file
from wirespeed.model.host.finding import AuditReport, Finding, Status
from wirespeed.model.input.fault import Fault
from wirespeed.model.input.text import LINE, Glob, Line, Word

_NEXT = "See docs/tutorial/audit-your-server.md for the keys of a suppression file."


@dataclass(frozen=True, slots=True)
class Suppression:
    rule: str
    reason: str
    host: str = "*"
    subject: str = "*"
    until: date | None = None

    def matches(self, finding: Finding, host: str) -> bool:
        return (
            finding.rule == self.rule
            and fnmatchcase(host, self.host)
            and fnmatchcase(finding.subject, self.subject)
        )


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")

    rule: Word
    reason: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1), LINE]
    host: Glob = "*"
    subject: Line = "*"
    until: date | None = None


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    suppress: list[_Entry] = Field(default_factory=list)


def parse(text: str, where: str) -> tuple[Suppression, ...]:
    """Read the text of a suppression file.

    Raises BadInput that names every error of the file.
    """
    what = f"suppression file {where}"
    entries = _KIND.parse(_KIND.tables(text, what), what).suppress
    found, faults = [], []
    for number, entry in enumerate(entries, start=1):
        try:
            rule = rule_named(entry.rule).id
        except BadInput as unknown:
            faults.append(f"entry {number}: {unknown.what}")
            continue
        found.append(Suppression(rule, entry.reason, entry.host, entry.subject, entry.until))
    if faults:
        raise faulty_file(what, faults, _NEXT)
    return tuple(found)


def suppress(report: AuditReport, suppressions: Sequence[Suppression], today: date) -> AuditReport:
    """Return the report with accepted findings marked, and a note per expired or unused entry."""
    used: set[int] = set()
    findings = []
    for finding in report.findings:
        accepted = None
        for number, entry in enumerate(suppressions):
            if finding.status is Status.FAILED and entry.matches(finding, report.host):
                used.add(number)
                if accepted is None and not _expired(entry, today):
                    accepted = entry
        findings.append(
            replace(finding, status=Status.SUPPRESSED, suppressed_because=accepted.reason)
            if accepted
            else finding
        )
    notes = [
        note
        for number, entry in enumerate(suppressions)
        if (note := _note(entry, number in used, today))
    ]
    return replace(report, findings=tuple(findings), notes=(*report.notes, *notes))


def _expired(entry: Suppression, today: date) -> bool:
    return entry.until is not None and today >= entry.until


def _note(entry: Suppression, used: bool, today: date) -> str | None:
    which = f"suppression of {entry.rule} ({entry.reason})"
    if _expired(entry, today):
        return f"{which} expired on {entry.until}; remove it or give it a new date"
    return None if used else f"{which} matches no finding on this host"


def _fault(detail: ErrorDetails) -> Fault:
    """Return the error of a key; entries count from 1."""
    match detail["loc"]:
        case (_, int(number), _, *_):
            inner = fault_of(detail, outer=2)
            return replace(inner, key=f"entry {number + 1}: {inner.key}")
    return fault_of(detail)


_KIND = TomlKind(_File.model_validate, _NEXT, _fault)
