# SPDX-License-Identifier: Apache-2.0
"""Render the kernel command line for the boot loader's commands of each host's distribution."""

from __future__ import annotations

from wirespeed.model.distribution import Family
from wirespeed.model.plan.plan import HostPlan, Plan
from wirespeed.plan.render.interface import Files, fill

DROP_IN = "60-wirespeed.cfg"
"""Drop-in for /etc/default/grub.d (Debian, Ubuntu)."""
GRUBBY = "grubby.sh"
"""Script for grubby (RHEL, Fedora)."""
MKCONFIG = "grub2-mkconfig.sh"
"""Script that edits /etc/default/grub (SLES, openSUSE)."""
_FILES = {
    Family.DEBIAN: (DROP_IN,),
    Family.RHEL: (GRUBBY,),
    Family.SUSE: (MKCONFIG,),
    Family.UNKNOWN: (DROP_IN, GRUBBY, MKCONFIG),
}
_TEMPLATES = {DROP_IN: "grub.cfg.j2", GRUBBY: "grubby.sh.j2", MKCONFIG: "grub2-mkconfig.sh.j2"}


def render(plan: Plan) -> Files:
    """Return the file of each host, kernel/HOST/NAME; of an unknown distribution each of them."""
    return {
        f"kernel/{host.host}/{name}": text
        for host in plan.hosts
        for name, text in files_of(host).items()
    }


def files_of(host: HostPlan) -> Files:
    """Return the files of a host by name."""
    return {name: _filled(name, host) for name in _FILES[host.family]}


def drop_in(host: HostPlan) -> str:
    """Return the drop-in of GRUB's settings."""
    return _filled(DROP_IN, host)


def command_line(host: HostPlan) -> str:
    return " ".join(word.value for word in host.kernel)


def _filled(name: str, host: HostPlan) -> str:
    keys = list(dict.fromkeys(word.value.partition("=")[0] for word in host.kernel))
    return fill(_TEMPLATES[name], host=host, line=command_line(host), keys=keys)
