# SPDX-License-Identifier: Apache-2.0
"""Predict a study for the server of another host document, with parameters of this machine."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from wirespeed.cli.input.host_source import read_facts
from wirespeed.cli.input.predict_input import observations_of
from wirespeed.cli.show.predict_tables import print_predictions
from wirespeed.cli.show.show import print_agreement
from wirespeed.model.cpus import placement_words
from wirespeed.model.errors import BadInput
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.plan.prediction import RateKind
from wirespeed.model.result.result import Grade
from wirespeed.model.study.study import Point, Study
from wirespeed.predict.bench import fit_bench
from wirespeed.predict.observation import split_by_placement
from wirespeed.predict.parameters import Parameters
from wirespeed.predict.predict import predict
from wirespeed.predict.published import shipped_parameters
from wirespeed.predict.server import Server, for_server, on_server, server_of
from wirespeed.predict.study import case_of, predictable
from wirespeed.report.papers.beside import beside_published
from wirespeed.report.papers.reading import PREDICTED
from wirespeed.store.read import list_runs, read_run
from wirespeed.store.records import PointRecord, PointState, RunRecord
from wirespeed.store.store import Store
from wirespeed.study.load import load_study

# Name of a server's facts in a folder of examples/.
_HOST_FILE = "host.json"


def fitted_here(store: str | None, clock_ghz: float | None) -> Parameters:
    """Return parameters fitted to this machine's MRRs of grade C or better in the store.

    They are those of the most frequent CPU placement. Raises BadInput without a clock, and where
    the runs are too few for the parameters.
    """
    if clock_ghz is None:
        raise BadInput(
            "--fitted-here: the clock of this machine's cores is not known",
            "Add --clock-ghz GHZ; `lscpu` or the cpu MHz line of /proc/cpuinfo shows it.",
        )
    name = platform.node()
    with Store(store) as opened:
        runs = [read_run(opened, each.id) for each in list_runs(opened) if each.host == name]
    found = [
        observation
        for run in runs
        for point in run.points
        if predictable(point.workload) and not point.emulated
        for observation in observations_of(graded(point), RateKind.MRR)
    ]
    if not found:
        raise BadInput(
            f"--fitted-here: the store has no MRR of grade C or better of host {name}",
            "Measure first: `wirespeed run quickstart`.",
        )
    kind, most = max(split_by_placement(found).items(), key=lambda item: len(item[1]))
    where = "" if kind is None else f", {placement_words(kind)}"
    return fit_bench(most, f"this host ({len(runs)} runs{where})", clock_ghz * 1e9)


def graded(point: PointRecord) -> PointRecord:
    """Return the point with only its results of grade C or better."""
    if point.result is None:
        return point
    good = [one for one in point.result.answers if one.grade is not None and one.grade <= Grade.C]
    if not good:
        return replace(point, result=None)
    return replace(point, result=replace(good[0], by_placement=tuple(good[1:])))


def predicted_on(
    study: Study, host: str, parameters: Parameters
) -> tuple[RunRecord, Parameters, Server]:
    """Return the study as a run predicted for the server, with parameters and server.

    host: a host document, or a folder with a host.json. Points outside the model carry the reason
    as their error. Raises BadInput.
    """
    path = Path(host) / _HOST_FILE if Path(host).is_dir() else Path(host)
    facts = read_facts(str(path), None)
    server = server_of(facts, str(path))
    there = for_server(parameters, shipped_parameters(), server)
    points = tuple(_point(point, server, there) for point in study.points)
    return _run(study, facts, points), there, server


def _point(point: Point, server: Server, parameters: Parameters) -> PointRecord:
    record = PointRecord(
        point.id, point.label, point.workload, point.parameters, PointState.PENDING, None, None,
        None, None, {}, None, (), key=point.key, factors=point.factors, repeat=point.repeat,
    )  # fmt: skip
    try:
        case = case_of(point)
        directions = 2 if record.frames.topology.bidirectional else 1
        found = predict([on_server(case, server, directions=directions)], parameters)[0]
    except BadInput as error:
        return replace(record, error=error.what.removeprefix(f"{point.label}: "))
    return replace(record, predicted=found)


def _run(study: Study, facts: HostFacts, points: tuple[PointRecord, ...]) -> RunRecord:
    return RunRecord(
        "", study.name, study.title, study.description, study.resolved, (), {}, facts, "", None,
        points, form=study.form,
    )  # fmt: skip


def print_elsewhere(
    name: str, overrides: Sequence[str], host: str, parameters: Parameters, console: Console
) -> None:
    """Print a study's rates on another server, then their comparison with the study's paper."""
    run, there, server = predicted_on(load_study(name, overrides), host, parameters)
    shown = [(point.label, point.predicted) for point in run.points if point.predicted is not None]
    if not shown:
        raise BadInput(
            f"{name}: no point is covered by the model ({run.points[0].error})",
            "docs/explanation/prediction.md lists what it covers.",
        )
    console.print(
        f"Predicted for {server.name}: {server.clock_hz / 1e9:g} GHz, "
        f"{server.link_bps / 1e9:g} Gbit/s, PCIe {server.pcie_gts:g} GT/s x{server.pcie_lanes}",
        style="bold", soft_wrap=True,
    )  # fmt: skip
    print_predictions(shown, there, console)
    if uncovered := len(run.points) - len(shown):
        console.print(f"{uncovered} of {len(run.points)} points are not covered by the model.")
    if (paper := beside_published(run, PREDICTED)) is not None:
        print_agreement(paper, console)
