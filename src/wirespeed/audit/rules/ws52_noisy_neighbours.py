# SPDX-License-Identifier: Apache-2.0
"""Report programs and guests that take time from the polling CPUs, as a run measured it."""

from __future__ import annotations

from wirespeed.audit.needs import Need
from wirespeed.audit.rule import NothingToCheck, Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.host.finding import Severity
from wirespeed.model.host.neighbours import Neighbours
from wirespeed.model.words import percent

MOST_TAKEN = 0.05
"""Share of CPU time; a larger share costs frames at loads that the host otherwise carries."""
MOST_STOLEN = 0.01
"""Share of CPU time that the hypervisor may give to others."""


def check(subject: Subject) -> Outcome:
    seen = subject.facts.neighbours
    if seen is None:
        raise NothingToCheck("no run of this host is given")
    found = _problems(seen)
    if not found:
        return Passed(f"run {seen.run}: neighbours took {percent(seen.taken, 2)} of the time")
    by = f" ({', '.join(seen.takers)})" if seen.takers else ""
    return [
        Problem(
            found=f"run {seen.run}: {'; '.join(found)}{by}",
            wanted=f"at most {percent(MOST_TAKEN, 1)} taken, {percent(MOST_STOLEN, 1)} stolen, "
            "and CPUs that stay where they are",
            fix=_fix(seen),
        )
    ]


def _problems(seen: Neighbours) -> list[str]:
    found = []
    if seen.taken > MOST_TAKEN:
        found.append(f"others took {percent(seen.taken, 2)} of the polling CPUs' time")
    if seen.stolen > MOST_STOLEN:
        found.append(f"the hypervisor stole {percent(seen.stolen, 2)} of it")
    if seen.moved:
        found.append(f"the hypervisor moved the CPUs in {seen.moved} of {seen.trials} trials")
    return found


def _fix(seen: Neighbours) -> tuple[str, ...]:
    """Return the hypervisor's pins where it moves or takes CPUs, then this host's isolation."""
    pins = ("virsh vcpupin GUEST VCPU CPU  # on the hypervisor, for each vCPU of this guest",)
    own = ("wirespeed plan --help  # isolates the polling CPUs from other programs",)
    return (*(pins if seen.moved or seen.stolen > MOST_STOLEN else ()), *own)


RULE = Rule(
    id="WS52",
    name="noisy-neighbours",
    title="Neighbours take time from the polling CPUs",
    severity=Severity.HIGH,
    needs=(Need.MEASURED,),
    wanted="polling CPUs that nobody else uses and that no hypervisor moves",
    why="A poller that is stopped for a millisecond loses frames at any load that overflows its "
    "rings meanwhile, and CPUs that move to another cache forward up to a third less.",
    source="what the trials of the run recorded: stops, contention, steal time, CPU placement",
    check=check,
)
