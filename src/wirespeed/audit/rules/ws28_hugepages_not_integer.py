# SPDX-License-Identifier: Apache-2.0
"""Find counts of huge pages on the kernel command line that are not whole numbers."""

from __future__ import annotations

import re

from wirespeed.audit.fixes import kernel_arguments
from wirespeed.audit.needs import Need
from wirespeed.audit.rule import NotApplicable, Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.host.finding import Severity

# One count, or counts per node (since Linux 5.16): "8" or "0:4,1:4".
VALID = re.compile(r"\d+|\d+:\d+(,\d+:\d+)*")


def check(subject: Subject) -> Outcome:
    words = subject.facts.kernel.cmdline.split()
    given = [word.partition("=")[2] for word in words if word.startswith("hugepages=")]
    if not given:
        return NotApplicable("no hugepages= on the kernel command line")
    odd = [text for text in given if not VALID.fullmatch(text)]
    if not odd:
        return Passed(f"hugepages={', '.join(given)}")
    return [
        Problem(
            found=f"hugepages={text}",
            wanted=f"hugepages={_whole(text)}",
            fix=kernel_arguments(subject.distribution, f"hugepages={_whole(text)}"),
        )
        for text in odd
    ]


def _whole(text: str) -> str:
    leading = re.match(r"\d+", text)
    return leading[0] if leading else "N"


RULE = Rule(
    id="WS28",
    name="hugepages-not-integer",
    title="hugepages= is not a whole number",
    severity=Severity.LOW,
    needs=(Need.KERNEL,),
    wanted="hugepages=N with a whole number N (or counts per node)",
    why="The kernel stops reading 164.0 at the point, so it works by accident. The number comes "
    "from a division in a deployment script; a tool that compares it with a plan finds another "
    "value.",
    source="S3 table 4 (hugepages=164.0); kernel-parameters.txt, hugepages",
    check=check,
)
