# SPDX-License-Identifier: Apache-2.0
"""Find settings that two programs of this host write."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from wirespeed.audit.fixes import command, comment
from wirespeed.audit.needs import Need
from wirespeed.audit.rule import FactUnusable, Outcome, Passed, Problem, Rule, Subject
from wirespeed.model.host.finding import Severity
from wirespeed.model.host.platform import Tuned

_INTERRUPTS, _GOVERNORS = "interrupt affinities", "CPU frequency governors"
_KERNEL, _PAGES = "kernel command line", "huge pages"
_APPLY, _APPLY_UNIT = "wirespeed apply", "wirespeed-host"
_SERVICES = {
    "irqbalance": _INTERRUPTS,
    "power-profiles-daemon": _GOVERNORS,
    "cpupower": _GOVERNORS,
    "cpufrequtils": _GOVERNORS,
    "tlp": _GOVERNORS,
}
# Options of tuned's plug-ins, by the setting that they write.
_OPTIONS = {
    _INTERRUPTS: ("scheduler.isolated_cores", "irq.affinity"),
    _GOVERNORS: ("cpu.governor",),
    _KERNEL: ("bootloader.cmdline*",),
    _PAGES: ("sysctl.vm.nr_hugepages", "sysctl.vm.nr_hugepages_mempolicy"),
}
# tuned configures irqbalance by this option, so the two are one owner.
_OF_TUNED = "irqbalance.banned_cpus"


def check(subject: Subject) -> Outcome:
    owners = _owners(subject)
    shared = {setting: names for setting, names in owners.items() if len(names) > 1}
    if shared:
        return [_problem(setting, names, subject) for setting, names in shared.items()]
    unread = subject.facts.why_missing("tuned")
    if "tuned" in _active(subject) and unread:
        raise FactUnusable(f"needs the active profile of tuned: {unread}")
    said = [f"{setting}: {names[0]}" for setting, names in owners.items()]
    return Passed("; ".join(said) or "no known program writes a setting of the data plane")


def _active(subject: Subject) -> list[str]:
    return [service.name for service in subject.facts.services or () if service.active]


def _owners(subject: Subject) -> Mapping[str, Sequence[str]]:
    """Return the programs that write each setting, the one to keep first."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for setting, name in (*_of_apply(subject), *_of_tuned(subject), *_of_services(subject)):
        found[setting].append(name)
    return found


def _of_apply(subject: Subject) -> Iterator[tuple[str, str]]:
    plan = subject.host_plan
    if _APPLY_UNIT in _active(subject) or (plan and plan.cores and plan.cores.isolated.value):
        yield _INTERRUPTS, _APPLY
        yield _GOVERNORS, _APPLY
    if plan and plan.kernel:
        yield _KERNEL, _APPLY
    if plan and any(pages.count for pages in plan.huge_pages.value):
        yield _PAGES, _APPLY


def _tuned(subject: Subject) -> Tuned | None:
    return subject.facts.tuned if "tuned" in _active(subject) else None


def _of_tuned(subject: Subject) -> Iterator[tuple[str, str]]:
    tuned = _tuned(subject)
    for setting, options in _OPTIONS.items():
        if tuned is not None and any(tuned.sets(option) for option in options):
            yield setting, _name(tuned)


def _name(tuned: Tuned) -> str:
    return f"tuned (profile {' '.join(tuned.profiles)})"


def _of_services(subject: Subject) -> Iterator[tuple[str, str]]:
    tuned = _tuned(subject)
    for name in _active(subject):
        bounded = name == "irqbalance" and tuned is not None and tuned.sets(_OF_TUNED)
        if name in _SERVICES and not bounded:
            yield _SERVICES[name], name


def _problem(setting: str, names: Sequence[str], subject: Subject) -> Problem:
    keep, *others = names
    fix: list[str] = []
    for name in others:
        if name in _SERVICES:
            fix.append(command("systemctl", "disable", "--now", f"{name}.service"))
        else:
            fix += _without_tuned(setting, subject)
    return Problem(
        found=f"{setting} are written by {' and '.join(names)}"
        if setting.endswith("s") else f"the {setting} is written by {' and '.join(names)}",
        wanted=f"{keep} alone",
        fix=tuple(fix),
        subject=setting,
    )  # fmt: skip


def _without_tuned(setting: str, subject: Subject) -> list[str]:
    tuned = _tuned(subject)
    names = " ".join(tuned.profiles) if tuned else ""
    options = " or ".join(_OPTIONS[setting])
    return [
        comment(f"a profile of your own without {options}, in /etc/tuned/NAME/tuned.conf, in place "
                f"of {names}; `wirespeed plan render --to tuned` writes one"),
        "tuned-adm profile NAME",
    ]  # fmt: skip


RULE = Rule(
    id="WS70",
    name="two-owners",
    title="Two programs write one setting",
    severity=Severity.MEDIUM,
    needs=(Need.SERVICES,),
    wanted="each setting of the data plane written by one program",
    why="The one that starts or wakes up last wins: irqbalance moves interrupts every 10 s, tuned "
    "sets its profile at each boot. A setting that was right when it was tested is then another "
    "one, and neither program reports it.",
    source="irqbalance(1); tuned-profiles(7); intel/pepc issue 8",
    check=check,
)
