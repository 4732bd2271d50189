# SPDX-License-Identifier: Apache-2.0
"""Report processor weaknesses that are open, which some set for speed."""

from __future__ import annotations

from wirespeed.audit.fixes import microcode, without_kernel_arguments
from wirespeed.audit.needs import Need
from wirespeed.audit.rule import NothingToCheck, Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.host.finding import Severity

# Words of the kernel command line that turn mitigations off, or some of them.
_OFF = (
    "mitigations", "nopti", "pti", "nospectre_v1", "nospectre_v2", "spectre_v2",
    "spec_store_bypass_disable", "nospec_store_bypass_disable", "l1tf", "mds", "tsx_async_abort",
    "mmio_stale_data", "retbleed", "spec_rstack_overflow", "gather_data_sampling", "srbds",
    "reg_file_data_sampling", "indirect_target_selection", "tsa", "vmscape",
)  # fmt: skip
_ON = (["auto"], ["on"], ["auto,nosmt"])


def check(subject: Subject) -> Outcome:
    known = subject.facts.vulnerabilities
    if known is None:
        raise NothingToCheck("the kernel reports no weaknesses")
    still_open = [each.name for each in known if each.open]
    mitigated = [each.name for each in known if each.mitigated]
    if not still_open:
        if not mitigated:
            return Passed(f"none of {len(known)} weaknesses is open")
        return Passed(
            f"mitigated: {', '.join(mitigated)}. Off, system calls and guest exits get faster, and "
            "any guest may read the host's memory"
        )
    words = _words(subject.facts.kernel.cmdline)
    by = f"; kernel command line: {' '.join(words)}" if words else ""
    return [
        Problem(
            found=f"open: {', '.join(still_open)}{by}",
            wanted="mitigated, or a decision that all code here is trusted (--suppressions)",
            fix=_fix(subject, words),
        )
    ]


def _words(cmdline: str) -> list[str]:
    pairs = [(word, *word.split("=", 1)) for word in cmdline.split()]
    return [word for word, key, *value in pairs if key in _OFF and value not in _ON]


def _fix(subject: Subject, words: list[str]) -> tuple[str, ...]:
    on = subject.distribution
    removed = without_kernel_arguments(on, " ".join(words)) if words else ()
    return (*removed, *microcode(on, subject.facts.cpu_model))


RULE = Rule(
    id="WS69",
    name="mitigations",
    title="Weaknesses of the processor are open",
    severity=Severity.MEDIUM,
    needs=(Need.VULNERABILITIES, Need.KERNEL),
    wanted="every known weakness of the processor mitigated where guests are not trusted",
    why="The price of mitigations=off is security: a guest or program may read the memory of the "
    "host and of other guests. It buys faster system calls, interrupts and guest exits, of which "
    "threads that poll make few; the kernel's own paths (vhost-net, bridges) make many.",
    source="Linux, admin-guide/hw-vuln/index.rst and kernel-parameters.txt (mitigations=)",
    check=check,
    vendor_advice=True,
)
