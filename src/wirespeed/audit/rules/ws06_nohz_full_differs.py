# SPDX-License-Identifier: Apache-2.0
"""Check that the timer tick is stopped on exactly the isolated CPUs."""

from __future__ import annotations

from wirespeed.audit.fixes import kernel_arguments
from wirespeed.audit.needs import Need
from wirespeed.audit.rule import Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.cpuset import format_list
from wirespeed.model.host.finding import Severity


def check(subject: Subject) -> Outcome:
    kernel = subject.facts.kernel
    isolated = format_list(kernel.isolated)
    if kernel.nohz_full == kernel.isolated:
        return Passed(f"nohz_full and isolated are both {isolated}")
    if kernel.nohz_full is None:
        return [
            Problem(
                found=f"kernel {kernel.release} cannot stop the tick: it was built without "
                "CONFIG_NO_HZ_FULL",
                wanted=f"a kernel with CONFIG_NO_HZ_FULL and nohz_full={isolated}",
                fix=("# install a kernel built with CONFIG_NO_HZ_FULL=y",),
            )
        ]
    return [
        Problem(
            found=f"nohz_full is {format_list(kernel.nohz_full) or 'empty'}, isolated {isolated}",
            wanted=f"nohz_full={isolated}",
            fix=kernel_arguments(subject.distribution, f"nohz=on nohz_full={isolated}"),
        )
    ]


RULE = Rule(
    id="WS06",
    name="nohz-full-differs",
    title="nohz_full is not the set of isolated CPUs",
    severity=Severity.HIGH,
    needs=(Need.ISOLATED,),
    wanted="nohz_full equal to isolcpus",
    why="The timer tick interrupts a polling thread up to 1000 times a second and runs deferred "
    "kernel work with it.",
    source="S3 appendix C, IsolCPUs, and table 4",
    check=check,
)
