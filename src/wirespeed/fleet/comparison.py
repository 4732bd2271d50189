# SPDX-License-Identifier: Apache-2.0
"""Compare all hosts of a fleet. Pure: the same hosts give the same result."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from wirespeed.fleet.burn_in import BurnIn, burn_ins
from wirespeed.fleet.groups import Group, Host, groups, host_of
from wirespeed.fleet.outliers import Compared, compare_figures
from wirespeed.model.host.snapshot import Figure, HostSnapshot, Repeat


@dataclass(frozen=True, slots=True)
class Fleet:
    """A fleet: every host once, in its group; rates and burn-ins of these hosts."""

    groups: tuple[Group, ...]
    figures: tuple[Compared, ...] = ()
    burn_ins: tuple[BurnIn, ...] = ()

    @property
    def hosts(self) -> tuple[Host, ...]:
        """All hosts by name."""
        return tuple(sorted((h for g in self.groups for h in g.hosts), key=lambda h: h.name))


def compare(
    snapshots: Iterable[HostSnapshot],
    figures: Iterable[Figure] = (),
    repeats: Iterable[Repeat] = (),
) -> Fleet:
    """Group the hosts and compare each group. The facts of a snapshot are not kept."""
    found = groups(host_of(snapshot) for snapshot in snapshots)
    hardware = {host.name: group.hardware for group in found for host in group.hosts}
    tried = burn_ins(one for one in repeats if one.host in hardware)
    return Fleet(found, compare_figures(figures, hardware), tried)
