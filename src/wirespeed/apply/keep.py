# SPDX-License-Identifier: Apache-2.0
"""Keep host settings that a search has proven, so that `wirespeed rollback` undoes them.

Each is in the journal on the host before it is changed. A boot sets them again, except interrupts,
whose numbers change from boot to boot.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wirespeed.apply.carry_out import Work
from wirespeed.apply.checkpoint import Checkpoint
from wirespeed.apply.journal import Journal
from wirespeed.apply.step import Result, Step
from wirespeed.apply.steps.kernel_files import files_settings
from wirespeed.apply.target import Reach, Refused, check_room, locked, open_target
from wirespeed.host.collect import collect
from wirespeed.model.host.facts import HostFacts
from wirespeed.remote.interface import Runner

# sd_booted(3): exists where systemd is the init system.
_SYSTEMD = "/run/systemd/system"


@dataclass(frozen=True, slots=True)
class Proven:
    """Files of a factor that a search has proven to help."""

    factor: str
    files: Mapping[str, str]
    """Content by path below /proc or /sys."""
    because: str
    """Proof as a clause."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Result of keeping settings."""

    host: str
    results: tuple[Result, ...]
    at_boot: bool
    """True if the host sets them again at each boot."""
    until_reboot: tuple[str, ...] = ()
    """Names of settings that the next reboot loses."""

    @property
    def failed(self) -> bool:
        return any(result.failed for result in self.results)


def check_can_keep(reach: Reach, address: str) -> None:
    """Raise Refused where `keep` could not change the host. Changes nothing.

    Raises also HostUnreachable, NotOurs and OtherHostsJournal.
    """
    with open_target(reach, address) as runner, locked(runner):
        checked_journal(runner)


def keep(reach: Reach, address: str, proven: Sequence[Proven]) -> Kept:
    """Set the files, each recorded before it is changed. Raises as check_can_keep does."""
    with open_target(reach, address) as runner, locked(runner):
        journal = checked_journal(runner, collect(runner))
        found = [
            (setting, Step(setting, json.dumps(dict(files)), each.factor, each.because))
            for each in proven
            for setting, files in files_settings(runner, each.files)
        ]
        at_boot = bool(runner.glob(_SYSTEMD))
        work = Work(runner, journal, reboot_helps=False)
        results = work.keep([step for _, step in found], at_boot=at_boot)
        lost = [setting.name for setting, _ in found if setting.of_interrupts or not at_boot]
        return Kept(runner.read("/proc/sys/kernel/hostname").strip(), results, at_boot, tuple(lost))


def checked_journal(runner: Runner, now: HostFacts | None = None) -> Journal:
    """Return the journal of a host that may be changed. Raises Refused, NotOurs."""
    if runner.glob(_SYSTEMD) and Checkpoint(runner).waits:
        raise Refused(
            f"network changes on {runner.name} wait for confirmation",
            "Confirm them with `wirespeed apply --confirm`, or roll back.",
        )
    journal = Journal.load(runner, now)
    if journal.damaged:
        listed = "\n".join(f"  {sentence}" for sentence in journal.damaged)
        raise Refused(
            f"{runner.name} cannot be changed; its journal of changes is damaged:\n{listed}",
            "Run `wirespeed rollback`: it undoes what the journal still names.",
        )
    check_room(runner)
    return journal
