# SPDX-License-Identifier: Apache-2.0
"""What is there to say of a whole fleet? Pure: the same hosts give the same answer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from wirespeed.fleet.groups import Group, Host, groups, host_of
from wirespeed.model.snapshot import HostSnapshot


@dataclass(frozen=True, slots=True)
class Fleet:
    """Every host once, in its group."""

    groups: tuple[Group, ...]

    @property
    def hosts(self) -> tuple[Host, ...]:
        """All hosts by name."""
        return tuple(sorted((h for g in self.groups for h in g.hosts), key=lambda h: h.name))


def compare(snapshots: Iterable[HostSnapshot]) -> Fleet:
    """Groups and their differences. A snapshot's facts may be forgotten once it was seen."""
    return Fleet(groups(host_of(snapshot) for snapshot in snapshots))
