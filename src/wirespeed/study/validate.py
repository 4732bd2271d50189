# SPDX-License-Identifier: Apache-2.0
"""Validate a table of parameters from TOML as a measurable point."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import MISSING, Field, fields, replace
from typing import Any, get_type_hints

from pydantic import ConfigDict, create_model
from pydantic_core import ErrorDetails

from wirespeed.bench.fault import FAULTS
from wirespeed.bench.function import FUNCTIONS
from wirespeed.bench.placement import PLACEMENTS
from wirespeed.bench.switch import SWITCHES
from wirespeed.bench.topology import TOPOLOGIES
from wirespeed.bench.topology.tcp import PATHS
from wirespeed.document.toml_kind import TomlKind
from wirespeed.document.validation import UNKNOWN, dotted, fault_of
from wirespeed.model.frame import GENOME, FrameSizes
from wirespeed.model.input.fault import Fault
from wirespeed.model.kinds import Kinds
from wirespeed.model.study.spec import Workload
from wirespeed.study.keys import unknown_key
from wirespeed.study.kinds.registry import Tables, broken_rules, read
from wirespeed.study.own_keys import take_own


def _field(each: Field[Any]) -> tuple[Any, Any]:
    default = each.default if each.default_factory is MISSING else each.default_factory()
    return get_type_hints(Tables)[each.name], default


# `extra="forbid"` of a model applies to the dataclasses inside; of a dataclass it would not.
_KINDS: tuple[Kinds[Any], ...] = (TOPOLOGIES, SWITCHES, FUNCTIONS, PLACEMENTS, PATHS, FAULTS)
_FIELDS: dict[str, Any] = {each.name: _field(each) for each in fields(Tables)}
_Sections: Any = create_model(
    "_Sections",
    __config__=ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False),
    **_FIELDS,
)


_FRAME = 'must be octets, e.g. 64, or an IMIX genome of RFC 6985, e.g. "imix:aaaaaaaddddg"'


def validate_point(raw: dict[str, Any]) -> tuple[Workload | None, list[Fault]]:
    """Return the point's workload, or all errors in its parameters."""
    raw = deepcopy(raw)
    faults = _parse_frame(raw) + _unknown_kinds(raw)
    own, found = take_own(raw, unknown_key)
    faults += found
    parsed = TomlKind[Any](_Sections.model_validate, fault=_fault).read(raw, faults)
    if parsed is None:
        return None, faults
    tables = Tables(**{each.name: getattr(parsed, each.name) for each in fields(Tables)})
    if own:
        vswitch = replace(tables.sut.vswitch, own=own)
        tables = replace(tables, sut=replace(tables.sut, vswitch=vswitch))
    # A rule might be broken only by the default that replaces an unknown kind.
    faults = faults or broken_rules(tables)
    return (None if faults else read(tables).workload), faults


def _fault(detail: ErrorDetails) -> Fault:
    if detail["type"] not in UNKNOWN:
        return fault_of(detail)
    return fault_of(detail, unknown_key(dotted(detail["loc"])))


def _unknown_kinds(raw: dict[str, Any]) -> list[Fault]:
    """Return errors of unknown kinds; these are removed from `raw` so that the rest is read."""
    faults = []
    for kinds in _KINDS:
        *sections, name = kinds.key.split(".")
        table: Any = raw
        for section in sections:
            table = table.get(section) if isinstance(table, dict) else None
        if (
            isinstance(table, dict)
            and isinstance(table.get(name), str)
            and (table[name] not in kinds)
        ):
            written = table.pop(name)
            faults.append(Fault(kinds.key, written, kinds.unknown(written)))
    return faults


def _parse_frame(raw: dict[str, Any]) -> list[Fault]:
    """Replace traffic.frame by FrameSizes, or remove it on an error.

    Letters alone are not a genome: an ordinary word would otherwise be measured as one.
    """
    traffic = raw.get("traffic")
    if not isinstance(traffic, dict) or "frame" not in traffic:
        return []
    written = traffic.pop("frame")
    if isinstance(written, bool) or not isinstance(written, int | str):
        return [Fault("traffic.frame", written, _FRAME)]
    kind, colon, genome = str(written).rpartition(":")
    if genome.isdecimal() == bool(colon) or kind not in ("", GENOME):
        return [Fault("traffic.frame", written, _FRAME + _read_as(str(written)))]
    try:
        traffic["frame"] = FrameSizes.parse(genome)
    except ValueError as error:
        return [Fault("traffic.frame", written, str(error))]
    return []


def _read_as(written: str) -> str:
    """Return the meaning of the text as a genome, if it is one without its prefix."""
    try:
        sizes = FrameSizes.parse(written).sizes
    except ValueError:
        return ""
    shown = ", ".join(map(str, sizes[:8])) + (", ..." if len(sizes) > 8 else "")
    return f'; "imix:{written}" is the genome of {shown} octets'
