# SPDX-License-Identifier: Apache-2.0
"""Print a benchmark's results: `name value unit ratio-to-what`, one a line."""

from __future__ import annotations


def show(name: str, value: float, unit: str, ratio: float | None = None, to: str = "") -> None:
    """Print one result; `ratio` is to what `to` names, measured in the same run."""
    text = f"{name} {value:,.4g} {unit}" if abs(value) < 1e5 else f"{name} {value:,.0f} {unit}"
    if ratio is not None:
        text += f" {ratio:.4f}x-{to}"
    print(text, flush=True)
