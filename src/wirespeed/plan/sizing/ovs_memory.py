# SPDX-License-Identifier: Apache-2.0
"""Compute DPDK's huge page memory for its ports, in MiB per NUMA node.

The sources disagree. Each is a named model here, with its rounding errors:

  s3-per-port   S3 appendix C: each port (round_up(MTU, 1024) + 800) x 4096 x 64 B, + 512 MiB, up to
                whole GiB.
  s3-automated  S3's value after JetPack's rounding, which adds another GiB to exact multiples.
  s3-figure-7   S3 figure 7 as printed: 11264 x 64 packets; a `break` counts one port per node.
  tripleo       Red Hat: as s3-per-port, but once for each distinct MTU of a node.
  jetpack       JetPack nfv_parameters.py: one MTU a node (the same `break`), JetPack's rounding.
  ovs-shared    Open vSwitch: one mempool of 262144 mbufs (16384 below MTU 1500) for each MTU.
  ovs-per-port  Open vSwitch with per-port-memory=true: mbufs by queues and descriptors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from wirespeed.model.plan.host_rules import MemoryModel

MIB = 1024 * 1024

# S3 and Red Hat.
OVERHEAD_BYTES = 800
POOL_PACKETS = 4096 * 64
BUFFER_BYTES = 512 * MIB
STEP_MIB = 1024
NO_PORTS_MIB = 1024
FIGURE_7_PACKETS = 11264 * 64

# Open vSwitch, Documentation/topics/dpdk/memory.rst and lib/netdev-dpdk.c.
SHARED_MBUFS = 262144
SMALL_MTU_MBUFS = 16384
MIN_MBUFS = 16384
BURST = 32
MAX_LCORES = 128
# Ethernet header, FCS and two VLAN tags around the MTU; mbuf, OVS packet and mempool headers.
FRAME_OVERHEAD_BYTES = 26
BUFFER_ALIGN = 1024
HEADROOM_BYTES = 128
OBJECT_OVERHEAD_BYTES = 832


@dataclass(frozen=True, slots=True)
class DpdkPort:
    """A physical DPDK port on a NUMA node, with its queues and descriptors."""

    node: int
    mtu: int
    rx_queues: int = 1
    rx_descriptors: int = 2048
    tx_queues: int = 1
    tx_descriptors: int = 2048


@dataclass(frozen=True, slots=True)
class NodeMemory:
    """Memory of one NUMA node."""

    exact_mib: float
    """Value of the formula."""
    mib: int
    """Value to configure."""
    formula: str
    """The sum in words."""


def socket_memory(
    model: MemoryModel, ports: Iterable[DpdkPort], nodes: Iterable[int]
) -> dict[int, NodeMemory]:
    """Return the memory of each node. A node without DPDK ports gets 1024 MiB (S3, Red Hat)."""
    ports = tuple(ports)
    result = {}
    for node in nodes:
        here = [port for port in ports if port.node == node]
        if here:
            result[node] = _MODELS[model](here)
        else:
            result[node] = NodeMemory(NO_PORTS_MIB, NO_PORTS_MIB, "no DPDK port on this node")
    return result


def mbuf_bytes(mtu: int) -> int:
    """Return the size of one mempool object of Open vSwitch, e.g. 10176 for an MTU of 9000."""
    buffer = round_up(mtu + FRAME_OVERHEAD_BYTES, BUFFER_ALIGN) + HEADROOM_BYTES
    return buffer + OBJECT_OVERHEAD_BYTES


def port_mbufs(port: DpdkPort) -> int:
    """Return the number of mbufs in a port's own mempool (per-port-memory=true)."""
    return (
        port.rx_queues * port.rx_descriptors
        + port.tx_queues * port.tx_descriptors
        + min(MAX_LCORES, port.rx_queues) * BURST
        + MIN_MBUFS
    )


