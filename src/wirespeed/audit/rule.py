# SPDX-License-Identifier: Apache-2.0
"""What is an audit rule, what may it look at, and what may it answer?

A rule is one module in `rules/` with a constant RULE. Its `check` is a pure function of a Subject.
It returns the problems it found (none: passed), or NotApplicable. Facts named in `needs` are there
when it is called; a fact that turns out to be unusable is told by raising FactUnusable, one
that turns out to be absent by NothingToCheck.
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
    """A fact is there but says nothing useful; the text tells what the rule needs."""


class NothingToCheck(Exception):
    """The host turns out to have no such thing; the text says what is not there."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What is audited: a host, optionally against its part of a plan.

    memory_model: which source's formula dpdk-socket-mem is held against, unless the plan says; the
    default is the planner's. tcp: whether guests carry TCP through
    the vSwitch. pattern: where their traffic goes. None when nobody said.
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
        """The plan's memory model if there is a plan for this host, else the one asked for."""
        planned = self.host_plan.vswitch if self.host_plan else None
        return (planned.memory_model if planned else None) or self.memory_model


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is not as wanted. `wanted` and `fix` carry this host's own values.

    subject: the port, guest or node concerned, "" for the host.
    """

    found: str
    wanted: str
    fix: tuple[str, ...] = ()
    subject: str = ""


@dataclass(frozen=True, slots=True)
class Passed:
    """Nothing to object to; `found` says what was looked at."""

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
