# SPDX-License-Identifier: Apache-2.0
"""Define what reports show of the points of one kind of workload without a search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from wirespeed.model.result.result import SearchResult
from wirespeed.model.study.sut import SutDescription
from wirespeed.report.views.column import Column
from wirespeed.report.views.figures import PointFigures
from wirespeed.store.records import PointRecord


class WorkloadView(Protocol):
    """View of one kind. name: SearchResult.search of its points."""

    @property
    def name(self) -> str: ...

    @property
    def title(self) -> str:
        """Return the heading of its section."""
        ...

    @property
    def verdict_note(self) -> str:
        """Return a sentence on how its limits are known."""
        ...

    @property
    def about(self) -> str:
        """Return what its table in the HTML report shows."""
        ...

    @property
    def template(self) -> str:
        """Return the file of what is above that table; empty for nothing."""
        ...

    @property
    def csv_columns(self) -> tuple[Column, ...]:
        """Return its columns of the CSV file. They read points of any kind."""
        ...

    @property
    def table_columns(self) -> tuple[Column, ...]:
        """Return the columns of its tables in the terminal and the HTML report."""
        ...

    def rows(self, point: PointRecord) -> Sequence[PointFigures]:
        """Return the rows of a point in these tables; none where no run counts."""
        ...

    def shows(self, point: PointRecord) -> bool:
        """Return whether the point has this kind of workload."""
        ...

    def json(self, result: SearchResult) -> dict[str, Any] | None:
        """Return its part of the JSON document; None where no run counts."""
        ...

    def rates(self, result: SearchResult) -> str:
        """Return the rates in one line; empty where no run counts."""
        ...

    def remarks(self, result: SearchResult, sut: SutDescription | None) -> Iterator[str]:
        """Yield sentences on the result that are no limits."""
        ...

    def group(self, point: PointRecord) -> str:
        """Return the name that points on the same path share, e.g. "TCP over veth"."""
        ...

    @property
    def measured(self) -> str:
        """Return what the total of a result counts, e.g. "TCP payload"."""
        ...

    def limits(self, result: SearchResult) -> tuple[str, ...]:
        """Return what limits each figure, in words."""
        ...

    def facts(self, result: SearchResult) -> tuple[str, ...]:
        """Return what stands below the total, without the limits."""
        ...
