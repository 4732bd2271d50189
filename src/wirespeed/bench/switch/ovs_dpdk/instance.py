# SPDX-License-Identifier: Apache-2.0
"""Which Open vSwitches does a bench have, and what is each of them made of?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

from wirespeed.bench.switch.ovs_dpdk.bonds import Bond
from wirespeed.bench.switch.ovs_dpdk.bridges import Bridge
from wirespeed.bench.switch.ovs_dpdk.ports import SwitchPort
from wirespeed.bench.topology.wiring import SWITCH
from wirespeed.model.plan import VswitchPlan


@dataclass(frozen=True, slots=True)
class Instance:
    """One of the Open vSwitches of a bench. hop, role: which it is to frames and to its watchers.
    bridges, rules: see bridges.py. plan: its CPUs and memory. namespace: the network namespace
    whose interfaces are its ports of type system."""

    plan: VswitchPlan
    ports: tuple[SwitchPort, ...]
    bridges: tuple[Bridge, ...] = ()
    rules: tuple[str, ...] = ()
    bonds: tuple[Bond, ...] = ()
    name: str = "Open vSwitch"
    hop: str = SWITCH
    role: str = "sut"
    namespace: str | None = None
    tso: bool = False

    @property
    def suffix(self) -> str:
        """By which the programs, sockets and logs of a second instance are told apart."""
        return "" if self.hop == SWITCH else f"-{self.hop}"

    def run_dir(self, run: PurePosixPath) -> PurePosixPath:
        """Where its sockets are."""
        return run if self.hop == SWITCH else run / self.hop
