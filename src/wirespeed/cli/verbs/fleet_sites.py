# SPDX-License-Identifier: Apache-2.0
"""wirespeed fleet sites: write pages of speed-test servers that share a PostgreSQL."""

from __future__ import annotations

import json as json_text
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from wirespeed.cli.console import plain_console, print_json, print_line
from wirespeed.cli.input.options import JsonOption
from wirespeed.cli.output_file import check_folder, write_output
from wirespeed.model.host.sites import Site
from wirespeed.report.page.sites_page import page_name, site_page
from wirespeed.store.sites import forget_results, read_sites


def sites(
    *,
    database: Annotated[
        str,
        typer.Option(
            "--database",
            metavar="URL",
            envvar="WIRESPEED_SITES",
            help="PostgreSQL database with the results of all sites: postgresql://user@host/database.",
        ),
    ],
    days: Annotated[int, typer.Option("--days", min=1, help="Days to summarize.")] = 30,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="DIR", help="Write a page for each site into DIR."),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="DIR", hidden=True, help="The older name of --output."),
    ] = None,
    keep: Annotated[
        int | None,
        typer.Option("--keep", metavar="DAYS", min=1, help="First delete results older than DAYS."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Summarize the tests of each site's speed-test servers; delete results that are too old.

    A site is a schema of the database with the table of a speed-test server.
    """
    folder = output or html
    if folder is not None:
        check_folder(folder)
    if keep is not None:
        for name, count in forget_results(database, keep).items():
            print_line(f"{name}: {count} results older than {keep} days deleted", stderr=True)
    found = read_sites(database, days)
    if folder is not None:
        for site in found:
            page = site_page(site, found, days, version("wirespeed"))
            write_output(folder / page_name(site), page)
    if json:
        print_json(json_text.dumps([_as_json(site) for site in found], indent=2))
        return
    table = Table(box=None, pad_edge=False)
    for column in ("site", "tests", "ended early", "last", "mostly limited by"):
        table.add_column(column)
    for site in found:
        limit = next(iter(site.limits), "")
        table.add_row(site.name, str(site.tests), str(site.aborted), site.last or "", limit)
    plain_console().print(table)


def _as_json(site: Site) -> dict[str, object]:
    return {
        "site": site.name, "tests": site.tests, "ended_early": site.aborted, "last": site.last,
        "limits": dict(site.limits),
    }  # fmt: skip
