# SPDX-License-Identifier: Apache-2.0
"""Build the command `wirespeed`: one verb a file, registered here by one entry each."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from wirespeed.cli.command_kinds import VerbGroup
from wirespeed.cli.commands import verb_groups
from wirespeed.cli.console import print_text
from wirespeed.cli.version import version_line

_HELP = "Audit this host, measure its NFV data plane and explain what limits it."
# Module, function and summary of each verb, in the order of `--help`.
VERBS: dict[str, tuple[str, str] | VerbGroup] = {
    "doctor": (
        "doctor:doctor",
        "Show what works here; for the rest, the package, flag or setting that is missing.",
    ),
    "inspect": (
        "inspect:inspect",
        "Show sockets, cores and their owners, memory, NICs; or a cloud's hosts and servers.",
    ),
    "audit": (
        "audit:audit",
        "Check a server against every rule (--list). Changes nothing and needs no root.",
    ),
    "qualify": (
        "qualify:qualify",
        "Show who stops each CPU without traffic, for how long, and the rings that this needs.",
    ),
    "apply": (
        "apply:apply",
        "Apply a plan to a host. Each change is recorded on the host before it is made.",
    ),
    "verify": (
        "verify:verify",
        "Compare every decision of a plan with what the host is now, and audit it. Changes "
        "nothing.",
    ),
    "rollback": (
        "rollback:rollback",
        "Undo what `wirespeed apply` changed, from any workstation, then compare the facts.",
    ),
    "run": (
        "run:run",
        "Measure every point of a study, then print rates, limits and what to change.",
    ),
    "runs": verb_groups.RUNS,
    "report": ("report:report", "Write a run's report: one HTML file that needs no network."),
    "explain": (
        "explain:explain",
        "Explain what limits each point of a run, with evidence, and what to change first.",
    ),
    "compare": (
        "compare:compare",
        "Compare two runs point by point, or two studies in turns; exit with 1 if B is worse.",
    ),
    "tune": (
        "tune:tune",
        "Try settings of the switch, the VNF and the host, prove the gain, put everything back.",
    ),
    "bisect": (
        "bisect:bisect_studies",
        "Try the differences between two settings in groups, and name those that change the rate.",
    ),
    "clean": (
        "clean:clean",
        "Undo what runs that were killed left behind: processes, huge pages, sockets, settings.",
    ),
    "plan": verb_groups.PLAN,
    "study": verb_groups.STUDY,
    "fleet": verb_groups.FLEET,
    "predict": verb_groups.PREDICT,
    "kpi": verb_groups.KPI,
    "live": (
        "live:live",
        "Show a recording in the browser, live or replayed: lanes, losses, marks, playback.",
    ),
    "bng": verb_groups.BNG,
    "router": verb_groups.ROUTER,
    "image": verb_groups.IMAGE,
    "lab": verb_groups.LAB,
}


def build_command() -> Any:
    """Return the command with all verbs; none of them is imported yet."""
    return VerbGroup(_HELP, VERBS).build(_root, help_option_names=["-h", "--help"])


def _print_version(wanted: bool) -> None:
    if wanted:
        print_text(version_line())
        raise typer.Exit


def _root(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Audit this host, measure its NFV data plane and explain what limits it."""
