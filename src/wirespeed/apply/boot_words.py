# SPDX-License-Identifier: Apache-2.0
"""Give the next boot of a host other kernel words for a measurement, and take them away again.

The boot loader's setting is in the journal on the host before it is changed: `wirespeed rollback`
restores it after a kill at any moment.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from wirespeed.apply.journal import Journal
from wirespeed.apply.keep import checked_journal
from wirespeed.apply.make import make
from wirespeed.apply.reboot import BOOT_ID, reboot
from wirespeed.apply.running import running_guests
from wirespeed.apply.setting import Entry, Setting, Value
from wirespeed.apply.steps.boot_loader import BootLoader, without_keys_of
from wirespeed.apply.steps.grub_drop_in import GrubDropIn, line_of
from wirespeed.apply.steps.kernel_line import boot_loader
from wirespeed.apply.target import Reach, Refused, locked, open_target
from wirespeed.host.collect import collect
from wirespeed.model.errors import WirespeedError
from wirespeed.model.plan.plan import Decision, HostPlan
from wirespeed.remote.interface import LOCALHOST, Runner

_CMDLINE = "/proc/cmdline"
_BECAUSE = "tried by wirespeed tune --reboot"


class KernelLineNotSet(WirespeedError):
    """Raised when the boot loader did not take a kernel command line."""


@dataclass(frozen=True, slots=True)
class Boot:
    """The running boot of a host, and what its boot loader adds to the next one."""

    id: str
    cmdline: str
    """Kernel command line of the running boot."""
    added: Value
    """Value of the boot loader's setting."""


def look_at_boot(reach: Reach, address: str) -> Boot:
    """Return the boot of a host. Raises Refused, NoBootLoader, HostUnreachable."""
    with open_target(reach, address) as runner:
        return Boot(
            runner.read(BOOT_ID).strip(), runner.read(_CMDLINE).strip(),
            boot_loader(runner).read(runner),
        )  # fmt: skip


def set_next_boot(reach: Reach, address: str, before: Value, words: Sequence[str]) -> None:
    """Let the boot loader add these words to what it added before; none: as before.

    before: value of its setting before the first change. May be repeated after a cut. Raises
    KernelLineNotSet, Refused, NoBootLoader, HostUnreachable.
    """
    with open_target(reach, address) as runner, locked(runner):
        setting = boot_loader(runner)
        journal = checked_journal(runner, collect(runner))
        now = setting.read(runner)
        if not words and now == before and _noted(journal, setting) is None:
            return
        value = _with_words(setting, runner, before, words) if words else before
        journal.note(setting, now)
        failed = make(runner, setting, value)
        left = setting.left(runner, value)
        if left:
            raise KernelLineNotSet(
                f"{setting.name} on {runner.name}: is {', '.join(left)}"
                f"{f' ({failed})' if failed else ''}",
                "Mend the boot loader, and run the command again; or `wirespeed rollback`.",
            )


def end_words(reach: Reach, address: str, before: Value) -> None:
    """Record that the host has booted as before; a journal with nothing else to undo is removed.

    Until then a rollback also undoes the running boot. Raises Refused, HostUnreachable.
    """
    with open_target(reach, address) as runner, locked(runner):
        journal = checked_journal(runner, collect(runner))
        setting = boot_loader(runner)
        noted = _noted(journal, setting)
        if noted is not None and noted.old == before:
            journal.forget(setting.name)
        if not (journal.entries or journal.unknown):
            journal.remove()


def reboot_host(reach: Reach, address: str, *, sleep: Callable[[float], None] = time.sleep) -> bool:
    """Reboot a host and wait until it answers; return False for this machine, which only begins to.

    Raises Refused where that would end running guests, NotBack, HostUnreachable.
    """
    with open_target(reach, address) as runner:
        guests = running_guests(runner, collect(runner))
        if guests:
            names = ", ".join(guest.name for guest in guests)
            raise Refused(f"a reboot would end running guests: {names}", "Move or stop them.")
        if address == LOCALHOST:
            runner.run(["systemctl", "reboot"])
            return False
        reboot(reach, address, runner, sleep=sleep)
        return True


def _with_words(setting: BootLoader, runner: Runner, before: Value, words: Sequence[str]) -> Value:
    """Return the value of the setting with the words in addition to those before."""
    # A drop-in is written whole; the others keep what they have.
    written = line_of(before) if before and isinstance(setting, GrubDropIn) else ""
    kept = without_keys_of(words, written)
    decisions = tuple(Decision(word, _BECAUSE) for word in (*kept, *words))
    host = HostPlan("host", Decision((), _BECAUSE), kernel=decisions)
    return setting.with_words(runner, before, host)


def _noted(journal: Journal, setting: Setting) -> Entry | None:
    return next((each for each in journal.entries if each.setting.name == setting.name), None)
