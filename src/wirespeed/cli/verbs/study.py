# SPDX-License-Identifier: Apache-2.0
"""wirespeed study: list the shipped studies, and show what one would run."""

from __future__ import annotations

import json as json_text
from typing import Any

from rich.table import Table

from wirespeed.cli.console import plain_console, print_json
from wirespeed.cli.input.options import JsonOption, QuickOption, SetOption, StudyArgument
from wirespeed.model.input.fault import show
from wirespeed.model.study.study import Study, flat
from wirespeed.study.announce import announcement
from wirespeed.study.load import load_study
from wirespeed.study.shipped import shipped_names


def list_studies(json: JsonOption = False) -> None:
    """List the studies that come with wirespeed."""
    studies = [load_study(name) for name in shipped_names()]
    if json:
        print_json(
            json_text.dumps(
                [{"name": s.name, "title": s.title, "points": len(s.points)} for s in studies],
                indent=2,
            )
        )
        return
    table = Table(box=None, pad_edge=False)
    for column in ("study", "points", "question"):
        table.add_column(column, justify="right" if column == "points" else "left")
    for study in studies:
        table.add_row(study.name, str(len(study.points)), study.title)
    plain_console().print(table)


def show_study(
    study: StudyArgument,
    set_: SetOption = None,
    quick: QuickOption = False,
    json: JsonOption = False,
) -> None:
    """Show the points that a study would run, with every parameter; measure nothing."""
    loaded = load_study(study, set_ or (), quick=quick)
    if json:
        print_json(json_text.dumps(_as_json(loaded), indent=2))
        return
    console = plain_console()
    console.print(loaded.title, style="bold", soft_wrap=True)
    if loaded.description:
        console.print(" ".join(loaded.description.split()), style="dim")
    console.print()
    table = Table(box=None, pad_edge=False)
    for column in ("point", "id"):
        table.add_column(column)
    for point in loaded.points:
        table.add_row(point.label, point.key)
    console.print(table)
    console.print()
    for sentence in announcement(loaded, loaded.points):
        console.print(sentence, soft_wrap=True)
    console.print("\nEvery point has:", soft_wrap=True)
    for key, value in _common(loaded).items():
        console.print(f"  {key} = {show(value)}")
    console.print("The plan and the search's preset decide everything else.")


def _as_json(study: Study) -> dict[str, Any]:
    return {
        "name": study.name,
        "title": study.title,
        "description": study.description,
        "points": [
            {"id": point.id, "label": point.label, "parameters": point.parameters}
            for point in study.points
        ],
    }


def _common(study: Study) -> dict[str, Any]:
    """Return the settings that are the same at all points, by dotted key."""
    first, *others = [flat(point.parameters) for point in study.points]
    return {
        key: value
        for key, value in first.items()
        if value is not None and all(other.get(key) == value for other in others)
    }
