# SPDX-License-Identifier: Apache-2.0
"""Blame settings that changed during the measurement, with old value, new value and time."""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.explain.blame_time import thread_hop
from wirespeed.explain.seen import Changed, Fate, Seen
from wirespeed.explain.suspect import Suspect, figure
from wirespeed.model.result.change import Change
from wirespeed.model.result.explanation import EvidenceFigure, Explanation, Proposal
from wirespeed.model.words import counted, share

_NAMED = 3
_GENERATOR = "tg"
_HOPS = {"Open vSwitch": "switch", "Linux ": "switch", "pmd-": "switch", "generator/": _GENERATOR}
# Share of the frames; differences from noise alone are smaller.
_PLAIN = 0.01


def changes(found: Seen) -> Iterator[Suspect]:
    """Yield a suspect for each trial that found changed settings.

    A setting of the host alone explains no loss. Only settings of the bench's switch and threads
    do, and only if earlier trials lost fewer frames.
    """
    for each in found.changed:
        hop = next((hop for change in each.changes if (hop := hop_of(change))), None)
        unsent = each.unsent if _generates(found, hop) else 0.0
        harmed = hop is not None and each.lost + unsent > _PLAIN * max(found.intended, 1)
        yield Suspect(each.lost + unsent if harmed else 0.0, Explanation(
            "changed",
            _sentence(each) + _effect(each, harmed, unsent),
            (figure("settings changed", len(each.changes), "1"),
             *_shares("before the change", each.before), *_shares("from then on", each.after)),
            Proposal("Find the program that changed it, set it back, and measure again."),
            hop=hop if harmed else None,
        ), certain=harmed, harmless=not harmed)  # fmt: skip


def _generates(found: Seen, hop: str | None) -> bool:
    """Return whether a polling thread of the hop ran on a generator CPU.

    A change to such a thread may delay the generator.
    """
    return any(
        thread_hop(name, spent) == hop and found.generates(name)
        for name, spent in found.spent.items()
    )


def _sentence(each: Changed) -> str:
    own_first = sorted(each.changes, key=lambda change: hop_of(change) is None)
    listed = "; ".join(map(str, own_first[:_NAMED]))
    if len(own_first) > _NAMED:
        listed += f"; and {counted(len(own_first) - _NAMED, 'further setting')}"
    number = each.number
    when = f"between trials {number - 1} and {number}, or in trial {number}" if number > 1 else (
        "in trial 1 or before it"
    )  # fmt: skip
    return f"A setting changed {when}: {listed}."


def _shares(when: str, fate: Fate | None) -> tuple[EvidenceFigure, ...]:
    if fate is None:
        return ()
    return (
        figure(f"lost {when}", fate.lost, "ratio"),
        figure(f"not sent {when}", fate.unsent, "ratio"),
    )


def _effect(each: Changed, harmed: bool, unsent: float) -> str:
    if each.before is None:
        return " No trial before it shows what it changed."
    if not harmed:
        return " No loss is put down to it."
    before, after = each.before, each.after
    if unsent > each.lost:
        was, now, what = share(before.unsent), share(after.unsent), "not sent"
    else:
        was, now, what = share(before.lost), share(after.lost), "lost"
    return f" From then on {now} of the frames were {what}, {was} before it."


def hop_of(change: Change) -> str | None:
    """Return the hop that a setting belongs to; None for a setting of the host."""
    for begin, hop in _HOPS.items():
        if change.what.startswith(begin):
            return hop
    owner, slash, _ = change.what.partition("/")
    return owner or None if slash else None
