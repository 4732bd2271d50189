# SPDX-License-Identifier: Apache-2.0
"""Compare the memory models with the values that their sources print."""

from __future__ import annotations

import pytest

from wirespeed.model.plan.host_rules import MemoryModel
from wirespeed.plan.sizing.ovs_memory import (
    DpdkPort,
    jetpack_round,
    mbuf_bytes,
    port_mbufs,
    round_up,
    socket_memory,
)

# S3: a quad-port XXV710 with MTU 9000; 2 Rx queues, 4096 descriptors, 10 PMDs + 1 Tx queues.
S3_PORTS = [DpdkPort(0, 9000, 2, 4096, 11, 4096)] * 4


@pytest.mark.parametrize(
    ("model", "exact", "configured"),
    [
        (MemoryModel.S3_PER_PORT, 10528, 11264),
        (MemoryModel.S3_AUTOMATED, 10528, 12288),
        (MemoryModel.S3_FIGURE_7, 7398, 8192),
        (MemoryModel.TRIPLEO, 3016, 3072),
        (MemoryModel.JETPACK, 3016, 3072),
        (MemoryModel.OVS_SHARED, 2544, 3072),
        (MemoryModel.OVS_PER_PORT, 2705, 3072),
    ],
)
def test_s3s_four_ports(model: MemoryModel, exact: int, configured: int) -> None:
    memory = socket_memory(model, S3_PORTS, [0, 1])
    assert int(memory[0].exact_mib) == exact
    assert memory[0].mib == configured
    assert memory[1].mib == 1024


def test_tripleo_counts_each_distinct_mtu_once() -> None:
    ports = [DpdkPort(0, 9000), DpdkPort(0, 2000), DpdkPort(0, 2000)]
    memory = socket_memory(MemoryModel.TRIPLEO, ports, [0])
    assert memory[0].exact_mib == 3728
    assert memory[0].mib == 4096


def test_one_port_of_the_per_port_model() -> None:
    memory = socket_memory(MemoryModel.OVS_PER_PORT, S3_PORTS[:1], [0])
    assert int(memory[0].exact_mib) == 676


@pytest.mark.parametrize(("mtu", "size"), [(1500, 3008), (1800, 3008), (6000, 7104), (9000, 10176)])
def test_mbuf_sizes_of_the_ovs_manual(mtu: int, size: int) -> None:
    assert mbuf_bytes(mtu) == size


@pytest.mark.parametrize(
    ("rxq", "pmds", "mbufs"), [(1, 1, 22560), (1, 2, 24608), (2, 2, 26656 + 32)]
)
def test_mbuf_counts_of_the_ovs_manual(rxq: int, pmds: int, mbufs: int) -> None:
    """Compare with the manual's examples.

    The third one counts one burst, while the manual's formula counts one for each rxq.
    """
    assert port_mbufs(DpdkPort(0, 1500, rxq, 2048, pmds + 1, 2048)) == mbufs


def test_a_small_mtu_has_a_small_shared_pool() -> None:
    small = socket_memory(MemoryModel.OVS_SHARED, [DpdkPort(0, 1499)], [0])[0]
    large = socket_memory(MemoryModel.OVS_SHARED, [DpdkPort(0, 1500)], [0])[0]
    assert large.exact_mib == 16 * small.exact_mib


def test_jetpack_rounds_exact_multiples_up() -> None:
    assert (round_up(11264, 1024), jetpack_round(11264, 1024)) == (11264, 12288)
    assert (round_up(7398, 1024), jetpack_round(7398, 1024)) == (8192, 8192)
    assert jetpack_round(1024, 1024) == 1024
