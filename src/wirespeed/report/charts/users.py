# SPDX-License-Identifier: Apache-2.0
"""Draw a gateway's cycles per frame over the number of its subscribers."""

from __future__ import annotations

import re
from collections.abc import Iterable

from wirespeed.model.errors import BadInput
from wirespeed.report.charts.shapes import Categories, Chart, Curve, LineStyle

# Output of benchmarks/bng_cycles.py, e.g. "bng_up_hot_dense_users_1024 12.3 cycles 1.1x-of 1 user".
_FIGURE = re.compile(
    r"^(?P<chain>\w+)_(?P<mode>hot|cold)_(?P<keys>dense|sparse)_users_(?P<users>\d+) "
    r"(?P<cycles>[\d,.]+) cycles\b"
)
_LINES = {"hot": LineStyle.SOLID, "cold": LineStyle.DASHED}


def cycles_chart(lines: Iterable[str]) -> Chart:
    """Return the curve from a benchmark's output; other lines are ignored. Raises BadInput."""
    found: dict[tuple[str, str], dict[int, float]] = {}
    for line in lines:
        if (match := _FIGURE.match(line)) is not None:
            name = f"{match['chain']}, {match['keys']} keys"
            curve = found.setdefault((name, match["mode"]), {})
            curve[int(match["users"])] = float(match["cycles"].replace(",", ""))
    if not found:
        raise BadInput(
            "no rates by number of users in it",
            "Give it what `python -m benchmarks bng_cycles` prints.",
        )
    users = sorted({n for curve in found.values() for n in curve})
    names = list(dict.fromkeys(name for name, _ in found))
    return Chart(
        key="bng-cycles",
        title="What a frame costs the gateway, by number of subscribers",
        x_label="subscribers, in random order",
        y_label="TSC cycles a frame beyond io",
        axis=Categories(tuple(f"{n:,}" for n in users)),
        curves=tuple(
            _series(name, mode, names.index(name), curve, users)
            for (name, mode), curve in found.items()
        ),
        legend="solid: 64 mbufs, dashed: 2,048 circulating",
    )


def _series(name: str, mode: str, colour: int, curve: dict[int, float], users: list[int]) -> Curve:
    ordered = sorted(curve.items())
    return Curve(
        name,
        _LINES[mode],
        colour,
        tuple((float(users.index(n)), cycles) for n, cycles in ordered),
        tuple(f"{name}, {mode}, {n:,} users: {cycles:g} cycles" for n, cycles in ordered),
    )
