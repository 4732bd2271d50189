# SPDX-License-Identifier: Apache-2.0
"""Map a distribution to its names of units and packages, and to its commands.

Sources: package lists of Debian 12, Ubuntu 24.04, RHEL 9 and SLES 15; grubby(8); update-grub(8);
GNU GRUB Manual, "Simple configuration".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

DROP_INS = "/etc/default/grub.d"
"""Folder that Debian's grub-mkconfig reads after /etc/default/grub."""
DEFAULTS = "/etc/default/grub"
SUSE_MENU = "/boot/grub2/grub.cfg"


class Family(StrEnum):
    """Distributions that share names of units and packages, and a boot loader's commands."""

    DEBIAN = "debian"
    RHEL = "rhel"
    SUSE = "suse"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Distribution:
    """Names and commands of one distribution."""

    family: Family
    ovs_unit: str
    nova_compute_unit: str
    nova_scheduler_unit: str
    ksm_units: tuple[str, ...]
    """Units that run kernel samepage merging."""
    install: tuple[str, ...] = ()
    """Command that installs packages; empty for an unknown distribution."""
    packages: Mapping[str, str] = field(default_factory=dict)
    """Package of a program or firmware whose package's name differs."""
    new_menu: tuple[str, ...] = ()
    """Command that writes GRUB's menu from its settings; empty where grubby keeps the entries."""

    @property
    def known(self) -> bool:
        return self.family is not Family.UNKNOWN


_DEBIAN = Distribution(
    Family.DEBIAN,
    ovs_unit="openvswitch-switch",
    nova_compute_unit="nova-compute",
    nova_scheduler_unit="nova-scheduler",
    ksm_units=("ksmtuned", "ksm"),
    install=("apt-get", "install"),
    packages={
        "cpupower": "linux-cpupower",
        "microcode of Intel": "intel-microcode",
        "microcode of AMD": "amd64-microcode",
    },
    new_menu=("update-grub",),
)
_UBUNTU = replace(_DEBIAN, packages={**_DEBIAN.packages, "cpupower": "linux-tools-generic"})
_RHEL = Distribution(
    Family.RHEL,
    ovs_unit="openvswitch",
    nova_compute_unit="openstack-nova-compute",
    nova_scheduler_unit="openstack-nova-scheduler",
    ksm_units=("ksmtuned", "ksm"),
    install=("dnf", "install"),
    packages={
        "cpupower": "kernel-tools",
        "microcode of Intel": "microcode_ctl",
        "microcode of AMD": "linux-firmware",
    },
)
_SUSE = Distribution(
    Family.SUSE,
    ovs_unit="openvswitch",
    nova_compute_unit="openstack-nova-compute",
    nova_scheduler_unit="openstack-nova-scheduler",
    # SUSE's package qemu-ksm has no ksmtuned.
    ksm_units=("ksm",),
    install=("zypper", "install"),
    packages={
        "cpupower": "cpupower",
        "microcode of Intel": "ucode-intel",
        "microcode of AMD": "ucode-amd",
    },
    new_menu=("grub2-mkconfig", "-o", SUSE_MENU),
)
# For an unknown distribution, the texts of fixes name the others' words, too.
_UNKNOWN = replace(_RHEL, family=Family.UNKNOWN, install=(), packages={})
# Other members of a family name one of these in ID_LIKE: Rocky Linux "rhel centos fedora".
_BY_NAME = {
    "debian": _DEBIAN,
    "ubuntu": _UBUNTU,
    "rhel": _RHEL,
    "centos": _RHEL,
    "fedora": _RHEL,
    "sles": _SUSE,
    "suse": _SUSE,
    "opensuse": _SUSE,
}


def distribution_named(names: Iterable[str]) -> Distribution:
    """Return the first known distribution of these names: ID of os-release, then ID_LIKE."""
    return next((_BY_NAME[name] for name in names if name in _BY_NAME), _UNKNOWN)
