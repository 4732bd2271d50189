# SPDX-License-Identifier: Apache-2.0
"""Define a factor: a setting with its present level and another one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import groupby
from typing import Any

from wirespeed.model.input.fault import show


class Needs(StrEnum):
    """Action that a change of the factor takes."""

    SWITCH = "restart of the switch"
    FUNCTION = "restart of the VNF"
    GUEST = "restart of the guest"
    HOST = "a setting of the host"
    REBOOT = "a reboot"


@dataclass(frozen=True, slots=True)
class Factor:
    """A factor with its other level; its present level is that of the study and the host."""

    name: str
    sets: Mapping[str, Any] = field(default_factory=dict)
    """Its other level, by dotted key of a study."""
    needs: Needs = Needs.SWITCH
    host: Mapping[str, str] = field(default_factory=dict)
    """Its other level as contents of files below /proc or /sys of the host."""
    cpus: int = 0
    """CPUs that the other level takes in addition."""
    memory_mib: int = 0
    """Memory that the other level takes in addition."""
    kernel: tuple[str, ...] = ()
    """Words that its other level adds to the kernel command line; a reboot sets them."""
    of: str = ""
    """Name of the factor that has this and further other levels; empty where it has only one."""

    @property
    def group(self) -> str:
        """Name of what has one level at a time."""
        return self.of or self.name

    @property
    def change(self) -> str:
        """The other level in words."""
        said = [f"{key} = {show(value)}" for key, value in self.sets.items()]
        said += [" ".join(self.kernel)] if self.kernel else []
        files = [f"{path} = {value}" for path, value in self.host.items()]
        more = f" and {len(files) - 1} more" if len(files) > 1 else ""
        return ", ".join([*said, *(f"{each}{more}" for each in files[:1])])

    @property
    def cost(self) -> str:
        """Cost of the other level, in words."""
        parts = [f"{self.cpus} CPU"] if self.cpus else []
        parts += [f"{self.memory_mib} MiB"] if self.memory_mib else []
        return ", ".join([*parts, str(self.needs)])


def groups_of(factors: Sequence[Factor]) -> tuple[int, ...]:
    """Return the number of other levels of each factor; its levels follow each other."""
    return tuple(len(list(levels)) for _, levels in groupby(factors, key=lambda one: one.group))


@dataclass(frozen=True, slots=True)
class NotTried:
    """A factor that the search excludes."""

    name: str
    why: str
    """Reason as a clause."""
