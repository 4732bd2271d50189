# SPDX-License-Identifier: Apache-2.0
"""Define the frames of a traffic stream: sizes, encapsulation, flows and room for a stamp."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from annotated_types import Ge, Le

from wirespeed.model.units import FCS_BYTES

VlanId = Annotated[int, Ge(1), Le(4094)]
# Prefix of a genome in a study file, so that no other word is taken for a genome.
GENOME = "imix"
# RFC 6985 section 3.1: size in octets of each letter of an IMIX genome.
GENOME_BYTES = {
    "a": 64, "b": 128, "c": 256, "d": 512, "e": 1024, "f": 1280, "g": 1518, "h": 2112,
}  # fmt: skip

# Octets: signature (2), flow (4), sequence number (4), time stamp (8).
STAMP_BYTES = 18


class Encapsulation(StrEnum):
    NONE = "none"
    VLAN = "vlan"
    QINQ = "qinq"

    @property
    def tags(self) -> int:
        return {"none": 0, "vlan": 1, "qinq": 2}[self.value]


class FlowField(StrEnum):
    """Header field that steps from one flow to the next."""

    SRC_IP = "src_ip"
    DST_IP = "dst_ip"
    SRC_MAC = "src_mac"
    DST_MAC = "dst_mac"
    SRC_PORT = "src_port"
    DST_PORT = "dst_port"
    VLAN = "vlan"


@dataclass(frozen=True, slots=True)
class FrameSizes:
    """One frame size or an IMIX genome (RFC 6985), whose sizes are sent in turn."""

    text: str
    sizes: tuple[int, ...]
    """Frame sizes in octets, including the FCS, in the order of sending."""

    @classmethod
    def parse(cls, text: str) -> FrameSizes:
        """Parse "64" or "aaaaaaaddddg". Raises ValueError that names the invalid letter."""
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
        """The value in the spelling of a study file."""
        return int(self.text) if self.text.isdecimal() else f"{GENOME}:{self.text}"

    @property
    def mean_bytes(self) -> float:
        return sum(self.sizes) / len(self.sizes)


def stamped_minimum_bytes(ip_version: int, encapsulation: Encapsulation) -> int:
    """Return the smallest frame, including the FCS, that has room for a stamp, in octets.

    Smaller frames are only counted.
    """
    l3 = 20 if ip_version == 4 else 40
    needed = 14 + 4 * encapsulation.tags + l3 + 8 + STAMP_BYTES + FCS_BYTES
    return max(needed, 64)
