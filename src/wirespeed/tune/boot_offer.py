# SPDX-License-Identifier: Apache-2.0
"""Offer the factors of a search with reboots: kernel words, and settings tried within each boot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from wirespeed.experiment.wide import is_wide
from wirespeed.model.errors import BadInput
from wirespeed.model.study.study import Point
from wirespeed.remote.interface import Runner
from wirespeed.study.interface import Rig
from wirespeed.tune.choose import Wanted
from wirespeed.tune.factor import Factor, NotTried, groups_of
from wirespeed.tune.kernel_factors import ISOLATED, isolation, kernel_factors
from wirespeed.tune.offer import Offer, offered, polling_of


@dataclass(frozen=True, slots=True)
class BootOffer:
    """Factors to try, and the others."""

    kernel: tuple[Factor, ...]
    """Factors whose words are tried together."""
    settings: tuple[Factor, ...]
    """Factors of two levels that need no reboot."""
    excluded: tuple[NotTried, ...]


def boot_offer(
    base: Point, rig: Rig, runner: Runner, own: Sequence[Factor] | None, wanted: Wanted, *,
    cmdline: str,
) -> BootOffer:  # fmt: skip
    """Return the factors to try.

    own: factors of the user's file; None: the words that isolate the CPUs that poll, and those of
    wirespeed's own settings that --only names. cmdline: of the running kernel. Raises BadInput
    where no words are left.
    """
    words: Sequence[Factor | NotTried]
    if own is None:
        online = [cpu.id for cpu in rig.facts.cpus if cpu.online]
        words = (isolation(online, polling_of(rig.plan(base.workload).sut_host)),)
        settings = _of_catalogue(base, rig, runner, wanted)
    else:
        wanted.check([factor.group for factor in own])
        words = [factor for factor in own if factor.kernel]
        settings = _of_file(base, rig, runner, [one for one in own if not one.kernel], wanted)
    if is_wide(groups_of(settings.tried)):
        raise BadInput(
            f"--reboot: {len(settings.tried)} levels of {len(groups_of(settings.tried))} factors "
            "that need no reboot: each boot takes at most 16 factors with one other level",
            "Name fewer with --only, or try those with several levels without --reboot.",
        )
    kernel, left = kernel_factors(words, wanted, cmdline)
    return BootOffer(kernel, settings.tried, (*left, *settings.excluded))


def _of_catalogue(base: Point, rig: Rig, runner: Runner, wanted: Wanted) -> Offer:
    only, never = (
        tuple(name for name in names if name != ISOLATED) for names in (wanted.only, wanted.never)
    )
    if not only:
        wanted.check([ISOLATED])
        return Offer((), ())
    return offered(base, rig, runner, None, replace(wanted, only=only, never=never))


def _of_file(base: Point, rig: Rig, runner: Runner, own: Sequence[Factor], wanted: Wanted) -> Offer:
    whys = [(factor, wanted.not_wanted(factor)) for factor in own]
    left = tuple(NotTried(factor.name, why) for factor, why in whys if why is not None)
    tried = [factor for factor, why in whys if why is None]
    if not tried:
        return Offer((), left)
    found = offered(base, rig, runner, tried, replace(wanted, only=(), never=()))
    return Offer(found.tried, (*left, *found.excluded))
