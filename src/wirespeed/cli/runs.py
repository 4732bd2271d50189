# SPDX-License-Identifier: Apache-2.0
"""wirespeed runs: what has been measured?"""

from __future__ import annotations

import json as json_text
from dataclasses import asdict

from rich.table import Table

from wirespeed.cli.console import plain_console, print_json, print_line
from wirespeed.cli.options import JsonOption, StoreOption
from wirespeed.store.read import list_runs
from wirespeed.store.store import Store


def runs(json: JsonOption = False, store: StoreOption = None) -> None:
    """List the runs in the store, newest first."""
    with Store(store) as opened:
        found = list_runs(opened)
        where = opened.url
    if json:
        print_json(json_text.dumps([asdict(summary) for summary in found], indent=2))
        return
    if not found:
        print_line(
            f"No runs yet in {where}. `wirespeed run wire` needs neither root nor huge pages."
        )
        return
    table = Table(box=None, pad_edge=False)
    for column in ("run", "points", "host", "started (UTC)", "question"):
        table.add_column(column)
    for summary in found:
        state = f"{summary.complete}/{summary.points}"
        started = summary.started_at[:16].replace("T", " ")
        table.add_row(summary.id, state, summary.host, started, summary.title)
    plain_console().print(table)
