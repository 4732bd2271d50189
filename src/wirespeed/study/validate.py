# SPDX-License-Identifier: Apache-2.0
"""Is a table of parameters, as read from TOML, a point that can be measured?"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from wirespeed.model.frame import FrameSizes
from wirespeed.model.gateway import Bng
from wirespeed.model.spec import PointSpec, Search, Sut, Topology, Traffic
from wirespeed.model.tcp import Tcp
from wirespeed.study.faults import Fault
from wirespeed.study.keys import unknown_key
from wirespeed.study.rules import broken_rules

_UNKNOWN = {"extra_forbidden", "unexpected_keyword_argument"}
_TABLE = {"dataclass_type", "dataclass_exact_type", "model_type", "dict_type"}


class _Sections(BaseModel):
    """The tables of a study file. `extra="forbid"` reaches the dataclasses inside."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    topology: Topology = Field(default_factory=Topology)
    traffic: Traffic = Field(default_factory=Traffic)
    sut: Sut = Field(default_factory=Sut)
    search: Search = Field(default_factory=Search)
    bng: Bng | None = None
    tcp: Tcp | None = None


def validate_point(raw: dict[str, Any]) -> tuple[PointSpec | None, list[Fault]]:
    """The point, or every fault that was found in its parameters."""
    raw = deepcopy(raw)
    faults = _parse_frame(raw)
    try:
        read = _Sections.model_validate(raw)
    except ValidationError as error:
        faults += [_fault(detail) for detail in error.errors(include_url=False)]
        return None, faults
    spec = PointSpec(read.topology, read.traffic, read.sut, read.search, bng=read.bng, tcp=read.tcp)
    faults += broken_rules(spec)
    return (None if faults else spec), faults


def _parse_frame(raw: dict[str, Any]) -> list[Fault]:
    """Replace traffic.frame, an integer or a genome, by FrameSizes; leave it out on a fault."""
    traffic = raw.get("traffic")
    if not isinstance(traffic, dict) or "frame" not in traffic:
        return []
    written = traffic.pop("frame")
    if isinstance(written, bool) or not isinstance(written, int | str):
        return [Fault("traffic.frame", written, "must be octets, or an IMIX genome as text")]
    try:
        traffic["frame"] = FrameSizes.parse(str(written))
    except ValueError as error:
        return [Fault("traffic.frame", written, str(error))]
    return []


def _fault(detail: ErrorDetails) -> Fault:
    key = ".".join(str(part) for part in detail["loc"])
    if detail["type"] in _UNKNOWN:
        return Fault(key, detail["input"], unknown_key(key))
    if detail["type"] in _TABLE:
        return Fault(key, detail["input"], f"must be a table, written [{key}]")
    return Fault(key, detail["input"], detail["msg"].replace("Input should", "must", 1))
