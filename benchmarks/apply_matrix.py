# SPDX-License-Identifier: Apache-2.0
"""Count which decisions of a plan are applied, survive a reboot, and are rolled back.

The examples' workloads, scaled to an emulated server that is started for this, one after the other:
facts, plan, apply with its reboot, another reboot, verify, rollback with its reboot. Prints a table
of decisions x {applied, verified, restored} with the number of plans in which each holds, and every
exception with its reason. `python -m benchmarks.apply_matrix s1-bng` does one example.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.lab_switch import start_switch
from benchmarks.shared.scaled_workloads import EXAMPLES, LARGE_PAGE_KIB, SMALL_PAGE_KIB, scaled

from wirespeed.apply import session
from wirespeed.apply.row import Row, Verdict
from wirespeed.host.collect import collect
from wirespeed.image.cache import ImageCache, images_directory
from wirespeed.lab.lab import Lab
from wirespeed.lab.node import Node
from wirespeed.plan.planner import plan_workload
from wirespeed.remote.local import LocalRunner
from wirespeed.remote.reach import reach

# With less memory, node 0 has no contiguous GiB.
CPUS, MEMORY_GIB = 12, 4


@dataclass
class Count:
    """Places in the plans that have a decision, and in how many of them it held."""

    planned: int = 0
    applied: int = 0
    verified: int = 0
    restored: int = 0
    exceptions: dict[str, int] = field(default_factory=dict)


def main(wanted: Sequence[str]) -> int:
    counts: dict[str, Count] = {}
    with tempfile.TemporaryDirectory(prefix="wirespeed-matrix-") as state:
        os.environ["XDG_STATE_HOME"] = state
        lab = Lab(Path(state) / "wirespeed", LocalRunner())
        images = ImageCache(images_directory(os.environ), LocalRunner())
        (node,) = lab.up(images, nodes=1, cpus=CPUS, memory_gib=MEMORY_GIB)
        try:
            prepare(node)
            for example in wanted or EXAMPLES:
                add(counts, lab, node, example)
        finally:
            lab.down()
    show(counts)
    return 0


def prepare(node: Node) -> None:
    """Make the boot menu with update-grub, and start Open vSwitch with DPDK."""
    with node.runner() as runner:
        runner.run(["update-grub"], timeout_s=300.0)
        start_switch(runner, timeout_s=120.0)
        runner.run(["sync"])


def add(counts: dict[str, Count], lab: Lab, node: Node, example: str) -> None:
    """Apply the example's plan, look, roll it back, look again."""
    way = f"ssh://{node.name}"
    with node.runner() as runner:
        facts = collect(runner)
    page_kib = LARGE_PAGE_KIB if example == "s0-speedtest" else SMALL_PAGE_KIB
    plan = plan_workload(scaled(example, facts, page_kib), [facts])
    guests = sum(len(host.guests) for host in plan.hosts)
    print(f"# {example}: {guests} guests placed, {len(plan.unplaced)} not", flush=True)
    before = found(session.verify(reach, way, plan)[1])
    applied = session.apply(reach, way, plan, may_reboot=True)
    lab.reboot(node.name)
    _, verified = session.verify(reach, way, plan)
    undone = session.undo(reach, way, may_reboot=True)
    after = found(session.verify(reach, way, plan)[1])
    holds = {row.decision: row.verdict for row in applied.rows or verified}
    for row in verified:
        if row.decision.startswith("audit"):
            continue
        count = counts.setdefault(kind(row), Count())
        count.planned += 1
        count.applied += holds.get(row.decision) is Verdict.OK
        count.verified += row.verdict is Verdict.OK
        same = before.get(row.decision) == after.get(row.decision)
        count.restored += same and not undone.failed
        reason = row.note or (f"is {row.found}" if row.verdict is not Verdict.OK else "")
        if row.verdict is not Verdict.OK:
            count.exceptions[reason] = count.exceptions.get(reason, 0) + 1
    for row in verified:
        if row.decision.startswith("audit"):
            print(f"{row.decision}: {row.verdict}: {row.note or row.found}")
    for result in undone.results:
        if result.failed:
            print(f"not restored: {result.name}: {result.note}")
    for difference in undone.differences or ():
        print(f"after rollback {difference.fact}: {difference.expected or difference}")


def found(rows: Sequence[Row]) -> dict[str, str]:
    return {row.decision: row.found for row in rows}


def kind(row: Row) -> str:
    """Return the kind of a decision, without the names of guests, ports and devices."""
    text = re.sub(r"\[[^]]*\]", "", row.decision)
    return re.sub(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.\d|node \d|of \d+ KiB ", "*", text)


def show(counts: dict[str, Count]) -> None:
    width = max(map(len, counts), default=0)
    print(f"{'decision':<{width}}  planned  applied  verified  restored")
    for name, count in counts.items():
        cells = f"{count.planned:7}  {count.applied:7}  {count.verified:8}  {count.restored:8}"
        print(f"{name:<{width}}  {cells}")
        for reason, times in count.exceptions.items():
            print(f"{'':<{width}}    {times} x {reason}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
