# SPDX-License-Identifier: Apache-2.0
"""What did S1 publish that a gateway's run can be put beside?

S1: A. Hoban et al., A Path to Line-Rate-Capable NFV Deployments with Intel Architecture and the
OpenStack Kilo Release, Intel 2015, "Sample NFV Performance Results" and figure 5. The gains of the
four steps are published as a picture without figures; in words the paper gives the last one: line
rate on a 10 Gbps link with 256-byte packets and no loss. Measured in a VM on two Xeon E5-2690 v2
with an X520-SR2, SR-IOV set up by hand.
"""

from __future__ import annotations

from dataclasses import dataclass

from wirespeed.model.spec import PointSpec, VnfKind, VnfTuning


@dataclass(frozen=True, slots=True)
class Published:
    """A share of line rate without loss, at one frame size and step of tuning."""

    source: str
    frame_bytes: int
    tuning: VnfTuning
    link_bps: float
    line_share: float


S1_FIGURE_5 = Published("S1 (2015), figure 5", 256, VnfTuning.CORES, 10e9, 1.0)


def published(spec: PointSpec) -> Published | None:
    """What S1 says of such a point, if it says anything in figures."""
    s1 = S1_FIGURE_5
    same = (
        spec.sut.vnf.kind is VnfKind.BNG
        and spec.sut.vnf.tuning is s1.tuning
        and spec.traffic.frame.sizes == (s1.frame_bytes,)
        and spec.traffic.link_bps == s1.link_bps
    )
    return s1 if same else None
