# SPDX-License-Identifier: Apache-2.0
"""Measure a point with and without recording in turns (`wirespeed kpi cost --study`)."""

from __future__ import annotations

import json as json_text
from collections.abc import Callable

import typer

from wirespeed.cli.console import print_json, print_paragraph, results_console
from wirespeed.cli.verbs.run_recording import polling_cpus, recording
from wirespeed.cli.verbs.trials_run import Request, measured_point, trials_of
from wirespeed.experiment.turns import Answer, Compared, Rates, Stop, compare_in_turns
from wirespeed.model.study.study import Point, Study
from wirespeed.model.words import counted, percent
from wirespeed.report.compare.tuned import interval_words
from wirespeed.report.json.tune_document import compared_document
from wirespeed.session.lab_rig import rig_for
from wirespeed.store.store import Store
from wirespeed.tune.goal import Goal, search_for
from wirespeed.tune.trials import Setting, Trials


def cost_in_turns(
    name: str, plain: Point, goal: Goal, stop: Stop, *,
    rate_hz: float | None, json: bool, store: str | None,
) -> None:  # fmt: skip
    """Measure a point in turns until the answer is sure; exit with 1 if recording lowers the rate.

    name: of its study. rate_hz: see run_recording.recording.
    """
    point = measured_point(plain, search_for(goal, plain))
    asked = {"worth": stop.worth, "pairs": stop.pairs, "goal": str(goal), "rate_hz": rate_hz}
    request = Request(
        f"kpi-cost-{name}", f"Does recording change {goal}?", point, goal, asked, stop.most, store,
        json=json,
    )  # fmt: skip
    with Store(store) as opened, rig_for(Study(name, name, "", (point,), {}), None) as rig:
        polled = polling_cpus(rig.plan(point.workload))
        with trials_of(opened, request, rig) as trials:
            found = compare_in_turns(_measurer(trials, point, polled, store, rate_hz), stop)
    if json:
        print_json(json_text.dumps(
            {"run": trials.writer.run_id, "goal": str(goal), **compared_document(found)},
            indent=2, allow_nan=False,
        ))  # fmt: skip
    else:
        console = results_console()
        print_paragraph(turn_words(goal, stop, found), console)
        print_paragraph(f"{found.matching.words}. Run {trials.writer.run_id}.", console)
    if found.answer is Answer.LESS:
        raise typer.Exit(1)


def _measurer(
    trials: Trials, point: Point, polled: frozenset[int], store: str | None, rate_hz: float | None
) -> Callable[[bool], Rates]:
    watcher = trials.watcher

    def measure(recorded: bool) -> Rates:
        label = f"{'with' if recorded else 'without'} recording, {point.label}"
        setting = Setting(label, point.workload)
        if not recorded:
            return trials.measure(setting)
        try:
            with recording(watcher, trials.writer.run_id, polled, store, rate_hz) as marking:
                trials.watcher = marking
                return trials.measure(setting)
        finally:
            trials.watcher = watcher

    return measure


def turn_words(goal: str, stop: Stop, found: Compared) -> str:
    """Return the sentence about what recording changes."""
    by = f"{interval_words(found.ratio)}, {counted(found.ratio.pairs, 'pair')}"
    sure = f"{by}, {percent(1 - stop.error, 0)} confidence at any stop"
    match found.answer:
        case Answer.LESS:
            return f"Recording lowers {goal}: {sure}."
        case Answer.MORE:
            return f"Recording does not lower {goal}, which was higher with it: {sure}."
        case Answer.SAME:
            return f"Recording changes {goal} by less than {percent(stop.worth)}: {sure}."
    return f"Cannot tell whether recording changes {goal}: {by}. More pairs decide it: --pairs."
