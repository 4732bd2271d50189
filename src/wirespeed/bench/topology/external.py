# SPDX-License-Identifier: Apache-2.0
"""Define the topology external: the generator's ports lead to a DUT outside the bench."""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.bench.topology.direct import streams
from wirespeed.bench.topology.interface import Rewriting, TopologyKind
from wirespeed.bench.topology.wiring import Wiring
from wirespeed.model.input.fault import Fault
from wirespeed.model.study.spec import Frames


def _wiring(frames: Frames, _function: Rewriting) -> Wiring:
    return Wiring(cables=(), streams=streams(frames))


def _faults(frames: Frames) -> Iterator[Fault]:
    ports = frames.sut.ports
    if len(ports) != 2:
        yield Fault("sut.ports", ports, "external needs two: where frames leave and where they end")


EXTERNAL = TopologyKind(
    "external", "`sut.ports`, whatever lies between them", _wiring, external=True,
    takes=frozenset({"sut.ports"}), faults=_faults,
)  # fmt: skip
