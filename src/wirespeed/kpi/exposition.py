# SPDX-License-Identifier: Apache-2.0
"""Serve a host's counters to Prometheus: read at each scrape, by prometheus-client."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum

from prometheus_client.core import Metric as Family

from wirespeed.kpi.collectors.registry import metrics
from wirespeed.kpi.interface import FAILURES, Collector, Metric, Missing, Values
from wirespeed.kpi.openmetrics import base_value
from wirespeed.model.result.series import SeriesKind
from wirespeed.remote.interface import Runner

# Two scrapes that follow each other more closely share their reads.
_FRESH_S = 0.05
_IN_ALIAS = re.compile(r"\{(\w+)\}")


class Names(StrEnum):
    OWN = "own"
    """wirespeed_*, as docs/reference/kpi.md lists them."""
    DATAPLANE_NODE_EXPORTER = "dataplane-node-exporter"
    """Those of dataplane-node-exporter, where it has one; no others."""


class Exposition:
    """All collectors of one host as a collector of prometheus-client."""

    def __init__(self, runner: Runner, collectors: Sequence[Collector], names: Names) -> None:
        self._runner, self._collectors, self._names = runner, collectors, names
        self._metrics = metrics()
        self._lock = threading.Lock()
        self._read_at = -_FRESH_S
        self._families: list[Family] = []

    def describe(self) -> Iterable[Family]:
        """Return none: what there is shows only when it is read."""
        return ()

    def collect(self) -> Iterator[Family]:
        """Read every collector once, and yield the families sorted by name."""
        with self._lock:
            if time.monotonic() - self._read_at >= _FRESH_S:
                self._families = self._read()
                self._read_at = time.monotonic()
            families = self._families
        yield from families

    def _read(self) -> list[Family]:
        families: dict[str, Family] = {}
        up = Family("wirespeed_collector_up", "1 where a collector read its sources.", "gauge")
        took = Family("wirespeed_collector_read_seconds", "Duration of its last read.", "gauge")
        for collector in self._collectors:
            begun = time.monotonic()
            try:
                found = self._values(collector)
            except FAILURES:
                found = None
            labels = {"collector": collector.name}
            took.add_sample(took.name, labels, time.monotonic() - begun)
            up.add_sample(up.name, labels, float(found is not None))
            for values in found or ():
                self._add(families, values)
        if self._names is Names.OWN:
            families |= {each.name: each for each in (up, took)}
        return [families[name] for name in sorted(families)]

    def _values(self, collector: Collector) -> list[Values] | None:
        """Return what its sources say; None where it has none."""
        sources = collector.probe(self._runner)
        if isinstance(sources, Missing):
            return None
        try:
            return [source.read() for source in sources]
        except FAILURES:
            for source in sources:
                source.close()
            raise

    def _add(self, families: dict[str, Family], values: Values) -> None:
        for (key, labels), value in values.values.items():
            metric = self._metrics[key]
            named = dict(zip(metric.labels, labels, strict=True))
            if self._names is Names.OWN:
                sample, kind = metric.prometheus, metric.kind.value
                shown = base_value(metric, value)
            elif metric.alias:
                sample, named = _alias(metric, named)
                kind, shown = "unknown", float(value)  # names without _total, units as printed
            else:
                continue
            counter = kind == SeriesKind.COUNTER.value
            name = sample.removesuffix("_total") if counter else sample
            found = families.setdefault(name, Family(name, f"{metric.text}.", kind))
            found.add_sample(sample, named, shown)


def _alias(metric: Metric, labels: dict[str, str]) -> tuple[str, dict[str, str]]:
    """Return the other exporter's name, and the labels that are not in the name already."""
    name = metric.alias.format(**labels)
    used = {*_IN_ALIAS.findall(metric.alias), "switch"}
    return name, {key: value for key, value in labels.items() if key not in used}
