# SPDX-License-Identifier: Apache-2.0
"""wirespeed verify: compare a host with its plan."""

from __future__ import annotations

import typer

from wirespeed.apply import session
from wirespeed.cli.console import plain_console, print_json
from wirespeed.cli.input.host_change_target import ChangedHostOption, PlanArgument, address
from wirespeed.cli.input.options import JsonOption
from wirespeed.cli.input.plan_source import named_plan
from wirespeed.cli.show.host_change_tables import print_rows, rows_json
from wirespeed.remote.reach import reach


def verify(plan: PlanArgument, *, host: ChangedHostOption, json: JsonOption = False) -> None:
    """Compare every decision of a plan with what the host is now, and audit it. Changes nothing.

    Exits with 1 when something differs, waits for a reboot, or could not be checked.
    """
    read = named_plan(plan)
    name, rows = session.verify(reach, address(host), read)
    if json:
        print_json(rows_json(name, rows))
    else:
        print_rows(name, rows, plain_console())
    if any(row.failed for row in rows):
        raise typer.Exit(1)
