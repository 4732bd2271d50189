# SPDX-License-Identifier: Apache-2.0
"""Find a last-level cache of which devices may write to fewer ways than by default."""

from __future__ import annotations

from wirespeed.audit.needs import Need
from wirespeed.audit.rule import NothingToCheck, Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.host.finding import Severity

_DEFAULT_WAYS = 2


def check(subject: Subject) -> Outcome:
    ways = subject.facts.ddio_ways
    if ways is None:
        raise NothingToCheck("the cache ways of DDIO are not known")
    if ways >= _DEFAULT_WAYS:
        return Passed(f"devices write to {ways} ways of the last-level cache")
    return [
        Problem(
            found=f"devices may write to {ways} of the last-level cache's ways",
            wanted=f"{_DEFAULT_WAYS} ways or more",
            fix=(
                "rdmsr --all --hexadecimal 0xc8b  # one bit a way; package msr-tools, module msr",
                "# in the firmware's setup: Intel DDIO (DCA) on, its ways by default; or a program "
                "that sets them, such as pqos --iface=msr",
            ),
        )
    ]


RULE = Rule(
    id="WS67",
    name="ddio-ways",
    title="NICs write past the cache",
    severity=Severity.MEDIUM,
    needs=(Need.DDIO,),
    wanted=f"{_DEFAULT_WAYS} ways of the last-level cache or more for devices (Intel DDIO)",
    why="A NIC writes frames into these ways. Frames that do not fit go to memory, and the thread "
    "that polls them waits for it.",
    source="A. Farshin et al., Reexamining Direct Cache Access, USENIX ATC 2020",
    check=check,
    vendor_advice=True,
)
