# SPDX-License-Identifier: Apache-2.0
"""Describe the Open vSwitch instances of a bench."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from wirespeed.bench.switch.ovs_dpdk.bonds import Bond
from wirespeed.bench.switch.ovs_dpdk.bridges import Bridge
from wirespeed.bench.switch.ovs_dpdk.ports import SwitchPort
from wirespeed.bench.topology.wiring import SWITCH
from wirespeed.model.plan.plan import VswitchPlan


@dataclass(frozen=True, slots=True)
class Instance:
    """One Open vSwitch of a bench."""

    plan: VswitchPlan
    """Its CPUs and memory."""
    ports: tuple[SwitchPort, ...]
    bridges: tuple[Bridge, ...] = ()
    """See bridges.py."""
    rules: tuple[str, ...] = ()
    """See bridges.py."""
    bonds: tuple[Bond, ...] = ()
    name: str = "Open vSwitch"
    hop: str = SWITCH
    """Name of the hop that it is in frame accounting."""
    role: str = "sut"
    """Role of its threads in noise evidence."""
    namespace: str | None = None
    """Network namespace of the interfaces that are its ports of type system."""
    tso: bool = False
    settings: Mapping[str, str] = field(default_factory=dict)
    """Additional keys of its other_config."""

    @property
    def suffix(self) -> str:
        """Suffix for programs, sockets and logs of a second instance."""
        return "" if self.hop == SWITCH else f"-{self.hop}"

    def run_dir(self, run: PurePosixPath) -> PurePosixPath:
        """Return the directory of its sockets."""
        return run if self.hop == SWITCH else run / self.hop
