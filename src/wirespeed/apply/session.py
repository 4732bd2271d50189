# SPDX-License-Identifier: Apache-2.0
"""Apply a plan to a host, verify it there, and undo it, as complete operations."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from wirespeed.apply import refuse
from wirespeed.apply.carry_out import Work
from wirespeed.apply.checkpoint import Checkpoint, Undone
from wirespeed.apply.journal import Journal
from wirespeed.apply.plan_steps import PlannedSteps, planned_steps
from wirespeed.apply.reboot import check_can_reboot, reboot
from wirespeed.apply.rollback import RolledBack, roll_back
from wirespeed.apply.row import Row
from wirespeed.apply.running import running_guests
from wirespeed.apply.step import Result
from wirespeed.apply.steps.kernel_line import missing_words
from wirespeed.apply.target import Reach, Refused, check_room, locked, open_target
from wirespeed.apply.verify import verify_host
from wirespeed.host.collect import collect
from wirespeed.host.needed_interfaces import has_remote_login, needed_interfaces
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.plan.plan import HostPlan, Plan
from wirespeed.remote.interface import LOCALHOST, Runner

Sleep = Callable[[float], None]


@dataclass(frozen=True, slots=True)
class Applied:
    """Result of an apply, and after a reboot of the comparison then."""

    host: str
    results: tuple[Result, ...]
    reboot_due: tuple[str, ...]
    """Planned words that are missing on the running kernel's command line."""
    undone_before: Undone | None = None
    """Changes of an interrupted apply that a timer has undone; None: no timer has expired."""
    rows: tuple[Row, ...] | None = None
    unread: tuple[str, ...] = ()
    """Changes of another version, which neither this apply nor this rollback undoes."""
    unconfirmed: bool = False
    """True if a timer undoes the network changes unless a second command confirms them."""
    of_unknown_host: bool = False
    """True if the journal has no identity of its host."""

    @property
    def failed(self) -> bool:
        return (
            any(result.failed for result in self.results)
            or any(row.failed for row in self.rows or ())
            or bool(self.unread)
        )


@dataclass(frozen=True, slots=True)
class _Look:
    """A host, its facts, and the plan's steps for it."""

    runner: Runner
    facts: HostFacts
    host: HostPlan
    planned: PlannedSteps

    @property
    def reboot_due(self) -> tuple[str, ...]:
        return missing_words(self.host, self.facts.kernel.cmdline)

    def work(self, *, rebooted: bool = False, keep_timer: bool = False) -> Work:
        journal = Journal.load(self.runner, self.facts)
        return Work(self.runner, journal, not rebooted, keep_timer)


def preview(reach: Reach, address: str, plan: Plan, *, will_reboot: bool) -> Applied:
    """Return the result that `apply` would have. Changes nothing.

    Raises OtherHost, Refused, HostUnreachable.
    """
    with open_target(reach, address) as runner:
        look = _look(runner, plan)
        _check(look, look.work(), will_reboot=will_reboot)
        return Applied(look.facts.host, look.work().preview(look.planned), look.reboot_due)


def apply(
    reach: Reach,
    address: str,
    plan: Plan,
    *,
    may_reboot: bool,
    confirm: bool = False,
    sleep: Sleep = time.sleep,
) -> Applied:
    """Change the host to match the plan.

    may_reboot: where a reboot is due, also reboot the host, continue and verify. confirm: keep the
    changes that wait for confirmation. Raises OtherHost, Refused, HostUnreachable, NotBack.
    """
    if may_reboot:
        check_can_reboot(address)
    with open_target(reach, address) as runner:
        local = address == LOCALHOST
        _check_waiting(runner, local=local, confirm=confirm)
        keep = local and has_remote_login(runner)
        first = _apply(runner, plan, will_reboot=may_reboot, keep_timer=keep)
        due = first.reboot_due or any(r.state.waits for r in first.results)
        if not may_reboot or not due:
            return first
        guests = running_guests(runner, collect(runner))
        if guests:
            names = ", ".join(guest.name for guest in guests)
            raise Refused(f"a reboot would end running guests: {names}", "Move or stop them.")
        reboot(reach, address, runner, sleep=sleep)
    with open_target(reach, address) as runner:
        second = _apply(runner, plan, will_reboot=False, rebooted=True)
        rows = _verify(runner, plan)
    changed = {result.name: result for result in first.results if result.changed}
    results = tuple(
        changed[result.name] if result.name in changed and not result.changed and
        result.state.is_so else result
        for result in second.results
    )  # fmt: skip
    return replace(second, results=results, undone_before=first.undone_before, rows=rows)


