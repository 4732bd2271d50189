# SPDX-License-Identifier: Apache-2.0
"""wirespeed inspect: show a server, or an OpenStack cloud."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wirespeed.cli.console import plain_console, print_json
from wirespeed.cli.input.cloud_source import CloudOption, read_cloud
from wirespeed.cli.input.host_source import (
    HostOption,
    ImportOption,
    NodeOption,
    RecordedOption,
    read_any_facts,
    read_facts,
)
from wirespeed.cli.input.options import JsonOption
from wirespeed.cli.show.cloud_picture import print_cloud
from wirespeed.cli.show.host_picture import print_host
from wirespeed.cloud.file import CLOUD_FILE
from wirespeed.cloud.host_facts import completed, host_facts
from wirespeed.document.readable_json import readable_json
from wirespeed.host.file import HOST_FILE
from wirespeed.model.errors import BadInput
from wirespeed.model.host.facts import HostFacts


def inspect(
    *,
    host: HostOption = None,
    recorded: RecordedOption = None,
    imported: ImportOption = None,
    node: NodeOption = None,
    openstack: CloudOption = None,
    compute_host: Annotated[
        str | None,
        typer.Option(
            "--compute-host",
            metavar="NAME",
            help="With --openstack: show this compute host as the cloud alone knows it.",
        ),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(
            "--record",
            metavar="DIR",
            help="Also write every file, command output or API reply that was read into a new "
            "folder. Passwords in *.conf files are masked.",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Show sockets, cores and their owners, memory, NICs; or a cloud's hosts and servers.

    Changes nothing and needs no root. With --openstack and --host: that host, completed
    with facts from its cloud.
    """
    if imported is not None or node is not None:
        if record is not None or openstack is not None:
            raise BadInput("--from takes neither --record nor --openstack", "Leave them out.")
        _show(read_any_facts(host, recorded, imported, node), json)
    elif openstack is None:
        if compute_host is not None:
            raise BadInput("--compute-host needs a cloud", "Give --openstack CLOUD as well.")
        _show(read_facts(host, recorded, record), json)
    elif host is None and recorded is None:
        _inspect_cloud(openstack, compute_host, record, json)
    elif compute_host is not None:
        raise BadInput("--host and --compute-host name two hosts", "Give one of them.")
    elif record is not None:
        raise BadInput("--record cannot keep a host and a cloud at once", "Record each by itself.")
    else:
        _show(completed(read_facts(host, recorded), read_cloud(openstack)), json)


def _inspect_cloud(openstack: str, name: str | None, record: Path | None, json: bool) -> None:
    cloud = read_cloud(openstack, record)
    if name is not None:
        found = cloud.host(name)
        if found is None:
            names = ", ".join(host.name for host in cloud.hosts)
            raise BadInput(f"cloud {cloud.name} has no compute host {name}", f"It has: {names}.")
        _show(host_facts(cloud, found), json)
    elif json:
        print_json(readable_json(CLOUD_FILE.document(cloud)))
    else:
        print_cloud(cloud, plain_console())


def _show(facts: HostFacts, json: bool) -> None:
    if json:
        print_json(readable_json(HOST_FILE.document(facts)))
    else:
        print_host(facts, plain_console())
