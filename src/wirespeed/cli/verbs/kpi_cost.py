# SPDX-License-Identifier: Apache-2.0
"""wirespeed kpi cost: what a recording cost, and whether losses fall into its reads."""

from __future__ import annotations

import json as json_text
from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table

from wirespeed.cli.console import plain_console, print_json, print_line
from wirespeed.cli.input.options import JsonOption, SetOption, StoreOption
from wirespeed.cli.input.study_point import the_point
from wirespeed.cli.input.turn_options import GoalOption, PairsOption, PointOption, WorthOption
from wirespeed.cli.verbs.compare import check_given
from wirespeed.cli.verbs.kpi_turns import cost_in_turns
from wirespeed.experiment.turns import Stop
from wirespeed.kpi.pace import checked_rate
from wirespeed.live.recording_cost import (
    Cost,
    SourceCost,
    cost_of,
    dearest_first,
    milliseconds,
    sentences,
)
from wirespeed.store import recordings
from wirespeed.store.store import open_to_read
from wirespeed.tune.goal import goal_named

_OF_TURNS = ("set_", "point", "goal", "pairs", "worth", "kpi_rate")


def cost(
    ctx: typer.Context,
    recording: Annotated[
        str,
        typer.Argument(
            metavar="RECORDING", help='Id of a recording (`wirespeed kpi list`), or "latest".'
        ),
    ] = recordings.LATEST,
    *,
    study: Annotated[
        str | None,
        typer.Option(
            "--study",
            metavar="STUDY",
            help="Measure a point of this study in turns, with and without recording.",
        ),
    ] = None,
    set_: SetOption = None,
    point: PointOption = None,
    goal: GoalOption = "mrr",
    pairs: PairsOption = 12,
    worth: WorthOption = 1.0,
    kpi_rate: Annotated[
        float | None,
        typer.Option(
            "--kpi-rate",
            metavar="HZ",
            help="With --study: record at this rate, 1 to 50, also while frames flow on a host "
            "without a CPU to spare.",
        ),
    ] = None,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Show what a recording cost: CPU time and duration of reads, and losses that fall into them.

    Losses are those of the run that it was made next to, tested against chance. With --study: how
    recording changes a rate; exit with 1 if it lowers it.
    """
    if study is not None:
        check_given(ctx, without=("recording",), because="--study makes recordings of its own")
        rate_hz = None if kpi_rate is None else checked_rate(kpi_rate)
        wanted, stop = goal_named(goal), Stop(worth / 100, pairs)
        name, plain = the_point(study, tuple(set_ or ()), point)
        cost_in_turns(name, plain, wanted, stop, rate_hz=rate_hz, json=json, store=store)
        return
    check_given(ctx, without=_OF_TURNS, because="it is for --study")
    with open_to_read(store) as opened:
        found = recordings.recording_of(opened, recording)
        seen = cost_of(opened, found)
    if json:
        print_json(json_text.dumps({"recording": found.id, **asdict(seen)}, indent=2))
        return
    summary, *others = sentences(seen)
    print_line(f"{found.id}: {summary}")
    _print_table(seen)
    for sentence in others:
        if "loss burst" in sentence:
            print_line(sentence)


def _print_table(found: Cost) -> None:
    table = Table("source", "reads", "CPU a read", "mean read", "longest read", "share of time")
    for each in dearest_first(found.sources):
        cpu = "-" if each.cpu_ns is None else milliseconds(each.cpu_ns)
        table.add_row(
            each.source, str(each.reads), cpu, milliseconds(each.mean_ns),
            milliseconds(each.longest_ns), _share(each, found.length_ns),
        )  # fmt: skip
    plain_console().print(table)


def _share(each: SourceCost, length_ns: int) -> str:
    return f"{each.mean_ns * each.reads / length_ns:.2%}" if length_ns else "-"
