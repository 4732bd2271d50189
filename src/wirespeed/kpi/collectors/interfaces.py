# SPDX-License-Identifier: Apache-2.0
"""Collect packets, octets, errors and drops of the kernel's interfaces, VFs and PFs included."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wirespeed.kpi.collectors.files import Texts, file_source
from wirespeed.kpi.interface import OCTETS, PACKETS, Missing, Name, Source, counter
from wirespeed.remote.interface import Runner

_DEV = "/proc/net/dev"
_RX = ("interface_bytes", "interface_packets", "interface_error_packets",
       "interface_dropped_packets")  # fmt: skip
# Columns of a line of the file: receive first, transmit from the ninth on.
_COLUMNS = 16


class InterfaceCollector:
    name = "interfaces"
    cheap = True
    metrics = (
        counter(_RX[0], OCTETS, "interface direction", "Octets of an interface", _DEV,
                term="Network interface octets, counted"),
        counter(_RX[1], PACKETS, "interface direction", "Packets of an interface", _DEV,
                term="Network interface packets, counted"),
        counter(_RX[2], PACKETS, "interface direction", "Packets with errors", _DEV,
                term="Network interface errors, counted"),
        counter(_RX[3], PACKETS, "interface direction", "Packets that were dropped", _DEV,
                term="Network interface drops, counted"),
    )  # fmt: skip

    def probe(self, runner: Runner) -> Sequence[Source] | Missing:
        return file_source(self.name, runner, (_DEV,), parse)


def parse(texts: Texts) -> Mapping[Name, int]:
    """Return the counters of the interfaces of this network namespace."""
    found: dict[Name, int] = {}
    for line in texts[_DEV].splitlines()[2:]:
        name, _, rest = line.rpartition(":")
        words = rest.split()
        if len(words) < _COLUMNS:
            continue
        for direction, first in (("rx", 0), ("tx", 8)):
            labels = (name.strip(), direction)
            for offset, key in enumerate(_RX):
                found[key, labels] = int(words[first + offset])
    return found
