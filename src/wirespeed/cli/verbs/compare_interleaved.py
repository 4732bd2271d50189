# SPDX-License-Identifier: Apache-2.0
"""Measure two studies in turns, matched by CPU placement (`wirespeed compare --interleaved`)."""

from __future__ import annotations

import json as json_text
from collections.abc import Callable
from dataclasses import dataclass

import typer

from wirespeed.cli.console import print_json, print_paragraph, results_console
from wirespeed.cli.input.study_point import the_point
from wirespeed.cli.show.turn_words import answer_words
from wirespeed.cli.verbs.trials_run import Request, measured_point, trials_of
from wirespeed.experiment.turns import Answer, Compared, Rates, Stop, compare_in_turns
from wirespeed.model.errors import BadInput, WirespeedError
from wirespeed.model.study.study import Point, Study
from wirespeed.report.json.tune_document import compared_document
from wirespeed.session.lab_rig import rig_for
from wirespeed.store.store import Store
from wirespeed.tune.goal import Goal, search_for
from wirespeed.tune.trials import Setting, Trials


@dataclass(frozen=True, slots=True)
class Side:
    """A study with its own overrides."""

    study: str
    overrides: tuple[str, ...]

    def point(self, named: str | None, goal: Goal) -> tuple[str, Point]:
        """Return the study's name and the point to measure."""
        name, plain = the_point(self.study, self.overrides, named)
        return name, measured_point(plain, search_for(goal, plain))


@dataclass(frozen=True, slots=True)
class Turns:
    """Options of the command."""

    point: str | None
    goal: Goal
    stop: Stop
    control: bool
    resume: bool
    json: bool
    store: str | None


def compare_interleaved(a: Side, b: Side, turns: Turns) -> None:
    """Measure A and B in turns until the answer is sure; exit with 1 if B is worse.

    Raises BadInput where both are the same, WirespeedError where the control finds a difference.
    """
    name, first = a.point(turns.point, turns.goal)
    _, second = b.point(turns.point, turns.goal)
    if first.parameters == second.parameters:
        raise BadInput(
            "A and B are the same point", "Name two studies, or give --set-a or --set-b."
        )
    stop = turns.stop
    asked = {
        "a": first.parameters, "b": second.parameters, "worth": stop.worth, "pairs": stop.pairs,
        "control": turns.control, "goal": str(turns.goal),
    }  # fmt: skip
    request = Request(
        f"compare-{name}", f"Does B bring more {turns.goal} than A?", first, turns.goal,
        asked, stop.most * (2 if turns.control else 1), turns.store, turns.resume, turns.json,
    )  # fmt: skip
    both = Study(name, name, "", (first, second), {})
    with Store(turns.store, exists=turns.resume) as opened, rig_for(both, None) as rig:
        for each in (first, second):
            rig.plan(each.workload)  # report what the host cannot do before measuring
        with trials_of(opened, request, rig) as trials:
            if turns.control:
                _check_control(compare_in_turns(_measurer(trials, first, first), stop))
            found = compare_in_turns(_measurer(trials, first, second), stop)
    if turns.json:
        told = {"run": trials.writer.run_id, "goal": str(turns.goal), **compared_document(found)}
        print_json(json_text.dumps(told, indent=2, allow_nan=False))
    else:
        console = results_console()
        print_paragraph(answer_words("A", "B", turns.goal, stop, found), console)
        print_paragraph(f"{found.matching.words}. Run {trials.writer.run_id}.", console)
    if found.answer is Answer.LESS:
        raise typer.Exit(1)


def _measurer(trials: Trials, first: Point, second: Point) -> Callable[[bool], Rates]:
    control = first is second
    sides = {
        changed: Setting(
            f"{'control' if control else 'B' if changed else 'A'}, {point.label}", point.workload
        )
        for changed, point in ((False, first), (True, second))
    }
    return lambda changed: trials.measure(sides[changed])


def _check_control(found: Compared) -> None:
    if found.answer in (Answer.MORE, Answer.LESS):
        raise WirespeedError(
            f"control: A differs from A by {100 * found.ratio.gain:+.1f}%, so that this host "
            "cannot tell A from B",
            "Measure on a quieter host, or at another time.",
        )
