# SPDX-License-Identifier: Apache-2.0
"""Size the packet memory of a DPDK process: wsdp or testpmd."""

from __future__ import annotations

from collections.abc import Iterable

from wirespeed.model.plan.needs import Needs
from wirespeed.model.plan.plan import Decision, ProcessMemory
from wirespeed.model.study.spec import Frames
from wirespeed.plan.sizing.ovs_memory import HEADROOM_BYTES, MIB, round_up

# struct rte_mbuf is two cache lines.
_MBUF_HEADER_BYTES = 128
_PAGE_BYTES = 4096
# Mempool cache of each lcore; it may hold 1.5 times this number (rte_mempool).
_CACHE_MBUFS = 512
# Bursts in flight between rings.
_IN_FLIGHT = 4096
# Programs, rings, histograms and telemetry of an idle DPDK process, measured.
_PROCESS_MIB = 64
# Sequence state of a flow at its sender and at its receiver.
_FLOW_BYTES = 64


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
    data = round_up(max(2048, *frames.wire_bytes), 64) + HEADROOM_BYTES
    flows = needs.tables_bytes + needs.flows * _FLOW_BYTES * len(frames.directions)
    # Without huge pages DPDK places no buffer across pages that may not be contiguous.
    each = data + _MBUF_HEADER_BYTES if huge else round_up(data + _MBUF_HEADER_BYTES, _PAGE_BYTES)
    mib = round_up(_PROCESS_MIB + -(-(mbufs * each + flows) // MIB), 2)
    return Decision(
        ProcessMemory(mbufs, data, mib, tuple(sorted(set(nodes))), huge),
        f"{ports} ports x {vswitch.descriptors} descriptors each way, {lcores} lcore "
        f"caches and {needs.held_frames} frames held back need {mbufs} buffers of {data} octets",
    )


def _power_of_two(value: int) -> int:
    return 1 << (value - 1).bit_length()
