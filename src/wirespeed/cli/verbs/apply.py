# SPDX-License-Identifier: Apache-2.0
"""wirespeed apply: make a host what its plan says."""

from __future__ import annotations

from typing import Annotated

import typer

from wirespeed.apply import session
from wirespeed.cli.console import plain_console, print_json
from wirespeed.cli.input.host_change_target import (
    ChangedHostOption,
    PlanArgument,
    RebootOption,
    address,
)
from wirespeed.cli.input.options import JsonOption
from wirespeed.cli.input.plan_source import named_plan
from wirespeed.cli.show.host_change_tables import applied_json, print_applied
from wirespeed.remote.reach import reach


def apply(
    plan: PlanArgument,
    *,
    host: ChangedHostOption,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print every change with its reason; change nothing.")
    ] = False,
    confirm: Annotated[
        bool,
        typer.Option(
            "--confirm", help="Keep the network changes of the previous run, and continue."
        ),
    ] = False,
    reboot: RebootOption = False,
    json: JsonOption = False,
) -> None:
    """Apply a plan to a host. Each change is recorded on the host before it is made.

    Safe to re-run: resumes after an interruption and skips settings already in place. From a login
    session on the host itself (--host localhost), a timer undoes network changes after 120 s unless
    the same command with --confirm follows. Exits with 1 when something is not as planned.
    """
    read, where = named_plan(plan), address(host)
    if dry_run:
        applied = session.preview(reach, where, read, will_reboot=reboot)
    else:
        applied = session.apply(reach, where, read, may_reboot=reboot, confirm=confirm)
    if json:
        print_json(applied_json(applied))
    else:
        print_applied(applied, plain_console(), dry_run=dry_run)
    if applied.failed:
        raise typer.Exit(1)
