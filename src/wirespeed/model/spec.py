# SPDX-License-Identifier: Apache-2.0
"""What is one point of a study: which topology, SUT, traffic and search?

These are plain facts after validation (`study/` reads the TOML and checks it); nothing here knows
about files. The defaults are the product's only defaults.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from wirespeed.model.frame import Encapsulation, FlowField, FrameSizes


class TopologyKind(StrEnum):
    WIRE = "wire"
    HOST = "host"
    P2P = "p2p"
    PVP = "pvp"
    CHAIN = "chain"
    PARALLEL = "parallel"
    EXTERNAL = "external"

    @property
    def has_vswitch(self) -> bool:
        return self in (TopologyKind.P2P, TopologyKind.PVP, TopologyKind.CHAIN,
                        TopologyKind.PARALLEL)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Topology:
    kind: TopologyKind = TopologyKind.P2P
    vnfs: int = 1
    bidirectional: bool = False


@dataclass(frozen=True, slots=True)
class Traffic:
    """The offered frames. link_bps only scales "% of line rate"; virtual ports have no speed."""

    frame: FrameSizes = field(default_factory=lambda: FrameSizes.parse("64"))
    ip_version: int = 4
    encapsulation: Encapsulation = Encapsulation.NONE
    vlan_id: int = 100
    inner_vlan_id: int = 200
    flows: int = 64
    flow_field: FlowField = FlowField.SRC_PORT
    burst: int = 32
    link_bps: float = 10e9
    pcap: str | None = None


@dataclass(frozen=True, slots=True)
class Vswitch:
    """Open vSwitch with DPDK. None means: let the plan decide."""

    pmd_cpus: tuple[int, ...] | None = None
    socket_memory_mib: int | None = None
    rx_queues: int = 1
    descriptors: int = 1024
    mtu: int | None = None


@dataclass(frozen=True, slots=True)
class Vnf:
    """The network function. kind "wsdp" or "testpmd"; mode "io", "mac" or "macswap".

    own_process None: separate processes where the machine has the cores, else one process.
    """

    kind: str = "wsdp"
    mode: str = "mac"
    own_process: bool | None = None


@dataclass(frozen=True, slots=True)
class Impair:
    """The reference SUT of the wire topology. 0 switches a property off."""

    rate_fps: float = 0.0
    delay_ns: int = 0
    loss_every: int = 0
    queue_frames: int = 1024


@dataclass(frozen=True, slots=True)
class Sut:
    vswitch: Vswitch = field(default_factory=Vswitch)
    vnf: Vnf = field(default_factory=Vnf)
    impair: Impair = field(default_factory=Impair)
    # external: DPDK device strings or PCI addresses of the generator's ports
    ports: tuple[str, ...] = ()


class SearchKind(StrEnum):
    RFC2544 = "rfc2544"
    TST009 = "tst009"
    MLR = "mlr"
    QUICK = "quick"
    MRR = "mrr"
    FIXED = "fixed"


@dataclass(frozen=True, slots=True)
class Search:
    """How loads are chosen. None means the preset's own value (measure/search/presets.py)."""

    kind: SearchKind = SearchKind.QUICK
    min_load_fps: float = 10_000.0
    max_load_fps: float | None = None
    trial_s: float | None = None
    width: float | None = None
    repeats_invalid: int = 5
    pdr_loss: float = 0.005
    load_fps: float | None = None
    step_fps: float | None = None
    max_r: int | None = None
    max_z: int | None = None
    latency: bool = True
    latency_trial_s: float | None = None


@dataclass(frozen=True, slots=True)
class PointSpec:
    """Everything one point of a study depends on; its id is the hash of its canonical form."""

    topology: Topology = field(default_factory=Topology)
    traffic: Traffic = field(default_factory=Traffic)
    sut: Sut = field(default_factory=Sut)
    search: Search = field(default_factory=Search)
