# SPDX-License-Identifier: Apache-2.0
"""Name the documents that a source such as "S3 appendix C" refers to."""

from __future__ import annotations

import re

PAPERS = {
    "S0": "Intel, Implementing a TCP Broadband Speed Test in the Cloud for Use in an NFV "
    "Infrastructure (technical brief, 2016)",
    "S1": "Intel, A Path to Line-Rate-Capable NFV Deployments with Intel Architecture and the "
    "OpenStack Kilo Release (white paper, 2015)",
    "S2": "Intel, SR-IOV for NFV Solutions: Practical Considerations and Thoughts (335625, 2017)",
    "S3": "Dell and Intel, Jumbo Frames Performance Analysis over Red Hat OpenStack 16.1 "
    "Infrastructure (white paper, 2021)",
    "S4": "HP, Evaluation and Characterization of NFV Infrastructure Solutions on HP Server "
    "Platforms (DPDK Summit, 2015)",
}


def papers_in(source: str) -> tuple[str, ...]:
    """Return the papers that a source mentions: short name and full title of each."""
    named = sorted(set(re.findall(r"\bS[0-4]\b", source)))
    return tuple(f"{name}: {PAPERS[name]}" for name in named)
