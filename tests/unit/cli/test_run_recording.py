# SPDX-License-Identifier: Apache-2.0
"""Check the marks that a run leaves in its recording."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

from tests.support.sample import ORIGIN
from wirespeed.cli.verbs.run_recording import Marking, recording
from wirespeed.model.cpus import PlacementKind
from wirespeed.model.result.reason import Reason
from wirespeed.model.result.trial import LeftOut
from wirespeed.store.recordings import recording_of_run
from wirespeed.store.run_writer import RunWriter
from wirespeed.store.store import Store
from wirespeed.study.load import load_study


@contextmanager
def marking() -> Iterator[tuple[Marking, Any]]:
    """Yield what marks, and a function that returns the marks."""
    theirs, ours = os.pipe()
    with os.fdopen(ours, "wb", buffering=0) as pipe, os.fdopen(theirs, "rb") as recorder:

        def marks() -> list[tuple[str, str]]:
            pipe.close()
            lines = map(json.loads, recorder.read().splitlines())
            return [(kind, text) for kind, _, text in lines if kind != "traffic"]

        yield Marking(Mock(), pipe), marks


def trial(**changes: object) -> Any:
    given = {"stage": "search", "intended_load_fps": 1e6, "gated": None, "fault": None,
             "disturbed": None, "placement": None}  # fmt: skip
    return SimpleNamespace(**(given | changes))


def gated(*parts: LeftOut) -> Any:
    return SimpleNamespace(left_out=parts)


def test_trial_with_excluded_time_is_a_gate() -> None:
    with marking() as (made, marks):
        made.trial(trial(gated=gated(LeftOut(Reason.SUT_STOPPED, 0.031))))
        made.trial(trial(gated=gated()))
        made.trial(trial(disturbed="the SUT stood still"))
        found = [text for kind, text in marks() if kind == "gate"]
    assert found == ["excluded: 3.1% SUT stopped", "the whole trial: the SUT stood still"]


def test_judged_trial_names_its_cpu_placement_where_it_is_known() -> None:
    with marking() as (made, marks):
        made.trial(trial(gated=gated()))
        made.trial(trial(gated=gated(), placement=PlacementKind.ONE_CORE))
        found = [text for kind, text in marks() if kind == "trial"]
    assert found == [
        "search 1.000 Mpps: judged", "search 1.000 Mpps: judged; polling CPUs on one core",
    ]  # fmt: skip


def test_injected_fault_is_named_when_its_point_is_complete() -> None:
    point: Any = SimpleNamespace(label="p2p", parameters={"fault": {"kind": "stopped-vnf"}})
    with marking() as (made, marks):
        made.point_started(point)
        made.point_complete(point, Mock())
        found = marks()
    assert found == [
        ("point", "p2p: begun"),
        ("fault", "p2p: stopped-vnf was injected"),
        ("point", "p2p: complete"),
    ]


def test_point_without_a_fault_has_no_such_mark() -> None:
    point: Any = SimpleNamespace(label="p2p", parameters={"topology": "p2p"})
    with marking() as (made, marks):
        made.point_complete(point, Mock())
        assert marks() == [("point", "p2p: complete")]


def test_run_begins_after_the_first_read_of_its_recorder(tmp_path: Path) -> None:
    url = str(tmp_path / "runs.sqlite")
    with Store(url) as store:
        run_id = RunWriter.start(store, load_study("wire"), ORIGIN).run_id
        with recording(Mock(), run_id, frozenset(), url):
            begun = recording_of_run(store, run_id)
    assert begun is not None
