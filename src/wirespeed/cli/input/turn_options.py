# SPDX-License-Identifier: Apache-2.0
"""Define options of the commands that compare settings in turns."""

from __future__ import annotations

from typing import Annotated

import typer

from wirespeed.experiment.turns import FEWEST_PAIRS, MOST_PAIRS

SetAOption = Annotated[
    list[str] | None,
    typer.Option("--set-a", metavar="KEY=VALUE", help="Set a key of study A alone. Repeatable."),
]
SetBOption = Annotated[
    list[str] | None,
    typer.Option("--set-b", metavar="KEY=VALUE", help="Set a key of study B alone. Repeatable."),
]
PointOption = Annotated[
    str | None,
    typer.Option("--point", metavar="POINT", help="Label or id of the point, or how it begins."),
]
GoalOption = Annotated[
    str,
    typer.Option(
        "--goal", metavar="GOAL", help="What to measure: mrr, mrr-all-time, ndr, p99 or p999."
    ),
]
PairsOption = Annotated[
    int,
    typer.Option(
        "--pairs",
        metavar="N",
        min=FEWEST_PAIRS,
        max=MOST_PAIRS,
        help="Maximum pairs of a comparison.",
    ),
]
WorthOption = Annotated[
    float,
    typer.Option(
        "--worth", metavar="PERCENT", min=0.1, max=100,
        help="Smallest difference in percent that matters.",
    ),
]  # fmt: skip
ResumeOption = Annotated[
    bool, typer.Option("--resume", help="Continue the newest unfinished run of this command.")
]
