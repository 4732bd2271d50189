# SPDX-License-Identifier: Apache-2.0
"""wirespeed plan: place guests on hosts, with their cores, memory and ports, and give reasons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from wirespeed.cli.console import plain_console, print_json, print_line
from wirespeed.cli.input.cloud_source import CloudOption, read_cloud
from wirespeed.cli.input.host_source import read_all_facts
from wirespeed.cli.input.options import JsonOption
from wirespeed.cli.input.plan_source import named_plan
from wirespeed.cli.output_file import write_output
from wirespeed.cli.show.plan_picture import print_differences, print_plan
from wirespeed.cli.show.plan_reasons import print_reasons
from wirespeed.cli.show.rendered_files import write_rendered
from wirespeed.cloud.host_facts import completed
from wirespeed.document.text_file import read_input
from wirespeed.model.cloud import Cloud
from wirespeed.model.errors import BadInput, WirespeedError
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.host.switch_cost import CycleModel, RatesOfPorts
from wirespeed.model.plan.plan import Plan
from wirespeed.model.plan.workload import Workload
from wirespeed.model.words import counted
from wirespeed.plan.cloud.cluster_file import read_cluster
from wirespeed.plan.cloud.diff import diff_cloud
from wirespeed.plan.cloud.kubernetes import diff_cluster
from wirespeed.plan.cloud.servers import named_twice
from wirespeed.plan.diff import diff_plans
from wirespeed.plan.host.pmd_demand import S2_CYCLES, parse_cycles
from wirespeed.plan.plan_file import write_plan
from wirespeed.plan.planner import plan_workload
from wirespeed.plan.render.targets import TARGETS, render, targets_of
from wirespeed.plan.workload.file import parse_workload

PlanArgument = Annotated[Path, typer.Argument(metavar="PLAN", help="A plan written with -o.")]


class Unplaced(WirespeedError):
    """The plan exists, but some guests do not fit on any host."""


def make(
    workload: Annotated[Path, typer.Argument(metavar="WORKLOAD", help="Workload file (TOML).")],
    *,
    host: Annotated[
        list[str] | None,
        typer.Option(
            "--host",
            metavar="HOST",
            help="A file written by `wirespeed inspect --json`, or ssh://user@host. Repeatable. "
            "Default: this machine.",
        ),
    ] = None,
    recorded: Annotated[
        list[str] | None,
        typer.Option(
            "--recorded", metavar="DIR", help="A host recorded with inspect --record. Repeatable."
        ),
    ] = None,
    openstack: CloudOption = None,
    cycles: Annotated[
        Path | None,
        typer.Option(
            "--cycles", metavar="FILE", help="Measured cycles per frame. Default: Intel 2017 (S2)."
        ),
    ] = None,
    params: Annotated[
        Path | None,
        typer.Option(
            "--params",
            metavar="FILE",
            help="Parameters written by `wirespeed predict fit`: kinds of ports and PMD cores "
            "follow from predicted rates.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="PLAN", help="Also write the plan as JSON."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Place the workload on all hosts at once and derive every value, each with its reason.

    With --openstack the servers that the cloud has on these hosts keep their CPUs, memory and VFs.
    Exits with 1 when a guest fits on no host; the plan then says what it lacks and what would help.
    """
    requested = parse_workload(read_input(workload), str(workload))
    costs, rates = _costs(requested, cycles, params)
    hosts = read_all_facts(host or (), recorded or ())
    if openstack is None:
        plan = plan_workload(requested, hosts, costs, rates)
    else:
        plan = _around_servers(read_cloud(openstack), requested, hosts, costs, rates)
    text = write_plan(plan)
    if output:
        write_output(output, text)
    if json:
        print_json(text)
    else:
        print_plan(plan, plain_console())
    if plan.unplaced:
        raise Unplaced(_unplaced(plan))


def _unplaced(plan: Plan) -> str:
    names = ", ".join(lost.guest for lost in plan.unplaced[:5])
    more = f" and {len(plan.unplaced) - 5} more" if len(plan.unplaced) > 5 else ""
    verb = "fits" if len(plan.unplaced) == 1 else "fit"
    return f"{counted(len(plan.unplaced), 'guest')} {verb} nowhere: {names}{more}"


