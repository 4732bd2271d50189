# SPDX-License-Identifier: Apache-2.0
"""Who is to blame: the VNF, the switch, its settings, the generator or the host?

A full ring says where frames were lost, not why. Other evidence tells: programs that ended or were
stopped, buffers that ran out, upcalls, flows that were deleted, queues that got no frames, other
programs on the CPUs that poll. Each suspect is named with the number of frames that it explains;
the one that explains most comes first, but what is certain before what noise could be as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from wirespeed.explain.blame_host import generator, host
from wirespeed.explain.blame_switch import links, nodes, queues, rings, upcalls
from wirespeed.explain.blame_time import interrupts, threads
from wirespeed.explain.blame_vnf import vnfs
from wirespeed.explain.interface import Measured
from wirespeed.explain.loss import BY_SETTINGS
from wirespeed.explain.seen import Seen, seen
from wirespeed.explain.suspect import Suspect
from wirespeed.model.explanation import Explanation

# Those that are found by what is nothing but they come before those that are left over.
_SUSPICIONS: tuple[Callable[[Seen], Iterable[Suspect]], ...] = (
    threads, interrupts, vnfs, upcalls, links, queues, nodes, rings, generator, host,
)  # fmt: skip


def foremost(point: Measured) -> Iterator[Explanation]:
    """Who explains at least as much as settings that drop frames do."""
    found = seen(point.result)
    by_settings = found.dropped(BY_SETTINGS)
    yield from (s.explanation for s in _ranked(point, found) if s.frames >= by_settings)


def besides(point: Measured) -> Iterator[Explanation]:
    """Who explains less than these."""
    found = seen(point.result)
    by_settings = found.dropped(BY_SETTINGS)
    yield from (s.explanation for s in _ranked(point, found) if s.frames < by_settings)


def _ranked(point: Measured, found: Seen) -> list[Suspect]:
    """A SUT that does what it was told to is to blame for nothing."""
    if point.sut.limits_itself or not found.offered:
        return []
    suspects = [suspect for each in _SUSPICIONS for suspect in each(found)]
    ranked = sorted(suspects, key=lambda suspect: (not suspect.certain, -suspect.frames))
    once = {(s.explanation.limit, s.explanation.hop): s for s in reversed(ranked)}
    return [suspect for suspect in ranked if suspect in once.values()]
