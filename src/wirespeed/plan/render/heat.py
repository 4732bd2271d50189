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

_KEY = "wirespeed_host"


@dataclass(frozen=True, slots=True)
class StackFlavor:
    """A flavor as a stack makes it."""

    flavor: FlavorPlan
    host: str | None
    """The only host for its guests; None for any."""

    @property
    def name(self) -> str:
        return self.flavor.name if self.host is None else f"{self.flavor.name}@{self.host}"

    @property
    def specs(self) -> Mapping[str, str]:
        """Extra specs."""
        own = {key: spec.value for key, spec in self.flavor.specs.items()}
        tied = {} if self.host is None else {f"aggregate_instance_extra_specs:{_KEY}": self.host}
        return own | tied


def stack_flavors(plan: Plan) -> Mapping[str, StackFlavor]:
    """Return the flavor of each guest. A plan of a single host leaves the host to the scheduler."""
    flavors = {flavor.name: flavor for flavor in plan.flavors}
    named = len(plan.hosts) > 1
    return {
        guest.name: StackFlavor(flavors[guest.flavor], host.host if named else None)
        for host in plan.hosts
        for guest in host.guests
    }


def host_aggregates(
    plan: Plan, flavors: Mapping[str, StackFlavor]
) -> Sequence[tuple[str, dict[str, str], list[str]]]:
    """Return name, metadata and hosts of the aggregates that `flavors` demand."""
    demanded = {flavor.host for flavor in flavors.values()}
    return [
        (f"{plan.workload or 'plan'}@{host.host}", {_KEY: host.host}, [host.host])
        for host in plan.hosts
        if host.host in demanded
    ]
