# SPDX-License-Identifier: Apache-2.0
"""Blame a VNF that ended, was stopped, lacks buffers or is slow."""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.explain.seen import Seen
from wirespeed.explain.suspect import MUCH, STRAY, Suspect, figure
from wirespeed.model.result.evidence import Source
from wirespeed.model.result.explanation import Explanation, Proposal
from wirespeed.model.result.hop_counts import Counted, DropCause
from wirespeed.model.words import share

_TOWARDS = (DropCause.VHOST_TX_RING_FULL, DropCause.NOT_CONNECTED, DropCause.VNF_ENDED,
            DropCause.VNF_RX_RING_FULL)  # fmt: skip
_SWITCH, _SIDES = "switch:", "ab"


def vnfs(found: Seen) -> Iterator[Suspect]:
    """Yield at most one suspect per VNF, the most specific one."""
    towards: dict[str, int] = {}
    for (hop, cause), frames in found.drops.items():
        if cause in _TOWARDS:
            name = hop.removeprefix(_SWITCH)
            name = name.rstrip(_SIDES) if hop.startswith(_SWITCH) else name
            towards[name] = towards.get(name, 0) + frames
    for hop, what in found.events:
        if what in (Counted.RESTARTS, Counted.NO_BUFFERS) and hop != "tg":
            towards.setdefault(hop, 0)
    worst = max(towards, key=lambda name: towards[name], default=None)
    for name, frames in towards.items():
        certain = _restarted(found, name) or _without_buffers(found, name, frames)
        stopped = _stopped(found, name, frames) if name == worst else None
        explanation = certain or stopped or _slow(found, name, frames)
        if explanation is not None:
            yield Suspect(frames, explanation, certain is not None)


def _restarted(found: Seen, name: str) -> Explanation | None:
    times = found.events[name, Counted.RESTARTS]
    if not times:
        return None
    return Explanation(
        "vnf_restarted",
        f"{name} ended {times} times and was started again: what was sent to it meanwhile, and "
        "what its rings held, is lost.",
        (figure("restarts", times, "1"),),
        Proposal(f"Find out in the log of {name} why it ended."),
        hop=name,
    )


def _without_buffers(found: Seen, name: str, frames: int) -> Explanation | None:
    times = found.events[name, Counted.NO_BUFFERS]
    if not times:
        return None
    return Explanation(
        "vnf_buffers",
        f"{name} found no free buffer to receive into {times:,} times: its memory pool holds "
        "fewer buffers than its rings and what it works on take.",
        (figure("without a buffer", times, "1"), figure("lost on the way to it", frames, "frames")),
        Proposal(f"Give {name} a larger pool of buffers (mbufs)."),
        hop=name,
    )


def _stopped(found: Seen, name: str, frames: int) -> Explanation | None:
    """Blame a thread that did not run although its CPU did and no other program used that CPU."""
    frozen = ("sut", Source.FROZEN)
    away, longest = found.stops[frozen], found.longest.get(frozen, 0)
    shared = found.competitor(found.forwarding)[2] > MUCH
    if not away or shared or frames <= STRAY * found.offered:
        return None
    return Explanation(
        "vnf_stopped",
        f"{name} did not run for {away / 1e6:,.0f} ms, {longest / 1e6:,.0f} ms at a time, while "
        "its CPU did: its process was stopped, or waited for something itself.",
        (
            figure("not running, though its CPU was", away, "ns"),
            figure("longest time away", longest, "ns"),
            figure("lost on the way to it", frames, "frames"),
        ),
        Proposal(f"Find out what stops {name}: a debugger, a paused guest, a lock, a page fault."),
        hop=name,
    )


def _slow(found: Seen, name: str, frames: int) -> Explanation | None:
    """Blame a VNF whose ring overflowed without a stop as long as the ring lasts."""
    own = any(thread.startswith(f"{name}/") for thread in found.waits)
    # A VNF in the generator's process stops with the generator.
    away_ns = found.beyond["sut"] + (0 if own else found.beyond["generator"])
    lost_to_it = found.held and frames > STRAY * found.offered
    if not lost_to_it or frames <= 2 * found.frames_in(away_ns):
        return None
    lost = frames / found.offered
    return Explanation(
        "slow_vnf",
        f"{name} took frames more slowly than the switch handed them over: {share(lost)} of all "
        "found its ring full, and its CPU was not taken from it for as long as a ring lasts.",
        (
            figure("lost on the way to it", frames, "frames"),
            figure("away for longer than rings last", away_ns, "ns"),
        ),
        Proposal(f"Make {name} faster, or give it more CPU, on a core that nothing else polls on."),
        hop=name,
    )
