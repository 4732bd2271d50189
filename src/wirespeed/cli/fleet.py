# SPDX-License-Identifier: Apache-2.0
"""wirespeed fleet: which hosts of many are alike, which is odd, and what was measured on them?"""

from __future__ import annotations

import json as json_text

import typer
from typer.core import TyperGroup

from wirespeed.cli.fleet_files import add, snapshot
from wirespeed.cli.fleet_tables import print_fleet
from wirespeed.cli.options import JsonOption, StoreOption
from wirespeed.cli.show import results_console
from wirespeed.fleet.comparison import Fleet, compare
from wirespeed.fleet.document import fleet_document
from wirespeed.fleet.snapshot_file import verdict
from wirespeed.model.errors import BadInput
from wirespeed.store.snapshots import newest_snapshots
from wirespeed.store.store import Store


class _ShowByDefault(TyperGroup):
    """`wirespeed fleet --html FILE` is `wirespeed fleet show --html FILE`."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        if not args or (args[0] not in self.commands and args[0] not in ("--help", "-h")):
            args = ["show", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_ShowByDefault,
    help="Compare the hosts of a fleet, whose results Ansible has brought into the store.",
)
app.command("snapshot")(snapshot)
app.command("add")(add)


@app.command("show")
def show(
    *,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Groups of the same hardware, what differs within each, and the rules that hosts break."""
    with Store(store) as opened:
        fleet = read_fleet(opened)
    if json:
        typer.echo(json_text.dumps(fleet_document(fleet), indent=1))
    else:
        print_fleet(fleet, results_console())


@app.command("hosts")
def hosts(*, store: StoreOption = None) -> None:
    """Print every host with its address, site, hardware and verdict as JSON: an inventory."""
    with Store(store) as opened:
        found = [
            {
                "name": one.member.name,
                "address": one.member.address,
                "site": one.member.site,
                "hardware": one.hardware,
                "verdict": verdict(one),
                "collected_at": one.collected_at,
            }
            for one in newest_snapshots(opened)
        ]
    typer.echo(json_text.dumps(found, indent=1))


def read_fleet(store: Store) -> Fleet:
    """What the store knows of all hosts. Raises BadInput where it has none."""
    fleet = compare(newest_snapshots(store))
    if not fleet.hosts:
        raise BadInput(
            f"store {store.url} has no host of a fleet",
            "Collect them with Ansible (docs/howto/fleet.md), or add files: "
            "wirespeed fleet add DIRECTORY.",
        )
    return fleet
