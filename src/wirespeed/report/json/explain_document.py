# SPDX-License-Identifier: Apache-2.0
"""Write the explanation of a run as one JSON document (schemas/explanation.schema.json)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wirespeed.model.result.explanation import ResourceState
from wirespeed.report.compare.tried import Tried
from wirespeed.report.text.explained import Explained
from wirespeed.store.codec import encode
from wirespeed.store.records import RunRecord

# Raise the second number when a field is added, the first when one changes or goes.
EXPLANATION_VERSION = "2.0"


def explain_document(
    run: RunRecord, found: Sequence[Explained], outcome: Tried | None = None
) -> dict[str, Any]:
    """Return the document; every value is a JSON type. outcome: of a change that was tried."""
    return {
        "schema_version": EXPLANATION_VERSION,
        "run": {"id": run.id, "study": run.study, "host": run.host.host},
        "points": [_point(each) for each in found],
        "tried": None if outcome is None else _tried(outcome),
    }


def _tried(outcome: Tried) -> dict[str, Any]:
    gain = outcome.gain
    return {
        "run": outcome.run_id,
        "keys": [encode(change) for change in outcome.keys],
        "figure": outcome.figure,
        "pairs_measured": outcome.wanted,
        "pairs": [
            {
                "before": pair.before,
                "after": pair.after,
                "placement": pair.placement,
                "in_turn": pair.in_turn,
            }
            for pair in outcome.matching.pairs
        ],
        "matched": 2 * len(outcome.pairs),
        "measurements": outcome.matching.measured,
        "waiting": len(outcome.matching.waiting),
        "gain": None if gain is None else {**encode(gain), "verdict": str(gain.verdict)},
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
        "findings": [
            {"rule": f.rule, "title": f.title, "subject": f.subject, "found": f.found}
            for f in found.findings
        ],
        "path": None if found.path is None else encode(found.path),
    }
