# SPDX-License-Identifier: Apache-2.0
"""Read and write parameters as a JSON file (schemas/parameters.schema.json)."""

from __future__ import annotations

import json
import math
from typing import Any

from wirespeed.document.other_kind import other_kind
from wirespeed.document.version import read_document
from wirespeed.model.errors import BadInput, faulty_file
from wirespeed.model.plan.prediction import RateKind
from wirespeed.predict.parameters import BY_NAME, Estimate, Parameters

SCHEMA_VERSION = "1.0"
_HELP = "`wirespeed predict fit` writes such files; docs/howto/predict.md describes how."
_KEYS = {"source", "kind", "clock_hz", "points", "error", "checked", "parameters", "together"}
_OPTIONAL = {"clock_hz", "together"}


def write_parameters(parameters: Parameters) -> str:
    """Return the parameters as JSON, with unit, bounds and meaning of each value."""
    document = {
        "schema_version": SCHEMA_VERSION,
        "source": parameters.source,
        "kind": str(parameters.kind),
        "clock_hz": parameters.clock_hz,
        "points": parameters.points,
        "error": parameters.error,
        "checked": parameters.checked,
        "parameters": {name: _value(name, e) for name, e in parameters.values.items()},
        "together": [list(group) for group in parameters.together],
    }
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def _value(name: str, estimate: Estimate) -> dict[str, Any]:
    quantity = BY_NAME[name]
    return {
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "told": estimate.determined,
        "unit": quantity.unit,
        "bounds": [quantity.lower, quantity.upper],
        "meaning": quantity.meaning,
    }


def parse_parameters(text: str, source: str) -> Parameters:
    """Return the parameters of a JSON text. Raises BadInput with all errors at once."""
    raw = read_document(text, source, SCHEMA_VERSION, _HELP)
    if why := other_kind(raw, sorted(_KEYS - _OPTIONAL), _KEYS):
        raise BadInput(f"parameter file {source}: {why}", _HELP)
    faults = [f"{key}: unknown key" for key in sorted(set(raw) - _KEYS)]
    faults += [f"{key}: is missing" for key in sorted(_KEYS - set(raw) - _OPTIONAL)]
    if faults:
        raise faulty_file(source, faults, _HELP)
    values = _values(raw["parameters"], faults)
    error = _number(raw["error"], "error", (0, 10), faults)
    points = _number(raw["points"], "points", (0, 1e9), faults)
    clock = raw.get("clock_hz")
    if clock is not None:
        clock = _number(clock, "clock_hz", (1e8, 1e10), faults)
    if raw["kind"] not in tuple(RateKind):
        faults.append(f"kind: {raw['kind']!r} must be one of {', '.join(RateKind)}")
    for key in ("source", "checked"):
        if not isinstance(raw[key], str):
            faults.append(f"{key}: {raw[key]!r} must be text")
    together = _groups(raw.get("together", []), faults)
    if faults:
        raise faulty_file(source, faults, _HELP)
    return Parameters(
        raw["source"], values, error, raw["checked"], int(points), RateKind(raw["kind"]), clock,
        together,
    )  # fmt: skip


def _values(raw: object, faults: list[str]) -> dict[str, Estimate]:
    if not isinstance(raw, dict) or not raw:
        faults.append("parameters: must be a table with at least one parameter")
        return {}
    found = {}
    for name, entry in raw.items():
        quantity = BY_NAME.get(name)
        if quantity is None:
            faults.append(f"parameters.{name}: unknown; there are {', '.join(BY_NAME)}")
        elif not isinstance(entry, dict) or "value" not in entry:
            faults.append(f"parameters.{name}: must be a table with value, in {quantity.unit}")
        else:
            key = f"parameters.{name}"
            bounds = (quantity.lower, quantity.upper)
            value = _number(entry["value"], f"{key}.value", bounds, faults, quantity.unit)
            low, high = (
                _number(entry.get(end, value), f"{key}.{end}", bounds, faults, quantity.unit)
                for end in ("low", "high")
            )
            found[name] = Estimate(value, low, high, entry.get("told") is not False)
    return found


def _number(
    value: object, key: str, bounds: tuple[float, float], faults: list[str], unit: str = ""
) -> float:
    low, high = bounds
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(float(value)) or not low <= float(value) <= high:  # type: ignore[arg-type]
        faults.append(f"{key}: {value!r} must be a number from {low:g} to {high:g} {unit}".rstrip())
        return low
    return float(value)  # type: ignore[arg-type]


def _groups(raw: object, faults: list[str]) -> tuple[tuple[str, ...], ...]:
    good = isinstance(raw, list) and all(
        isinstance(group, list) and all(name in BY_NAME for name in group) for group in raw
    )
    if not good:
        faults.append("together: must be a list of lists of parameters' names")
        return ()
    return tuple(tuple(group) for group in raw)  # type: ignore[attr-defined]
