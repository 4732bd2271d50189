# SPDX-License-Identifier: Apache-2.0
"""wirespeed tune: find the settings that are really faster, and prove it on fresh trials."""

from __future__ import annotations

import json as json_text
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from wirespeed.apply.keep import check_can_keep
from wirespeed.cli.console import print_json, print_line, results_console
from wirespeed.cli.input.options import JsonOption, SetOption, StoreOption, StudyArgument
from wirespeed.cli.input.study_point import the_point
from wirespeed.cli.input.tuned_host import tuned_host
from wirespeed.cli.output_file import write_output
from wirespeed.cli.show.tune_tables import print_kept, print_tuned
from wirespeed.cli.verbs.compare import check_given
from wirespeed.cli.verbs.trials_run import Request, measured_point, trials_of
from wirespeed.cli.verbs.tune_keep import failed, kept
from wirespeed.cli.verbs.tune_reboot import RebootRequest, tune_with_reboots
from wirespeed.model.study.study import Point, Study
from wirespeed.model.words import counted, percent, seconds
from wirespeed.remote.interface import Runner
from wirespeed.remote.reach import reach
from wirespeed.report.compare.tuned import TunedReport
from wirespeed.report.json.tune_document import tune_document
from wirespeed.report.page.tune_page import tune_page
from wirespeed.session.lab_rig import rig_for
from wirespeed.session.versions import own_versions
from wirespeed.store.read import read_run
from wirespeed.store.store import Store
from wirespeed.study.announce import estimate_s
from wirespeed.study.interface import Rig
from wirespeed.tune.choose import Wanted
from wirespeed.tune.factor import groups_of
from wirespeed.tune.factor_file import read_factors
from wirespeed.tune.goal import Goal, goal_named, search_for
from wirespeed.tune.offer import Offer, offered
from wirespeed.tune.outcome import report_of, tuned_toml
from wirespeed.tune.search import (
    check_combinations,
    effort_within,
    most_measurements,
    search,
)

_TUNED = Path("tuned.toml")
_NOT_OF_BOOTS = ("minutes", "more_cpus", "more_memory", "seed", "html")


def tune(
    ctx: typer.Context,
    study: StudyArgument,
    *,
    set_: SetOption = None,
    point: Annotated[
        str | None,
        typer.Option(
            "--point", metavar="POINT", help="Label or id of the point, or how it begins."
        ),
    ] = None,
    goal: Annotated[
        str,
        typer.Option(
            "--goal", metavar="GOAL",
            help="What to improve: mrr, mrr-all-time, ndr, p99 or p999.",
        ),
    ] = "mrr",
    minutes: Annotated[
        float | None,
        typer.Option(
            "--minutes", metavar="N", min=0.1,
            help="Approximate time limit in minutes. Default: the time of the usual design.",
        ),
    ] = None,
    factors: Annotated[
        Path | None,
        typer.Option(
            "--factors", metavar="FILE",
            help="Factors to try instead of wirespeed's own (TOML, docs/reference/tune.md).",
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="FACTOR", help="Try this factor. Repeatable."),
    ] = None,
    never: Annotated[
        list[str] | None,
        typer.Option("--never", metavar="FACTOR", help="Do not try this factor. Repeatable."),
    ] = None,
    more_cpus: Annotated[
        int | None,
        typer.Option("--more-cpus", metavar="N", min=0, help="Most CPUs that a factor may add."),
    ] = None,
    more_memory: Annotated[
        int | None,
        typer.Option(
            "--more-memory", metavar="MIB", min=0, help="Most memory in MiB that a factor may add."
        ),
    ] = None,
    worth: Annotated[
        float,
        typer.Option(
            "--worth", metavar="PERCENT", min=0.1, max=100,
            help="Smallest gain in percent that is worth a change.",
        ),
    ] = 2.0,
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", min=0, help="Seed of the order of trials.")
    ] = 1,
    keep: Annotated[
        bool,
        typer.Option(
            "--keep",
            help="Apply the proven settings of the host, recorded for `wirespeed rollback`.",
        ),
    ] = False,
    reboot: Annotated[
        bool,
        typer.Option(
            "--reboot",
            help="Try kernel words, too: reboot the host with and without them, in turns.",
        ),
    ] = False,
    lab: Annotated[
        Path | None,
        typer.Option(
            "--lab", metavar="FILE",
            help="Testbed file (TOML): the hosts that the study's table `hosts` names.",
        ),
    ] = None,
    host: Annotated[
        str | None,
        typer.Option(
            "--host", metavar="HOST",
            help="Host to tune: that of the SUT, by name or ssh address. Default: that host.",
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the newest unfinished search like this one.")
    ] = False,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="Write the settings found to FILE."),
    ] = _TUNED,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Also write a page to FILE.")
    ] = None,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:  # fmt: skip
    """Try settings of the switch, the VNF and the host, prove the gain, put everything back.

    With --keep, the proven settings of the host are applied afterwards: each is recorded on the
    host before it is changed, and `wirespeed rollback` restores the old values. Exits with 1 if
    one could not be kept. Only --reboot reboots a host: this machine reboots at once, and the same
    command with --resume goes on.
    """
    wanted = Wanted(tuple(only or ()), tuple(never or ()), more_cpus, more_memory)
    aim = goal_named(goal)
    name, plain = the_point(study, set_ or (), point)
    base = measured_point(plain, search_for(aim, plain))
    own = None if factors is None else read_factors(factors)
    sut = tuned_host(base, lab, host)
    if reboot:
        because = "a search with --reboot compares boots in pairs"
        check_given(ctx, without=_NOT_OF_BOOTS, because=because)
        request = RebootRequest(
            name, base, aim, worth / 100, own, wanted, sut, lab, keep, resume, json, output, store
        )
        tune_with_reboots(request)
        return
    asked = _Asked(
        name, base, plain.label, aim, worth / 100, minutes, seed, keep, resume, json, output, html,
        store,
    )  # fmt: skip
    with (
        Store(store, exists=resume) as opened,
        rig_for(Study(name, name, "", (base,), {}), lab) as rig,
        reach(sut.address, sut.name) as runner,
    ):
        offer = offered(base, rig, runner, own, wanted)
        if keep and any(factor.host for factor in offer.tried):
            check_can_keep(reach, sut.address)
        report = _searched(asked, offer, opened, rig, runner)
    _print(report, asked)
    if keep:
        if not json:
            print_kept(report, sut.address, results_console())
        _write_page(report, html)
    if failed(report):
        raise typer.Exit(1)


