# SPDX-License-Identifier: Apache-2.0
"""Boot a host with kernel words and without them for the measurements of a search."""

from __future__ import annotations

import shlex
import sys

from wirespeed.apply.boot_words import end_words, look_at_boot, reboot_host, set_next_boot
from wirespeed.cli.console import print_line
from wirespeed.cli.typed import typed
from wirespeed.cli.verbs.trials_run import Paused
from wirespeed.model.errors import BadInput
from wirespeed.remote.interface import LOCALHOST
from wirespeed.remote.reach import reach
from wirespeed.store.errors import NoSuchRun
from wirespeed.store.read import read_run
from wirespeed.store.store import Store
from wirespeed.tune.boot_offer import BootOffer
from wirespeed.tune.boots import Boots, RebootDue, boots_of


class Rebooting(Paused):
    """Raised when the host has to boot before the next measurement."""

    def __init__(self, boots: Boots, *, with_words: bool) -> None:
        super().__init__()
        self.boots, self.with_words = boots, with_words


def begun_boots(opened: Store, address: str, *, resume: bool, store: str | None) -> Boots | None:
    """Return the boots of the search that goes on. Raises BadInput in the middle of another one.

    store: as the user named it.
    """
    boots = boots_of(address)
    if boots is None:
        return None
    if _has_ended(opened, boots.run):
        boots.remove()  # the command was killed at its last step
        print_line(f"run {boots.run} ended: {typed('report', boots.run, store=store)}", stderr=True)
        return None
    if resume:
        return boots
    now = look_at_boot(reach, address)
    if now.added == boots.before and boots.is_as_before(now.cmdline):
        end_words(reach, address, boots.before)
        boots.remove()  # somebody has undone it
        return None
    raise BadInput(
        f"{address} is in the middle of a search with --reboot (run {boots.run})",
        f"Go on with --resume, or undo it: `wirespeed rollback --host {address}`.",
    )


def _has_ended(opened: Store, run: str) -> bool:
    """Return whether the run is in this store and has all its measurements."""
    try:
        return read_run(opened, run).finished_at is not None
    except NoSuchRun:
        return False


def new_boots(address: str, offer: BootOffer) -> Boots:
    """Return the boots of a search that begins, without its run and without a file."""
    now = look_at_boot(reach, address)
    words = tuple(word for factor in offer.kernel for word in factor.kernel)
    names = tuple(factor.name for factor in offer.kernel)
    return Boots(
        "", address, words, now.added, now.cmdline, names=names, settings=offer.settings,
        excluded=offer.excluded,
    )  # fmt: skip


def take_up(boots: Boots, run: str) -> None:
    """Bind new boots to their run. Raises BadInput where they are of another one."""
    if not boots.run:
        boots.run = run
        boots.save()
    if boots.run != run:
        raise BadInput(
            f"{boots.address} is in the middle of another search with --reboot (run {boots.run}: "
            f"{' '.join(boots.words)})",
            f"Go on with that one, or undo it: `wirespeed rollback --host {boots.address}`.",
        )


def checked_boot(boots: Boots, *, with_words: bool, number: int | None) -> str:
    """Return the ID of the running boot. Raises Rebooting where another one is due."""
    now = look_at_boot(reach, boots.address)
    try:
        boots.check(now.id, now.cmdline, with_words=with_words, number=number)
    except RebootDue as due:
        raise Rebooting(boots, with_words=due.with_words) from due
    return now.id


def end_boots(boots: Boots, *, keep: bool) -> None:
    """Leave the host with the words or as before. Raises Rebooting where that takes a boot."""
    set_next_boot(reach, boots.address, boots.before, boots.words if keep else ())
    checked_boot(boots, with_words=keep, number=None)
    if not keep:
        end_words(reach, boots.address, boots.before)


def rebooted(due: Rebooting, name: str) -> bool:
    """Reboot the host to what is due; return False for this machine, where the command ends.

    name: of the host.
    """
    boots = due.boots
    words = boots.words if due.with_words else ()
    set_next_boot(reach, boots.address, boots.before, words)
    boots.ask(look_at_boot(reach, boots.address).id, with_words=due.with_words)
    what = f"with {' '.join(words)}" if words else "as before"
    print_line(f"{name} reboots {what}.", stderr=True)
    if boots.address == LOCALHOST:
        again = [word for word in sys.argv[1:] if word != "--resume"]
        command = shlex.join(["wirespeed", *again, "--resume"])
        print_line(f"After the reboot: {command}", stderr=True)
    return reboot_host(reach, boots.address)
