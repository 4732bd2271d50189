# SPDX-License-Identifier: Apache-2.0
"""Compare DPDK's number of memory channels with the channels of a node."""

from __future__ import annotations

import re

from wirespeed.audit.fixes import ovs_other_config, restart_ovs
from wirespeed.audit.needs import Need
from wirespeed.audit.rule import Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.host.finding import Severity

# Default of rte_mempool.
DPDK_DEFAULT = 4


def check(subject: Subject) -> Outcome:
    facts = subject.facts
    extra = facts.ovs.other_config.get("dpdk-extra", "") if facts.ovs else ""
    given = re.search(r"(?:^|\s)-n[ =]?(\d+)", extra)
    configured = int(given[1]) if given else DPDK_DEFAULT
    channels = (facts.memory_channels or 0) // len(facts.nodes)
    if configured == channels:
        return Passed(f"{channels} channels per node, as DPDK is configured or assumes")
    extra_without_n = re.sub(r"(?:^|\s)-n[ =]?\d+", "", extra).strip()
    wanted = f"{extra_without_n} -n {channels}".strip()
    return [
        Problem(
            found=f"DPDK uses {configured} ({'-n' if given else 'its default'}), the host has "
            f"{channels} populated channels per node",
            wanted=f"-n {channels}",
            fix=(*ovs_other_config(f"dpdk-extra={wanted}"), restart_ovs(subject.distribution)),
        )
    ]


RULE = Rule(
    id="WS23",
    name="memory-channels",
    title="DPDK's number of memory channels is not the node's",
    severity=Severity.LOW,
    needs=(Need.MEMORY_CHANNELS, Need.DPDK),
    wanted="-n in dpdk-extra equal to the populated memory channels of a node",
    why="DPDK pads mempool objects so that they start on different channels; with a wrong number "
    "some channels are busier than others.",
    source="S3 appendix C, DPDK memory channels",
    check=check,
)
