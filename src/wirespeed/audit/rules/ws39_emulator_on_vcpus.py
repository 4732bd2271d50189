# SPDX-License-Identifier: Apache-2.0
"""Find guests whose QEMU emulator threads share CPUs with pinned vCPUs."""

from __future__ import annotations

from wirespeed.audit.cores import pinned_cpus
from wirespeed.audit.fixes import command
from wirespeed.audit.needs import Need
from wirespeed.audit.rule import NotApplicable, Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.cpuset import format_list
from wirespeed.model.host.finding import Severity
from wirespeed.model.host.guest_facts import Guest


def check(subject: Subject) -> Outcome:
    facts = subject.facts
    pinned = [guest for guest in facts.guests or () if pinned_cpus(guest)]
    if not pinned:
        return NotApplicable("no guest has pinned vCPUs")
    mixed = [(guest, shared) for guest in pinned if (shared := _shared(guest))]
    if not mixed:
        return Passed(f"emulator threads of {len(pinned)} pinned guests run elsewhere")
    shared_set = facts.nova.shared_cpus if facts.nova else None
    host = shared_set or tuple(set(facts.online_cpus) - set(facts.kernel.isolated))
    return [
        Problem(
            found=f"emulator threads of {guest.name} run on its vCPUs' CPUs {format_list(shared)}",
            wanted=f"emulator threads on {format_list(host)}",
            fix=(
                command(
                    "virsh", "emulatorpin", guest.name, format_list(host), "--live", "--config"
                ),
                "# Nova: hw:emulator_threads_policy=share (with cpu_shared_set) or isolate",
            ),
            subject=guest.name,
        )
        for guest, shared in mixed
    ]


def _shared(guest: Guest) -> set[int]:
    """Return the CPUs of pinned vCPUs that emulator threads may use.

    Emulator threads without a pin may use all of them.
    """
    vcpus = set(pinned_cpus(guest))
    return vcpus if guest.emulator_cpus is None else vcpus & set(guest.emulator_cpus)


RULE = Rule(
    id="WS39",
    name="emulator-on-vcpus",
    title="QEMU's emulator threads run on pinned vCPUs' CPUs",
    severity=Severity.MEDIUM,
    needs=(Need.GUESTS,),
    wanted="emulatorpin without a CPU of the vCPUs' pins",
    why="A console read or a block request in QEMU takes the CPU from a polling vCPU, whose virtio "
    "ring then overflows.",
    source="S3 appendix C, emulator thread policy",
    check=check,
)
