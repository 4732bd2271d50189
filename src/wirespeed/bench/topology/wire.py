# SPDX-License-Identifier: Apache-2.0
"""Define the topology wire: the reference SUT between two rings, in the generator's process."""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.bench.topology.direct import between_ports
from wirespeed.bench.topology.interface import Rewriting, TopologyKind
from wirespeed.bench.topology.wiring import IMPAIR, Wiring
from wirespeed.model.input.fault import Fault
from wirespeed.model.study.spec import Frames


def _wiring(frames: Frames, function: Rewriting) -> Wiring:
    return between_ports(frames, function, IMPAIR)


def _faults(frames: Frames) -> Iterator[Fault]:
    impair = frames.sut.impair
    if impair.stall_ns and impair.stall_ns >= impair.stall_every_ns:
        yield Fault(
            "sut.impair.stall_ns", impair.stall_ns,
            f"must be below sut.impair.stall_every_ns = {impair.stall_every_ns}",
        )  # fmt: skip


WIRE = TopologyKind(
    "wire", "the reference SUT of known behaviour, inside one process", _wiring,
    functions=lambda _frames: (IMPAIR,), function=IMPAIR, one_process=True,
    takes=frozenset({"sut.impair"}), faults=_faults,
)  # fmt: skip
