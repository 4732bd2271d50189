# SPDX-License-Identifier: Apache-2.0
"""What frames does a traffic stream consist of, and which of them can carry a stamp?"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from annotated_types import Ge, Le

from wirespeed.model.units import FCS_BYTES

VlanId = Annotated[int, Ge(1), Le(4094)]
# What a study writes before a genome, so that no other word is taken for one.
GENOME = "imix"
# RFC 6985 section 3.1: the sizes that the letters of an IMIX genome stand for.
GENOME_BYTES = {
    "a": 64, "b": 128, "c": 256, "d": 512, "e": 1024, "f": 1280, "g": 1518, "h": 2112,
}  # fmt: skip

# signature (2), flow (4), sequence number (4), time stamp (8)
STAMP_BYTES = 18


class Encapsulation(StrEnum):
    NONE = "none"
    VLAN = "vlan"
    QINQ = "qinq"

    @property
    def tags(self) -> int:
        return {"none": 0, "vlan": 1, "qinq": 2}[self.value]


class FlowField(StrEnum):
    """The header field that steps from one flow to the next."""

    SRC_IP = "src_ip"
    DST_IP = "dst_ip"
    SRC_MAC = "src_mac"
    DST_MAC = "dst_mac"
    SRC_PORT = "src_port"
    DST_PORT = "dst_port"
    VLAN = "vlan"


@dataclass(frozen=True, slots=True)
class FrameSizes:
    """One frame size or an IMIX genome (RFC 6985): the sizes are sent in this order, in turn."""

    text: str
    sizes: tuple[int, ...]

    @classmethod
    def parse(cls, text: str) -> FrameSizes:
        """Read "64" or "aaaaaaaddddg". Raises ValueError that names the letter at fault."""
        if text.isdecimal():
            return cls(text, (int(text),))
        unknown = sorted(set(text) - set(GENOME_BYTES))
        if unknown or not text:
            allowed = ", ".join(f"{k}={v}" for k, v in GENOME_BYTES.items())
            raise ValueError(
                f"{text!r} is neither a frame size in octets nor an IMIX genome; "
                f"letters are {allowed} (RFC 6985)"
            )
        return cls(text, tuple(GENOME_BYTES[c] for c in text))

    @property
    def written(self) -> int | str:
        """As a study file has it."""
        return int(self.text) if self.text.isdecimal() else f"{GENOME}:{self.text}"

    @property
    def mean_bytes(self) -> float:
        return sum(self.sizes) / len(self.sizes)


def stamped_minimum_bytes(ip_version: int, encapsulation: Encapsulation) -> int:
    """The smallest frame (FCS included) with room for a stamp; below it only counters are kept."""
    l3 = 20 if ip_version == 4 else 40
    needed = 14 + 4 * encapsulation.tags + l3 + 8 + STAMP_BYTES + FCS_BYTES
    return max(needed, 64)
