# SPDX-License-Identifier: Apache-2.0
"""Write an audit in SARIF 2.1.0, for code-scanning dashboards.

Each finding is a result. Its `kind` is the status of the rule: fail, pass, notApplicable, or open
for not checked. Its location is a logical one: the host and the port, guest or node. Source: OASIS
SARIF 2.1.0, sections 3.27.9 (kind), 3.27.10 (level), 3.35 (suppression).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from wirespeed.audit.rule import Rule
from wirespeed.audit.sources import papers_in
from wirespeed.model.host.finding import AuditReport, Finding, Severity, Status

_LEVEL = {
    Severity.CRITICAL: "error",
    Severity.HIGH: "error",
    Severity.MEDIUM: "warning",
    Severity.LOW: "note",
}
_KIND = {
    Status.FAILED: "fail",
    Status.SUPPRESSED: "fail",
    Status.PASSED: "pass",
    Status.NOT_APPLICABLE: "notApplicable",
    Status.NOT_CHECKED: "open",
}
# Code-scanning dashboards sort by this score, 0 to 10.
_SCORE = {
    Severity.CRITICAL: "9.0",
    Severity.HIGH: "7.0",
    Severity.MEDIUM: "5.0",
    Severity.LOW: "2.0",
}


def sarif(report: AuditReport, rules: Iterable[Rule], version: str) -> dict[str, Any]:
    """Return the SARIF log of one audit.

    version: the version of wirespeed.
    """
    rules = tuple(rules)
    index = {rule.id: number for number, rule in enumerate(rules)}
    driver = {"name": "wirespeed audit", "version": version, "rules": [_rule(r) for r in rules]}
    run: dict[str, Any] = {
        "tool": {"driver": driver},
        "results": [_result(f, report.host, index[f.rule]) for f in report.findings],
    }
    notes = [*report.faults, *report.notes]
    if notes:
        notifications = [{"level": "error", "message": {"text": note}} for note in notes]
        run["invocations"] = [
            {
                "executionSuccessful": not report.faults,
                "toolConfigurationNotifications": notifications,
            }
        ]
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    }


def _rule(rule: Rule) -> dict[str, Any]:
    papers = "".join(f" [{paper}]" for paper in papers_in(rule.source))
    return {
        "id": rule.id,
        "name": rule.name,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": f"{rule.why} Source: {rule.cited}.{papers}"},
        "help": {"text": f"Wanted: {rule.wanted}."},
        "defaultConfiguration": {"level": _LEVEL[rule.severity]},
        "properties": {"security-severity": _SCORE[rule.severity]},
    }


def _result(finding: Finding, host: str, rule_index: int) -> dict[str, Any]:
    failed = finding.status in (Status.FAILED, Status.SUPPRESSED)
    place = f"{host}/{finding.subject}" if finding.subject else host
    text = f"{finding.found}. Wanted: {finding.wanted}." if failed else finding.found
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": rule_index,
        "kind": _KIND[finding.status],
        "level": _LEVEL[finding.severity] if failed else "none",
        "message": {"text": text},
        "locations": [{"logicalLocations": [{"fullyQualifiedName": place, "kind": "resource"}]}],
        "partialFingerprints": {"wirespeed/v1": f"{finding.rule}:{place}"},
    }
    if failed and finding.fix:
        result["properties"] = {"fix": list(finding.fix)}
    if finding.status is Status.SUPPRESSED:
        result["suppressions"] = [{"kind": "external", "justification": finding.suppressed_because}]
    return result
