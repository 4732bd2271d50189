# SPDX-License-Identifier: Apache-2.0
"""Check how a Heat template names flavors and aggregates."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.examples import lab_plan
from wirespeed.model.plan.workload import Aggregate
from wirespeed.plan.render.heat import check_names, stack_flavors
from wirespeed.plan.render.interface import RenderError


def test_a_flavor_whose_guests_found_no_host_is_made_as_it_is() -> None:
    plan = lab_plan()
    used = {guest.flavor for host in plan.hosts for guest in host.guests}
    assert plan.unplaced
    assert {f.name for f in stack_flavors(plan) if f.host is None} == {
        flavor.name for flavor in plan.flavors if flavor.name not in used
    }
    assert {f.flavor.name for f in stack_flavors(plan)} == {f.name for f in plan.flavors}


@pytest.mark.parametrize(
    "own",
    [
        Aggregate("lab@compute-1", ("compute-*",), {"fast": "true"}),
        Aggregate("fast", ("compute-*",), {"wirespeed_host": "any"}),
    ],
)
def test_an_aggregate_in_the_way_of_a_hosts_is_refused(own: Aggregate) -> None:
    plan = lab_plan()
    with pytest.raises(RenderError, match=f"'{own.name}' is in the way"):
        check_names(replace(plan, aggregates=(own,)))


def test_a_name_that_nova_does_not_take_is_refused() -> None:
    plan = lab_plan()
    with pytest.raises(RenderError, match="has 260 characters, and Nova takes 255"):
        check_names(replace(plan, workload="w" * 250))
