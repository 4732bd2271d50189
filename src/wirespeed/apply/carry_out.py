# SPDX-License-Identifier: Apache-2.0
"""Carry out each step: read the setting, record it, change it, read it back."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from wirespeed.apply.checkpoint import Checkpoint
from wirespeed.apply.journal import Journal
from wirespeed.apply.make import make, restore
from wirespeed.apply.plan_steps import PlannedSteps
from wirespeed.apply.setting import Entry, Value
from wirespeed.apply.step import Result, State, Step
from wirespeed.apply.steps.boot_unit import KEPT, PLANNED, boot_steps
from wirespeed.apply.steps.kernel_files import KernelFiles
from wirespeed.remote.interface import Runner

_NOT_PLANNED = "a plan before changed it, and this one says nothing of it"
_PAGES_LATER = "the kernel finds too little memory in one piece now, and reserves them at boot"
_CHANGED_SINCE = "it was changed after `wirespeed tune --keep` set it; the next boot sets it again"


@dataclass(frozen=True, slots=True)
class Work:
    """A host and its journal."""

    runner: Runner
    journal: Journal
    reboot_helps: bool
    """True if a reboot may still help: False right after a reboot."""
    keep_timer: bool = False
    """True if the timer continues after changes that may cut a connection."""

    def carry_out(self, planned: PlannedSteps) -> tuple[Result, ...]:
        """Perform every step, restore settings that the plan no longer names, set the boot unit.

        Raises HostUnreachable, NotWritable, JournalNotWritten.
        """
        results = [*self._restore(self._others(planned))]
        self._note_all(planned)
        results += [self._carry_out(step) for step in planned.local]
        at_risk = [Entry(step.setting, step.setting.read(self.runner)) for step in planned.network
                   if self._look(step).state is State.CHANGE]  # fmt: skip
        if at_risk:
            self.journal.begin()
        with Checkpoint(self.runner).guarding(at_risk, keep=self.keep_timer):
            results += [self._carry_out(step) for step in planned.network]
        if at_risk and self.keep_timer:
            # The next boot must not repeat a change that the timer may undo.
            return tuple(results)
        at_boot = boot_steps(self._volatile(planned, results))
        results += [self._carry_out(step) for step in at_boot]
        if not at_boot:
            results += self._restore(self._of_boot)
        return tuple(results)

    def keep(self, steps: Sequence[Step], *, at_boot: bool) -> tuple[Result, ...]:
        """Perform steps that no plan names; settings of a plan, and those kept before, stay.

        at_boot: whether the host can set them again at each boot. Raises as carry_out does.
        """
        for step in self.changing(steps):
            self.journal.note(step.setting, step.setting.read(self.runner))
        ours = {entry.setting.name for entry in self.journal.entries}
        for step in steps:
            if step.setting.name in ours:
                self.journal.note_kept(step.setting.name, step.wanted)
        results = [self._carry_out(step) for step in steps]
        for result in results:
            if result.name in ours and not result.state.is_so:
                self.journal.note_kept(result.name, None)
        if at_boot:
            kept = self._kept()
            results += self._changed_since(kept, {step.setting.name for step in steps})
            results += [self._carry_out(step) for step in boot_steps(kept, KEPT)]
        return tuple(results)

    def _kept(self) -> list[Step]:
        """Return what the next boot sets: proven settings of this search and of earlier ones."""
        found = []
        for entry in self.journal.entries:
            setting = entry.setting
            if isinstance(setting, KernelFiles) and not setting.of_interrupts:
                value = self.journal.kept(setting.name, setting.read(self.runner))
                if value is not None:
                    found.append(Step(setting, value, "", "an earlier search has proven it"))
        return found

    def _changed_since(self, kept: Iterable[Step], now: Collection[str]) -> Iterator[Result]:
        """Yield settings of earlier searches that no longer have their proven value."""
        for step in kept:
            if step.setting.name not in now and step.setting.left(self.runner, step.wanted):
                old = step.setting.read(self.runner)
                yield _result(step, State.REBOOT, old, _CHANGED_SINCE)

    def _note_all(self, planned: PlannedSteps) -> None:
        """Record the old value of every setting before the first change.

        A boot with the new kernel command line changes further settings, and a power loss may cause
        one.
        """
        for step in self.changing(planned.all):
            self.journal.note(step.setting, step.setting.read(self.runner))

    def changing(self, steps: Iterable[Step]) -> list[Step]:
        """Return the steps that are to change, now or with the reboot."""
        changes = (State.CHANGE, State.REBOOT)
        return [step for step in steps if self._look(step).state in changes]

    def preview(self, planned: PlannedSteps) -> tuple[Result, ...]:
        """Return the results that carry_out would have. Changes nothing."""
        results = [
            _result(_back(entry), State.CHANGE, entry.setting.read(self.runner))
            for entry in self._others(planned)
        ]
        results += [self._look(step) for step in planned.all]
        at_boot = boot_steps(self._volatile(planned, results))
        results += [self._look(step) for step in at_boot]
        return tuple(results)

    def _look(self, step: Step) -> Result:
        """Return the state of a setting, including whether it is to change."""
        setting = step.setting
        absent = setting.why_absent(self.runner)
        if absent is not None:
            state = State.ABSENT if setting.may_lack(step.wanted) else State.DIFFERS
            return _result(step, state, None, absent)
        left = setting.left(self.runner, step.wanted)
        old = setting.read(self.runner)
        if not left:
            return _result(step, State.SO, old)
        if set(left) <= self.journal.exceptions(setting.name):
            return _result(step, State.PARTLY, old, _refused(left))
        later = setting.why_later(self.runner)
        if later is not None:
            return _result(step, State.REBOOT, old, later)
        return _result(step, State.CHANGE, old)

    def _carry_out(self, step: Step) -> Result:
        found, setting = self._look(step), step.setting
        if found.state is not State.CHANGE:
            return found
        old = setting.read(self.runner)
        self.journal.note(setting, old)
        failed = make(self.runner, setting, step.wanted)
        left = setting.left(self.runner, step.wanted)
        if not left:
            if (why := setting.why_restart(old, step.wanted)) is not None:
                return _result(step, State.REBOOT, old, why, changed=True)
            return _result(step, State.DONE, old, changed=True)
        if setting.excusable(self.runner, left):
            self.journal.note_exceptions(setting.name, left)
            return _result(step, State.PARTLY, old, _refused(left), changed=True)
        changed = setting.read(self.runner) != old
        if setting.made_at_boot and self.reboot_helps:
            note = f"{_PAGES_LATER}; {left[0]} now"
            return _result(step, State.REBOOT, old, note, changed=changed)
        note = "; ".join(part for part in (f"is {', '.join(left)}", failed) if part)
        return _result(step, State.DIFFERS, old, note, changed=changed)

    def _volatile(self, planned: PlannedSteps, results: Sequence[Result]) -> list[Step]:
        """Return the steps that were or will be changed, and whose settings a reboot loses.

        Defaults need no restore after a reboot.
        """
        ours = {entry.setting.name for entry in self.journal.entries}
        so = {r.name for r in results if r.state.is_so and r.name in ours}
        so |= {r.name for r in results if r.state is State.CHANGE}
        return [s for s in planned.all if s.setting.lost_at_reboot and s.setting.name in so]

    def _restore(self, entries: Sequence[Entry]) -> Iterator[Result]:
        for entry in entries:
            now = entry.setting.read(self.runner)
            failed = restore(self.runner, entry)
            if not failed:
                self.journal.forget(entry.setting.name)
            state = State.DIFFERS if failed else State.DONE
            yield _result(_back(entry), state, now, failed, changed=True)

    def _others(self, planned: PlannedSteps) -> list[Entry]:
        """Return the settings of an earlier plan that this plan does not name, newest first.

        A plan names no setting that a search has kept: only a rollback restores these.
        """
        names = {step.setting.name for step in planned.all} | PLANNED.names | KEPT.names
        return [
            e for e in reversed(self.journal.entries)
            if e.setting.name not in names and not isinstance(e.setting, KernelFiles)
        ]  # fmt: skip

    @property
    def _of_boot(self) -> list[Entry]:
        return [e for e in reversed(self.journal.entries) if e.setting.name in PLANNED.names]


def _back(entry: Entry) -> Step:
    return Step(entry.setting, entry.old, "", _NOT_PLANNED)


def _refused(left: Sequence[str]) -> str:
    return f"the kernel or the device refuses {', '.join(left)}"


def _result(
    step: Step, state: State, old: Value, note: str = "", *, changed: bool = False
) -> Result:
    show = step.setting.shown
    was = "" if state is State.ABSENT else show(old)
    return Result(step.setting.name, state, step.decision, step.because, was, show(step.wanted),
                  note, changed)  # fmt: skip
