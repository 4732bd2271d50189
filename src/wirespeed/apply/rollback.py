# SPDX-License-Identifier: Apache-2.0
"""Make a host what it was before the first apply.

What was changed is undone newest first. What a setting lies on may come back only with another one
(a VF with its PF's count), so what fails is tried again as long as something else succeeds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from wirespeed.apply.checkpoint import Checkpoint
from wirespeed.apply.journal import Journal, JournalNotWritten
from wirespeed.apply.make import attempt, restore
from wirespeed.apply.refuse import connections_cut
from wirespeed.apply.restored import Before, Difference, differences, read_before
from wirespeed.apply.running import running_guests
from wirespeed.apply.setting import Entry
from wirespeed.apply.step import Result, State
from wirespeed.apply.steps.drivers import Driver
from wirespeed.apply.steps.vfs import Vfs
from wirespeed.apply.target import Refused
from wirespeed.host.collect import collect
from wirespeed.host.needed_interfaces import needed_interfaces
from wirespeed.model.facts import HostFacts
from wirespeed.remote.interface import Runner


@dataclass(frozen=True, slots=True)
class RolledBack:
    """What was undone, and what may be left."""

    host: str
    results: tuple[Result, ...] = ()
    # How many settings the journal names.
    settings: int = 0
    # Of the facts now from those before; None: a reboot or a failed setting comes first.
    differences: tuple[Difference, ...] | None = None
    # What was changed and cannot be undone here: damaged records, changes of another version.
    unread: tuple[str, ...] = ()
    not_compared: tuple[str, ...] = ()
    # Whether an older version wrote records without checksums: damage there may go unnoticed.
    unchecked: bool = False
    # Whether the journal does not tell which host it is of.
    of_unknown_host: bool = False
    # Whether the kernel still runs with the planned words.
    reboot_due: bool = False
    # Whether that is so after a reboot of ours.
    rebooted: bool = False
    # No plan was applied here.
    nothing: bool = False

    @property
    def put_back(self) -> int:
        return sum(result.state is State.DONE for result in self.results)

    @property
    def stuck(self) -> bool:
        """Whether a setting could not be put back."""
        return any(result.failed for result in self.results)

    @property
    def failed(self) -> bool:
        return (
            self.stuck
            or any(not difference.expected for difference in self.differences or ())
            or bool(self.unread or self.not_compared)
            or (self.reboot_due and self.rebooted)
        )


def roll_back(runner: Runner, *, will_reboot: bool, rebooted: bool = False) -> RolledBack:
    """Undo every change that the journal names; then compare, unless a reboot has to come first.
    Leave nothing of ours where nothing is left to undo. Run again, it continues.

    rebooted: just now, by us. Raises Refused where a running guest or a session on the host would
    lose what it uses, NotOurs and OtherHostsJournal.
    """
    journal = Journal.load(runner)
    if not journal.exists:
        name = runner.read("/proc/sys/kernel/hostname").strip()
        journal.remove()  # what a rollback that was cut at its end left
        return RolledBack(name, nothing=True)
    Checkpoint(runner).stop()
    facts = collect(runner)
    _check(runner, facts, journal.entries, will_reboot=will_reboot)
    before = read_before(journal.before, runner.name)
    reboot_due = _reboot_due(journal, before, facts)
    settings = len(journal.entries) + len(journal.unknown)
    results = _undo(runner, journal, reboot_due=bool(reboot_due))
    undone = RolledBack(
        facts.host,
        results,
        settings,
        unread=(*journal.damaged, *journal.unknown),
        not_compared=before.not_compared,
        unchecked=journal.unchecked,
        of_unknown_host=journal.of_unknown_host,
        reboot_due=bool(reboot_due),
        rebooted=rebooted,
    )
    if reboot_due is None:
        said = "kernel command line: what it was before is not known"
        undone = replace(undone, not_compared=(*undone.not_compared, said))
    if undone.stuck or reboot_due:
        return undone
    if before.facts is not None:
        undone = replace(undone, differences=differences(before.facts, collect(runner)))
    if undone.unread:
        return undone
    try:
        journal.remove()
    except JournalNotWritten as fault:
        return replace(undone, unread=(fault.what,))
    return undone


def _reboot_due(journal: Journal, before: Before, facts: HostFacts) -> bool | None:
    """Whether the kernel runs with other words than before the first apply; None: not known."""
    cmdline = journal.cmdline
    if cmdline is None and before.facts is not None:  # of an older version
        cmdline = before.facts.kernel.cmdline
    return None if cmdline is None else _words(cmdline) != _words(facts.kernel.cmdline)


def _undo(runner: Runner, journal: Journal, *, reboot_due: bool) -> tuple[Result, ...]:
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
    return tuple(results.values())


def _restored(runner: Runner, entry: Entry, *, reboot_due: bool) -> Result:
    setting = entry.setting
    now, _ = attempt(setting.name, lambda: setting.shown(setting.read(runner)))
    fault_text = restore(runner, entry)
    state = State.DIFFERS if fault_text else State.DONE
    if fault_text and reboot_due and setting.made_at_boot:
        state = State.REBOOT
    was, _ = attempt(setting.name, lambda: setting.shown(entry.old))
    return Result(setting.name, state, "", "as before the first apply", now or "absent",
                  was or "", fault_text, changed=True)  # fmt: skip


def _check(
    runner: Runner, facts: HostFacts, entries: Sequence[Entry], *, will_reboot: bool
) -> None:
    ours: set[str] = set()
    for entry in entries:
        if isinstance(entry.setting, Driver):
            ours.add(entry.setting.address)
        elif isinstance(entry.setting, Vfs):
            ours.update(entry.setting.addresses)
    changes = [
        (entry.setting, entry.old) for entry in entries
        if entry.setting.risks_connection and _changes(runner, entry)
    ]  # fmt: skip
    needed = needed_interfaces(runner) if changes else {}
    reasons = [*connections_cut(changes, facts, needed)]
    guests = running_guests(runner, facts)
    reasons += [
        f"running guest {guest.name} would lose {', '.join(sorted(ours & set(guest.devices)))}"
        for guest in guests
        if ours & set(guest.devices)
    ]
    if will_reboot and guests:
        reasons.append(f"a reboot would end {', '.join(guest.name for guest in guests)}")
    if reasons:
        listed = "\n".join(f"  {reason}" for reason in reasons)
        raise Refused(f"{facts.host} is not rolled back:\n{listed}",
                      "Move or stop what uses these devices.")  # fmt: skip


def _changes(runner: Runner, entry: Entry) -> bool:
    """Whether the setting is not what it was; one that cannot be read may be."""
    left, _ = attempt(entry.setting.name, lambda: " ".join(entry.setting.left(runner, entry.old)))
    return left != ""


def _words(cmdline: str) -> list[str]:
    """The words of a command line; a new kernel is no change of ours."""
    words = cmdline.split()
    return sorted(word for word in words if not word.startswith(("BOOT_IMAGE=", "initrd=")))
