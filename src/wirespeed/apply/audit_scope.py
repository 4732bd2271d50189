# SPDX-License-Identifier: Apache-2.0
"""List the audit findings that may remain on a host that matches its plan."""

from __future__ import annotations

from wirespeed.apply.steps.interrupts import Interrupts

_FLAVOR = "Nova's own settings and flavors, which `plan render --to openstack` writes"
_GUEST = "how running guests were started, which libvirt or Nova does"
_HARDWARE = "the server's hardware or firmware"
_KERNEL = "a setting of the kernel that a plan does not decide"
_POLICY = "the workload chose it"
_MEMORY = "the plan's memory model, or a vswitch.socket_memory_mib that the workload sets"

# Rule to the reason why a plan does not settle it. A rule that is not listed must pass.
STAYS = {
    "WS03": _FLAVOR,
    "WS08": _POLICY,
    "WS11": _POLICY,
    "WS14": _HARDWARE,
    "WS19": _MEMORY,
    "WS20": _MEMORY,
    "WS25": _POLICY,
    "WS26": "pages follow the guests placed on each node",
    "WS27": "free memory depends on what else runs there",
    "WS34": _GUEST,
    "WS35": _FLAVOR,
    "WS36": _FLAVOR,
    "WS37": _FLAVOR,
    "WS38": _FLAVOR,
    "WS39": _GUEST,
    "WS40": _GUEST,
    "WS41": _GUEST,
    "WS42": _GUEST,
    "WS43": _GUEST,
    "WS44": _HARDWARE,
    "WS45": "how the ports of a bond are cabled",
    "WS46": _FLAVOR,
    "WS47": "idle states, which a plan does not decide",
    "WS49": _GUEST,
    "WS50": _GUEST,
    **dict.fromkeys(("WS58", "WS59", "WS60", "WS61", "WS62", "WS63", "WS64", "WS68"), _KERNEL),
    **dict.fromkeys(("WS65", "WS67"), _HARDWARE),
    "WS69": "how far guests are trusted, which a plan does not decide",
    "WS70": "other programs of the host, which a plan does not stop",
}

# Rule to the facts that some hosts cannot report, so that it may stay unchecked. The decision
# behind the rule has a row of its own.
UNSHOWN = {
    "WS23": "not every memory controller has an EDAC driver",
    "WS71": "not every boot loader has an environment block of GRUB's form",
}

# Rule to the setting behind it: only the parts that the kernel rejects may remain.
REFUSALS = {"WS32": Interrupts().name}
