# SPDX-License-Identifier: Apache-2.0
"""Define the operating system of a host.

Source: os-release(5).
"""

from __future__ import annotations

from dataclasses import dataclass

from wirespeed.model.distribution import Distribution, Family, distribution_named
from wirespeed.model.input.text import Line, Word


@dataclass(frozen=True, slots=True)
class OperatingSystem:
    """Distribution of a host, by the variables of os-release."""

    id: Word
    """ID, e.g. sles."""
    id_like: tuple[Word, ...] = ()
    """ID_LIKE, the closest distribution first."""
    version_id: Word = ""
    """VERSION_ID, e.g. 15.6; empty for a rolling release."""
    name: Line = ""
    """NAME, e.g. Debian GNU/Linux."""

    def __str__(self) -> str:
        return f"{self.name or self.id} {self.version_id}".strip()


def distribution_of(system: OperatingSystem | None) -> Distribution:
    """Return names and commands of a host's distribution; None where the host names none."""
    return distribution_named((system.id, *system.id_like) if system else ())


def family_of(system: OperatingSystem | None) -> Family:
    """Return the family of a host's distribution."""
    return distribution_of(system).family
