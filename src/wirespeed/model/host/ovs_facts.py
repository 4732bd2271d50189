# SPDX-License-Identifier: Apache-2.0
"""Define the facts of a host's Open vSwitch.

None means unknown or absent, as in facts.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from wirespeed.model.input.text import Line, PciAddress, PortName, Word


@dataclass(frozen=True, slots=True)
class Rxq:
    """A receive queue that a PMD thread polls; `usage_percent` is None until OVS measures it."""

    port: PortName
    queue: int
    enabled: bool = True
    usage_percent: int | None = None


@dataclass(frozen=True, slots=True)
class PmdThread:
    core: int
    node: int
    isolated: bool = False
    rxqs: tuple[Rxq, ...] = ()


@dataclass(frozen=True, slots=True)
class OvsInterface:
    """One interface of a bridge.

    Queue and descriptor counts are None if OVS does not report them. `bond` is the name of its OVS
    bond. `pci` is the address in options:dpdk-devargs.
    """

    name: PortName
    bridge: PortName
    type: Word = "system"
    options: Mapping[Word, Line] = field(default_factory=dict)
    mtu: int | None = None
    mtu_request: int | None = None
    bond: PortName | None = None
    pci: PciAddress | None = None
    node: int | None = None
    error: Line | None = None
    requested_rx_queues: int | None = None
    configured_rx_queues: int | None = None
    requested_tx_queues: int | None = None
    configured_tx_queues: int | None = None
    rx_descriptors: int | None = None
    tx_descriptors: int | None = None

    @property
    def is_dpdk_port(self) -> bool:
        """It is a physical port (DPDK ethdev), unlike vhost-user and dpdkr ports."""
        return self.type == "dpdk"

    @property
    def is_vhost(self) -> bool:
        return self.type in ("dpdkvhostuser", "dpdkvhostuserclient")


@dataclass(frozen=True, slots=True)
class Bridge:
    name: PortName
    datapath_type: Word
    ports: tuple[PortName, ...] = ()


@dataclass(frozen=True, slots=True)
class OvsFacts:
    """A running Open vSwitch; `pmds` is None if the daemon did not answer."""

    version: Line
    dpdk_initialized: bool
    other_config: Mapping[Word, Line] = field(default_factory=dict)
    dpdk_version: Line | None = None
    bridges: tuple[Bridge, ...] = ()
    interfaces: tuple[OvsInterface, ...] = ()
    pmds: tuple[PmdThread, ...] | None = ()
