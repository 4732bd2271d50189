# SPDX-License-Identifier: Apache-2.0
"""Write an audit as one HTML page without scripts or external assets."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined

from wirespeed.audit.sources import papers_in
from wirespeed.model.host.finding import AuditReport, Severity, Status

# Findings that need a decision come first, then those not checked, then those that passed.
_ORDER = (
    Status.FAILED,
    Status.NOT_CHECKED,
    Status.SUPPRESSED,
    Status.PASSED,
    Status.NOT_APPLICABLE,
)


def html(report: AuditReport, version: str) -> str:
    """Return the page with every text from the host escaped.

    version: the version of wirespeed.
    """
    environment = Environment(
        loader=PackageLoader("wirespeed.audit"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    by_severity = sorted(report.findings, key=lambda f: (-f.severity.rank, f.rule))
    sections = [(s, [f for f in by_severity if f.status is s]) for s in _ORDER]
    papers = sorted({paper for f in report.findings for paper in papers_in(f.source)})
    failed = report.with_status(Status.FAILED)
    return environment.get_template("audit.html.j2").render(
        report=report,
        version=version,
        sections=[(status, findings) for status, findings in sections if findings],
        severities=[(s, sum(f.severity is s for f in failed)) for s in reversed(Severity)],
        papers=papers,
    )