def round_up(value: int, step: int) -> int:
    """Return the next multiple of `step`; a multiple stays as it is."""
    return -(-value // step) * step


def jetpack_round(value: int, step: int) -> int:
    """Return JetPack's round_to_nearest: exact multiples above `step` grow by a whole step."""
    return step if value <= step else (value // step + 1) * step


def _s3_per_port(ports: list[DpdkPort]) -> NodeMemory:
    total = sum(_packets_bytes(port.mtu) for port in ports) + BUFFER_BYTES
    mtus = " + ".join(f"{port.mtu}" for port in ports)
    return _up_to_gib(total, f"one pool for each port, MTU {mtus}, + 512 MiB")


def _tripleo(ports: list[DpdkPort]) -> NodeMemory:
    mtus = sorted({port.mtu for port in ports})
    total = sum(_packets_bytes(mtu) for mtu in mtus) + BUFFER_BYTES
    words = " + ".join(map(str, mtus))
    return _up_to_gib(total, f"one pool for each distinct MTU, {words}, + 512 MiB")


def _jetpack(ports: list[DpdkPort]) -> NodeMemory:
    mtu = jetpack_round(max(port.mtu for port in ports), 1024)
    exact = ((mtu + OVERHEAD_BYTES) * POOL_PACKETS + BUFFER_BYTES) / MIB
    words = f"({mtu} + 800) x 4096 x 64 for the first port only, + 512 MiB"
    return NodeMemory(exact, jetpack_round(int(exact), STEP_MIB), words)


def _s3_figure_7(ports: list[DpdkPort]) -> NodeMemory:
    mtu = jetpack_round(max(port.mtu for port in ports), 1024)
    exact = ((mtu + OVERHEAD_BYTES) * FIGURE_7_PACKETS + BUFFER_BYTES) / MIB
    words = f"({mtu} + 800) x 11264 x 64 for the first port only, + 512 MiB"
    return NodeMemory(exact, jetpack_round(int(exact), STEP_MIB), words)


def _s3_automated(ports: list[DpdkPort]) -> NodeMemory:
    manual = _s3_per_port(ports)
    words = f"{manual.formula}; {manual.mib} MiB rounded once more by JetPack"
    return NodeMemory(manual.exact_mib, jetpack_round(manual.mib, STEP_MIB), words)


def _ovs_shared(ports: list[DpdkPort]) -> NodeMemory:
    mtus = sorted({port.mtu for port in ports})
    total = 0
    for mtu in mtus:
        total += (SHARED_MBUFS if mtu >= 1500 else SMALL_MTU_MBUFS) * mbuf_bytes(mtu)
    words = ", ".join(f"{mbuf_bytes(mtu)} B for MTU {mtu}" for mtu in mtus)
    return _up_to_gib(total, f"262144 mbufs (16384 below MTU 1500) of {words}")


def _ovs_per_port(ports: list[DpdkPort]) -> NodeMemory:
    total = sum(port_mbufs(port) * mbuf_bytes(port.mtu) for port in ports)
    words = " + ".join(f"{port_mbufs(port)} x {mbuf_bytes(port.mtu)} B" for port in ports)
    return _up_to_gib(total, f"rxq*rxd + txq*txd + 32*rxq + 16384 mbufs a port: {words}")


def _packets_bytes(mtu: int) -> int:
    return (round_up(mtu, 1024) + OVERHEAD_BYTES) * POOL_PACKETS


def _up_to_gib(total_bytes: int, formula: str) -> NodeMemory:
    return NodeMemory(total_bytes / MIB, round_up(-(-total_bytes // MIB), STEP_MIB), formula)


_MODELS: Mapping[MemoryModel, Callable[[list[DpdkPort]], NodeMemory]] = {
    MemoryModel.S3_PER_PORT: _s3_per_port,
    MemoryModel.S3_AUTOMATED: _s3_automated,
    MemoryModel.S3_FIGURE_7: _s3_figure_7,
    MemoryModel.TRIPLEO: _tripleo,
    MemoryModel.JETPACK: _jetpack,
    MemoryModel.OVS_SHARED: _ovs_shared,
    MemoryModel.OVS_PER_PORT: _ovs_per_port,
}

MODEL_SOURCES: Mapping[MemoryModel, str] = {
    MemoryModel.S3_PER_PORT: "S3 appendix C",
    MemoryModel.S3_AUTOMATED: "S3 appendix C, automated deployment",
    MemoryModel.S3_FIGURE_7: "S3 figure 7 as printed",
    MemoryModel.TRIPLEO: "Red Hat OpenStack, OvsDpdkSocketMemory",
    MemoryModel.JETPACK: "JetPack nfv_parameters.py",
    MemoryModel.OVS_SHARED: "Open vSwitch, DPDK device memory models, shared",
    MemoryModel.OVS_PER_PORT: "Open vSwitch, DPDK device memory models, per port",
}
