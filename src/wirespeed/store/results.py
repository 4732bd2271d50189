# SPDX-License-Identifier: Apache-2.0
"""Read the result of a point, also in the format of an older version."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from wirespeed.model.result.result import SearchResult
from wirespeed.model.result.trial import Trial
from wirespeed.store.codec import decode
from wirespeed.store.placements import with_placement


def decode_result(data: dict[str, Any], trials: Iterable[Trial] = ()) -> SearchResult:
    """Return a result of this schema or an older one.

    trials: of the point; read where an older version stored no placement.
    """
    result = _decoded(data)
    return result if "placement" in data else with_placement(result, trials)


def _decoded(data: dict[str, Any]) -> SearchResult:
    """Decode a result; older versions name the `directions` of a TCP run `ways`."""
    tcp = data.get("tcp")
    if tcp is None:
        return decode(SearchResult, data)
    runs = [
        {("directions" if key == "ways" else key): value for key, value in run.items()}
        for run in tcp["runs"]
    ]
    return decode(SearchResult, {**data, "tcp": {**tcp, "runs": runs}})
