# SPDX-License-Identifier: Apache-2.0
"""Render the kernel command line as a GRUB drop-in and as a script for systems with grubby."""

from __future__ import annotations

from wirespeed.model.plan.plan import HostPlan, Plan
from wirespeed.plan.render.interface import Files, fill

DROP_IN = "60-wirespeed.cfg"


def render(plan: Plan) -> Files:
    """Return kernel/HOST/60-wirespeed.cfg for /etc/default/grub.d and grubby.sh for RHEL."""
    files: dict[str, str] = {}
    for host in plan.hosts:
        files[f"kernel/{host.host}/{DROP_IN}"] = fill(
            "grub.cfg.j2", host=host, line=command_line(host), keys=_parameters(host)
        )
        files[f"kernel/{host.host}/grubby.sh"] = fill(
            "grubby.sh.j2", host=host, line=command_line(host)
        )
    return files


def command_line(host: HostPlan) -> str:
    return " ".join(word.value for word in host.kernel)


def _parameters(host: HostPlan) -> list[str]:
    return list(dict.fromkeys(word.value.partition("=")[0] for word in host.kernel))
