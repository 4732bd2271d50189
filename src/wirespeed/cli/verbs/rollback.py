# SPDX-License-Identifier: Apache-2.0
"""wirespeed rollback: restore a host to its state before the first apply."""

from __future__ import annotations

import typer

from wirespeed.apply import session
from wirespeed.cli.console import plain_console, print_json
from wirespeed.cli.input.host_change_target import ChangedHostOption, RebootOption, address
from wirespeed.cli.input.options import JsonOption
from wirespeed.cli.show.host_change_tables import print_rolled_back, rolled_back_json
from wirespeed.remote.reach import reach


def rollback(
    *, host: ChangedHostOption, reboot: RebootOption = False, json: JsonOption = False
) -> None:
    """Undo what `wirespeed apply` changed, from any workstation, then compare the facts.

    The record is on the host. Exits with 1 if a setting still differs, was not undone or could
    not be compared.
    """
    undone = session.undo(reach, address(host), may_reboot=reboot)
    if json:
        print_json(rolled_back_json(undone))
    else:
        print_rolled_back(undone, plain_console())
    if undone.failed:
        raise typer.Exit(1)
