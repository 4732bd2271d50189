# SPDX-License-Identifier: Apache-2.0
"""Find planned kernel words that GRUB's environment block cannot hold."""

from __future__ import annotations

from wirespeed.audit.fixes import command
from wirespeed.audit.needs import Need
from wirespeed.audit.rule import NotApplicable, Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.host.finding import Severity


def check(subject: Subject) -> Outcome:
    block = subject.facts.boot_environment
    if block is None or block.kernel_words is None:
        return NotApplicable("GRUB's environment block does not hold the kernel command line")
    planned = [word.value for word in subject.host_plan.kernel] if subject.host_plan else []
    if not planned:
        return Passed(f"{block.used} of {block.size} octets are used; --plan adds planned words")
    needed = block.used + _octets(_with(block.kernel_words, planned)) - _octets(block.kernel_words)
    if needed <= block.size:
        return Passed(f"{needed} of {block.size} octets with the planned kernel words")
    return [
        Problem(
            found=f"with the planned kernel words {block.path} needs {needed} octets and has "
            f"{block.size}",
            wanted=f"at most {block.size} octets",
            fix=(
                *_by_grubby(subject, planned),
                "# shorter lists: a step, e.g. 2-94:1/2 for CPUs 2, 4, ... 94 "
                "(kernel-parameters.rst)",
            ),
        )
    ]


def _by_grubby(subject: Subject, planned: list[str]) -> tuple[str, ...]:
    if subject.distribution.new_menu:  # This distribution has no grubby.
        return ()
    return (
        command("grubby", "--update-kernel=DEFAULT", f"--args={' '.join(planned)}"),
        "# it writes them into the kernel's own file in /boot/loader/entries, which has no such "
        "limit; repeat it for each new kernel",
    )


def _with(line: str, planned: list[str]) -> str:
    """Return the line with the planned words in place of those that set the same parameters."""
    keys = {word.partition("=")[0] for word in planned}
    return " ".join([*(w for w in line.split() if w.partition("=")[0] not in keys), *planned])


def _octets(line: str) -> int:
    # GRUB writes a backslash before each backslash of a value.
    return len(line.replace("\\", "\\\\").encode())


RULE = Rule(
    id="WS71",
    name="boot-environment",
    title="GRUB cannot hold the planned kernel command line",
    severity=Severity.HIGH,
    needs=(Need.BOOT_ENVIRONMENT,),
    wanted="the kernel command line within GRUB's environment block (1,024 octets), if it is there",
    why="Where boot entries use $kernelopts (RHEL 8), grubby writes the words for all kernels into "
    'this block. It ends with "environment block too small" and the next boot lacks them: '
    "isolcpus, nohz_full and rcu_nocbs each repeat the list of CPUs.",
    source="GNU GRUB Manual, environment block; grubby(8) of RHEL 8",
    check=check,
)
