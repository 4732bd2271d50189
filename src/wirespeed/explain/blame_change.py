# SPDX-License-Identifier: Apache-2.0
"""Blame settings that changed while the point was measured, with what, from, to and when."""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.explain.seen import Changed, Seen
from wirespeed.explain.suspect import STRAY, Suspect, figure
from wirespeed.model.change import Change
from wirespeed.model.explanation import Explanation, Proposal
from wirespeed.model.words import counted, share

_NAMED = 3
_HOPS = {"Open vSwitch": "switch", "pmd-": "switch", "generator/": "tg"}


def changes(found: Seen) -> Iterator[Suspect]:
    """One for each trial that found settings changed."""
    for each in found.changed:
        harmed = each.frames > STRAY * max(found.intended, 1)
        yield Suspect(each.frames if harmed else 0.0, Explanation(
            "changed" if harmed else "changed_harmless",
            _sentence(each, harmed),
            (figure("settings changed", len(each.changes), "1"),
             figure("lost before the change", each.before or 0.0, "ratio"),
             figure("lost from then on", each.after, "ratio")),
            Proposal("Find out who changed it, set it back, and measure again."),
            hop=hop_of(each.changes[0]) if harmed else None,
        ), certain=harmed, harmless=not harmed)  # fmt: skip


def _sentence(each: Changed, harmed: bool) -> str:
    told = "; ".join(map(str, each.changes[:_NAMED]))
    if len(each.changes) > _NAMED:
        told += f"; and {counted(len(each.changes) - _NAMED, 'further setting')}"
    number = each.number
    when = f"between trials {number - 1} and {number}, or in trial {number}" if number > 1 else (
        "in trial 1 or before it"
    )  # fmt: skip
    if not harmed:
        return f"A setting changed {when}: {told}. No more frames were lost than before."
    before = "" if each.before is None else f", {share(each.before)} before"
    return f"A setting changed {when}: {told}. From then on {share(each.after)} was lost{before}."


def hop_of(change: Change) -> str | None:
    """The hop that a setting belongs to; None for one of the host."""
    for begin, hop in _HOPS.items():
        if change.what.startswith(begin):
            return hop
    owner, slash, _ = change.what.partition("/")
    return owner or None if slash else None
