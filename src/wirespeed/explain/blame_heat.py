# SPDX-License-Identifier: Apache-2.0
"""Blame heat: the processor lowered the clock of a polling CPU to cool down."""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.explain.seen import RINGS_OF_SUT, Seen
from wirespeed.explain.suspect import STRAY, Suspect, figure
from wirespeed.model.result.evidence import DisturbanceKind
from wirespeed.model.result.explanation import Explanation, Proposal
from wirespeed.model.result.reason import Reason
from wirespeed.model.words import counted


def heat(found: Seen) -> Iterator[Suspect]:
    """Blame thermal throttling for what the throttled trials lost at full rings or did not send."""
    disturbed = found.disturbed.get(DisturbanceKind.THROTTLED)
    blame = Reason.THERMAL_THROTTLING.about.blame
    if disturbed is None or blame is None:
        return
    generates = not found.generating.isdisjoint(disturbed.events)
    lost = sum(disturbed.drops[cause] for cause in RINGS_OF_SUT)
    lost += disturbed.unsent if generates else 0
    each = disturbed.events.most_common()
    times = " and ".join(f"CPU {cpu} {counted(count, 'time')}" for cpu, count in each)
    yield Suspect(lost, Explanation(
        blame.limit,
        f"The processor was too hot and lowered its clock: it throttled {times}. Meanwhile a "
        "polling thread handles fewer frames a second.",
        (*(figure(f"throttled, CPU {cpu}", count, "1") for cpu, count in each),
         figure("lost at full rings in these trials", lost, "frames")),
        Proposal("Cool the processor better, or set a lower maximum frequency that it can keep.",
                 "/sys/devices/system/cpu/cpu*/cpufreq/scaling_max_freq"),
        hop="tg" if generates and found.forwarding.isdisjoint(disturbed.events) else "switch",
    ), harmless=lost <= STRAY * found.intended)  # fmt: skip
