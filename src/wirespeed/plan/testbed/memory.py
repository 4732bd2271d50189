# SPDX-License-Identifier: Apache-2.0
"""Size the packet memory of the vSwitch of a testbed, and the huge pages of its hosts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from wirespeed.model.plan.plan import Decision, HugePages
from wirespeed.model.study.spec import Vswitch
from wirespeed.plan.sizing.ovs_memory import MIB, DpdkPort, mbuf_bytes, port_mbufs, round_up

_KIB = 1024
# Fewer than Open vSwitch's own 262,144: a testbed has a handful of ports.
_SHARED_MBUFS = 32_768
# Memory of ovs-vswitchd beyond its mempools.
_VSWITCHD_MIB = 128
SHARED_POOL = Decision(_SHARED_MBUFS, f"a mempool of {_SHARED_MBUFS} mbufs")


def port_pools(vswitch: Vswitch, mtu: int, ports: int, pmds: int) -> Decision[int]:
    """Count the mbufs of all ports where each port has a mempool of its own.

    A port sends on a queue of each PMD thread and one of the main thread.
    """
    each = port_mbufs(DpdkPort(0, mtu, vswitch.rx_queues, tx_queues=pmds + 1))
    return Decision(ports * each, f"{ports} mempools of {each} mbufs, one a port")


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
        pool_mib = buffers.value * mbuf_bytes(mtu) // MIB
        per_node = round_up(pool_mib + _VSWITCHD_MIB, 64)
        because = (
            f"{buffers.because}, for MTU {mtu}, and {_VSWITCHD_MIB} MiB in addition; "
            "vhost-user rings hold none of them, so more would only slow the start"
        )
    per_node = round_up(per_node, max(1, page_kib // _KIB))
    return Decision(tuple(per_node for _ in present), because)


def huge_pages(need_mib: Mapping[int, int], size_kib: int) -> tuple[HugePages, ...]:
    """Return the huge pages that hold the given MiB of each node."""
    return tuple(
        HugePages(node, size_kib, -(-mib * _KIB // size_kib))
        for node, mib in sorted(need_mib.items())
        if mib
    )
