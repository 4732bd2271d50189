# SPDX-License-Identifier: Apache-2.0
"""Compute the packet memory of a bench's vSwitch and DPDK processes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from wirespeed.model.plan.needs import Needs
from wirespeed.model.plan.plan import Decision, HugePages, ProcessMemory
from wirespeed.model.study.spec import Frames, Vswitch
from wirespeed.model.units import FCS_BYTES

_KIB, _MIB = 1024, 1024 * 1024
# rte_mbuf is two cache lines; DPDK keeps the headroom in front of the data.
_MBUF_HEADER_BYTES, _HEADROOM_BYTES = 128, 128
# Mempool cache of each lcore; it may hold 1.5 times this number (rte_mempool).
_CACHE_MBUFS = 512
# Bursts in flight between rings.
_IN_FLIGHT = 4096
# Programs, rings, histograms and telemetry of an idle DPDK process, measured.
_PROCESS_MIB = 64
# Sequence state of a flow at its sender and at its receiver.
_FLOW_BYTES = 64

# Open vSwitch, lib/netdev-dpdk.c: buffers are a multiple of 1 KiB, and each carries a header.
_OVS_BUFFER_STEP, _OVS_OBJECT_HEADER_BYTES = 1024, 960
_OVS_BUFFERS = 32_768
_OVS_PROCESS_MIB = 128

# A port with its own pool has 16,384 buffers and those in its rings, by default 2,048 per queue. It
# has one Tx queue for each PMD thread and one for the main thread.
_OVS_PORT_BUFFERS, _OVS_RING = 16_384, 2_048
SHARED_POOL = Decision(_OVS_BUFFERS, f"a pool of {_OVS_BUFFERS} buffers")


def port_pools(vswitch: Vswitch, ports: int, pmds: int) -> Decision[int]:
    """Return the number of buffers of all ports if each has its own pool."""
    each = _OVS_PORT_BUFFERS + (vswitch.rx_queues + pmds + 1) * _OVS_RING
    return Decision(ports * each, f"{ports} pools of {each} buffers, one for each port")


def process_memory(
    frames: Frames,
    needs: Needs,
    ports: int,
    nodes: Iterable[int],
    *,
    lcores: int = 1,
    huge: bool = True,
) -> Decision[ProcessMemory]:
    """Return the memory of one wsdp or testpmd process with these ports on each node.

    All rings may be full at once, and frames that functions hold occupy buffers, too.
    """
    vswitch = frames.sut.vswitch
    rings = ports * 2 * vswitch.descriptors * vswitch.rx_queues
    cached = lcores * _CACHE_MBUFS * 3 // 2
    mbufs = _power_of_two(rings + cached + needs.held_frames + _IN_FLIGHT) - 1
    data = _round_up(max(2048, *frames.wire_bytes), 64) + _HEADROOM_BYTES
    flows = needs.tables_bytes + needs.flows * _FLOW_BYTES * len(frames.directions)
    # Without huge pages DPDK places no buffer across pages that may not be contiguous.
    each = data + _MBUF_HEADER_BYTES if huge else _round_up(data + _MBUF_HEADER_BYTES, 4 * _KIB)
    mib = _round_up(_PROCESS_MIB + -(-(mbufs * each + flows) // _MIB), 2)
    return Decision(
        ProcessMemory(mbufs, data, mib, tuple(sorted(set(nodes))), huge),
        f"{ports} ports x {vswitch.descriptors} descriptors each way, {lcores} lcore "
        f"caches and {needs.held_frames} frames held back need {mbufs} buffers of {data} octets",
    )


def socket_memory(
    vswitch: Vswitch,
    mtu: int,
    nodes: Iterable[int],
    buffers: Decision[int] = SHARED_POOL,
    page_kib: int = 2048,
) -> Decision[tuple[int, ...]]:
    """Return Open vSwitch's huge-page memory of each node in MiB, in whole pages."""
    present = sorted(nodes)
    per_node = vswitch.socket_memory_mib
    if per_node is not None:
        because = "chosen in sut.vswitch.socket_memory_mib"
    else:
        data = _round_up(mtu + 14 + FCS_BYTES + 8 + _HEADROOM_BYTES, _OVS_BUFFER_STEP)
        pool_mib = buffers.value * (data + _OVS_OBJECT_HEADER_BYTES) / _MIB
        per_node = _round_up(int(pool_mib) + _OVS_PROCESS_MIB, 64)
        because = (
            f"{buffers.because}, for MTU {mtu}, and {_OVS_PROCESS_MIB} MiB besides; "
            "vhost-user rings hold none of them, so more would only be cleared at start"
        )
    per_node = _round_up(per_node, max(1, page_kib // _KIB))
    return Decision(tuple(per_node for _ in present), because)


def huge_pages(need_mib: Mapping[int, int], size_kib: int) -> tuple[HugePages, ...]:
    """Return the huge pages that hold the given MiB of each node."""
    return tuple(
        HugePages(node, size_kib, -(-mib * _KIB // size_kib))
        for node, mib in sorted(need_mib.items())
        if mib
    )


def _round_up(value: int, step: int) -> int:
    return -(-value // step) * step


def _power_of_two(value: int) -> int:
    return 1 << (value - 1).bit_length()
