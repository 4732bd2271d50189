# SPDX-License-Identifier: Apache-2.0
"""Restore a host's state from before the first apply.

Changes are undone newest first. A setting may depend on another one that is restored later, e.g. a
VF on the VF count of its PF. A failed setting is therefore tried again as long as another one
succeeds.
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
from wirespeed.model.host.facts import HostFacts
from wirespeed.remote.interface import Runner


@dataclass(frozen=True, slots=True)
class RolledBack:
    """Result of a rollback, and what may be left."""

    host: str
    results: tuple[Result, ...] = ()
    settings: int = 0
    """Number of settings in the journal."""
    differences: tuple[Difference, ...] | None = None
    """Differences from the facts before; None: a reboot or a failed setting comes first."""
    unread: tuple[str, ...] = ()
    """Changes that cannot be undone here: damaged records, changes of another version."""
    not_compared: tuple[str, ...] = ()
    unchecked: bool = False
    """True if an older version wrote records without checksums, where damage may go unnoticed."""
    of_unknown_host: bool = False
    """True if the journal has no identity of its host."""
    reboot_due: bool = False
    """True if the kernel still runs with the planned words."""
    rebooted: bool = False
    """True if this command has just rebooted the host."""
    nothing: bool = False
    """True if no plan was applied here."""

    @property
    def put_back(self) -> int:
        return sum(result.state is State.DONE for result in self.results)

    @property
    def stuck(self) -> bool:
        """True if a setting could not be restored."""
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
    """Undo every change in the journal, then compare, unless a reboot comes first.

    Removes the journal when nothing is left to undo. An interrupted rollback continues when it is
    run again. rebooted: this command has just rebooted the host. Raises Refused where a running
    guest or a session would lose a device that it uses, NotOurs and OtherHostsJournal.
    """
    journal = Journal.load(runner)
    if not journal.exists:
        name = runner.read("/proc/sys/kernel/hostname").strip()
        journal.remove()  # An interrupted removal of the journal may have left files.
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
    """Return whether the kernel has other words than before the first apply; None: unknown."""
    cmdline = journal.cmdline
    if cmdline is None and before.facts is not None:  # journal of an older version
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
    """Return whether the rollback changes the setting; an unreadable setting counts as changed."""
    left, _ = attempt(entry.setting.name, lambda: " ".join(entry.setting.left(runner, entry.old)))
    return left != ""


def _words(cmdline: str) -> list[str]:
    """Return the words of a command line; those of the kernel image are not settings."""
    words = cmdline.split()
    return sorted(word for word in words if not word.startswith(("BOOT_IMAGE=", "initrd=")))
