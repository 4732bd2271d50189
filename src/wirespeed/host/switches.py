# SPDX-License-Identifier: Apache-2.0
"""Read the deployed vSwitches of a host other than Open vSwitch, each by its own type.

A type has the same name here and among what plans hosts with it (`plan/host/switches.py`). Open
vSwitch, which the audit knows in detail, is read by `ovs.py`.
"""

from __future__ import annotations

from typing import Protocol

from wirespeed.host.reader import Reader
from wirespeed.model.host.switch_facts import SwitchFacts
from wirespeed.model.kinds import Kinds


class ReadSwitch(Protocol):
    """Reading of one type of vSwitch. name: as written in [vswitch] kind."""

    @property
    def name(self) -> str: ...

    @property
    def summary(self) -> str: ...

    def read(self, reader: Reader) -> SwitchFacts | None:
        """Return what the host runs; None where it does not run this type.

        Changes nothing. What could not be read is noted in the reader.
        """
        ...


READ: Kinds[ReadSwitch] = Kinds("vswitch.kind")


def read_switches(reader: Reader) -> tuple[SwitchFacts, ...]:
    """Return the vSwitches that the host runs, in the order of registration."""
    found = (kind.read(reader) for kind in READ)
    return tuple(one for one in found if one is not None)
