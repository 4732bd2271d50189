# SPDX-License-Identifier: Apache-2.0
"""How is the result of a point read that an older version wrote?"""

from __future__ import annotations

from typing import Any

from wirespeed.model.result import SearchResult
from wirespeed.store.codec import decode


def decode_result(data: dict[str, Any]) -> SearchResult:
    """A result of this schema or an older one, where the `directions` of a TCP run were `ways`."""
    tcp = data.get("tcp")
    if tcp is None:
        return decode(SearchResult, data)
    runs = [
        {("directions" if key == "ways" else key): value for key, value in run.items()}
        for run in tcp["runs"]
    ]
    return decode(SearchResult, {**data, "tcp": {**tcp, "runs": runs}})
