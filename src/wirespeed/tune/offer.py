# SPDX-License-Identifier: Apache-2.0
"""Offer the factors of a point and its host, and say why others are excluded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wirespeed.model.errors import BadInput
from wirespeed.model.plan.plan import HostPlan
from wirespeed.model.study.study import Point
from wirespeed.remote.interface import Runner
from wirespeed.sources.kernel_value import same_value, selected
from wirespeed.study.interface import Rig
from wirespeed.tune.catalogue import catalogue
from wirespeed.tune.choose import Wanted, chosen
from wirespeed.tune.factor import Factor, NotTried
from wirespeed.tune.host_factors import host_factors


@dataclass(frozen=True, slots=True)
class Offer:
    """Factors to try, and the others."""

    tried: tuple[Factor, ...]
    excluded: tuple[NotTried, ...]


def offered(
    base: Point, rig: Rig, runner: Runner, own: Sequence[Factor] | None, wanted: Wanted
) -> Offer:
    """Return the factors to try at the point on this host.

    own: factors of the user's file; None: wirespeed's own. Raises BadInput where none is left.
    """
    factors, excluded = list(own or ()), list[NotTried]()
    for factor in factors:
        if wanted.not_wanted(factor) is None:
            _check_files(factor, runner)
    if own is None:
        frames = base.workload.frames
        assert frames is not None
        plan = rig.plan(frames)
        polling = polling_of(plan.sut_host)
        quiet = [cpu.id for cpu in rig.facts.cpus if cpu.online and cpu.id not in polling]
        for tried, others in (catalogue(frames, plan), host_factors(runner, quiet)):
            factors += tried
            excluded += others
    wanted.check([*(factor.group for factor in factors), *(each.name for each in excluded)])
    found, more = chosen(factors, base.parameters, wanted, rig.plan, own=own is not None)
    if not found:
        reasons = "\n".join(f"  {each.name}: {each.why}" for each in (*more, *excluded))
        raise BadInput(f"{base.label}: there is no factor to try", f"Reasons:\n{reasons}")
    return Offer(found, (*more, *excluded))


def _check_files(factor: Factor, runner: Runner) -> None:
    """Raise BadInput where the host lacks a file of the factor, or has its other level already."""
    if not factor.host:
        return
    now = runner.read_many(list(factor.host))
    for path in factor.host:
        if not isinstance(now[path], str):
            raise BadInput(
                f"factor {factor.group!r}: {path} cannot be read on {runner.name}: {now[path]}",
                "Correct the path, or leave the factor out with --never.",
            )
    same = all(
        same_value(path, selected(str(now[path])), text) for path, text in factor.host.items()
    )
    if same and not factor.sets and not factor.of:
        raise BadInput(
            f"factor {factor.name!r}: both levels are equal: {factor.change}",
            f"Give it another level, or leave it out with --never {factor.name!r}.",
        )


def polling_of(plan: HostPlan) -> frozenset[int]:
    """Return the CPUs on which a thread of the bench polls."""
    found = list(plan.vswitch.pmd_cpus.value) if plan.vswitch is not None else []
    found += [cpu for guest in plan.guests for cpu in guest.cpus.value]
    found += plan.generator.cpus.value if plan.generator is not None else ()
    return frozenset(found)
