# SPDX-License-Identifier: Apache-2.0
"""Convert frame sizes, rates and link speeds.

A frame size is in L2 octets *including* the 4-octet FCS (RFC 2544 section 9). On the wire each
frame takes 20 more octets (preamble, SFD, inter-frame gap): that is L1.
"""

from __future__ import annotations

FCS_BYTES = 4
L1_OVERHEAD_BYTES = 20
MIN_FRAME_BYTES = 64
MAX_FRAME_BYTES = 9216


def line_rate_fps(link_bps: float, frame_bytes: float) -> float:
    """Return the theoretical maximum frame rate of a link, in frames/s (RFC 2544 section 20)."""
    return link_bps / ((frame_bytes + L1_OVERHEAD_BYTES) * 8)


def l1_bps(rate_fps: float, frame_bytes: float) -> float:
    """Return the rate in bit/s on the wire, including preamble and inter-frame gap."""
    return rate_fps * (frame_bytes + L1_OVERHEAD_BYTES) * 8


def l2_bps(rate_fps: float, frame_bytes: float) -> float:
    """Return the rate in bit/s of whole Ethernet frames, including the FCS."""
    return rate_fps * frame_bytes * 8


def mtu_for(frame_bytes: int, tags: int = 0) -> int:
    """Return the L3 MTU, in octets, for a frame of this size with this number of VLAN tags."""
    return frame_bytes - 14 - FCS_BYTES - 4 * tags
