# SPDX-License-Identifier: Apache-2.0
"""Parse `dpif-netdev/pmd-rxq-show` in the layout of OVS 2.10 to 3.5."""

from __future__ import annotations

import re

from wirespeed.model.host.ovs_facts import PmdThread, Rxq

_PMD = re.compile(r"^pmd thread numa_id ([0-9]{1,9}) core_id ([0-9]{1,9}):")
_RXQ = re.compile(
    r"^\s+port: (\S+)\s+queue-id:\s*([0-9]{1,9})\s+(?:\((\w+)\))?\s*pmd usage:\s*([0-9]{1,9})?"
)


def parse_pmd_rxq_show(shown: str) -> tuple[PmdThread, ...]:
    """Return the PMD threads and their rxqs, sorted by core."""
    threads: list[tuple[int, int, bool, list[Rxq]]] = []
    for line in shown.split("\n"):
        head, queue = _PMD.match(line), _RXQ.match(line)
        if head:
            threads.append((int(head[2]), int(head[1]), False, []))
        elif threads and re.match(r"^\s+isolated\s*:\s*true", line):
            core, node, _, queues = threads[-1]
            threads[-1] = (core, node, True, queues)
        elif threads and queue:
            usage = int(queue[4]) if queue[4] else None
            threads[-1][3].append(Rxq(queue[1], int(queue[2]), queue[3] != "disabled", usage))
    return tuple(PmdThread(c, n, i, tuple(q)) for c, n, i, q in sorted(threads, key=_by_core))


def _by_core(thread: tuple[int, int, bool, list[Rxq]]) -> int:
    return thread[0]
