# SPDX-License-Identifier: Apache-2.0
"""List the targets that a plan can be rendered to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from wirespeed.model.plan.plan import Plan
from wirespeed.plan.errors import PlanError
from wirespeed.plan.render import ansible, kernel, libvirt, openstack, ovs, tripleo
from wirespeed.plan.render.interface import Renderer

TARGETS: Mapping[str, Renderer] = {
    "kernel": kernel.render,
    "ovs": ovs.render,
    "libvirt": libvirt.render,
    "openstack": openstack.render,
    "tripleo": tripleo.render,
    "ansible": ansible.render,
}


def render(plan: Plan, targets: Iterable[str] = tuple(TARGETS)) -> dict[str, str]:
    """Return the files of all these targets, by path. Raises PlanError for an unknown target."""
    files: dict[str, str] = {}
    for target in targets:
        renderer = TARGETS.get(target)
        if renderer is None:
            raise PlanError(
                f"{target!r} is no target to render to", f"Choose from {', '.join(TARGETS)}."
            )
        files.update(renderer(plan))
    return dict(sorted(files.items()))
