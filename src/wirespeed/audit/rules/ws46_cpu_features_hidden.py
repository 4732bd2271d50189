# SPDX-License-Identifier: Apache-2.0
"""Find CPU features that flavors require and that guests do not see."""

from __future__ import annotations

import re

from wirespeed.audit.fixes import nova_option
from wirespeed.audit.needs import Need
from wirespeed.audit.rule import (
    FactUnusable,
    NotApplicable,
    Outcome,
    Passed,
    Problem,
    Rule,
    Subject,
)
from wirespeed.model.host.finding import Severity
from wirespeed.model.host.guest_facts import Flavor
from wirespeed.plan.nova.features import kernel_name, trait

CAPABILITY = "capabilities:cpu_info:features"
TRANSPARENT = ("host-model", "host-passthrough", "maximum")


def check(subject: Subject) -> Outcome:
    facts = subject.facts
    nova = facts.nova
    asking = {
        f.name: wanted for f in facts.flavors or () if (wanted := _features(f, facts.cpu_flags))
    }
    if nova is None or not asking:
        return NotApplicable("no flavor requires a CPU feature")
    # Nova's default with KVM.
    mode = nova.cpu_mode or "host-model"
    if mode in TRANSPARENT:
        return Passed(f"cpu_mode = {mode}")
    shown = {kernel_name(flag.lstrip("+")) for flag in nova.cpu_extra_flags}
    hidden = {name: wanted - shown for name, wanted in asking.items() if wanted - shown}
    if not hidden:
        return Passed(f"cpu_mode = {mode} with cpu_model_extra_flags shows the required features")
    if mode == "custom":
        models = ", ".join(nova.cpu_models) or "none named"
        raise FactUnusable(f"needs libvirt's definition of the CPU models in use: {models}")
    return [
        Problem(
            found=f"cpu_mode = {mode}; flavor {name} requires {', '.join(sorted(features))}",
            wanted="cpu_mode = host-model or host-passthrough",
            fix=nova_option(subject.distribution, nova.path, "libvirt", "cpu_mode = host-model"),
            subject=name,
        )
        for name, features in hidden.items()
    ]


def _features(flavor: Flavor, host_flags: tuple[str, ...]) -> set[str]:
    """Return the features that a flavor requires, in the kernel's spelling."""
    words = re.findall(r"[A-Za-z0-9_.-]+", flavor.extra_specs.get(CAPABILITY, ""))
    named = {kernel_name(word) for word in words if word not in ("in", "all-in", "or")}
    traits = {
        key.partition(":")[2]
        for key, value in flavor.extra_specs.items()
        if key.startswith("trait") and value == "required"
    }
    return named | {flag for flag in host_flags if trait(flag) in traits}


RULE = Rule(
    id="WS46",
    name="cpu-features-hidden",
    title="cpu_mode hides CPU features that a flavor requires",
    severity=Severity.MEDIUM,
    needs=(Need.NOVA, Need.FLAVORS),
    wanted="[libvirt] cpu_mode host-model or host-passthrough where flavors require features",
    why="The scheduler finds a host with the feature, but the guest's CPUID does not show it: a "
    "VPN without AES-NI runs, at a fraction of its rate.",
    source="S1, CPU feature request",
    check=check,
)
