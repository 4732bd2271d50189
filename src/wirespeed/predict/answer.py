# SPDX-License-Identifier: Apache-2.0
"""Write a prediction as a JSON document (schemas/prediction.schema.json)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wirespeed.model.plan.prediction import Case, Prediction
from wirespeed.predict.ask import Change
from wirespeed.predict.parameters import Parameters

SCHEMA_VERSION = "1.0"


def prediction_document(
    parameters: Parameters, points: Sequence[tuple[str, Case, Prediction]]
) -> dict[str, Any]:
    """Return the document of predicted points with their labels."""
    return {
        **_head(parameters),
        "points": [
            {"label": label, "case": case_document(case), **answer(found)}
            for label, case, found in points
        ],
    }


def sensitivity_document(
    parameters: Parameters, case: Case, found: Prediction, changes: Sequence[Change]
) -> dict[str, Any]:
    """Return the document of one case and the gain of each change."""
    return prediction_document(parameters, [("asked", case, found)]) | {
        "changes": [
            {"change": change.what, "gain": change.gain, **answer(change.prediction)}
            for change in changes
        ]
    }


def answer(found: Prediction) -> dict[str, Any]:
    """Return the document of one prediction."""
    return {
        "rate": {"value": found.rate_fps, "unit": "fps"},
        "low": {"value": found.low_fps, "unit": "fps"},
        "high": {"value": found.high_fps, "unit": "fps"},
        "limited_by": str(found.limit.resource),
        "next_gain": found.next_gain,
        "ndr_share": found.ndr_share,
        "latency_p50_us": found.latency_us,
        "resources": [
            {
                "resource": str(load.resource),
                "demand_ns": load.demand_ns,
                "utilisation": load.utilisation,
            }
            for load in found.loads
        ],
    }


def case_document(case: Case) -> dict[str, Any]:
    """Return the columns of a case, as in a CSV of rates."""
    return {name: getattr(case, name) for name in Case.__dataclass_fields__}


def _head(parameters: Parameters) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "parameters": parameters.source,
        "error": parameters.error,
        "checked": parameters.checked,
        "kind": str(parameters.kind),
    }
