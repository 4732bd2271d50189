# SPDX-License-Identifier: Apache-2.0
"""wirespeed bisect: name the few of many differences that make two settings differ in rate."""

from __future__ import annotations

import json as json_text
from contextlib import ExitStack
from typing import Annotated, Any

import typer

from wirespeed.cli.console import print_json, print_line, print_paragraph, results_console
from wirespeed.cli.input.bisect_sides import differences_here, named_sides
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
from wirespeed.cli.show.turn_words import answer_words
from wirespeed.cli.verbs.compare_interleaved import Side
from wirespeed.cli.verbs.trials_run import Request, trials_of
from wirespeed.experiment.bisection import MOST_PROBES, Bisected, Probe, bisect
from wirespeed.experiment.turns import Stop
from wirespeed.model.errors import BadInput
from wirespeed.model.study.study import Study
from wirespeed.model.words import counted
from wirespeed.remote.local import LocalRunner
from wirespeed.report.json.tune_document import compared_document
from wirespeed.session.lab_rig import rig_for
from wirespeed.store.store import Store
from wirespeed.tune.differences import Difference, Differences, between_points
from wirespeed.tune.factor import NotTried
from wirespeed.tune.goal import goal_named


def bisect_studies(
    a: Annotated[
        str,
        typer.Argument(
            metavar="A",
            help="Study to begin with; with --study a plan, a host file, a recorded folder or a "
            "host of the fleet.",
        ),
    ],
    b: Annotated[
        str, typer.Argument(metavar="B", help="The same kind; its differences are tried on A.")
    ],
    *,
    study: Annotated[
        str | None,
        typer.Option(
            "--study",
            metavar="STUDY",
            help="Study to measure with, if A and B are plans or hosts.",
        ),
    ] = None,
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
    """Try the differences between two settings in groups, and name those that change the rate.

    A and B are two studies; with --study two plans or two hosts, whose differences are tried here
    as keys of the study and files of this host. Differences that cannot be tried here are listed
    with the reason.
    """
    aim = goal_named(goal)
    stop = Stop(worth / 100, pairs)
    if study is not None and (set_a or set_b):
        raise BadInput(
            f"--set-{'a' if set_a else 'b'}: with --study, A and B are no studies",
            "Leave it out; --set changes the study.",
        )
    with Store(store, exists=resume) as opened, ExitStack() as stack:
        if study is None:
            name, first = Side(a, (*(set_ or ()), *(set_a or ()))).point(point, aim)
            _, second = Side(b, (*(set_ or ()), *(set_b or ()))).point(point, aim)
            rig = stack.enter_context(rig_for(Study(name, name, "", (first, second), {}), None))
            found = between_points(first.parameters, second.parameters, rig.plan)
        else:
            sides = named_sides(a, b, opened)
            name, first = Side(study, tuple(set_ or ())).point(point, aim)
            rig = stack.enter_context(rig_for(Study(name, name, "", (first,), {}), None))
            found = differences_here(*sides, first, rig, LocalRunner())
        _check_some(found)
        rig.plan(found.setting(frozenset(range(len(found.tried)))).workload)
        asked: dict[str, Any] = {
            "a": found.a, "differences": found.tried, "goal": str(aim), "worth": stop.worth,
            "pairs": pairs, "probes": probes,
        }  # fmt: skip
        request = Request(
            f"bisect-{name}", f"Which difference changes {aim}?", first, aim, asked,
            probes * stop.most, store, resume, json,
        )  # fmt: skip
        if not json:
            print_line(f"{counted(len(found.tried), 'difference')} to try.", stderr=True)
        with trials_of(opened, request, rig) as trials:
            outcome = bisect(
                len(found.tried), lambda on: trials.measure(found.setting(on)), stop.worth, pairs,
                probes,
            )  # fmt: skip
    if json:
        answer = {"run": trials.writer.run_id, **_document(found.tried, found.left, outcome)}
        print_json(json_text.dumps(answer, indent=2, allow_nan=False))
    else:
        _print(found.tried, found.left, outcome, stop, goal)
        print_line(f"Run {trials.writer.run_id}.")


def _check_some(found: Differences) -> None:
    if not found.tried:
        reasons = "\n".join(f"  {each.name}: {each.why}" for each in found.left)
        raise BadInput(
            "no difference between A and B can be tried here",
            f"Reasons:\n{reasons}" if found.left else "A and B are the same point.",
        )


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
