# SPDX-License-Identifier: Apache-2.0
"""wirespeed kpi exporter: serve this host's counters to Prometheus."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from prometheus_client import CollectorRegistry, start_http_server

from wirespeed.cli.console import print_line
from wirespeed.cli.input.listen import listen_address
from wirespeed.cli.input.plan_source import named_plan
from wirespeed.cli.signals import wait_for_signal
from wirespeed.cli.verbs.kpi_plan_check import PlanCheck
from wirespeed.kpi.collectors.registry import collectors
from wirespeed.kpi.exposition import Exposition, Names
from wirespeed.model.errors import BadInput
from wirespeed.remote.local import LocalRunner


def exporter(
    *,
    listen: Annotated[
        str,
        typer.Option(
            "--listen",
            metavar="ADDRESS:PORT",
            help="Address to listen at; port 0 takes a free one.",
        ),
    ] = "127.0.0.1:9811",
    names: Annotated[
        Names,
        typer.Option(
            "--names", help="Names of the series: own, or those of another exporter's dashboards."
        ),
    ] = Names.OWN,
    collector: Annotated[
        list[str] | None,
        typer.Option(
            "--collector",
            metavar="NAME",
            help="Read this collector alone. Repeatable. Default: all.",
        ),
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option(
            "--plan",
            metavar="FILE",
            help="Also count settings of this host that differ from this plan (JSON).",
        ),
    ] = None,
    public: Annotated[
        bool, typer.Option("--public", help="Allow an address that others can reach.")
    ] = False,
) -> None:
    """Serve /metrics to Prometheus until Ctrl-C. Counters are read at each scrape."""
    chosen = collectors(collector or ())
    address, port = listen_address(
        listen, public=public, why="the exporter asks nobody for a password"
    )
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Exposition(LocalRunner(), chosen, names))
    if plan is not None:
        registry.register(PlanCheck(named_plan(plan)))
    try:
        server, _ = start_http_server(port, str(address), registry)
    except OSError as fault:
        raise BadInput(
            f"--listen {listen}: cannot be used: {fault.strerror}", "Name another address or port."
        ) from fault
    shown = f"[{address}]" if address.version == 6 else str(address)
    print_line(f"Serving http://{shown}:{server.server_port}/metrics", stderr=True)
    try:
        wait_for_signal()
    finally:
        server.shutdown()
        server.server_close()
