# SPDX-License-Identifier: Apache-2.0
"""Report system management interrupts that a qualification counted on polling CPUs."""

from __future__ import annotations

from wirespeed.audit.needs import Need
from wirespeed.audit.rule import (
    FactUnusable,
    NothingToCheck,
    Outcome,
    Passed,
    Problem,
    Rule,
    Subject,
)
from wirespeed.model.cpuset import format_list
from wirespeed.model.host.finding import Severity


def check(subject: Subject) -> Outcome:
    seen = subject.facts.smis
    if seen is None:
        raise NothingToCheck("no qualification of this host is given")
    if not seen.cpus:
        raise FactUnusable(
            "needs counts of SMIs (MSR 0x34 of Intel): run `modprobe msr`, then `wirespeed qualify`"
        )
    hit = [each for each in seen.cpus if each.count]
    watched = f"in {seen.watched_s:.0f} s on CPUs {format_list(each.cpu for each in seen.cpus)}"
    if not hit:
        return Passed(f"no SMI {watched}")
    most = max(each.count for each in hit)
    longest = f", the longest gap {seen.longest_ns / 1000:.0f} us" if seen.longest_ns else ""
    return [
        Problem(
            found=f"{most} SMIs {watched}{longest}",
            wanted="none",
            fix=(
                "dmidecode --type bios  # the version to look up with the server's vendor",
                "# in the firmware's setup: the vendor's profile for low latency; no monitoring of "
                "power and memory errors by SMI, no emulation of USB keyboards",
            ),
        )
    ]


RULE = Rule(
    id="WS65",
    name="smi",
    title="The firmware stops polling CPUs",
    severity=Severity.MEDIUM,
    needs=(Need.QUALIFIED,),
    wanted="no system management interrupt (SMI) while CPUs poll",
    why="An SMI stops all CPUs at once for tens of microseconds and more, and no setting of the "
    "kernel prevents it. Rings that are too short for the pause lose frames.",
    source="what `wirespeed qualify` counted in two readings of MSR_SMI_COUNT (Intel SDM, volume "
    "4); HPE, Configuring and tuning HPE ProLiant Servers for low-latency applications",
    check=check,
)
