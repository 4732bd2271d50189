# SPDX-License-Identifier: Apache-2.0
"""Read the measured rates that the model is fitted to: a CSV of cases and rates."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from wirespeed.model.cpus import NEAREST, PlacementKind
from wirespeed.model.errors import BadInput, faulty_file
from wirespeed.model.plan.prediction import Arrangement, Attachment, Case, Counted, Edge, RateKind
from wirespeed.model.units import MAX_FRAME_BYTES, MIN_FRAME_BYTES


@dataclass(frozen=True, slots=True)
class Observation:
    """A measured rate in frames/s."""

    case: Case
    rate_fps: float
    kind: RateKind
    label: str
    placement: PlacementKind | None = None
    """Placement of the polling CPUs; None if unknown."""

    @property
    def curve(self) -> str:
        """Interface, pattern and frame size, as one line of S2's figures.

        A curve's points are excluded together.
        """
        case = self.case
        return f"{case.attachment} {case.arrangement} {case.frame_bytes:g} B"


def _choice(kind: type[StrEnum]) -> Callable[[str], Any]:
    def read(text: str) -> StrEnum:
        try:
            return kind(text)
        except ValueError:
            allowed = ", ".join(kind)
            raise ValueError(f"must be one of {allowed}") from None

    return read


def _number(low: float, high: float, whole: bool = False) -> Callable[[str], Any]:
    def read(text: str) -> float:
        wanted = f"must be a {'whole ' if whole else ''}number from {low:g} to {high:g}"
        try:
            value = int(text) if whole else float(text)
        except ValueError:
            raise ValueError(wanted) from None
        if not math.isfinite(value) or not low <= value <= high:
            raise ValueError(wanted)
        return value

    return read


_FLAGS = {"yes": True, "no": False}


def _flag(text: str) -> bool:
    if text not in _FLAGS:
        raise ValueError("must be yes or no")
    return _FLAGS[text]


_FIELDS: dict[str, Callable[[str], Any]] = {
    "attachment": _choice(Attachment),
    "arrangement": _choice(Arrangement),
    "functions": _number(0, 1000, whole=True),
    "frame_bytes": _number(MIN_FRAME_BYTES, MAX_FRAME_BYTES),
    "edge": _choice(Edge),
    "link_bps": _number(1e6, 1e13),
    "ports": _number(1, 64, whole=True),
    "nics": _number(1, 64, whole=True),
    "pmds": _number(1, 1024, whole=True),
    "function_cores": _number(1, 1024, whole=True),
    "idle_ports": _number(0, 4096, whole=True),
    "shared_core": _flag,
    "counted": _choice(Counted),
    "pcie_lanes": _number(1, 32, whole=True),
    "pcie_gts": _number(2.5, 128),
}
_REQUIRED = ("attachment", "frame_bytes", "rate_fps", "kind")
_OTHERS: dict[str, Callable[[str], Any]] = {
    "rate_fps": _number(1, 1e12),
    "kind": _choice(RateKind),
    "label": str,
}
_HELP = "docs/howto/predict.md lists the columns; rates are frames/s, of one kind in a file."


def parse_observations(text: str, source: str) -> tuple[Observation, ...]:
    """Return every row of the CSV. Raises BadInput with all errors at once."""
    reader = csv.DictReader(io.StringIO(text))
    columns = [name.strip() for name in reader.fieldnames or ()]
    allowed = [*_FIELDS, *_OTHERS]
    faults = [f"column {name!r}: unknown; columns are {', '.join(allowed)}"
              for name in columns if name not in allowed]  # fmt: skip
    faults += [f"column {name}: is missing" for name in _REQUIRED if name not in columns]
    if faults:
        raise faulty_file(source, faults, _HELP)
    found = []
    for line, row in enumerate(reader, start=2):
        values, wrong = _row({str(k): v for k, v in row.items() if k}, f"line {line}")
        faults += wrong
        if None in row:
            faults.append(f"line {line}: more fields than columns")
        if not wrong:
            others = {name: values.pop(name, "") for name in _OTHERS}
            found.append(Observation(Case(**values), **others))
    if not found and not faults:
        faults.append("there is no point in it")
    if faults:
        raise faulty_file(source, faults, _HELP)
    one_kind(found, source)
    return tuple(found)


def _row(row: dict[str, str | None], where: str) -> tuple[dict[str, Any], list[str]]:
    values, faults = {}, []
    for name, text in row.items():
        written = (text or "").strip()
        if not written and name not in _REQUIRED:
            continue
        try:
            values[name] = (_FIELDS | _OTHERS)[name](written)
        except ValueError as error:
            faults.append(f"{where}: {name} {written!r} {error}")
    if not faults:
        faults += [f"{where}: {text}" for text in impossible(values)]
    return values, faults


def impossible(values: dict[str, Any]) -> list[str]:
    """Return the contradictions within a case."""
    functions, kind = values.get("functions", 1), values["attachment"]
    if (kind is Attachment.NONE) != (functions == 0):
        return [f"functions {functions}: must be 0 with attachment none, and only then"]
    if values.get("edge") is Edge.VIRTUAL and kind in (Attachment.SRIOV, Attachment.PORT):
        return [f"edge virtual: must be nic with attachment {kind}"]
    if values.get("edge") is Edge.VIRTUAL and values.get("pmds") is None:
        return ["pmds: required with edge virtual"]
    return []


def one_kind(observations: Sequence[Observation], source: str) -> RateKind:
    """Return the kind of all rates. Raises BadInput if there are several."""
    kinds = sorted({observation.kind for observation in observations})
    if len(kinds) > 1:
        raise BadInput(
            f"{source}: rates of kinds {', '.join(kinds)} are mixed",
            "Fit one kind at a time: an MRR is taken under overload, an NDR without any loss.",
        )
    counted = sorted({observation.case.counted for observation in observations})
    if len(counted) > 1:
        raise BadInput(
            f"{source}: rates counted as {', '.join(counted)} are mixed",
            "Fit rates that count frames in one way.",
        )
    return kinds[0]


def split_by_placement(
    observations: Sequence[Observation],
) -> Mapping[PlacementKind | None, tuple[Observation, ...]]:
    """Return the observations of each placement, the nearest first, unknown ones last."""
    found = {kind: tuple(o for o in observations if o.placement is kind)
             for kind in (*NEAREST, None)}  # fmt: skip
    return {kind: of for kind, of in found.items() if of}
