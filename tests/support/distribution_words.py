# SPDX-License-Identifier: Apache-2.0
"""List words that only one family of distributions uses, to find them in texts for another."""

from __future__ import annotations

import re

from wirespeed.model.distribution import Family

_WORDS = {
    Family.DEBIAN: (
        "update-grub", "apt-get", "openvswitch-switch", "Debian", "Ubuntu", r"grub\.d",
        "restart nova-", "intel-microcode", "amd64-microcode", "linux-cpupower", "linux-tools",
    ),
    Family.RHEL: ("grubby", "dnf", "RHEL", "microcode_ctl", "linux-firmware", "kernel-tools"),
    Family.SUSE: ("grub2-mkconfig", "zypper", "SUSE", "SLES", "ucode-"),
}  # fmt: skip


def words_of_others(text: str, family: Family) -> set[str]:
    """Return the words in the text that only other families use."""
    others = [word for other, words in _WORDS.items() if other is not family for word in words]
    return set(re.findall("|".join(others), text))
