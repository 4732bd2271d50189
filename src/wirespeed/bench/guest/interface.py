# SPDX-License-Identifier: Apache-2.0
"""What do the virtual machines of a bench start from?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GuestImage:
    """Paths on the host: kernel, initial RAM disk, and the disk with the root file system."""

    kernel: str
    initrd: str
    root: str


@dataclass(frozen=True, slots=True)
class Guests:
    """domains: libvirt's XML by guest, as the plan renders it. no_kvm: why CPUs are emulated; None:
    they are not."""

    domains: Mapping[str, str]
    image: GuestImage
    no_kvm: str | None = None


def emulated_by(guests: Guests | None) -> str | None:
    """What of the SUT ran on emulated CPUs; see SearchResult."""
    return None if guests is None or guests.no_kvm is None else f"guests: {guests.no_kvm}"
