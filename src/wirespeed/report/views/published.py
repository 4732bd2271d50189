# SPDX-License-Identifier: Apache-2.0
"""Look up S1's published rates for a gateway's run.

S1: A. Hoban et al., A Path to Line-Rate-Capable NFV Deployments with Intel Architecture and the
OpenStack Kilo Release, Intel 2015, "Sample NFV Performance Results" and figure 5. The gains of the
four steps are published as a picture without numbers. The text gives the last one: line rate on a
10 Gbps link with 256-byte packets and no loss. It was measured in a VM on two Xeon E5-2690 v2 with
an X520-SR2, with SR-IOV set up by hand.
"""

from __future__ import annotations

from dataclasses import dataclass

from wirespeed.model.study.spec import Frames, VnfPages, VnfThreads


@dataclass(frozen=True, slots=True)
class Published:
    """Share of line rate without loss at one frame size, with all steps of tuning."""

    source: str
    frame_bytes: int
    link_bps: float
    line_share: float


S1_FIGURE_5 = Published("S1 (2015), figure 5", 256, 10e9, 1.0)


def published(spec: Frames) -> Published | None:
    """Return S1's rate for such a point; None where it gives none."""
    s1 = S1_FIGURE_5
    same = (
        spec.bng is not None
        and spec.sut.vnf.pages is VnfPages.HUGE
        and spec.sut.vnf.threads is VnfThreads.PINNED
        and spec.traffic.frame.sizes == (s1.frame_bytes,)
        and spec.traffic.link_bps == s1.link_bps
    )
    return s1 if same else None
