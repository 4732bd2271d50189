# SPDX-License-Identifier: Apache-2.0
"""Rewrite Ethernet addresses as the modes of a forwarder do (testpmd's names)."""

from __future__ import annotations

from wirespeed.bench.topology.addresses import Header
from wirespeed.model.study.spec import VnfMode


def rewritten(mode: VnfMode, header: Header, own: str, target: str) -> tuple[Header, str | None]:
    """Return a frame's addresses after the forwarder; see topology.interface.Rewriting."""
    match mode:
        case VnfMode.MAC:
            return Header(own, target), target
        case VnfMode.MACSWAP:
            return header.swapped(), None
        case VnfMode.IO:
            return header, None
