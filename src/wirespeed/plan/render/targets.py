# SPDX-License-Identifier: Apache-2.0
"""List the targets that a plan can be rendered to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from wirespeed.model.plan.plan import Plan
from wirespeed.plan.errors import PlanError
from wirespeed.plan.render import (
    ansible,
    dra,
    kernel,
    kubernetes,
    libvirt,
    openshift,
    openstack,
    ovs,
    tripleo,
    tuned,
)
from wirespeed.plan.render.interface import Renderer
from wirespeed.plan.render.switches import RENDERED, switches_of

TARGETS: Mapping[str, Renderer] = {
    "kernel": kernel.render,
    "tuned": tuned.render,
    "ovs": ovs.render,
    "libvirt": libvirt.render,
    "openstack": openstack.render,
    "tripleo": tripleo.render,
    "ansible": ansible.render,
    "kubernetes": kubernetes.render,
    "openshift": openshift.render,
    "dra": dra.render,
}
# Targets of a plan with pods; all others are for virtual machines, `kernel` is for both.
POD_TARGETS = ("kernel", "kubernetes", "openshift", "dra")
VM_TARGETS = tuple(t for t in TARGETS if t == "kernel" or t not in POD_TARGETS)


def all_targets() -> Mapping[str, Renderer]:
    """Return all targets, with those of registered types of vSwitch."""
    return {**TARGETS, **{switch.target: switch.render for switch in RENDERED}}


def targets_of(plan: Plan) -> tuple[str, ...]:
    """Return the targets that fit the plan. Raises BadInput for an unknown type of vSwitch."""
    if plan.pools:
        return POD_TARGETS
    switches = switches_of(plan)
    if not switches:
        return VM_TARGETS
    return tuple(
        target
        for target in all_targets()
        if any(target == switch.target for switch in switches)
        or all(target in switch.others for switch in switches)
    )


def render(plan: Plan, targets: Iterable[str] | None = None) -> dict[str, str]:
    """Return the files of these targets, by path; None: of all that fit the plan.

    Raises PlanError for an unknown target, and for one that does not fit the plan.
    """
    files: dict[str, str] = {}
    for target in targets_of(plan) if targets is None else targets:
        renderer = all_targets().get(target)
        if renderer is None:
            raise PlanError(
                f"{target!r} is no target to render to", f"Choose from {', '.join(all_targets())}."
            )
        if target not in targets_of(plan):
            raise PlanError(
                f"target {target!r} does not fit a plan of {_described(plan)}",
                f"Choose from {', '.join(targets_of(plan))}.",
            )
        files.update(renderer(plan))
    return dict(sorted(files.items()))


def _described(plan: Plan) -> str:
    if plan.pools:
        return "pods"
    switches = ", ".join(switch.name for switch in switches_of(plan))
    return f"virtual machines behind {switches}" if switches else "virtual machines"
