# SPDX-License-Identifier: Apache-2.0
"""wirespeed qualify: find the gaps of CPUs without traffic, and the rings that they need."""

from __future__ import annotations

import json as json_text
from typing import Annotated

import typer

from wirespeed.cli.console import print_json, print_line
from wirespeed.cli.input.options import JsonOption
from wirespeed.cli.show.qualify_lines import lines
from wirespeed.qualify.cpus import chosen_cpus, usable_cpus
from wirespeed.qualify.document import QUALIFICATION
from wirespeed.qualify.qualify import qualify as qualify_cpus
from wirespeed.qualify.rings import needed, ring_for
from wirespeed.remote.local import LocalRunner

_DAY_S = 86_400.0


def qualify(
    *,
    seconds: Annotated[
        float,
        typer.Option("--seconds", metavar="S", min=1.0, max=_DAY_S, help="Time to watch, in s."),
    ] = 60.0,
    cpus: Annotated[
        str | None,
        typer.Option(
            "--cpus", metavar="LIST",
            help="CPUs to poll on, e.g. 2-5,8. Default: the isolated ones; all where none is.",
        ),
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option(
            "--rate", metavar="MPPS", min=0.001, max=10_000.0,
            help="Rate of one queue in Mpps; exit with 1 where no ring holds what piles up.",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:  # fmt: skip
    """Show who stops each CPU without traffic, for how long, and the rings that this needs.

    A thread polls on each CPU meanwhile, so programs there slow down.
    """
    runner, usable = LocalRunner(), usable_cpus()
    chosen = chosen_cpus(cpus, usable, runner)
    found = qualify_cpus(runner, chosen, usable, seconds)
    rate_fps = None if rate is None else rate * 1e6
    if json:
        print_json(json_text.dumps(QUALIFICATION.document(found), indent=1))
    else:
        for line in lines(found, rate_fps):
            print_line(line)
    if rate_fps is not None and ring_for(needed(rate_fps, found.worst.backlog_ns)) is None:
        raise typer.Exit(1)
