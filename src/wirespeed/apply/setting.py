# SPDX-License-Identifier: Apache-2.0
"""A setting of a host: a value that is read, and reached from any state.

`make` reaches the value from any state, one that a cut or a power loss left included; on that rests
that apply and rollback can be cut at any moment and continued by either.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import ClassVar

from wirespeed.apply.actions import Action, perform
from wirespeed.model.facts import HostFacts
from wirespeed.remote.interface import Runner

# What a setting is; None: it does not exist. Composite values are canonical JSON.
Value = str | None


def interfaces_of(facts: HostFacts, addresses: Collection[str]) -> frozenset[str]:
    """The interfaces of these PCI functions."""
    return frozenset(
        name for device in facts.pci if device.address in addresses for name in device.interfaces
    )


@dataclass(frozen=True, slots=True)
class Setting(ABC):
    """Its fields are what JSON can hold: the journal on the host keeps them."""

    # Whether changing it may cut the connection by which it is changed.
    risks_connection: ClassVar[bool] = False
    # Whether a reboot loses it, so that the host must make it so again at boot.
    lost_at_reboot: ClassVar[bool] = False
    # Whether the next boot makes it so, by the kernel command line, where it cannot be made so now.
    made_at_boot: ClassVar[bool] = False
    # Whether making it also makes what its value does not show: rollback then always makes it.
    makes_more: ClassVar[bool] = False

    @property
    @abstractmethod
    def name(self) -> str:
        """What it is; no other setting of the host has the same."""

    @abstractmethod
    def read(self, runner: Runner) -> Value:
        """What it is now."""

    @abstractmethod
    def actions(self, value: Value) -> tuple[Action, ...]:
        """What makes it so from any state."""

    def make(self, runner: Runner, value: Value) -> None:
        """Make it so. Raises OSError and RemoteError."""
        perform(runner, self.actions(value))

    def left(self, runner: Runner, value: Value) -> tuple[str, ...]:
        """Which parts are not as in the value, each with what it is; none: it is so."""
        found = self.read(runner)
        return () if found == value else (self.shown(found),)

    def takes(self, facts: HostFacts, value: Value) -> frozenset[str]:
        """The kernel's interfaces that making it takes away, or restarts."""
        del facts, value
        return frozenset()

    def why_absent(self, runner: Runner) -> str | None:
        """Return why this host has no such thing, or None."""
        del runner
        return None

    def may_lack(self, value: Value) -> bool:
        """Return whether a host without such a thing is as planned. A planned device must exist."""
        del value
        return False

    def why_later(self, runner: Runner) -> str | None:
        """Why it can only be made so after the reboot, or None."""
        del runner
        return None

    def excusable(self, runner: Runner, left: Sequence[str]) -> bool:
        """Whether these parts are ones that a kernel or device may refuse: named exceptions."""
        del runner, left
        return False

    def shown(self, value: Value) -> str:
        """The value for people."""
        return "absent" if value is None else value.strip()


@dataclass(frozen=True, slots=True)
class Entry:
    """A setting that was changed, and what it was."""

    setting: Setting
    old: Value
