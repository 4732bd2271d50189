# SPDX-License-Identifier: Apache-2.0
"""Test the audit of the papers' servers and of a recorded one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.hosts.emulated import EMULATED
from tests.hosts.papers import FLAVORS, MACHINES
from tests.support import golden
from wirespeed.audit.engine import audit
from wirespeed.audit.registry import all_rules
from wirespeed.audit.rule import Subject
from wirespeed.host.collect import collect
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.host.finding import AuditReport, Status
from wirespeed.model.host.guest_facts import Flavor
from wirespeed.model.plan.host_rules import MemoryModel
from wirespeed.model.plan.policy import Pattern
from wirespeed.remote.recorded import RecordedRunner

HOSTS = Path(__file__).parents[2] / "hosts"


def facts_of(machine: str) -> HostFacts:
    facts = collect(RecordedRunner.open(str(HOSTS / machine)))
    flavors = tuple(Flavor(n, 8, 4096, specs) for n, specs in FLAVORS.get(machine, {}).items())
    return replace(facts, flavors=flavors) if flavors else facts


def report_of(machine: str) -> AuditReport:
    return audit(Subject(facts_of(machine)), all_rules())


@pytest.mark.parametrize("machine", [*MACHINES, EMULATED])
def test_audit_of_a_recorded_server(machine: str) -> None:
    lines = [
        f"{f.rule} {f.status}: {f.subject + ': ' if f.subject else ''}{f.found}"
        for f in report_of(machine).findings
    ]
    golden.check(f"audit/{machine}.txt", "\n".join(lines) + "\n")


def test_s3_is_short_of_memory_by_its_own_formula_and_not_by_others() -> None:
    facts = facts_of("s3-r740xd")
    rule = next(r for r in all_rules() if r.id == "WS19")
    by_s3 = audit(Subject(facts, memory_model=MemoryModel.S3_PER_PORT), [rule]).findings
    assert "8977 MiB on node 0 for 4 ports with MTU 9000" in by_s3[0].found
    assert by_s3[0].wanted.startswith("11264 MiB")
    by_tripleo = audit(Subject(facts, memory_model=MemoryModel.TRIPLEO), [rule]).findings
    assert by_tripleo[0].status is Status.PASSED


def test_s2_chains_over_x8_but_may_leave_the_host_over_it() -> None:
    facts = facts_of("s2-r730")
    rule = next(r for r in all_rules() if r.id == "WS44")
    (chained,) = audit(Subject(facts, pattern=Pattern.EAST_WEST), [rule]).findings
    assert (chained.status, chained.subject) == (Status.FAILED, "0000:04:00.0")
    (leaving,) = audit(Subject(facts, pattern=Pattern.NORTH_SOUTH), [rule]).findings
    assert leaving.status is Status.PASSED
