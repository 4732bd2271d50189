# SPDX-License-Identifier: Apache-2.0
"""Compute the octets of a frame on PCIe in each direction, and the capacity of a slot.

Source: R. Neugebauer et al., Understanding PCIe performance for end host networking, SIGCOMM 2018,
section 3: TLP headers by maximum payload size, read requests and completions, descriptors,
doorbells. Nothing here is fitted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MAX_PAYLOAD_BYTES = 256
MAX_READ_REQUEST_BYTES = 512
# Sequence number 2, header with a 64-bit address 16, LCRC 4, framing 4; a completion's header is
# 12.
WRITE_HEADER_BYTES = READ_HEADER_BYTES = 26
COMPLETION_HEADER_BYTES = 22
DESCRIPTOR_BYTES = 16
# Descriptors are fetched and written back four to a cache line; a doorbell is rung once a burst.
DESCRIPTORS_AT_ONCE = 4
DOORBELL_BYTES = 4
BURST_FRAMES = 32
# Flow control and acknowledgements (DLLPs) take 8 to 10% (the same paper, section 3).
DLLP_SHARE = 0.08

_FETCH_HEADERS = READ_HEADER_BYTES / DESCRIPTORS_AT_ONCE
_FETCHED = DESCRIPTOR_BYTES + COMPLETION_HEADER_BYTES / DESCRIPTORS_AT_ONCE
_WRITTEN_BACK = DESCRIPTOR_BYTES + WRITE_HEADER_BYTES / DESCRIPTORS_AT_ONCE
_DOORBELL = (DOORBELL_BYTES + WRITE_HEADER_BYTES) / BURST_FRAMES


def in_and_out(frame_bytes: Any) -> tuple[Floats, Floats]:
    """Return the octets towards memory and towards the NIC for a frame received and sent.

    frame_bytes: including the FCS, which stays in the NIC.
    """
    data = np.asarray(frame_bytes, dtype=float) - 4
    packets = np.ceil(data / MAX_PAYLOAD_BYTES)
    reads = np.ceil(data / MAX_READ_REQUEST_BYTES)
    towards_memory = (
        data + packets * WRITE_HEADER_BYTES + 2 * _WRITTEN_BACK
        + reads * READ_HEADER_BYTES + 2 * _FETCH_HEADERS
    )  # fmt: skip
    towards_nic = data + packets * COMPLETION_HEADER_BYTES + 2 * _FETCHED + 2 * _DOORBELL
    return towards_memory, towards_nic


def octets_per_ns(lanes: Any, gts: Any) -> Floats:
    """Return a slot's capacity in each direction: lanes x GT/s x encoding, less the DLLPs."""
    speed = np.asarray(gts, dtype=float)
    encoding = np.where(speed >= 8, 128 / 130, 8 / 10)
    carried: Floats = np.asarray(lanes, dtype=float) * speed * encoding / 8 * (1 - DLLP_SHARE)
    return carried
