# SPDX-License-Identifier: Apache-2.0
"""Define the images that virtual machines of a bench boot from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GuestImage:
    """Paths on the host of kernel, initial RAM disk and root disk."""

    kernel: str
    initrd: str
    root: str


@dataclass(frozen=True, slots=True)
class Guests:
    """Virtual machines of a bench."""

    domains: Mapping[str, str]
    """libvirt XML as rendered by the plan, by guest."""
    image: GuestImage
    no_kvm: str | None = None
    """Reason for emulated CPUs; None with KVM."""


def emulated_by(guests: Guests | None) -> str | None:
    """Return which part of the SUT ran on emulated CPUs; see SearchResult."""
    return None if guests is None or guests.no_kvm is None else f"guests: {guests.no_kvm}"
