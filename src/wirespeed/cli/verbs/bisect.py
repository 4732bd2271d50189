# SPDX-License-Identifier: Apache-2.0
"""wirespeed bisect: name the few of many differences that make two settings differ in rate."""

from __future__ import annotations

import json as json_text
from typing import Annotated, Any

import typer

from wirespeed.cli.console import print_json, print_line, print_paragraph
from wirespeed.cli.input.options import JsonOption, SetOption, StoreOption
from wirespeed.cli.input.turn_options import (
    GoalOption,
    PairsOption,
    PointOption,
    ResumeOption,
    SetAOption,
    SetBOption,
    WorthOption,
)
from wirespeed.cli.show.show import results_console
from wirespeed.cli.show.turn_words import answer_words
from wirespeed.cli.verbs.compare_interleaved import Side
from wirespeed.cli.verbs.trials_run import Request, trials_of
from wirespeed.experiment.bisection import MOST_PROBES, Bisected, Probe, bisect
from wirespeed.experiment.turns import Stop
from wirespeed.model.errors import BadInput
from wirespeed.model.study.study import Study
from wirespeed.model.words import counted
from wirespeed.report.json.tune_document import compared_document
from wirespeed.session.lab_rig import rig_for
from wirespeed.store.store import Store
from wirespeed.tune.differences import Difference, differences, setting_with
from wirespeed.tune.factor import NotTried
from wirespeed.tune.goal import goal_named


def bisect_studies(
    a: Annotated[str, typer.Argument(metavar="A", help="Study to begin with.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Study whose differences are tried on A.")],
    *,
    set_: SetOption = None,
    set_a: SetAOption = None,
    set_b: SetBOption = None,
    point: PointOption = None,
    goal: GoalOption = "mrr",
    pairs: PairsOption = 12,
    worth: WorthOption = 2.0,
    probes: Annotated[
        int, typer.Option("--probes", metavar="N", min=3, help="Maximum number of comparisons.")
    ] = MOST_PROBES,
    resume: ResumeOption = False,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Try the differences between two studies in groups, and name those that change the rate."""
    aim = goal_named(goal)
    name, first = Side(a, (*(set_ or ()), *(set_a or ()))).point(point, aim)
    _, second = Side(b, (*(set_ or ()), *(set_b or ()))).point(point, aim)
    stop = Stop(worth / 100, pairs)
    both = Study(name, name, "", (first, second), {})
    with Store(store, exists=resume) as opened, rig_for(both, None) as rig:
        found, left = differences(first.parameters, second.parameters, rig.plan)
        if not found:
            reasons = "\n".join(f"  {each.name}: {each.why}" for each in left)
            raise BadInput(
                "no difference between A and B can be tried here",
                f"Reasons:\n{reasons}" if left else "A and B are the same point.",
            )
        rig.plan(setting_with(first.parameters, found, frozenset(range(len(found)))).workload)
        asked: dict[str, Any] = {
            "a": first.parameters, "b": second.parameters, "goal": str(aim), "worth": stop.worth,
            "pairs": pairs, "probes": probes,
        }  # fmt: skip
        request = Request(
            f"bisect-{name}", f"Which difference changes {aim}?", first, aim, asked,
            probes * stop.most, store, resume, json,
        )  # fmt: skip
        if not json:
            print_line(f"{counted(len(found), 'difference')} to try.", stderr=True)
        with trials_of(opened, request, rig) as trials:
            outcome = bisect(
                len(found),
                lambda on: trials.measure(setting_with(first.parameters, found, on)),
                stop.worth, pairs, probes,
            )  # fmt: skip
    if json:
        told = {"run": trials.writer.run_id, **_document(found, left, outcome)}
        print_json(json_text.dumps(told, indent=2, allow_nan=False))
    else:
        _print(found, left, outcome, stop, goal)
        print_line(f"Run {trials.writer.run_id}.")


def _document(
    found: tuple[Difference, ...], left: tuple[NotTried, ...], outcome: Bisected
) -> dict[str, Any]:
    def probe(of: Probe | None) -> dict[str, Any] | None:
        if of is None:
            return None
        return {
            "on": [found[at].key for at in sorted(of.on)],
            "added": [found[at].key for at in sorted(of.added)],
            **compared_document(of.compared),
        }

    return {
        "blamed": [found[at].key for at in sorted(outcome.blamed)],
        "proven": outcome.proven,
        "given_up": [found[at].key for at in sorted(outcome.given_up)],
        "not_tried": [{"difference": each.name, "why": each.why} for each in left],
        "proof": probe(outcome.proof),
        "rest": probe(outcome.rest),
        "probes": [probe(each) for each in outcome.probes],
    }


def _print(
    found: tuple[Difference, ...], left: tuple[NotTried, ...], outcome: Bisected, stop: Stop,
    goal: str,
) -> None:  # fmt: skip
    console = results_console()
    whole = answer_words("A", "A with all differences", goal, stop, outcome.whole.compared)
    print_paragraph(whole, console)
    for at in sorted(outcome.blamed):
        print_paragraph(f"It matters: {found[at]}", console, style="bold")
    if outcome.proof is not None:
        said = answer_words("A", "A with these alone", goal, stop, outcome.proof.compared)
        print_paragraph(f"Measured once more: {said}", console)
    if outcome.rest is not None:
        said = answer_words("these", "all differences", goal, stop, outcome.rest.compared)
        print_paragraph(f"The others on top of them: {said}", console)
    for at in sorted(outcome.given_up):
        print_paragraph(f"Not decided within the probes: {found[at]}", console)
    for each in left:
        print_paragraph(f"Cannot be tried here: {each.name}: {each.why}", console)
    verdict = "proven" if outcome.proven else "not proven"
    probes = counted(len(outcome.probes), "comparison")
    print_paragraph(f"{verdict}, {probes}.".capitalize(), console)
