# SPDX-License-Identifier: Apache-2.0
"""What is an audit rule, what does it get, and what may it return?

A rule is one module in `rules/` with a constant RULE. Its `check` is a pure function of a Subject.
It returns the problems it found (none: passed), or NotApplicable. The facts in `needs` exist when
it is called. It raises FactUnusable for a fact that turns out to be unusable, and NothingToCheck
for one that turns out to be absent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from wirespeed.audit.needs import Need
from wirespeed.model.facts import HostFacts
from wirespeed.model.finding import Severity
from wirespeed.model.host_rules import MemoryModel
from wirespeed.model.plan import HostPlan, Plan
from wirespeed.model.policy import Pattern


class FactUnusable(Exception):
    """A fact exists but cannot be used; the text says what the rule needs."""


class NothingToCheck(Exception):
    """The host has nothing that the rule could check; the text says what is absent."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What is audited: a host, optionally against its part of a plan.

    memory_model: the formula that dpdk-socket-mem is compared with, where the plan has none; the
    default is the planner's. tcp: whether guests carry TCP through the vSwitch. pattern: where
    their traffic goes. Both are None where they are not given.
    """

    facts: HostFacts
    plan: Plan | None = None
    memory_model: MemoryModel = MemoryModel.TRIPLEO
    tcp: bool | None = None
    pattern: Pattern | None = None

    @property
    def host_plan(self) -> HostPlan | None:
        hosts = self.plan.hosts if self.plan else ()
        return next((host for host in hosts if host.host == self.facts.host), None)

    @property
    def model_in_force(self) -> MemoryModel:
        """The plan's memory model if there is a plan for this host, else `memory_model`."""
        planned = self.host_plan.vswitch if self.host_plan else None
        return (planned.memory_model if planned else None) or self.memory_model


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is not as wanted. `wanted` and `fix` contain this host's values.

    subject: the port, guest or node concerned, "" for the host.
    """

    found: str
    wanted: str
    fix: tuple[str, ...] = ()
    subject: str = ""


@dataclass(frozen=True, slots=True)
class Passed:
    """There is no problem; `found` says what was checked."""

    found: str


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """The rule has no subject on this host, e.g. no VF exists."""

    why: str


Outcome = list[Problem] | Passed | NotApplicable


@dataclass(frozen=True, slots=True)
class Rule:
    """`why` is the harm in one or two sentences; `source` the paper section or standard."""

    id: str
    name: str
    title: str
    severity: Severity
    needs: tuple[Need, ...]
    wanted: str
    why: str
    source: str
    check: Callable[[Subject], Outcome]
