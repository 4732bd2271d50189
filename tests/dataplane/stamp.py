# SPDX-License-Identifier: Apache-2.0
"""Read the stamp in a frame's payload independently of dataplane/pktlib/stamp.h."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Self

BYTES = 18
_LAYOUT = struct.Struct(">2sB3sIB7s")


@dataclass(frozen=True, slots=True)
class Stamp:
    stream: int
    flow: int
    sequence: int
    trial: int
    tsc: int

    @classmethod
    def read(cls, payload: bytes) -> Self:
        """Parse the first 18 octets of a UDP payload; they must bear the signature."""
        signature, stream, flow, sequence, trial, tsc = _LAYOUT.unpack(payload[:BYTES])
        assert signature == b"WS", payload[:BYTES].hex()
        return cls(stream, int.from_bytes(flow), sequence, trial, int.from_bytes(tsc))

    def write(self) -> bytes:
        return _LAYOUT.pack(b"WS", self.stream, self.flow.to_bytes(3), self.sequence, self.trial,
                            self.tsc.to_bytes(7))  # fmt: skip
