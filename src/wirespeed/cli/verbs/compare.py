# SPDX-License-Identifier: Apache-2.0
"""Compare two runs (`wirespeed compare`)."""

from __future__ import annotations

import json as json_text
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Annotated

import typer
from rich.cells import cell_len
from rich.table import Table

from wirespeed.cli.command_kinds import is_named
from wirespeed.cli.console import Text, plain_console, print_json
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
from wirespeed.model.cpus import PlacementKind, placement_words
from wirespeed.model.errors import BadInput
from wirespeed.model.result.result import Bracket
from wirespeed.model.words import NONE, counted, mpps, percent, quantity
from wirespeed.report.base.as_is import bracket_words
from wirespeed.report.compare.comparison import Comparison, Difference, Judgement, Overall
from wirespeed.report.compare.runs import compare_runs
from wirespeed.store.read import read_run
from wirespeed.store.records import RunRecord
from wirespeed.store.store import open_to_read

_FRAMES = "frames/s"
_OVERALL_STYLE = {Overall.WORSE: "red", Overall.BETTER: "green", Overall.SAME: "green"}
_STYLE = {Judgement.WORSE: "red", Judgement.GONE: "red", Judgement.BETTER: "green"}


_OF_TURNS = (
    "control", "set_", "set_a", "set_b", "point", "goal", "pairs", "worth", "resume",
)  # fmt: skip


def check_given(ctx: typer.Context, without: Sequence[str], because: str) -> None:
    """Raise BadInput where the command line names one of these options."""
    for name in without:
        if is_named(ctx, name):
            raise BadInput(f"--{name.strip('_').replace('_', '-')}: {because}", "Leave it out.")


