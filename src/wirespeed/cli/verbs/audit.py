# SPDX-License-Identifier: Apache-2.0
"""wirespeed audit: check a server against every rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from enum import StrEnum
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from wirespeed.audit.document import document
from wirespeed.audit.engine import audit as run_audit
from wirespeed.audit.registry import all_rules, rule_named
from wirespeed.audit.rule import Subject
from wirespeed.audit.suppressions import Suppression, suppress
from wirespeed.audit.suppressions import parse as parse_suppressions
from wirespeed.cli.console import plain_console, print_line
from wirespeed.cli.input.host_source import (
    HostOption,
    ImportOption,
    NodeOption,
    RecordedOption,
    read_any_host,
)
from wirespeed.cli.input.options import JsonOption, StoreOption
from wirespeed.cli.input.plan_source import named_plan
from wirespeed.cli.input.qualification import with_smis
from wirespeed.cli.output_file import write_output
from wirespeed.cli.show.audit_tables import print_report, print_rule, print_rules
from wirespeed.document.readable_json import readable_json
from wirespeed.document.text_file import read_input
from wirespeed.host import flavor_file, kubelet_file
from wirespeed.model.errors import BadInput
from wirespeed.model.host.facts import HostFacts, Missing
from wirespeed.model.host.finding import AuditReport, Severity
from wirespeed.model.plan.host_rules import MemoryModel
from wirespeed.model.plan.policy import Pattern

FAULTS_EXIT = 2
FAILED_EXIT = 1


class Format(StrEnum):
    TABLE = "table"
    JSON = "json"
    SARIF = "sarif"
    HTML = "html"


class Traffic(StrEnum):
    TCP = "tcp"
    FRAMES = "frames"


def audit(
    *,
    host: HostOption = None,
    recorded: RecordedOption = None,
    imported: ImportOption = None,
    node: NodeOption = None,
    plan: Annotated[
        Path | None,
        typer.Option("--plan", metavar="PLAN.json", help="Also compare the host with this plan."),
    ] = None,
    flavors: Annotated[
        Path | None,
        typer.Option(
            "--flavors",
            metavar="FILE",
            help="Nova's flavors: openstack flavor list --long -f json > FILE.",
        ),
    ] = None,
    kubelet: Annotated[
        Path | None,
        typer.Option(
            "--kubelet",
            metavar="FILE",
            help="Kubelet of the host: kubectl get --raw /api/v1/nodes/NODE/proxy/configz > FILE, "
            "or a KubeletConfiguration, KubeletConfig or MachineConfig. Default: that of --from.",
        ),
    ] = None,
    traffic: Annotated[
        Traffic | None,
        typer.Option(
            "--traffic",
            help="Traffic of the guests: tcp (ends in them) or frames (forwarded by them).",
        ),
    ] = None,
    pattern: Annotated[
        Pattern | None,
        typer.Option(
            "--pattern",
            help="Direction: north-south (out of the host) or east-west (guest to guest).",
        ),
    ] = None,
    memory_model: Annotated[
        MemoryModel,
        typer.Option("--memory-model", help="Formula to compare dpdk-socket-mem with."),
    ] = MemoryModel.TRIPLEO,
    format_: Annotated[
        Format | None, typer.Option("--format", help="table, json, sarif or html. Default: table.")
    ] = None,
    json: JsonOption = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write the output to FILE. Default: stdout."
        ),
    ] = None,
    fail_on: Annotated[
        Severity | None,
        typer.Option(
            "--fail-on",
            help="Exit with 1 at this severity or worse: low, medium, high or critical.",
        ),
    ] = None,
    run: Annotated[
        str | None,
        typer.Option(
            "--run",
            metavar="RUN",
            help='Also check the CPU time that neighbours took in this run: id or "latest".',
        ),
    ] = None,
    store: StoreOption = None,
    qualification: Annotated[
        Path | None,
        typer.Option(
            "--qualification",
            metavar="FILE",
            help="Also check the SMIs of the host: wirespeed qualify --json > FILE.",
        ),
    ] = None,
    suppressions: Annotated[
        Path | None,
        typer.Option(
            "--suppressions", metavar="FILE.toml", help="Accepted findings, each with its reason."
        ),
    ] = None,
    all_: Annotated[
        bool, typer.Option("--all", help="Also list the rules that passed or do not apply.")
    ] = False,
    list_: Annotated[bool, typer.Option("--list", help="List the rules and exit.")] = False,
    explain: Annotated[
        str | None,
        typer.Option("--explain", metavar="RULE", help="Explain one rule (WS19, 19, name)."),
    ] = None,
) -> None:
    """Check a server against every rule (--list). Changes nothing and needs no root."""
    console = plain_console()
    wanted = _format(format_, json)
    if list_:
        return print_rules(all_rules(), console)
    if explain is not None:
        return print_rule(rule_named(explain), console)
    accepted = _accepted(suppressions) if suppressions else ()
    planned = named_plan(plan) if plan else None
    read, settings = read_any_host(host, recorded, imported, node)
    facts = _with_flavors(read, flavors)
    if run is not None:
        facts = _with_neighbours(facts, run, store)
    if qualification is not None:
        facts = with_smis(facts, qualification)
    tcp = None if traffic is None else traffic is Traffic.TCP
    settings = kubelet_file.load(kubelet) if kubelet else settings
    subject = Subject(facts, planned, memory_model, tcp, pattern, settings)
    today = datetime.now(UTC).date()
    report = suppress(run_audit(subject, all_rules()), accepted, today)
    _deliver(report, wanted, output, lambda: print_report(report, console, everything=all_))
    if report.faults:
        raise typer.Exit(FAULTS_EXIT)
    if fail_on and report.worst and report.worst.rank >= fail_on.rank:
        raise typer.Exit(FAILED_EXIT)
    return None


def _format(named: Format | None, json: bool) -> Format:
    """Return the output format. Raises BadInput where --json and --format differ."""
    if json and named not in (None, Format.JSON):
        raise BadInput(f"--json and --format {named} name two formats", "Give one of them.")
    return Format.JSON if json else named or Format.TABLE


def _deliver(
    report: AuditReport, wanted: Format, output: Path | None, table: Callable[[], None]
) -> None:
    """Print or write the report in the requested format."""
    if wanted is Format.TABLE:
        if output:
            raise BadInput(
                "--output does not write a table",
                "Give --json or another --format as well.",
            )
        return table()
    text = _rendered(report, wanted)
    if output is None:
        return print_line(text)
    return write_output(output, text + "\n")


def _rendered(report: AuditReport, wanted: Format) -> str:
    if wanted is Format.HTML:
        from wirespeed.audit.html import html

        return html(report, version("wirespeed"))
    if wanted is Format.SARIF:
        from wirespeed.audit.sarif import sarif

        found = sarif(report, all_rules(), version("wirespeed"))
    else:
        found = document(report)
    return readable_json(found).rstrip("\n")


def _with_neighbours(facts: HostFacts, run: str, store: str | None) -> HostFacts:
    # These load the database, for which no other audit should wait.
    from wirespeed.cli.input.neighbours import named_neighbours
    from wirespeed.store.store import open_to_read

    with open_to_read(store) as opened:
        return replace(facts, neighbours=named_neighbours(opened, run, facts))


def _with_flavors(facts: HostFacts, path: Path | None) -> HostFacts:
    """Return the facts with the file's flavors instead of those of running guests."""
    if path is None:
        return facts
    missing: tuple[Missing, ...] = tuple(m for m in facts.missing if m.fact != "flavors")
    return replace(facts, flavors=flavor_file.load(path), missing=missing)


def _accepted(path: Path) -> tuple[Suppression, ...]:
    return parse_suppressions(read_input(path), str(path))
