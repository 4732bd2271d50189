# SPDX-License-Identifier: Apache-2.0
"""Write docs/reference/kpi.md: every series that is recorded and served, from the registry."""

from __future__ import annotations

from wirespeed.cli.reference.markdown import MADE, table
from wirespeed.kpi.collectors.registry import collectors
from wirespeed.kpi.interface import Metric

_HEAD = """# Series of `wirespeed kpi`

Every series that `wirespeed kpi record` stores and `wirespeed kpi exporter` serves
([how](../howto/record-kpis.md)). Names and labels do not change between versions. Labels come from
bounded sets. A counter counts since its source started, a gauge is a level at the moment of the
read; each is stored as the whole number that was read, in the unit of the column "stored". *Cheap*
collectors are also read while frames flow on a host without a CPU to spare.
"""
_HEADINGS = ("series", "kind", "stored", "labels", "what", "read from", "ETSI GS NFV-TST 008",
             "with --names dataplane-node-exporter")  # fmt: skip


def kpi_page() -> str:
    """Return the whole page."""
    parts = [_HEAD, MADE]
    for collector in collectors():
        cost = "cheap" if collector.cheap else "not cheap"
        parts += ["", f"## `{collector.name}` ({cost})", ""]
        parts += table(_HEADINGS, [_row(metric) for metric in collector.metrics])
    return "\n".join(parts).rstrip() + "\n"


def _row(metric: Metric) -> tuple[str, ...]:
    alias = f"`{metric.alias}`" if metric.alias else ""
    return (
        f"`{metric.prometheus}`", metric.kind.value, metric.unit.name, ", ".join(metric.labels),
        metric.text, f"`{metric.source}`", metric.term, alias,
    )  # fmt: skip
