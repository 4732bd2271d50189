# SPDX-License-Identifier: Apache-2.0
"""Is the host what its plan says? Every Decision of the plan beside the facts, then what follows
from them (VF attributes, interrupts, governors, the unit for the next boot), then the audit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from wirespeed.apply.audit_scope import REFUSALS, STAYS
from wirespeed.apply.compare import Comparison
from wirespeed.apply.row import Row, Verdict
from wirespeed.apply.step import Result, State
from wirespeed.audit.engine import audit
from wirespeed.audit.registry import all_rules
from wirespeed.audit.rule import Subject
from wirespeed.model.facts import HostFacts
from wirespeed.model.plan import HostPlan, Plan
from wirespeed.plan.decisions import decisions, dotted

_VERDICTS = {
    State.SO: Verdict.OK,
    State.PARTLY: Verdict.ABSENT,
    State.ABSENT: Verdict.ABSENT,
    State.REBOOT: Verdict.REBOOT,
}


def verify_host(
    plan: Plan,
    host: HostPlan,
    facts: HostFacts,
    steps: Sequence[Result],
    *,
    reboot_due: Sequence[str],
) -> tuple[Row, ...]:
    """A row for each decision, each setting and each finding. steps: what apply would do now."""
    comparison = Comparison(host, facts, frozenset(reboot_due), steps)
    rows = [comparison.row(dotted(where), found) for where, found in decisions(host)]
    rows += [_setting(result) for result in steps]
    refused = {rule: r.note for r in steps for rule, name in REFUSALS.items()
               if r.name == name and r.state is State.PARTLY}  # fmt: skip
    return (*rows, *_findings(plan, facts, STAYS | refused, rebooting=bool(reboot_due)))


def _setting(result: Result) -> Row:
    verdict = _VERDICTS.get(result.state, Verdict.DIFFERS)
    where = f"{result.decision}: {result.name}" if result.decision else result.name
    return Row(where, result.new, result.old, verdict, result.because, result.note)


def _findings(
    plan: Plan, facts: HostFacts, may_stay: Mapping[str, str], *, rebooting: bool
) -> Iterator[Row]:
    """The audit's failed findings: those that a plan answers differ, the others are not its own.

    may_stay: rule -> why.
    """
    for finding in audit(Subject(facts, plan), all_rules()).failed:
        stays = may_stay.get(finding.rule)
        verdict = Verdict.ABSENT if stays else Verdict.REBOOT if rebooting else Verdict.DIFFERS
        where = f"audit {finding.rule} {finding.name} {finding.subject}".strip()
        note = f"not a plan's to decide: {stays}" if stays else ""
        yield Row(where, finding.wanted, finding.found, verdict, finding.why, note)
