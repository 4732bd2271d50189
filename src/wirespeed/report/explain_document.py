# SPDX-License-Identifier: Apache-2.0
"""What is the explanation of a run as one JSON document (schemas/explanation.schema.json)?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wirespeed.model.explanation import ResourceState
from wirespeed.report.explained import Explained
from wirespeed.store.codec import encode
from wirespeed.store.records import RunRecord

# Raise the second number when a field is added, the first when one changes or goes.
EXPLANATION_VERSION = "1.0"


def explain_document(run: RunRecord, found: Sequence[Explained]) -> dict[str, Any]:
    """Every value is a JSON type."""
    return {
        "schema_version": EXPLANATION_VERSION,
        "run": {"id": run.id, "study": run.study, "host": run.host.host},
        "points": [_point(each) for each in found],
    }


def _point(found: Explained) -> dict[str, Any]:
    limiting = [use.resource for use in found.resources if use.state is ResourceState.LIMITS]
    return {
        "id": found.point.id,
        "label": found.point.label,
        "why_not": found.why_not,
        "limiting": str(limiting[0]) if limiting else None,
        "resources": [encode(use) for use in found.resources],
        "limits": [encode(limit) for limit in found.limits],
        "changes": [encode(change) for change in found.changes],
        "path": None if found.path is None else encode(found.path),
    }
