# SPDX-License-Identifier: Apache-2.0
"""Compare a host with its plan.

Compared are first each Decision with the facts, then the settings that follow from them, then the
audit. Such settings are VF attributes, interrupts, governors, and the unit for the next boot.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from wirespeed.apply.audit_scope import REFUSALS, STAYS, UNSHOWN
from wirespeed.apply.compare import Comparison
from wirespeed.apply.row import Row, Verdict
from wirespeed.apply.step import Result, State
from wirespeed.audit.engine import audit
from wirespeed.audit.registry import all_rules
from wirespeed.audit.rule import Subject
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.host.finding import AuditReport, Finding, Status
from wirespeed.model.plan.plan import HostPlan, Plan
from wirespeed.plan.decisions import decisions, dotted

_VERDICTS = {
    State.SO: Verdict.OK,
    State.PARTLY: Verdict.ABSENT,
    State.ABSENT: Verdict.ABSENT,
    State.REBOOT: Verdict.REBOOT,
}
_NOT_DECIDED = "not a plan's to decide"


def verify_host(
    plan: Plan,
    host: HostPlan,
    facts: HostFacts,
    steps: Sequence[Result],
    *,
    reboot_due: Sequence[str],
) -> tuple[Row, ...]:
    """Return a row for each decision, each setting and each finding.

    steps: the preview of apply on this host.
    """
    comparison = Comparison(host, facts, frozenset(reboot_due), steps)
    rows = [comparison.row(dotted(where), found) for where, found in decisions(host)]
    rows += [_setting(result) for result in steps]
    refused = {rule: r.note for r in steps for rule, name in REFUSALS.items()
               if r.name == name and r.state is State.PARTLY}  # fmt: skip
    report = audit(Subject(facts, plan), all_rules())
    rows += _failed(report, STAYS | refused, rebooting=bool(reboot_due))
    return (*rows, *_unchecked(report))


def _setting(result: Result) -> Row:
    verdict = _VERDICTS.get(result.state, Verdict.DIFFERS)
    where = f"{result.decision}: {result.name}" if result.decision else result.name
    return Row(where, result.new, result.old, verdict, result.because, result.note)


def _failed(report: AuditReport, may_stay: Mapping[str, str], *, rebooting: bool) -> Iterator[Row]:
    """Yield the audit's failed findings: those that a plan settles differ, others are not its own.

    may_stay: rule to the reason.
    """
    for finding in report.failed:
        stays = may_stay.get(finding.rule)
        verdict = Verdict.ABSENT if stays else Verdict.REBOOT if rebooting else Verdict.DIFFERS
        note = f"{_NOT_DECIDED}: {stays}" if stays else ""
        yield _finding(finding, verdict, finding.found, note)


def _unchecked(report: AuditReport) -> Iterator[Row]:
    """Yield rules that could not be checked; those that no plan settles may stay unchecked."""
    may_stay = {rule: f"{_NOT_DECIDED}: {why}" for rule, why in STAYS.items()} | UNSHOWN
    for finding in report.with_status(Status.NOT_CHECKED):
        stays = may_stay.get(finding.rule)
        verdict = Verdict.ABSENT if stays else Verdict.UNCHECKED
        note = f"{stays}; {finding.status}: {finding.found}" if stays else finding.found
        yield _finding(finding, verdict, "", note)


def _finding(finding: Finding, verdict: Verdict, found: str, note: str) -> Row:
    where = f"audit {finding.rule} {finding.name} {finding.subject}".strip()
    return Row(where, finding.wanted, found, verdict, finding.why, note)
