# SPDX-License-Identifier: Apache-2.0
"""Judge what explanations said of faults by mechanism, and print it next to what is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from benchmarks.faults.causing import Causing
from benchmarks.faults.report import interval

from wirespeed.model.result.explanation import Explanation

KINDS, NAMED, NAMED_OR_HONEST, WRONG = 30, 0.85, 0.95, 0.03
# Of the frames, beyond what the healthy trial lost: a kind that lost no more had no effect, as far
# as noise of the host lets see.
EFFECT = 0.01
NOT_FOUND = frozenset({"cause_not_found", "unaccounted"})
# Explanations that accuse nobody.
NEUTRAL = frozenset(
    {"not_reached", "frame_cost", "worker_balance", "core_to_core_latency", "smt_siblings",
     "memory_contention", "core_contention", "shared_lcore", "max_load"}
)  # fmt: skip
# What this host's own noise looks like: no alarm where a kind had no effect.
NOISE = frozenset(
    {"generator_interrupted", "sut_interrupted", "steal", "pmd_core_shared",
     "generator_core_shared"}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Cell:
    """Keep what was caused at one point, the share of frames lost by it, and what was named."""

    kind: str
    topology: str
    load_fps: float
    lost: float
    verdict: str
    named: Sequence[Sequence[str | None]] = field(default_factory=tuple)
    said: str = ""
    grade: str = ""
    took_s: float = 0.0
    outside: bool = False

    def __str__(self) -> str:
        return (
            f"{self.verdict} {self.kind} on {self.topology}: missing {self.lost:.2%}, grade "
            f"{self.grade}, {self.named[:2]}; {self.said} ({self.took_s} s)"
        )


def verdict(causing: Causing, named: Sequence[Explanation], missing: float) -> str:
    """Return named, honest, wrong or missed; without effect: silent, or wrong if it blames others.

    The first that accuses somebody counts. A changed setting names the kind only where it is the
    kind's own.
    """
    accusing = (each for each in named if not each.limit.endswith("_harmless"))
    first = next((each for each in accusing if each.limit not in NEUTRAL), None)
    own = first is not None and causing.harms and _names(causing, first)
    if missing <= EFFECT or not causing.harms:
        return "silent" if first is None or first.limit in NOISE or own else "wrong"
    if first is None:
        return "missed"
    if own:
        return "named"
    return "honest" if first.limit in NOT_FOUND and causing.is_at(first.hop) else "wrong"


def _names(causing: Causing, first: Explanation) -> bool:
    """Return whether an explanation is the kind's own, at its hop."""
    if not causing.is_at(first.hop):
        return False
    if first.limit == "changed":
        return bool(causing.setting) and causing.setting in first.sentence
    return first.limit in causing.limits


def report(cells: Sequence[Cell]) -> int:
    """Print both halves and all; return 1 unless the shares of all are as asked."""
    for cell in cells:
        print(f"# {cell}")
    kinds = len({cell.kind for cell in cells})
    print(f"kinds {kinds} 1 (asked: >= {KINDS})")
    halves = {"developers": [c for c in cells if not c.outside],
              "outside": [c for c in cells if c.outside]}  # fmt: skip
    for name, half in halves.items():
        _shares(f"{name}_", half)
    return 0 if _shares("", cells) else 1


def _shares(prefix: str, cells: Sequence[Cell]) -> bool:
    """Print the shares of one half, or of all; return whether they are as asked."""
    count = {each: sum(cell.verdict == each for cell in cells) for each in VERDICTS}
    acted = sum(count[each] for each in ACTED)
    kinds = len({cell.kind for cell in cells})
    print(f"{prefix}cells {len(cells)} 1 (of {kinds} kinds; {count['silent']} without effect, "
          f"{count['void']} void next to other programs, {count['failed']} failed)")  # fmt: skip
    ok = not count["failed"]
    for name, hits, asked, most in (
        ("named_first", count["named"], NAMED, False),
        ("named_or_not_found", count["named"] + count["honest"], NAMED_OR_HONEST, False),
        ("wrong_first", count["wrong"], WRONG, True),
    ):  # fmt: skip
        low, high = interval(hits, acted)
        share, sign = hits / max(1, acted), "<=" if most else ">="
        print(f"{prefix}{name} {share:.3f} ratio ({hits} of {acted}, 95% {low:.3f} to {high:.3f}, "
              f"asked: {sign} {asked})")  # fmt: skip
        ok = ok and (share <= asked if most else share >= asked)
    return ok


ACTED = ("named", "honest", "wrong", "missed")
VERDICTS = (*ACTED, "silent", "void", "failed")
