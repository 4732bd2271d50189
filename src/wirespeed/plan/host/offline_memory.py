# SPDX-License-Identifier: Apache-2.0
"""Report installed memory that a plan does not count because its blocks are offline."""

from __future__ import annotations

from wirespeed.model.host.facts import HostFacts


def offline_memory(facts: HostFacts) -> tuple[str, ...]:
    """Return one clause for each node with offline memory blocks, in MiB."""
    return tuple(
        f"node {node.id} has {node.offline_kib // 1024} MiB in offline memory blocks, which are "
        "not counted"
        for node in facts.nodes
        if node.offline_kib
    )
