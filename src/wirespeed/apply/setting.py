# SPDX-License-Identifier: Apache-2.0
"""Define a setting of a host: a value that is read, and reached from any state.

`make` reaches the value from any state, even from one that a cut or a power loss left. Therefore
apply and rollback may be interrupted at any moment, and either can continue.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import ClassVar

from wirespeed.apply.actions import Action, perform
from wirespeed.model.host.facts import HostFacts
from wirespeed.remote.interface import Runner

# Value of a setting; None: it does not exist. Composite values are canonical JSON.
Value = str | None


def interfaces_of(facts: HostFacts, addresses: Collection[str]) -> frozenset[str]:
    """Return the interfaces of these PCI functions."""
    return frozenset(
        name for device in facts.pci if device.address in addresses for name in device.interfaces
    )


@dataclass(frozen=True, slots=True)
class Setting(ABC):
    """A setting. Its fields must fit in JSON, because the journal on the host stores them."""

    risks_connection: ClassVar[bool] = False
    """True if a change may cut the connection over which it is made."""
    lost_at_reboot: ClassVar[bool] = False
    """True if a reboot loses it, so that the host must set it again at boot."""
    made_at_boot: ClassVar[bool] = False
    """True if the next boot sets it with the kernel command line where it cannot be set now."""
    makes_more: ClassVar[bool] = False
    """True if setting it has effects that its value does not show: rollback always sets it."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Name, unique among the settings of the host."""

    @abstractmethod
    def read(self, runner: Runner) -> Value:
        """Return its current value."""

    @abstractmethod
    def actions(self, value: Value) -> tuple[Action, ...]:
        """Return the actions that set it from any state."""

    def make(self, runner: Runner, value: Value) -> None:
        """Set it. Raises OSError and RemoteError."""
        perform(runner, self.actions(value))

    def left(self, runner: Runner, value: Value) -> tuple[str, ...]:
        """Return the parts that differ from the value, each with its current value; empty: none."""
        found = self.read(runner)
        return () if found == value else (self.shown(found),)

    def takes(self, facts: HostFacts, value: Value) -> frozenset[str]:
        """Return the kernel interfaces that setting it takes away or restarts."""
        del facts, value
        return frozenset()

    def why_absent(self, runner: Runner) -> str | None:
        """Return why this host has no such setting, or None."""
        del runner
        return None

    def may_lack(self, value: Value) -> bool:
        """Return whether a host without it matches the plan. A planned device must exist."""
        del value
        return False

    def why_later(self, runner: Runner) -> str | None:
        """Return why it can be set only after the reboot, or None."""
        del runner
        return None

    def why_restart(self, old: Value, new: Value) -> str | None:
        """Return why a change has its effect only after a restart or reboot, or None."""
        del old, new
        return None

    def excusable(self, runner: Runner, left: Sequence[str]) -> bool:
        """Return whether a kernel or device may reject these parts: they are exceptions."""
        del runner, left
        return False

    def shown(self, value: Value) -> str:
        """Format the value for printing."""
        return "absent" if value is None else value.strip()


@dataclass(frozen=True, slots=True)
class Entry:
    """A setting that was changed, and its previous value."""

    setting: Setting
    old: Value