@dataclass(frozen=True, slots=True)
class _Asked:
    """Request of the command."""

    study: str
    base: Point
    """Point with the search of the goal."""
    label: str
    aim: Goal
    worth: float
    minutes: float | None
    seed: int
    keep: bool
    resume: bool
    json: bool
    output: Path
    html: Path | None
    store: str | None


def _searched(asked: _Asked, offer: Offer, opened: Store, rig: Rig, runner: Runner) -> TunedReport:
    """Search, write the proven settings, and keep those of the host where that is asked for.

    A run that is cut before its settings are kept stays unfinished, so that --resume keeps them.
    """
    base, factors = asked.base, offer.tried
    trial_s = estimate_s([base])
    effort = effort_within(factors, asked.minutes, trial_s)
    check_combinations(factors, base.parameters, rig.plan, effort, asked.seed)
    most = most_measurements(factors, effort)
    decides = {
        "factors": factors, "goal": asked.aim, "worth": 100 * asked.worth, "effort": effort,
        "seed": asked.seed,
    }  # fmt: skip
    request = Request(
        f"tune-{asked.study}", f"Which settings bring more {asked.aim} at {asked.label}?", base,
        asked.aim, decides, most, asked.store, asked.resume, asked.json,
    )  # fmt: skip
    if not asked.json:
        tried = counted(len(groups_of(factors)), "factor")
        print_line(
            f"{tried}, at most {most} measurements, about {seconds(most * trial_s)}.", stderr=True
        )
    report = None
    try:
        with trials_of(opened, request, rig, runner) as trials:
            found = search(trials, factors, base.parameters, asked.worth, effort, seed=asked.seed)
            record = read_run(opened, trials.writer.run_id)
            made = report_of(
                record, asked.label, asked.aim, asked.worth, factors, excluded=offer.excluded,
                found=found,
            )  # fmt: skip
            if made.claimed:
                write_output(asked.output, tuned_toml(made))
            report = made
            _write_page(report, asked.html)
            return kept(report, factors, runner.address) if asked.keep else report
    except BaseException:
        # The result stands without its settings. Progress would erase it if printed earlier.
        if report is not None:
            _print(report, asked)
        raise


def _write_page(report: TunedReport, html: Path | None) -> None:
    if html is not None:
        write_output(html, tune_page(report, own_versions()["wirespeed"]))


def _print(report: TunedReport, asked: _Asked) -> None:
    """Print what the search found, but for the settings that were kept."""
    if asked.json:
        print_json(json_text.dumps(tune_document(report), indent=2, allow_nan=False))
        return
    print_tuned(report, results_console())
    if report.claimed:
        print_line(f"Settings: {asked.output} (gains below {percent(asked.worth)} do not count)")
