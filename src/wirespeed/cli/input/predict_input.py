# SPDX-License-Identifier: Apache-2.0
"""Read the input of a prediction or a fit: a study, a plan, runs, or a file of rates."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from wirespeed.cli.input.predictions import case_of_record
from wirespeed.document.text_file import read_input
from wirespeed.model.errors import BadInput
from wirespeed.model.plan.prediction import Case, RateKind
from wirespeed.model.result.result import Interval, SearchResult
from wirespeed.plan.plan_file import PLAN_FILE
from wirespeed.predict.deployment import cases_of_plan
from wirespeed.predict.observation import Observation
from wirespeed.predict.parameters import Parameters
from wirespeed.predict.study import case_of
from wirespeed.report.base.answers import answers
from wirespeed.store.read import read_run
from wirespeed.store.records import PointRecord
from wirespeed.store.store import open_to_read
from wirespeed.study.load import load_study

T = TypeVar("T", bound=StrEnum)


def points_of(what: str, overrides: Sequence[str]) -> list[tuple[str, Case]]:
    """Return the points of a study, or of a plan's hosts. Raises BadInput."""
    if not what.endswith(".json"):
        study = load_study(what, overrides)
        return [(point.label, case_of(point)) for point in study.points]
    if overrides:
        raise BadInput(f"--set {overrides[0]}: {what} is a plan", "--set is for studies.")
    found = cases_of_plan(PLAN_FILE.parse(read_input(Path(what)), what))
    if not found:
        raise BadInput(
            f"{what}: no guest has a vhost or SR-IOV port", "There is no rate to predict."
        )
    return found


def kept(names: Sequence[str], parameters: Parameters) -> dict[str, float]:
    """Return the values of the named parameters. Raises BadInput for an unknown one."""
    for name in names:
        if name not in parameters.values:
            raise BadInput(
                f"--keep {name}: not among the parameters of {parameters.source}",
                f"There are {', '.join(parameters.values)}.",
            )
    return {name: parameters.values[name].value for name in names}


def is_csv(data: Sequence[str]) -> bool:
    """Return whether rates are in a file. Raises BadInput for a file among others."""
    files = [name for name in data if name.endswith(".csv")]
    if files and len(data) > 1:
        others = ", ".join(name for name in data if name is not files[0])
        raise BadInput(
            f"{files[0]}: cannot be combined with {others}", "Give runs, or one CSV file."
        )
    return bool(files)


def observations_of_runs(
    runs: Sequence[str], kind: str, store: str | None
) -> tuple[Observation, ...]:
    """Return the rates of one kind of all points that the model covers. Raises BadInput."""
    wanted = choice(RateKind, kind, "--kind")
    found: list[Observation] = []
    with open_to_read(store) as opened:
        records = [read_run(opened, run) for run in runs]
    for record in records:
        for point in record.points:
            found += observations_of(point, wanted)
    if not found:
        raise BadInput(
            f"run {', '.join(runs)}: no point has a clean-time {wanted}",
            f"--kind is one of {', '.join(RateKind)}; `wirespeed report RUN` shows what there is.",
        )
    return tuple(found)


def observations_of(point: PointRecord, kind: RateKind) -> list[Observation]:
    """Return the clean rate of each placement that the point met. Raises BadInput."""
    rates = {where: rate_of(result, kind) for where, result in answers(point).items()}
    return [
        Observation(case_of_record(point), rate, kind, point.label, where)
        for where, rate in rates.items()
        if rate
    ]


def rate_of(result: SearchResult, kind: RateKind) -> float | None:
    """Return the clean rate in frames/s; None where there is none."""
    if kind is RateKind.MRR:
        return result.mrr_fps
    interval: Interval | None = result.ndr if kind is RateKind.NDR else result.pdr
    return None if interval is None or interval.lower is None else interval.lower.load_fps


def choice(kind: type[T], text: str, flag: str) -> T:
    """Return the member with that value. Raises BadInput with the allowed ones."""
    try:
        return kind(text)
    except ValueError:
        raise BadInput(f"{flag} {text}: unknown", f"Choose one of {', '.join(kind)}.") from None
