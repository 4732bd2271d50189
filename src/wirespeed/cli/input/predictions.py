# SPDX-License-Identifier: Apache-2.0
"""Read parameters, and add what they predict to a stored run.

Apart from predict_input.py, which can read studies: those know every part of a bench, and a report
would load all that to start.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from wirespeed.document.text_file import read_input
from wirespeed.model.plan.prediction import Case
from wirespeed.model.study.study import Point
from wirespeed.predict.document import parse_parameters
from wirespeed.predict.parameters import Parameters
from wirespeed.predict.predict import predict
from wirespeed.predict.published import shipped_parameters
from wirespeed.predict.study import case_of, predictable
from wirespeed.store.records import PointRecord, RunRecord


def parameters_of(path: Path | None) -> Parameters:
    """Return the file's parameters, or those of S2's server. Raises BadInput."""
    if path is None:
        return shipped_parameters()
    return parse_parameters(read_input(path), str(path))


def case_of_record(point: PointRecord) -> Case:
    """Return the case of a stored point, with the cores of its plan. Raises BadInput."""
    return case_of(Point(point.id, point.label, point.workload, point.parameters), point.plan)


def with_predictions(run: RunRecord, parameters: Parameters) -> RunRecord:
    """Return the run with predictions at points that the model covers. Raises BadInput."""
    points = [
        replace(point, predicted=predict([case_of_record(point)], parameters)[0])
        if predictable(point.workload)
        else point
        for point in run.points
    ]
    return replace(run, points=tuple(points))
