# SPDX-License-Identifier: Apache-2.0
"""Blame settings that changed while the point was measured, with what, from, to and when."""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.explain.seen import Changed, Seen
from wirespeed.explain.suspect import Suspect, figure
from wirespeed.model.change import Change
from wirespeed.model.explanation import Explanation, Proposal
from wirespeed.model.words import counted, share

_NAMED = 3
_GENERATOR = "tg"
_HOPS = {"Open vSwitch": "switch", "Linux ": "switch", "pmd-": "switch", "generator/": _GENERATOR}
# Of the frames: noise alone makes trials differ by less.
_PLAIN = 0.01


def changes(found: Seen) -> Iterator[Suspect]:
    """One for each trial that found settings changed.

    A setting of the host at large explains no loss by itself: only those of the bench's own switch
    and threads do, and only where trials before the change lost fewer frames.
    """
    for each in found.changed:
        hop = next((hop for change in each.changes if (hop := hop_of(change))), None)
        frames = each.lost + (each.unsent if hop == _GENERATOR else 0.0)
        harmed = hop is not None and frames > _PLAIN * max(found.intended, 1)
        yield Suspect(frames if harmed else 0.0, Explanation(
            "changed",
            _sentence(each, harmed),
            (figure("settings changed", len(each.changes), "1"),
             figure("lost before the change", each.before or 0.0, "ratio"),
             figure("lost from then on", each.after, "ratio")),
            Proposal("Find out who changed it, set it back, and measure again."),
            hop=hop if harmed else None,
        ), certain=harmed, harmless=not harmed)  # fmt: skip


def _sentence(each: Changed, harmed: bool) -> str:
    own_first = sorted(each.changes, key=lambda change: hop_of(change) is None)
    told = "; ".join(map(str, own_first[:_NAMED]))
    if len(own_first) > _NAMED:
        told += f"; and {counted(len(own_first) - _NAMED, 'further setting')}"
    number = each.number
    when = f"between trials {number - 1} and {number}, or in trial {number}" if number > 1 else (
        "in trial 1 or before it"
    )  # fmt: skip
    begin = f"A setting changed {when}: {told}."
    if harmed:
        was, now = share(each.before or 0.0), share(each.after)
        return f"{begin} From then on {now} of the frames were lost, {was} before it."
    if each.before is None:
        return f"{begin} No trial before it shows what it changed."
    return f"{begin} No loss is put down to it."


def hop_of(change: Change) -> str | None:
    """The hop that a setting belongs to; None for one of the host."""
    for begin, hop in _HOPS.items():
        if change.what.startswith(begin):
            return hop
    owner, slash, _ = change.what.partition("/")
    return owner or None if slash else None
