# SPDX-License-Identifier: Apache-2.0
"""Print predictions, parameters and sensitivities on a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from wirespeed.model.plan.prediction import Prediction
from wirespeed.model.words import mpps, percent
from wirespeed.predict.ask import Change
from wirespeed.predict.parameters import BY_NAME, Parameters

_BAR = 32
# Less busy resources are not shown in the waterfall.
_LEAST_SHOWN = 0.005


def print_predictions(
    points: Sequence[tuple[str, Prediction]], parameters: Parameters, console: Console
) -> None:
    """Print one row for each point, then the time budget of the first one."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("point", "Mpps", "from", "to", "limited by", "next", "busy", "if freed"):
        table.add_column(
            name, justify="left" if name in ("point", "limited by", "next") else "right"
        )
    for label, found in points:
        next_ = found.loads[1] if len(found.loads) > 1 else None
        table.add_row(
            label, mpps(found.rate_fps), mpps(found.low_fps), mpps(found.high_fps),
            str(found.limit.resource), str(next_.resource) if next_ else "",
            percent(next_.utilisation, 0) if next_ else "", _freed(found),
        )  # fmt: skip
    console.print(table)
    console.print(_basis(parameters), style="dim", soft_wrap=True)


def _freed(found: Prediction) -> str:
    """Return the rate's gain if the busiest resource cost nothing."""
    return "" if found.next_gain is None else f"+{percent(found.next_gain, 0)}"


def print_waterfall(label: str, found: Prediction, console: Console) -> None:
    """Print each resource's time per frame, and its use at the predicted rate."""
    console.print(f"\n{label}: each frame takes", style="bold", soft_wrap=True)
    table = Table(box=None, pad_edge=False, show_header=False)
    for justify in ("left", "right", "left", "right"):
        table.add_column(justify=justify)
    for load in found.loads:
        if load.utilisation >= _LEAST_SHOWN:
            bar = "#" * max(1, round(_BAR * min(1.0, load.utilisation)))
            busy = f"{percent(load.utilisation, 0)} busy"
            table.add_row(str(load.resource), f"{load.demand_ns:.1f} ns", bar, busy)
    console.print(table)
    console.print(
        f"Lossless: about {percent(found.ndr_share, 0)} of the rate, where only bursts fill the "
        f"rings. Median latency at half the rate: about {found.latency_us:.0f} us.",
        soft_wrap=True,
    )


def print_changes(changes: Sequence[Change], console: Console) -> None:
    """Print the gain of each change alone."""
    console.print()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("change", "gain", "Mpps", "then limited by"):
        table.add_column(name, justify="right" if name in ("gain", "Mpps") else "left")
    for change in changes:
        found = change.prediction
        gain = f"{change.gain:+.0%}" if abs(change.gain) >= 0.005 else "none"
        table.add_row(change.what, gain, mpps(found.rate_fps), str(found.limit.resource))
    console.print(table)


def print_parameters(parameters: Parameters, console: Console) -> None:
    """Print each value with its interval, and which ones the data cannot separate."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("parameter", "value", "from", "to", "unit", "identified", "what it is"):
        table.add_column(name, justify="right" if name in ("value", "from", "to") else "left")
    for name, estimate in parameters.values.items():
        quantity = BY_NAME[name]
        numbers = (f"{v:.3g}" for v in (estimate.value, estimate.low, estimate.high))
        determined = "yes" if estimate.determined else "no"
        table.add_row(name, *numbers, quantity.unit, determined, quantity.meaning)
    console.print(table)
    for group in parameters.together:
        console.print(f"Not distinguishable: {', '.join(group)}.", soft_wrap=True)
    console.print(_basis(parameters), style="dim", soft_wrap=True)


def _basis(parameters: Parameters) -> str:
    return (
        f"Parameters: {parameters.source}; {parameters.points} points of kind {parameters.kind}. "
        f"90% of predictions were within {percent(parameters.error, 1)} ({parameters.checked})."
    )