def compare(
    ctx: typer.Context,
    a: Annotated[
        str,
        typer.Argument(
            metavar="A",
            help='Run to compare with: id, name or "latest"; with --interleaved a study.',
        ),
    ],
    b: Annotated[
        str,
        typer.Argument(
            metavar="B", help='Run to judge: id, name or "latest"; with --interleaved a study.'
        ),
    ],
    *,
    tolerance: Annotated[
        str,
        typer.Option(
            "--tolerance",
            metavar="SHARE",
            help="Accept a rate of B that is lower by this share, e.g. 5% or 0.05.",
        ),
    ] = "5%",
    interleaved: Annotated[
        bool,
        typer.Option(
            "--interleaved",
            help="Measure A and B, which are studies, in turns here until the answer is sure.",
        ),
    ] = False,
    control: Annotated[
        bool,
        typer.Option("--control", help="With --interleaved: first measure A against A."),
    ] = False,
    set_: SetOption = None,
    set_a: SetAOption = None,
    set_b: SetBOption = None,
    point: PointOption = None,
    goal: GoalOption = "mrr",
    pairs: PairsOption = 12,
    worth: WorthOption = 2.0,
    resume: ResumeOption = False,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Compare two runs point by point, or two studies in turns; exit with 1 if B is worse."""
    if interleaved:
        check_given(ctx, without=("tolerance",), because="it is for two runs")
        # These load the bench, for which no comparison of stored runs should wait.
        from wirespeed.cli.verbs.compare_interleaved import Side, Turns, compare_interleaved
        from wirespeed.experiment.turns import Stop
        from wirespeed.tune.goal import goal_named

        turns = Turns(
            point, goal_named(goal), Stop(worth / 100, pairs), control, resume, json, store
        )
        both = tuple(set_ or ())
        compare_interleaved(
            Side(a, (*both, *(set_a or ()))), Side(b, (*both, *(set_b or ()))), turns
        )
        return
    check_given(ctx, without=_OF_TURNS, because="it is for --interleaved")
    share = _share(tolerance)
    with open_to_read(store) as opened:
        run_a, run_b = read_run(opened, a), read_run(opened, b)
    compared = compare_runs(run_a, run_b, share)
    if not compared.differences:
        raise _nothing_to_compare(run_a, run_b)
    if json:
        print_json(json_text.dumps(_as_json(run_a.id, run_b.id, share, compared), indent=2))
    else:
        _print(run_a.id, run_b.id, share, compared)
    if compared.worse:
        raise typer.Exit(1)


def _nothing_to_compare(a: RunRecord, b: RunRecord) -> BadInput:
    unmeasured = [
        f"{point.label} in {run.id}: {point.result.not_measurable}"
        for run in (a, b)
        for point in run.points
        if point.result is not None and point.result.not_measurable is not None
    ]
    if unmeasured and {point.id for point in a.points} & {point.id for point in b.points}:
        return BadInput(
            f"runs {a.id} and {b.id} share no point with a rate: {'; '.join(unmeasured)}",
            "The runs' reports say why no trial could run; measure again.",
        )
    return BadInput(
        f"runs {a.id} and {b.id} have no complete point with the same parameters",
        "Compare two runs of the same study with the same --set.",
    )


def _share(text: str) -> float:
    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = -1.0
    if not 0 <= share < 1:
        raise BadInput(f"--tolerance {text}: must be 0% to less than 100%", "E.g. --tolerance 5%.")
    return share


def _as_json(a: str, b: str, tolerance: float, compared: Comparison) -> dict[str, object]:
    return {
        "a": a,
        "b": b,
        "tolerance": tolerance,
        "differences": [asdict(d) for d in compared.differences],
        "only_a": compared.only_a,
        "only_b": compared.only_b,
        "placements": [asdict(placement) for placement in compared.placements],
        "grades": [asdict(change) for change in compared.grades],
        "worse": bool(compared.worse),
        "verdict": str(compared.overall),
    }


def _print(a: str, b: str, tolerance: float, compared: Comparison) -> None:
    console = plain_console()
    style = _OVERALL_STYLE.get(compared.overall, "yellow")
    console.print(Text(_verdict(a, b, tolerance, compared), style=style), soft_wrap=True)
    for line in _lines(a, b, compared.differences):
        console.print(line)
    for name, labels in ((a, compared.only_a), (b, compared.only_b)):
        if labels:
            console.print(f"Only in {name}: {'; '.join(labels)}", soft_wrap=True)
    for sentence in _remarks(a, b, tolerance, compared):
        console.print(sentence, style="yellow", soft_wrap=True)
    if any(d.verdict is Judgement.AS_IS for d in compared.differences):
        console.print(
            "Rates over all time do not decide: they also depend on how noisy the host was.",
            soft_wrap=True,
        )


def _verdict(a: str, b: str, tolerance: float, compared: Comparison) -> str:
    """Return the verdict in one line, with the rate that differs most."""
    total = counted(len(compared.judged), "rate")
    beyond = f"by more than {percent(tolerance)} and its error"
    if compared.overall is Overall.WORSE:
        worst = min(compared.worse, key=lambda d: -1.0 if d.gain is None else d.gain)
        return f"{b} is worse than {a}: {len(compared.worse)} of {total} {beyond}, {_most(worst)}."
    if compared.overall is Overall.CANNOT_TELL:
        return f"Cannot tell whether {b} differs from {a}: {len(compared.undecided)} of {total}."
    if compared.overall is Overall.BETTER:
        best = max(compared.better, key=lambda d: d.gain or 0.0)
        return f"{b} is better than {a}: {len(compared.better)} of {total} {beyond}, {_most(best)}."
    return f"{b} is as fast as {a}: none of {total} differs {beyond}."


def _most(d: Difference) -> str:
    change = "no rate any more" if d.change is None else f"{100 * d.change:+.1f}%"
    return f"most {d.figure} at {d.label} ({change})"


def _remarks(a: str, b: str, tolerance: float, compared: Comparison) -> Iterator[str]:
    """Yield what else affects the comparison: grades, CPU placement, noise."""
    for change in compared.grades:
        yield (
            f"{change.label}: grade {change.a or 'not recorded'} in {a}, "
            f"{change.b or 'not recorded'} in {b}."
        )
    for placement in compared.placements:
        said = f"{placement.label}: {_met(placement.a)} in {a}, {_met(placement.b)} in {b}"
        if placement.a and placement.b:
            yield (
                f"{said}: no common placement, so nothing is compared. Run again, or pin the "
                "guest's CPUs."
            )
        else:
            yield f"{said}: another placement alone changes rates."
    large = sum(d.verdict is Judgement.CANNOT_TELL for d in compared.differences)
    if large:
        yield (
            f"{large} figures have an error above the tolerance of {percent(tolerance)}, or an "
            "unknown one: longer trials or a quieter host would decide them."
        )


def _met(placements: tuple[PlacementKind, ...]) -> str:
    return " and ".join(map(placement_words, placements or (None,)))


def _lines(a: str, b: str, differences: Sequence[Difference]) -> Iterator[str | Table]:
    """Yield a heading, then each point on a line of its own above its rates.

    The heading has the unit of frame rates where there is no other rate.
    """
    in_mpps = all(difference.unit == _FRAMES for difference in differences)
    heading = ("Mpps" if in_mpps else "rate", a, b, "change", "verdict")
    rows = [_row(difference, "" if in_mpps else " Mpps") for difference in differences]
    widths = [
        max(cell_len(str(cell)) for cell in column) for column in zip(heading, *rows, strict=True)
    ]
    yield _table([heading], widths)
    for label, group in groupby(zip(differences, rows, strict=True), lambda pair: _label(pair[0])):
        yield label
        yield _table([row for _, row in group], widths)


def _table(rows: Sequence[Sequence[str | Text]], widths: Sequence[int]) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    figure, *numbers, _ = widths
    table.add_column(width=figure)
    for width in numbers:
        table.add_column(justify="right", width=width)
    table.add_column()
    for row in rows:
        table.add_row(*row)
    return table


def _label(d: Difference) -> str:
    return d.label if d.placement is None else f"{d.label}, {placement_words(d.placement)}"


def _row(d: Difference, frame_unit: str) -> tuple[str | Text, ...]:
    change = NONE if d.change is None else f"{100 * d.change:+.1f}%"
    error = f" \N{PLUS-MINUS SIGN}{percent(d.error)}" if d.error else ""
    return (
        f"  {d.figure}",
        _value(d, d.a_fps, d.a_bracket, frame_unit), _value(d, d.b_fps, d.b_bracket, frame_unit),
        f"{change}{error}", Text(d.verdict, style=_STYLE.get(d.verdict, "")),
    )  # fmt: skip


def _value(d: Difference, fps: float | None, bracket: Bracket | None, frame_unit: str) -> str:
    """Return the rate, or a range: "2.107 to 4.213", "at least 2.107"."""
    if fps is not None and d.unit != _FRAMES:
        return quantity(fps, d.unit)
    if bracket is None:
        return mpps(fps) if fps is None else f"{mpps(fps)}{frame_unit}"
    if bracket.carried_fps is None or bracket.overloads_fps is None:
        return bracket_words(bracket)
    return f"{mpps(bracket.carried_fps)} to {mpps(bracket.overloads_fps)}{frame_unit}"
