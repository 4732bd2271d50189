# SPDX-License-Identifier: Apache-2.0
"""Test each rule on a good host, on a broken one, and on one that lacks its facts."""

from __future__ import annotations

import pytest

from tests.unit.audit.faults import FAULTS, UNDECIDABLE, Case
from tests.unit.audit.good_host import good_subject, unreadable, with_facts
from wirespeed.audit.engine import run_rule
from wirespeed.audit.needs import Need
from wirespeed.audit.registry import all_rules, rule_named
from wirespeed.audit.rule import Rule
from wirespeed.model.host.facts import Cpu, HostFacts, Kernel, NumaNode
from wirespeed.model.host.finding import Status

RULES = {rule.id: rule for rule in all_rules()}


def test_rules_are_71_and_each_has_a_fault() -> None:
    assert list(RULES) == [f"WS{number:02}" for number in range(1, 72)]
    assert {case.rule for case in FAULTS} == set(RULES)


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_passes_on_a_good_host(rule: Rule) -> None:
    (finding,) = run_rule(rule, good_subject())
    assert (finding.status, finding.fix) == (Status.PASSED, ()), finding.found


@pytest.mark.parametrize("case", FAULTS, ids=str)
def test_fires_on_its_fault(case: Case) -> None:
    findings = run_rule(RULES[case.rule], case.subject)
    assert [f.status for f in findings] == [Status.FAILED] * len(case.found), findings
    for finding, found in zip(findings, case.found, strict=True):
        assert found in f"{finding.subject}: {finding.found}"
        assert finding.wanted
    assert case.fix in "\n".join(line for finding in findings for line in finding.fix)


@pytest.mark.parametrize(
    ("rule", "need"),
    # A kubelet's configuration is given as a file or not at all.
    [(r, need) for r in RULES.values() for need in r.needs if need is not Need.KUBELET],
    ids=lambda value: value.id if isinstance(value, Rule) else value.name,
)
def test_rule_without_its_facts_is_not_checked(rule: Rule, need: Need) -> None:
    (finding,) = run_rule(rule, unreadable(need))
    assert finding.status is Status.NOT_CHECKED
    assert finding.found.startswith("needs")


@pytest.mark.parametrize("case", UNDECIDABLE, ids=str)
def test_rule_with_undecided_facts_is_not_checked(case: Case) -> None:
    (finding,) = run_rule(RULES[case.rule], case.subject)
    assert finding.status is Status.NOT_CHECKED
    assert case.found[0] in finding.found


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_says_nothing_good_of_an_empty_host(rule: Rule) -> None:
    # Rules about vSwitch and guests do not apply to a bare machine; none of them passes.
    bare = HostFacts("bare", Kernel("6.1", "ro"), (Cpu(0, siblings=(0,)),), (_node(),))
    subject = with_facts()
    (finding,) = run_rule(rule, type(subject)(bare))
    about_the_machine = {
        "WS25": Status.FAILED,
        "WS27": Status.PASSED,
        "WS33": Status.NOT_APPLICABLE,
    }
    assert finding.status is about_the_machine.get(rule.id, Status.NOT_APPLICABLE), finding.found


def _node() -> NumaNode:
    return NumaNode(0, (0,), memory_kib=8 << 20, free_kib=4 << 20)


def test_rules_are_found_by_id_number_and_name() -> None:
    assert rule_named("ws07") is rule_named("7") is rule_named("rcu-nocbs-differs")


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_says_why_with_a_source(rule: Rule) -> None:
    assert rule.why.endswith(".")
    assert rule.source
    assert rule.wanted
    assert rule.needs
