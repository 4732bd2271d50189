# SPDX-License-Identifier: Apache-2.0
"""Run the audit rules on one host and collect their findings."""

from __future__ import annotations

from collections.abc import Iterable

from wirespeed.audit.cores import configuration_faults
from wirespeed.audit.needs import Absent, Need, Unknown, lacking
from wirespeed.audit.rule import (
    FactUnusable,
    NotApplicable,
    NothingToCheck,
    Passed,
    Problem,
    Rule,
    Subject,
)
from wirespeed.model.host.finding import AuditReport, Finding, Status


def audit(subject: Subject, rules: Iterable[Rule]) -> AuditReport:
    """Return the findings of all rules, in rule order.

    Pure: the same subject gives the same report.
    """
    findings = tuple(finding for rule in rules for finding in run_rule(rule, subject))
    return AuditReport(subject.facts.host, findings, configuration_faults(subject.facts))


def run_rule(rule: Rule, subject: Subject) -> tuple[Finding, ...]:
    """Return one finding per problem, or one finding that the rule passed or was not checked."""
    outcome = _outcome(rule, subject)
    match outcome:
        case Passed():
            return (_finding(rule, Status.PASSED, outcome.found),)
        case Absent():
            return (_finding(rule, Status.NOT_APPLICABLE, outcome.reason),)
        case Unknown():
            return (_finding(rule, Status.NOT_CHECKED, outcome.reason),)
    return tuple(_failed(rule, problem) for problem in outcome)


def _outcome(rule: Rule, subject: Subject) -> list[Problem] | Passed | Absent | Unknown:
    """Return the rule's outcome, or the reason why it could not run."""
    lacks = [_lack(need, subject) for need in rule.needs]
    # An absent thing settles the answer, so it wins over a fact that is unknown.
    absent = next((lack for lack in lacks if isinstance(lack, Absent)), None)
    lack = absent or next((lack for lack in lacks if lack is not None), None)
    if lack is not None:
        return lack
    try:
        outcome = rule.check(subject)
    except FactUnusable as unusable:
        return Unknown(str(unusable))
    except NothingToCheck as nothing:
        return Absent(str(nothing))
    return Absent(outcome.why) if isinstance(outcome, NotApplicable) else outcome


def _lack(need: Need, subject: Subject) -> Unknown | Absent | None:
    if need is Need.KUBELET:
        return _no_kubelet(subject)
    if need is not Need.PLAN:
        return lacking(need, subject.facts)
    if subject.plan is None:
        return Unknown("needs a plan (--plan PLAN.json)")
    return None if subject.host_plan else Unknown(f"needs a plan that names {subject.facts.host}")


def _no_kubelet(subject: Subject) -> Unknown | Absent | None:
    if subject.kubelet is not None:
        return None
    why = subject.facts.why_missing("kubelet")
    if why is not None:
        return Unknown(f"needs {Need.KUBELET.value}: {why}")
    return Absent("no kubelet's configuration is given (--kubelet)")


def _failed(rule: Rule, problem: Problem) -> Finding:
    return Finding(
        rule=rule.id,
        name=rule.name,
        title=rule.title,
        severity=rule.severity,
        status=Status.FAILED,
        found=problem.found,
        wanted=problem.wanted,
        why=rule.why,
        source=rule.cited,
        subject=problem.subject,
        fix=problem.fix,
    )


def _finding(rule: Rule, status: Status, found: str) -> Finding:
    return Finding(
        rule=rule.id,
        name=rule.name,
        title=rule.title,
        severity=rule.severity,
        status=status,
        found=found,
        wanted=rule.wanted,
        why=rule.why,
        source=rule.cited,
    )