def verify(reach: Reach, address: str, plan: Plan) -> tuple[str, tuple[Row, ...]]:
    """Return the host's name, and every decision of the plan next to its value on the host."""
    with open_target(reach, address) as runner:
        rows = _verify(runner, plan)
        return runner.read("/proc/sys/kernel/hostname").strip(), rows


def undo(reach: Reach, address: str, *, may_reboot: bool, sleep: Sleep = time.sleep) -> RolledBack:
    """Restore the host's state from before the first apply.

    may_reboot: where a reboot is due, also reboot the host and compare. Raises Refused,
    HostUnreachable, NotBack.
    """
    if may_reboot:
        check_can_reboot(address)
    with open_target(reach, address) as runner:
        with locked(runner):
            first = roll_back(runner, will_reboot=may_reboot)
        if not may_reboot or not first.reboot_due or first.stuck:
            return first
        reboot(reach, address, runner, sleep=sleep)
    with open_target(reach, address) as runner, locked(runner):
        last = roll_back(runner, will_reboot=False, rebooted=True)
    old = {result.name: result.old for result in first.results}
    results = (replace(result, old=old.get(result.name, result.old)) for result in last.results)
    return replace(last, results=tuple(results))


def _look(runner: Runner, plan: Plan) -> _Look:
    facts = collect(runner)
    host = refuse.host_plan(plan, facts)
    return _Look(runner, facts, host, planned_steps(plan, host, facts, runner))


def _check(look: _Look, work: Work, *, will_reboot: bool) -> None:
    changes = [(step.setting, step.wanted) for step in work.changing(look.planned.network)]
    needed = needed_interfaces(look.runner) if changes else {}
    refuse.check(
        look.host,
        look.facts,
        cut=refuse.connections_cut(changes, look.facts, needed),
        guests=running_guests(look.runner, look.facts),
        reboot=will_reboot and bool(look.reboot_due),
    )
    check_room(look.runner)


def _check_waiting(runner: Runner, *, local: bool, confirm: bool) -> None:
    """Raise Refused where confirm does not fit.

    Over ssh, reaching the host confirms. On the host itself, only --confirm does.
    """
    waits = Checkpoint(runner).waits
    if confirm and not waits:
        raise Refused(
            f"nothing waits for confirmation on {runner.name}",
            "If its time ran out, the timer has started to undo the network changes. Apply again: "
            "that reports what it has undone.",
        )
    if local and waits and not confirm:
        raise Refused(
            f"network changes on {runner.name} wait for confirmation",
            "Add --confirm where you still reach the host by its network, or roll back.",
        )


def _apply(
    runner: Runner,
    plan: Plan,
    *,
    will_reboot: bool,
    rebooted: bool = False,
    keep_timer: bool = False,
) -> Applied:
    with locked(runner):
        checkpoint = Checkpoint(runner)
        checkpoint.stop()
        look = _look(runner, plan)
        work = look.work(rebooted=rebooted, keep_timer=keep_timer)
        _check(look, work, will_reboot=will_reboot)
        if work.journal.damaged:
            listed = "\n".join(f"  {sentence}" for sentence in work.journal.damaged)
            raise Refused(
                f"{look.facts.host} is not changed; its journal of changes is damaged:\n{listed}",
                "Run `wirespeed rollback`: it undoes what the journal still names.",
            )
        undone = checkpoint.undone()
        results = work.carry_out(look.planned)
        return Applied(look.facts.host, results, look.reboot_due, undone,
                       unread=work.journal.unknown,
                       of_unknown_host=work.journal.of_unknown_host,
                       unconfirmed=keep_timer and checkpoint.waits)  # fmt: skip


def _verify(runner: Runner, plan: Plan) -> tuple[Row, ...]:
    look = _look(runner, plan)
    return verify_host(plan, look.host, look.facts, look.work().preview(look.planned),
                       reboot_due=look.reboot_due)  # fmt: skip