def _around_servers(
    cloud: Cloud,
    workload: Workload,
    hosts: Sequence[HostFacts],
    costs: CycleModel,
    rates: RatesOfPorts | None,
) -> Plan:
    """Return the plan; if the workload says so, the cloud's servers keep what they hold."""
    plan = plan_workload(workload, [completed(facts, cloud) for facts in hosts], costs, rates)
    if not workload.placement.keep_running:
        return plan
    return replace(plan, warnings=(*plan.warnings, *named_twice(plan, cloud)))


def _costs(
    workload: Workload, cycles: Path | None, params: Path | None
) -> tuple[CycleModel, RatesOfPorts | None]:
    """Return cycles per frame, and predicted rates where there are parameters. Raises BadInput."""
    if cycles and params:
        raise BadInput("--cycles, --params: both give the cost of a frame", "Choose one.")
    if params:
        # These load numpy, for which no other plan should wait.
        from wirespeed.predict.document import parse_parameters
        from wirespeed.predict.planning import cycles as predicted_cycles
        from wirespeed.predict.planning import rates_of_ports

        parameters = parse_parameters(read_input(params), str(params))
        return predicted_cycles(parameters), rates_of_ports(workload, parameters)
    return (parse_cycles(read_input(cycles), str(cycles)) if cycles else S2_CYCLES), None


def show(
    plan: PlanArgument,
    *,
    why: Annotated[bool, typer.Option("--why", help="List every value with its reason.")] = False,
    json: JsonOption = False,
) -> None:
    """Draw a plan: cores and their owners, memory, NICs, guests, what did not fit."""
    read = named_plan(plan)
    if json:
        print_json(write_plan(read))
    elif why:
        print_reasons(read, plain_console())
    else:
        print_plan(read, plain_console())


def diff(
    plans: Annotated[
        list[Path],
        typer.Argument(
            metavar="[OLD] NEW",
            help="Old and new plan; with --openstack or --kubernetes the new one alone.",
        ),
    ],
    *,
    openstack: CloudOption = None,
    kubernetes: Annotated[
        Path | None,
        typer.Option(
            "--kubernetes",
            metavar="FILE",
            help="A cluster: kubectl get -A -o json nodes,deployments,... > FILE.",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """List what changes, and which changes need a reboot, a restart or a rebuild of guests.

    With --openstack or --kubernetes: in what the existing cloud or cluster (old) differs from the
    plan (new).
    """
    wanted = 2 if openstack is None and kubernetes is None else 1
    if len(plans) != wanted or (openstack and kubernetes):
        raise BadInput(
            f"{counted(len(plans), 'plan')} given, {wanted} needed",
            "Give OLD and NEW, or NEW and --openstack CLOUD or --kubernetes FILE.",
        )
    new = named_plan(plans[-1])
    if kubernetes is not None:
        cluster = read_cluster(read_input(kubernetes), str(kubernetes))
        found = diff_cluster(cluster, new, str(kubernetes))
        same = "The cluster is as planned, as far as its API tells."
    elif openstack is not None:
        found = diff_cloud(read_cloud(openstack), new)
        same = "The cloud matches the plan in all that its API reports."
    else:
        found = diff_plans(named_plan(plans[0]), new)
        same = "The plans are the same."
    print_differences(found, plain_console(), as_json=json, same=same)


def render_plan(
    plan: PlanArgument,
    *,
    to: Annotated[
        list[str] | None,
        typer.Option(
            "--to",
            metavar="TARGET",
            help=f"{', '.join(TARGETS)}. Repeatable. Default: all that fit the plan.",
        ),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Folder to write into.")
    ],
) -> None:
    """Write the plan as files for the programs that apply it.

    Files that an earlier plan left in the folder are removed, unless they were edited since.
    """
    read = named_plan(plan)
    targets = tuple(to) if to else targets_of(read)
    files = render(read, targets)
    removed = write_rendered(output, files, targets)
    older = f", {counted(removed, 'older file')} removed" if removed else ""
    print_line(f"{counted(len(files), 'file')} in {output}{older}")
    if read.unplaced:
        print_line(f"note: {_unplaced(read)}; no file is for them", stderr=True)
