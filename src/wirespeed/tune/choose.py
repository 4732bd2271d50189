# SPDX-License-Identifier: Apache-2.0
"""Choose the factors that a search tries, and exclude the others with a reason. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wirespeed.experiment.wide import MAX_LEVELS
from wirespeed.model.errors import BadInput, WirespeedError
from wirespeed.model.study.spec import Workload
from wirespeed.model.study.study import flat
from wirespeed.study.errors import StudyError
from wirespeed.tune.factor import Factor, Needs, NotTried, groups_of
from wirespeed.tune.trials import workload_with


@dataclass(frozen=True, slots=True)
class Wanted:
    """Factors and amounts that the user allows."""

    only: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    more_cpus: int | None = None
    """Most CPUs that a factor may add; None: any number."""
    more_memory_mib: int | None = None
    """Most memory that a factor may add; None: any amount."""

    def check(self, names: Iterable[str]) -> None:
        """Raise BadInput for unknown names, and for names that are wanted and not wanted."""
        known = list(dict.fromkeys(names))
        for option, given in (("--only", self.only), ("--never", self.never)):
            for name in given:
                if name not in known:
                    near = difflib.get_close_matches(name, known, n=2, cutoff=0.4)
                    hint = f"Did you mean {' or '.join(map(repr, near))}? " if near else ""
                    raise BadInput(
                        f"{option} {name!r}: no such factor", f"{hint}Factors: {', '.join(known)}."
                    )
        if both := sorted({*self.only} & {*self.never}):
            raise BadInput(f"--only and --never both name {both[0]!r}", "Leave one of them out.")

    def excludes(self, factor: Factor) -> str | None:
        """Return why the factor is excluded, or None.

        Raises BadInput where it needs a reboot, or where it is wanted and takes too much.
        """
        if (why := self.not_wanted(factor)) is not None:
            return why
        if (why := self.too_dear(factor)) is not None and self.only:
            raise BadInput(
                f"--only names {factor.name!r}, and {why}", "Allow more, or leave the factor out."
            )
        if factor.kernel:
            raise BadInput(
                f"factor {factor.group!r} needs a reboot",
                f"Leave it out with --never {factor.group!r}. To try the factors with `kernel`, "
                "and to reboot the host between measurements, add --reboot.",
            )
        if factor.needs is Needs.REBOOT:
            raise BadInput(
                f"factor {factor.group!r} needs a reboot, and tune makes none",
                f"Leave it out with --never {factor.group!r}. To try it: wirespeed run, change it, "
                "reboot, run again, and wirespeed compare both runs.",
            )
        return why

    def not_wanted(self, factor: Factor) -> str | None:
        """Return why the user excludes the factor by its name, or None."""
        names = {factor.name, factor.group}
        if names & {*self.never}:
            return "--never names it"
        return "--only does not name it" if self.only and not names & {*self.only} else None

    def too_dear(self, factor: Factor) -> str | None:
        """Return why the factor takes more than is allowed, or None."""
        if self.more_cpus is not None and factor.cpus > self.more_cpus:
            return f"it takes {factor.cpus} more CPUs, and --more-cpus allows {self.more_cpus}"
        if self.more_memory_mib is not None and factor.memory_mib > self.more_memory_mib:
            return (
                f"it takes {factor.memory_mib} MiB more, and --more-memory allows "
                f"{self.more_memory_mib}"
            )
        return None


def chosen(
    offered: Sequence[Factor], base: Mapping[str, Any], wanted: Wanted,
    plan: Callable[[Workload], object], *, own: bool = False,
) -> tuple[tuple[Factor, ...], tuple[NotTried, ...]]:  # fmt: skip
    """Return the factors to try, and the others.

    base: parameters of the point. plan: raises WirespeedError where the host cannot run a workload.
    own: the user wrote the factors, so a level that does not exist is an error. Raises BadInput
    where a level is the present one, or where two factors set one key.
    """
    values = flat(dict(base))
    tried: list[Factor] = []
    excluded: list[NotTried] = []
    for factor in offered:
        if factor.sets and all(values.get(key) == value for key, value in factor.sets.items()):
            if factor.of:
                excluded.append(NotTried(factor.name, "it is the present level"))
                continue
            raise BadInput(
                f"factor {factor.name!r}: both levels are equal: {factor.change}",
                "Give it another level, or --set another present one.",
            )
        why = wanted.excludes(factor) or _impossible(factor, base, plan, own=own)
        if why is not None:
            excluded.append(NotTried(factor.name, why))
        else:
            tried.append(factor)
    _check_apart(tried)
    if len(tried) > MAX_LEVELS:
        raise BadInput(
            f"{len(tried)} levels of {len(groups_of(tried))} factors: a search takes at most "
            f"{MAX_LEVELS}",
            f"Name fewer with --only, e.g. --only {tried[0].group!r}.",
        )
    return tuple(tried), tuple(excluded)


def _impossible(
    factor: Factor, base: Mapping[str, Any], plan: Callable[[Workload], object], *, own: bool
) -> str | None:
    try:
        workload = workload_with(base, factor.sets, f"factor {factor.name!r}")
    except StudyError as error:
        if own:
            raise BadInput(
                error.what,
                "Correct the level in the file of --factors; docs/reference/study-file.md lists "
                "every key.",
            ) from error
        return " ".join(error.what.split())
    try:
        plan(workload)
    except WirespeedError as error:
        return " ".join(error.what.split())
    return None


def _check_apart(factors: Sequence[Factor]) -> None:
    seen: dict[str, str] = {}
    for factor in factors:
        for key in (*factor.sets, *factor.host):
            if seen.get(key, factor.group) != factor.group:
                raise BadInput(
                    f"factors {seen[key]!r} and {factor.group!r} both set {key}",
                    f"Exclude one: --never {factor.group!r}.",
                )
            seen[key] = factor.group
