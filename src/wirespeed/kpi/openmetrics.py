# SPDX-License-Identifier: Apache-2.0
"""Write metrics as OpenMetrics text, with time stamps: what Prometheus can be backfilled with.

Source: https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from wirespeed.kpi.interface import Metric
from wirespeed.model.result.recording import NO_VALUE
from wirespeed.model.result.series import SeriesKind

_MS = 1_000_000


@dataclass(frozen=True, slots=True)
class Column:
    """Samples of one series, in the order of time."""

    labels: tuple[tuple[str, str], ...]
    moments_ns: list[int]
    """ns since 1970."""
    values: list[int]


def family(metric: Metric, columns: Iterable[Column]) -> Iterator[str]:
    """Yield the lines of one metric family. Prometheus keeps one sample a millisecond."""
    counter = metric.kind is SeriesKind.COUNTER
    name = metric.prometheus.removesuffix("_total") if counter else metric.prometheus
    yield f"# TYPE {name} {'counter' if counter else 'gauge'}\n"
    yield f"# HELP {name} {_escaped(metric.text)}.\n"
    for column in columns:
        labels = ",".join(f'{key}="{_escaped(value)}"' for key, value in column.labels)
        last_ms = -1
        for at_ns, value in zip(column.moments_ns, column.values, strict=True):
            at_ms = at_ns // _MS
            if value == NO_VALUE or at_ms <= last_ms:
                continue
            last_ms = at_ms
            shown = number(metric, value)
            yield f"{metric.prometheus}{{{labels}}} {shown} {at_ms // 1000}.{at_ms % 1000:03d}\n"


def number(metric: Metric, value: int) -> str:
    """Return a stored integer in the metric's base unit, as text."""
    return repr(base_value(metric, value))


def base_value(metric: Metric, value: int) -> float:
    """Return a stored integer in the metric's base unit."""
    factor = metric.unit.factor
    return float(value) if factor == 1 else value / round(1 / factor)


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
