# SPDX-License-Identifier: Apache-2.0
"""Write what a search for faster settings found as JSON (schemas/tune.schema.json)."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from wirespeed.experiment.turns import Compared, Ratio
from wirespeed.report.compare.tuned import TunedReport

# Raise the second number when a field is added, the first when one changes or goes.
TUNE_VERSION = "1.1"


def tune_document(found: TunedReport) -> dict[str, Any]:
    """Return the document; every value is a JSON type."""
    return {
        "schema_version": TUNE_VERSION,
        "run": {"id": found.run_id, "study": found.study, "host": found.host},
        "point": found.point,
        "goal": {"name": found.goal, "unit": found.unit, "worth": found.worth},
        "headline": found.headline,
        "factors": [
            {
                "name": row.name, "verdict": row.verdict, "change": row.change, "cost": row.cost,
                "gain": row.gain, "low": row.low, "high": row.high, "why": row.why,
            }
            for row in found.rows
        ],
        "interactions": list(found.interactions),
        "possible": {"low": found.possible[0], "high": found.possible[1]},
        "confirmation": (
            None if found.ratio is None
            else {"answer": str(found.answer), **ratio_document(found.ratio)}
        ),
        "void": found.void,
        "overrides": dict(found.overrides),
        "host_files": dict(found.host_files),
        "limit": found.limit,
        "next_change": found.next_change,
        "measurements": [
            {"stage": each.stage, "factors": list(each.factors), "value": each.value,
             "placement": None if each.placement is None else str(each.placement)}
            for each in found.measurements
        ],
        "kept": None if found.kept is None else [asdict(each) for each in found.kept],
    }  # fmt: skip


def ratio_document(ratio: Ratio) -> dict[str, Any]:
    """Return a ratio; a bound that is infinite is null."""
    return {
        "gain": ratio.gain,
        "low": ratio.low,
        "high": ratio.high if math.isfinite(ratio.high) else None,
        "pairs": ratio.pairs,
    }


def compared_document(found: Compared) -> dict[str, Any]:
    """Return the outcome of a comparison in turns."""
    return {
        "answer": str(found.answer),
        **ratio_document(found.ratio),
        "measurements": found.measured,
        "pairs_measured": [
            {"a": pair.before, "b": pair.after,
             "placement": None if pair.placement is None else str(pair.placement)}
            for pair in found.matching.pairs
        ],
    }  # fmt: skip
