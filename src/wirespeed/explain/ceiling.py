# SPDX-License-Identifier: Apache-2.0
"""Report what kept the search from reaching the SUT's own limit."""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.explain.interface import Measured
from wirespeed.model.result.explanation import EvidenceFigure, Explanation, Proposal

_LIMITS = {
    "shared_lcore": (
        "Generator and VNF share a core: on a machine with more cores the rate may be higher.",
        Proposal("Use a host with separate cores for generator and VNF."),
    ),
    "shared_partner": (
        "The SUT and the partner of its bonds take turns on one core: the SUT alone may be much "
        "faster than measured.",
        Proposal("Use a host with separate cores for the SUT and its bonds' partner."),
    ),
    "shared_control": (
        "The router's control plane (routing daemons, the thread that follows the kernel) and the "
        "threads that forward take turns on one CPU; what it took counts as the SUT's.",
        Proposal("Use a host with a core more for the control plane."),
    ),
    "generator": (
        "The generator could not offer more: the SUT may be faster than measured.",
        Proposal("Give the generator more CPUs."),
    ),
    "link": (
        "The line rate of the links (traffic.link_bps) passed: the SUT may be faster.",
        Proposal("Try a faster link.", "traffic.link_bps"),
    ),
    "max_load": (
        "The highest allowed load (search.max_load_fps) passed: the SUT may be faster than "
        "measured.",
        Proposal("Raise the highest load.", "search.max_load_fps"),
    ),
}


def ceiling(point: Measured) -> Iterator[Explanation]:
    """Report the bound of the load; nothing if the SUT limits itself."""
    limit = point.result.limited_by
    if limit is None or point.sut.limits_itself:
        return
    sentence, proposal = _LIMITS.get(limit, (f"Limited by {limit}.", None))
    highest = point.result.max_load_fps
    evidence = (
        (EvidenceFigure("highest load", highest, "frames/s", "the search's ceiling"),)
        if highest is not None
        else ()
    )
    yield Explanation(limit, sentence, evidence, proposal)
