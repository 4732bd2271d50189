# SPDX-License-Identifier: Apache-2.0
"""Write a fleet's comparison as one JSON document."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from pydantic import TypeAdapter

from wirespeed.fleet.burn_in import BurnIn
from wirespeed.fleet.comparison import Fleet
from wirespeed.fleet.groups import Group
from wirespeed.fleet.outliers import Compared
from wirespeed.model.host.finding import Status

SCHEMA_VERSION = "1.0"


def fleet_document(fleet: Fleet) -> dict[str, Any]:
    """Return groups with their hosts and differences, and the rules that each host breaks."""
    return {
        "schema_version": SCHEMA_VERSION,
        "groups": [_group(group) for group in fleet.groups],
        "figures": [_compared(one) for one in fleet.figures],
        "burn_ins": [_burn_in(one) for one in fleet.burn_ins],
    }


def _group(group: Group) -> dict[str, Any]:
    return {
        "hardware": group.hardware,
        "is": list(group.lines),
        "apart": group.apart,
        "hosts": [
            {
                "name": host.name,
                "address": host.member.address,
                "site": host.member.site,
                "collected_at": host.collected_at,
                "wirespeed": host.wirespeed,
                "failed": [
                    rule for rule, found in host.verdicts.items() if found.status is Status.FAILED
                ],
            }
            for host in group.hosts
        ],
        "differences": TypeAdapter(Any).dump_python(list(group.differences), mode="json"),
    }


def _compared(one: Compared) -> dict[str, Any]:
    return {
        "hardware": one.hardware,
        "study": one.study,
        "point": one.point,
        "name": one.name,
        "unit": one.unit,
        "placement": one.placement,
        "values": {host: figure.value for host, figure in one.values.items()},
        "spread": None if one.spread is None else asdict(one.spread),
        "outliers": dict(one.outliers),
    }


def _burn_in(one: BurnIn) -> dict[str, Any]:
    found = asdict(replace(one, trials=()))
    return {**found, "trials": len(one.trials), "worth_a_look": one.worth_a_look}
