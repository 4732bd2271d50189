# SPDX-License-Identifier: Apache-2.0
"""Define an audit rule, its input and its outcomes.

A rule is one module in `rules/` with a constant RULE. Its `check` is a pure function of a Subject.
It returns the problems that it found (an empty list: passed), Passed, or NotApplicable. The facts
in `needs` exist when it is called. It raises FactUnusable for a fact that cannot be used. It raises
NothingToCheck for a thing that turns out to be absent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from wirespeed.audit.evidence import evidence
from wirespeed.audit.needs import Need
from wirespeed.model.distribution import Distribution
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.host.finding import Severity
from wirespeed.model.host.operating_system import distribution_of
from wirespeed.model.plan.host_rules import MemoryModel
from wirespeed.model.plan.kubelet import KubeletSettings
from wirespeed.model.plan.plan import HostPlan, Plan
from wirespeed.model.plan.policy import Pattern


class FactUnusable(Exception):
    """Raised for a fact that exists but cannot be used; the text says what the rule needs."""


class NothingToCheck(Exception):
    """Raised when the host has nothing that the rule could check; the text says what is absent."""


@dataclass(frozen=True, slots=True)
class Subject:
    """Host that is audited, optionally against its part of a plan."""

    facts: HostFacts
    plan: Plan | None = None
    memory_model: MemoryModel = MemoryModel.TRIPLEO
    """Formula for dpdk-socket-mem where the plan names none. Default: the planner's."""
    tcp: bool | None = None
    """True if guests carry TCP through the vSwitch; None when not given."""
    pattern: Pattern | None = None
    """Direction of the guests' traffic; None when not given."""
    kubelet: KubeletSettings | None = None
    """Configuration of the host's kubelet; None when not given."""

    @property
    def host_plan(self) -> HostPlan | None:
        hosts = self.plan.hosts if self.plan else ()
        return next((host for host in hosts if host.host == self.facts.host), None)

    @property
    def distribution(self) -> Distribution:
        """Names and commands of the host's distribution."""
        return distribution_of(self.facts.operating_system)

    @property
    def model_in_force(self) -> MemoryModel:
        """Memory model of the plan for this host, else `memory_model`."""
        planned = self.host_plan.vswitch if self.host_plan else None
        return (planned.memory_model if planned else None) or self.memory_model


@dataclass(frozen=True, slots=True)
class Problem:
    """One setting that is not as wanted. `wanted` and `fix` contain this host's values."""

    found: str
    """Value on the host now."""
    wanted: str
    fix: tuple[str, ...] = ()
    """Commands that correct it."""
    subject: str = ""
    """Port, guest or node concerned; "" for the host."""


@dataclass(frozen=True, slots=True)
class Passed:
    """Outcome of a rule that found no problem."""

    found: str
    """Values that were checked."""


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """Outcome of a rule that has no subject on this host, e.g. no VF exists."""

    why: str


Outcome = list[Problem] | Passed | NotApplicable


@dataclass(frozen=True, slots=True)
class Rule:
    """One audit rule."""

    id: str
    name: str
    title: str
    severity: Severity
    needs: tuple[Need, ...]
    wanted: str
    why: str
    """The harm, in one or two sentences."""
    source: str
    """Section of a paper, or a standard."""
    check: Callable[[Subject], Outcome]
    vendor_advice: bool = False
    """The source advises, and gives no measurement that holds here."""

    @property
    def cited(self) -> str:
        """Source, and the evidence for what vendors advise."""
        return f"{self.source}; {evidence(self.id)}" if self.vendor_advice else self.source
