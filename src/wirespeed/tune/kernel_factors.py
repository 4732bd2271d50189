# SPDX-License-Identifier: Apache-2.0
"""List the factors that need a reboot: words of the kernel command line. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from wirespeed.model.cpuset import format_list
from wirespeed.model.errors import BadInput
from wirespeed.tune.choose import Wanted
from wirespeed.tune.factor import Factor, Needs, NotTried

ISOLATED = "isolated CPUs"


def isolation(online: Collection[int], polling: Collection[int]) -> Factor | NotTried:
    """Return the factor that keeps tasks, ticks and RCU callbacks off the CPUs that poll."""
    if not polling:
        return NotTried(ISOLATED, "no thread polls")
    if not set(online) - set(polling):
        return NotTried(ISOLATED, "a thread polls on every CPU: none is left for other tasks")
    cpus = format_list(sorted(polling))
    words = (f"isolcpus={cpus}", "nohz=on", f"nohz_full={cpus}", f"rcu_nocbs={cpus}")
    return Factor(ISOLATED, needs=Needs.REBOOT, kernel=words)


def kernel_factors(
    offered: Sequence[Factor | NotTried], wanted: Wanted, cmdline: str
) -> tuple[tuple[Factor, ...], tuple[NotTried, ...]]:
    """Return the factors whose kernel words are tried together, and the others with the reason.

    cmdline: of the running kernel. Raises BadInput where none is left, or where two contradict.
    """
    tried: list[Factor] = []
    left: list[NotTried] = []
    for each in offered:
        if isinstance(each, NotTried):
            left.append(each)
        elif (why := wanted.not_wanted(each) or _why_not(each, cmdline)) is not None:
            left.append(NotTried(each.name, why))
        else:
            tried.append(each)
    if not tried:
        reasons = "\n".join(f"  {each.name}: {each.why}" for each in left)
        raise BadInput(
            "--reboot: there is no factor with kernel words to try",
            f"Reasons:\n{reasons}" if left else "Add one with `kernel`, or leave out --reboot.",
        )
    _check_apart(tried)
    return tuple(tried), tuple(left)


def _why_not(factor: Factor, cmdline: str) -> str | None:
    have = set(factor.kernel) <= set(cmdline.split())
    return "the kernel runs with its words already" if have else None


def _check_apart(factors: Sequence[Factor]) -> None:
    seen: dict[str, str] = {}
    for factor in factors:
        for word in factor.kernel:
            key = word.partition("=")[0]
            if seen.setdefault(key, factor.name) != factor.name:
                raise BadInput(
                    f"factors {seen[key]!r} and {factor.name!r} both set {key}",
                    f"Exclude one: --never {factor.name!r}.",
                )
