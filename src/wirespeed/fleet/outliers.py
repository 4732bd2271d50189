# SPDX-License-Identifier: Apache-2.0
"""Find hosts whose rates differ from those of the other hosts of their hardware."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from wirespeed.fleet.robust import Spread, apart, spread
from wirespeed.model.cpus import PlacementKind, placement_words
from wirespeed.model.host.snapshot import Figure


@dataclass(frozen=True, slots=True)
class Compared:
    """One measured value of a point over the hosts of one hardware."""

    hardware: str
    study: str
    point: str
    name: str
    unit: str
    values: Mapping[str, Figure]
    """Values by host."""
    spread: Spread | None
    """None for fewer than 5 hosts, among which no outlier can be found."""
    outliers: Mapping[str, float]
    """Distance from the median in deviations by host, negative below it."""
    placement: PlacementKind | None = None
    """Placement of the polling CPUs, the same for all values; None: unknown."""

    @property
    def title(self) -> str:
        title = f"{self.study}, {self.point}: {self.name}"
        return f"{title}, {placement_words(self.placement)}" if self.placement else title


_Key = tuple[str, str, str, str, str]


def compare_figures(figures: Iterable[Figure], hardware: Mapping[str, str]) -> tuple[Compared, ...]:
    """Compare the values of one placement.

    hardware: the digest of each host. Values of other hosts are excluded.
    """
    columns: dict[tuple[_Key, str], dict[str, Figure]] = defaultdict(dict)
    for figure in figures:
        if figure.host in hardware:
            key = (hardware[figure.host], figure.study, figure.point, figure.name, figure.unit)
            columns[key, figure.placement or ""][figure.host] = figure
    return tuple(
        _compared(key, dict(sorted(of.items()))) for (key, _), of in sorted(columns.items())
    )


def _compared(key: _Key, of: Mapping[str, Figure]) -> Compared:
    found = spread([figure.value for figure in of.values()])
    scores = {host: apart(found, figure.low, figure.high) for host, figure in of.items() if found}
    outliers = {host: score for host, score in scores.items() if score}
    return Compared(*key, of, found, outliers, next(iter(of.values())).placement)
