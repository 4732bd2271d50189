# SPDX-License-Identifier: Apache-2.0
"""Name hosts in a Heat template.

Heat itself can name a host only as availability zone "nova:HOST", for which Nova asks none of the
scheduler's filters: guests then go to NUMA nodes without their network's NIC and take what others
need. So each host gets an aggregate and each guest a flavor that demands it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wirespeed.model.plan.plan import FlavorPlan, Plan
from wirespeed.model.plan.workload import Aggregate
from wirespeed.plan.render.interface import RenderError

_KEY = "wirespeed_host"
# Of Nova's API, for flavors and aggregates.
_NAME_LENGTH = 255
_OTHERS = ", or render other targets (--to)."


@dataclass(frozen=True, slots=True)
class StackFlavor:
    """A flavor as a stack makes it."""

    flavor: FlavorPlan
    host: str | None
    """The only host for its guests; None for any."""

    @property
    def name(self) -> str:
        return self.flavor.name if self.host is None else flavor_name(self.flavor.name, self.host)

    @property
    def specs(self) -> Mapping[str, str]:
        """Extra specs."""
        own = {key: spec.value for key, spec in self.flavor.specs.items()}
        tied = {} if self.host is None else {f"aggregate_instance_extra_specs:{_KEY}": self.host}
        return own | tied


def flavor_name(flavor: str, host: str) -> str:
    """Return the name of the flavor that a stack makes of a plan's for its guests on a host."""
    return f"{flavor}@{host}"


def stack_flavors(plan: Plan) -> Sequence[StackFlavor]:
    """Return the flavors of a stack, in the order of the plan's and of its hosts."""
    return [
        StackFlavor(flavor, host)
        for flavor in plan.flavors
        for host in _hosts(plan, flavor.name) or (None,)
    ]


def host_aggregates(plan: Plan) -> Sequence[Aggregate]:
    """Return the aggregates that a stack's flavors demand."""
    demanded = {flavor.host for flavor in stack_flavors(plan)}
    return [
        Aggregate(f"{plan.workload or 'plan'}@{host.host}", (host.host,), {_KEY: host.host})
        for host in plan.hosts
        if host.host in demanded
    ]


def check_names(plan: Plan) -> None:
    """Raise RenderError where Nova would refuse a name of a stack, or two aggregates are one."""
    aggregates = [each.name for each in host_aggregates(plan)]
    for own in plan.aggregates:
        if own.name in aggregates or _KEY in own.metadata:
            raise RenderError(
                f"aggregate {own.name!r} is in the way of one that ties guests to a host: their "
                f"names are WORKLOAD@HOST, their metadata key is {_KEY}",
                f"Name the aggregate or its key otherwise in the workload{_OTHERS}",
            )
    for name in (*aggregates, *(flavor.name for flavor in stack_flavors(plan))):
        if len(name) > _NAME_LENGTH:
            raise RenderError(
                f"{name!r} has {len(name)} characters, and Nova takes {_NAME_LENGTH}",
                f"Shorten the name of the workload or of its VNF{_OTHERS}",
            )


def _hosts(plan: Plan, flavor: str) -> Sequence[str]:
    return [
        host.host for host in plan.hosts if any(guest.flavor == flavor for guest in host.guests)
    ]
