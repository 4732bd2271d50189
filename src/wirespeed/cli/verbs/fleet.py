# SPDX-License-Identifier: Apache-2.0
"""wirespeed fleet show: group the hosts of a fleet, find outliers, and list their results."""

from __future__ import annotations

import json as json_text
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from wirespeed.cli.console import print_json, print_line, results_console
from wirespeed.cli.input.options import JsonOption, StoreOption
from wirespeed.cli.output_file import check_file, write_output
from wirespeed.cli.show.fleet_tables import print_fleet
from wirespeed.fleet.comparison import Fleet, compare
from wirespeed.fleet.document import fleet_document
from wirespeed.model.errors import BadInput
from wirespeed.report.page.fleet_page import fleet_page
from wirespeed.store.errors import damaged_runs
from wirespeed.store.figures import Measured, measured
from wirespeed.store.snapshots import newest_snapshots
from wirespeed.store.store import Store, open_to_read


def show(
    *,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write the page to FILE instead.")
    ] = None,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Group hosts by hardware; show settings that differ, outlying results and audit rules."""
    if html is not None:
        check_file(html)
    with open_to_read(store) as opened:
        found = measured(opened)
        fleet = read_fleet(opened, found)
        where = opened.url
    if json:
        print_json(json_text.dumps(fleet_document(fleet), indent=1))
    if html is not None:
        write_output(html, fleet_page(fleet, version("wirespeed")))
        print_line(f"Page: {html.absolute()}", stderr=json)
    if not json and html is None:
        print_fleet(fleet, results_console())
    if found.damaged:
        raise damaged_runs(where, found.damaged)


def read_fleet(store: Store, found: Measured) -> Fleet:
    """Return what the store knows of all hosts. Raises BadInput where it has none."""
    fleet = compare(newest_snapshots(store), found.figures, found.repeats)
    if not fleet.hosts:
        raise BadInput(
            f"store {store.url} has no host of a fleet",
            "Collect them with Ansible (docs/howto/fleet.md), or add files: "
            "wirespeed fleet add DIRECTORY.",
        )
    return fleet
