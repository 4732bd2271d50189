# SPDX-License-Identifier: Apache-2.0
"""Choose runs of a store, and print them as a table."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from rich.console import Console
from rich.table import Table

from wirespeed.model.errors import BadInput
from wirespeed.model.words import NONE, quantity
from wirespeed.store.headlines import Headline
from wirespeed.store.records import RunSummary

_AGO = re.compile(r"([0-9]{1,5})([dh])")
_UNITS = {"d": "days", "h": "hours"}


@dataclass(frozen=True, slots=True)
class Filter:
    """Filters of the list of runs; None for any."""

    study: str | None = None
    since: datetime | None = None
    tag: str | None = None

    def takes(self, run: RunSummary) -> bool:
        """Return whether the run is listed."""
        return (
            self.study in (None, run.study)
            and (self.tag is None or self.tag in run.tags)
            and (self.since is None or datetime.fromisoformat(run.started_at) >= self.since)
        )


def since(text: str, now: datetime) -> datetime:
    """Read a date or time of ISO 8601, in UTC where it names no zone, or an age: 7d, 12h.

    Raises BadInput.
    """
    if (ago := _AGO.fullmatch(text)) is not None:
        return now - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise BadInput(
            f"--since {text}: must be a date, e.g. 2026-11-01, or an age in days or hours",
            "E.g. --since 7d.",
        ) from error
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def print_runs(
    runs: Sequence[RunSummary], headlines: Mapping[str, Headline | None], console: Console
) -> None:
    """Print a line for each run, and one for its tags and its note where it has any."""
    table = Table(box=None, pad_edge=False)
    for column in ("run", "points", "result", "grade", "host", "started (UTC)", "question"):
        table.add_column(column)
    for run in runs:
        found = headlines.get(run.id)
        table.add_row(
            run.id if run.name is None else f"{run.id} ({run.name})",
            f"{run.complete}/{run.points}",
            result_words(found),
            (found.grade if found is not None else None) or NONE,
            run.host,
            run.started_at[:16].replace("T", " "),
            run.title,
        )
    console.print(table)
    for run in runs:
        said = [*([f"tags {', '.join(run.tags)}"] if run.tags else []), *filter(None, [run.note])]
        if said:
            console.print(f"{run.name or run.id}: {'; '.join(said)}", soft_wrap=True)


def result_words(found: Headline | None) -> str:
    """Return e.g. "NDR 7.771 Mpps", "NDR at least 1.905 Mpps", "TCP 9.41 Gbps"."""
    if found is None:
        return NONE
    bound = "at least " if found.at_least else ""
    return f"{found.figure} {bound}{quantity(found.value, found.unit)}"
