# SPDX-License-Identifier: Apache-2.0
"""Find huge pages, processes and settings that a killed run left on the host."""

from __future__ import annotations

from wirespeed.audit.needs import Need
from wirespeed.audit.rule import Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.host.finding import Severity


def check(subject: Subject) -> Outcome:
    left = subject.facts.left_by_killed_runs
    if not left:
        return Passed("no killed run of this user has left a change")
    return [
        Problem(
            found="a killed run has left: " + "; ".join(left),
            wanted="none of it",
            fix=("wirespeed clean",),
        )
    ]


RULE = Rule(
    id="WS51",
    name="left-by-killed-run",
    title="A killed run has left changes on the host",
    severity=Severity.MEDIUM,
    needs=(Need.RUNS,),
    wanted="no huge pages, processes, interfaces or settings of a run that was killed",
    why="They take memory and CPU from guests and other measurements, and an audit or a plan takes "
    "them for the host's own.",
    source="the journal of changes that every run keeps (`wirespeed clean`)",
    check=check,
)
