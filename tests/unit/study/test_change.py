# SPDX-License-Identifier: Apache-2.0
"""Check that the study of a change measures the point without and with it, in turn."""

from __future__ import annotations

import pytest

from wirespeed.model.errors import BadInput
from wirespeed.model.result.explanation import KeyChange
from wirespeed.model.study.spec import Frames
from wirespeed.model.study.study import flat
from wirespeed.study.change import study_of_change
from wirespeed.study.errors import StudyError
from wirespeed.study.load import load_study

POINT = load_study("quickstart", ["topology.kind=p2p", "traffic.frame=64"]).points[0]
QUEUES = (KeyChange("sut.vswitch.rx_queues", 2),)


def test_pairs_begin_with_either_in_turn() -> None:
    study = study_of_change("try", POINT.parameters, QUEUES, 3, "Does it help?")
    assert [point.label for point in study.points] == [
        "as it was, pair 1", "changed, pair 1", "changed, pair 2", "as it was, pair 2",
        "as it was, pair 3", "changed, pair 3",
    ]  # fmt: skip
    assert len({point.id for point in study.points}) == 6


def test_only_the_changed_keys_differ() -> None:
    before, after = study_of_change("try", POINT.parameters, QUEUES, 1, "?").points
    assert before.parameters == POINT.parameters
    assert before.workload == POINT.workload
    old, new = flat(before.parameters), flat(after.parameters)
    assert {key for key in old if old[key] != new[key]} == {"sut.vswitch.rx_queues"}
    assert isinstance(after.workload, Frames)
    assert after.workload.sut.vswitch.rx_queues == 2


def test_cpus_are_spelled_as_in_a_study() -> None:
    study = study_of_change(
        "try", POINT.parameters, (KeyChange("sut.vswitch.pmd_cpus", (1, 2)),), 1, "?"
    )
    assert study.points[1].parameters["sut"]["vswitch"]["pmd_cpus"] == [1, 2]


@pytest.mark.parametrize("pairs", [0, -1, 101])
def test_a_number_of_pairs_that_makes_no_sense_is_refused(pairs: int) -> None:
    with pytest.raises(BadInput, match=f"--pairs {pairs}"):
        study_of_change("try", POINT.parameters, QUEUES, pairs, "?")


def test_a_change_that_the_point_cannot_have_is_refused() -> None:
    with pytest.raises(StudyError, match=r"sut\.vnf\.workers"):
        study_of_change("try", POINT.parameters, (KeyChange("sut.vnf.workers", 2),), 1, "?")
    with pytest.raises(BadInput, match="changes nothing"):
        study_of_change("try", POINT.parameters, (KeyChange("sut.vswitch.rx_queues", 1),), 1, "?")


def test_parameters_that_this_version_does_not_know_are_refused() -> None:
    older = {**POINT.parameters, "sut": {"tuning": "all"}}
    with pytest.raises(StudyError, match="as it was"):
        study_of_change("try", older, QUEUES, 1, "?")
