# SPDX-License-Identifier: Apache-2.0
"""Render a tuned profile with the settings of a host that nothing else of the plan owns.

The target `kernel` and `wirespeed apply` own kernel line, pages, governors, interrupts and VFs.
"""

from __future__ import annotations

from wirespeed.model.plan.plan import Plan
from wirespeed.plan.render.interface import Files, fill

PROFILE = "wirespeed"


def render(plan: Plan) -> Files:
    """Return tuned/HOST/wirespeed/tuned.conf for /etc/tuned of each host."""
    return {
        f"tuned/{host.host}/{PROFILE}/tuned.conf": profile(
            PROFILE, f"host {host.host}", f"polling threads of host {host.host}"
        )
        for host in plan.hosts
    }


def profile(name: str, whose: str, summary: str) -> str:
    """Return a profile. whose: the hosts, in words."""
    return fill("tuned.conf.j2", profile=name, whose=whose, summary=summary)
