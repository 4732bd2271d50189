# SPDX-License-Identifier: Apache-2.0
"""Define what is known of a deployed vSwitch that is not Open vSwitch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from wirespeed.model.input.text import Line, Word


@dataclass(frozen=True, slots=True)
class SwitchFacts:
    """A vSwitch that a host runs."""

    kind: Word
    """Its name in `[vswitch] kind`."""
    version: Line | None = None
    polling_cpus: tuple[int, ...] = ()
    """CPUs on which its threads poll."""
    ports: tuple[Word, ...] = ()
    """PCI addresses or interfaces of its physical ports."""
    settings: Mapping[Word, Line] = field(default_factory=dict)
    """Its settings in its own words."""
