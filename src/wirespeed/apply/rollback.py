# SPDX-License-Identifier: Apache-2.0
"""How does a host become again what it was before the first apply?

What was changed is undone newest first. What a setting lies on may come back only with another one
(a VF with its PF's count), so what fails is tried again as long as something else succeeds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wirespeed.apply.carry_out import restore
from wirespeed.apply.checkpoint import Checkpoint
from wirespeed.apply.journal import FOLDER, Entry, Journal
from wirespeed.apply.restored import Difference, differences
from wirespeed.apply.running import running_guests
from wirespeed.apply.step import Result, State
from wirespeed.apply.steps.drivers import Driver
from wirespeed.apply.steps.vfs import Vfs
from wirespeed.apply.target import Refused
from wirespeed.host.collect import collect
from wirespeed.host.file import HOST_FILE
from wirespeed.model.facts import HostFacts
from wirespeed.remote.interface import RemoteError, Runner


@dataclass(frozen=True, slots=True)
class RolledBack:
    """What was undone. differences: of the facts now from those before, None where not compared.

    nothing: no plan was applied here. reboot_due: the kernel still runs with the planned words.
    """

    host: str
    results: tuple[Result, ...] = ()
    differences: tuple[Difference, ...] | None = None
    reboot_due: bool = False
    nothing: bool = False

    @property
    def failed(self) -> bool:
        return any(result.failed for result in self.results) or any(
            not difference.expected for difference in self.differences or ()
        )


def roll_back(runner: Runner, *, will_reboot: bool) -> RolledBack:
    """Undo every change that the journal names; then compare, unless a reboot has to come first,
    and leave nothing of ours. Run again, it continues.

    Raises Refused where a running guest would lose a device, or by the reboot itself.
    """
    journal = Journal.load(runner)
    if not journal.exists:
        name = runner.read("/proc/sys/kernel/hostname").strip()
        if runner.glob(FOLDER):  # the end of a rollback was cut
            journal.remove()
        return RolledBack(name, nothing=True)
    Checkpoint(runner).confirm()
    facts = collect(runner)
    _check_guests(runner, facts, journal.entries, will_reboot=will_reboot)
    journal.say(rolled_back=True)
    before = HOST_FILE.parse(journal.before or "", f"before.json on {runner.name}")
    reboot_due = _words(before) != _words(facts)
    results = tuple(_undo(runner, journal, reboot_due=reboot_due))
    if any(result.failed for result in results):
        return RolledBack(facts.host, results)
    if reboot_due:
        return RolledBack(facts.host, results, reboot_due=True)
    now = collect(runner)
    found = differences(before, now)
    journal.remove()
    return RolledBack(now.host, results, found)


def _undo(runner: Runner, journal: Journal, *, reboot_due: bool) -> list[Result]:
    results: dict[str, Result] = {}
    waiting = list(reversed(journal.entries))
    while waiting:
        failed = []
        for entry in waiting:
            result = _restored(runner, entry, reboot_due=reboot_due)
            results[entry.setting.name] = result
            if result.failed:
                failed.append(entry)
        if len(failed) == len(waiting):
            break
        waiting = failed
    return list(results.values())


def _restored(runner: Runner, entry: Entry, *, reboot_due: bool) -> Result:
    setting = entry.setting
    try:
        now = setting.shown(setting.read(runner))
    except (OSError, RemoteError) as fault:
        if not isinstance(fault, OSError):
            raise
        now = "absent"
    fault_text = restore(runner, entry)
    state = State.DIFFERS if fault_text else State.DONE
    if fault_text and reboot_due and setting.made_at_boot:
        state = State.REBOOT
    return Result(setting.name, state, "", "as before the first apply", now,
                  setting.shown(entry.old), fault_text, changed=True)  # fmt: skip


def _check_guests(
    runner: Runner, facts: HostFacts, entries: Sequence[Entry], *, will_reboot: bool
) -> None:
    ours: set[str] = set()
    for entry in entries:
        if isinstance(entry.setting, Driver):
            ours.add(entry.setting.address)
        elif isinstance(entry.setting, Vfs):
            ours.update(entry.setting.addresses)
    guests = running_guests(runner, facts)
    reasons = [
        f"running guest {guest.name} would lose {', '.join(sorted(ours & set(guest.devices)))}"
        for guest in guests
        if ours & set(guest.devices)
    ]
    if will_reboot and guests:
        reasons.append(f"a reboot would end {', '.join(guest.name for guest in guests)}")
    if reasons:
        listed = "\n".join(f"  {reason}" for reason in reasons)
        raise Refused(f"{facts.host} is not rolled back:\n{listed}", "Move or stop these guests.")


def _words(facts: HostFacts) -> list[str]:
    """Of the command line; a new kernel is no change of ours."""
    words = facts.kernel.cmdline.split()
    return sorted(word for word in words if not word.startswith(("BOOT_IMAGE=", "initrd=")))
