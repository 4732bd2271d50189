# SPDX-License-Identifier: Apache-2.0
"""Find what stored runs show of a host's neighbours, for the audit."""

from __future__ import annotations

from contextlib import suppress

from wirespeed.explain.neighbours import neighbours
from wirespeed.model.errors import BadInput
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.host.neighbours import Neighbours
from wirespeed.store.errors import Damaged, NoSuchRun
from wirespeed.store.read import list_runs, read_run
from wirespeed.store.records import RunRecord
from wirespeed.store.store import Store


def newest_neighbours(store: Store, host: str) -> Neighbours | None:
    """Return what the newest run on the host shows; None where there is none with trials."""
    for summary in list_runs(store):
        if summary.host == host and summary.complete:
            with suppress(Damaged):  # an older one may be whole
                return _of(read_run(store, summary.id))
    return None


def named_neighbours(store: Store, run: str, facts: HostFacts) -> Neighbours:
    """Return what a run shows of the host with these facts. Raises BadInput."""
    try:
        record = read_run(store, run)
    except NoSuchRun as error:
        raise BadInput(f"--run: {error.what}", error.next_step) from error
    if record.host.host != facts.host:
        raise BadInput(
            f"--run {run}: it was measured on {record.host.host}, not on {facts.host}",
            "Name a run of the host that is audited.",
        )
    found = _of(record)
    if found is None:
        raise BadInput(f"--run {run}: it has no trial", "Name a run with results.")
    return found


def _of(record: RunRecord) -> Neighbours | None:
    trials = [stored.trial for point in record.points for stored in point.trials]
    return neighbours(record.id, trials)
