# SPDX-License-Identifier: Apache-2.0
"""Check whether an interrupted run can be continued here as the same run."""

from __future__ import annotations

from wirespeed.model.errors import BadInput
from wirespeed.model.study.study import Study
from wirespeed.store.read import list_runs, read_run
from wirespeed.store.records import RunRecord
from wirespeed.store.run_writer import Origin
from wirespeed.store.store import Store


def difference(record: RunRecord, study: Study, origin: Origin) -> str | None:
    """Return which of study, host and versions differs from the run's; None if none does."""
    if {p.key for p in record.points} != {p.key for p in study.points}:
        return f"run {record.id} has other points than {study.name} has now"
    if record.host.host != origin.host.host:
        return f"run {record.id} was begun on host {record.host.host}, this is {origin.host.host}"
    if record.versions != dict(origin.versions):
        return f"run {record.id} was begun with {record.versions}, this is {dict(origin.versions)}"
    return None


def check_same(record: RunRecord, study: Study, origin: Origin) -> None:
    """Raise BadInput where study, host or versions are not those of the run."""
    if (what := difference(record, study, origin)) is not None:
        raise BadInput(what, "Start a new run without --resume.")


def cut_short(store: Store, study: Study, origin: Origin) -> RunRecord | None:
    """Return the latest incomplete run of this study, by this host and these versions."""
    for summary in list_runs(store):
        if summary.study == study.name[:64] and summary.complete < summary.points:
            record = read_run(store, summary.id)
            if difference(record, study, origin) is None:
                return record
    return None
