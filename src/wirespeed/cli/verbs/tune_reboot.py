# SPDX-License-Identifier: Apache-2.0
"""Compare a host with and without kernel words, each boot in turn (`wirespeed tune --reboot`).

Settings that need no reboot are screened within each boot.
"""

from __future__ import annotations

import json as json_text
from dataclasses import dataclass, field, replace
from pathlib import Path

import typer

from wirespeed.apply.boot_words import look_at_boot
from wirespeed.apply.keep import check_can_keep
from wirespeed.cli.console import print_json, print_line, results_console
from wirespeed.cli.input.tuned_host import TunedHost
from wirespeed.cli.output_file import write_output
from wirespeed.cli.show.boot_words import (
    BootsFound,
    boots_document,
    boots_toml,
    level_words,
    print_boots,
)
from wirespeed.cli.verbs.trials_run import Request, trials_of
from wirespeed.cli.verbs.tune_boots import (
    Rebooting,
    begun_boots,
    checked_boot,
    end_boots,
    new_boots,
    rebooted,
    take_up,
)
from wirespeed.cli.verbs.tune_keep import failed, kept
from wirespeed.experiment.boots import OverBoots, most_over_boots, tune_over_boots
from wirespeed.experiment.screening import NotSeparable
from wirespeed.experiment.tuning import Asked, Effort
from wirespeed.experiment.turns import Answer, Rates, Stop
from wirespeed.model.errors import WirespeedError
from wirespeed.model.study.study import Point, Study
from wirespeed.model.words import counted
from wirespeed.remote.interface import Runner
from wirespeed.remote.reach import reach
from wirespeed.report.compare.tuned import TunedReport
from wirespeed.session.lab_rig import rig_for
from wirespeed.store.read import read_run
from wirespeed.store.store import Store
from wirespeed.study.interface import Rig
from wirespeed.tune.boot_offer import boot_offer
from wirespeed.tune.boots import Boots
from wirespeed.tune.choose import Wanted
from wirespeed.tune.factor import Factor
from wirespeed.tune.goal import Goal
from wirespeed.tune.outcome import report_of
from wirespeed.tune.search import Found, Step, check_combinations, setting_of
from wirespeed.tune.trials import Setting, Trials

# Most pairs of boots. A server takes minutes to boot.
_PAIRS = 5
# Most pairs of the settings' confirmation, in one boot.
_CONFIRMING = 12
_SEED = 1


@dataclass(frozen=True, slots=True)
class RebootRequest:
    """Request of the command."""

    study: str
    base: Point
    """Point with the search of the goal."""
    aim: Goal
    worth: float
    own: tuple[Factor, ...] | None
    """Factors of the user's file; None: wirespeed's own."""
    wanted: Wanted
    sut: TunedHost
    lab: Path | None
    keep: bool
    resume: bool
    json: bool
    output: Path
    store: str | None

    @property
    def stop(self) -> Stop:
        """Rule that ends the turns of boots."""
        return Stop(self.worth, _PAIRS)


def tune_with_reboots(asked: RebootRequest) -> None:
    """Compare boots of the host until the answer is sure; leave it as it was, or keep the words.

    A host over ssh is rebooted and awaited. This machine reboots, and the command goes on with
    --resume.
    """
    check_can_keep(reach, asked.sut.address)
    resume = asked.resume
    while True:
        try:
            found = _searched(asked, resume=resume)
            break
        except Rebooting as due:
            if not rebooted(due, asked.sut.name):
                return
            resume = True
    if text := boots_toml(found, asked.base.label):
        write_output(asked.output, text)
    if asked.json:
        print_json(json_text.dumps(boots_document(found), indent=2, allow_nan=False))
    else:
        print_boots(found, asked.sut.name, results_console())
    found.boots.remove()
    if found.settings is not None and failed(found.settings):
        raise typer.Exit(1)


def _searched(asked: RebootRequest, *, resume: bool) -> BootsFound:
    """Measure in this boot what belongs to it. Raises Rebooting where another boot is due."""
    base = asked.base
    with (
        Store(asked.store, exists=resume) as opened,
        rig_for(Study(asked.study, asked.study, "", (base,), {}), asked.lab) as rig,
        reach(asked.sut.address, asked.sut.name) as runner,
    ):
        begun = begun_boots(opened, asked.sut.address, resume=resume, store=asked.store)
        boots = begun or _begin(asked, rig, runner)
        request = _request(asked, boots, resume=resume)
        if not resume:
            print_line(
                f"{' '.join(boots.words)}: at most {counted(request.most, 'measurement')} in "
                f"{asked.stop.most} boots of {asked.sut.name}.",
                stderr=True,
            )
        with trials_of(opened, request, rig, runner) as trials:
            take_up(boots, trials.writer.run_id)
            measurer = _Measurer(trials, boots, base)
            outcome = _outcome(asked, measurer)
            keep = asked.keep and outcome.words.answer is Answer.MORE
            report = _report(opened, asked, boots, measurer, outcome)
            end_boots(boots, keep=keep)
            if report is not None and asked.keep:
                report = kept(report, boots.settings, boots.address)
        return BootsFound(boots, asked.aim, asked.stop, outcome.words, report, keep)


def _begin(asked: RebootRequest, rig: Rig, runner: Runner) -> Boots:
    """Return the boots of a new search, with its factors."""
    base, cmdline = asked.base, look_at_boot(reach, asked.sut.address).cmdline
    offer = boot_offer(base, rig, runner, asked.own, asked.wanted, cmdline=cmdline)
    if offer.settings:
        effort = Effort(1, _CONFIRMING)
        check_combinations(offer.settings, base.parameters, rig.plan, effort, _SEED)
    return new_boots(asked.sut.address, offer)


def _request(asked: RebootRequest, boots: Boots, *, resume: bool) -> Request:
    settings = {
        "words": boots.words, "settings": boots.settings, "own": asked.own,
        "only": asked.wanted.only, "never": asked.wanted.never, "worth": asked.worth,
        "pairs": asked.stop.pairs, "goal": asked.aim,
    }  # fmt: skip
    most = most_over_boots(len(boots.settings), asked.stop, _CONFIRMING)
    return Request(
        f"tune-reboot-{asked.study}", f"Do these kernel words bring more {asked.aim}?", asked.base,
        asked.aim, settings, most, asked.store, resume, asked.json,
    )  # fmt: skip


@dataclass(slots=True)
class _Measurer:
    """Measures each block of a search in a boot of its own."""

    trials: Trials
    boots: Boots
    base: Point
    steps: list[Step] = field(default_factory=list)
    _block: int = 0
    _first: int = 0
    """Number of the first measurement of the block."""

    def measure(self, asked: Asked, *, words: bool) -> tuple[Rates, int]:
        """Return the rates by placement, and the number of the boot. Raises Rebooting."""
        number = self.trials.next_number
        if asked.block != self._block:
            self._block, self._first = asked.block, number
        if not self.trials.next_is_known:
            # A confirmation takes any boot of its level.
            first = self._first if asked.block else None
            boot = checked_boot(self.boots, with_words=words, number=first)
            self.boots.begin(number, boot)
        rates = self.trials.measure(self._setting(asked, words=words))
        kind, value = next(iter(rates.items()), (None, None))
        self.steps.append(Step(asked, value, kind))
        return rates, self.boots.number_of(number)

    def _setting(self, asked: Asked, *, words: bool) -> Setting:
        level, names = level_words(words=words), self.boots.names if words else ()
        if not self.boots.settings:
            return Setting(level, self.base.workload, names)
        found = setting_of(asked.on, self.boots.settings, self.base.parameters, asked.stage)
        label = f"{level}, {found.label}"
        return replace(found, label=label, factors=(*names, *found.factors))


def _outcome(asked: RebootRequest, measurer: _Measurer) -> OverBoots:
    """Run the search.

    Raises Rebooting, and WirespeedError where too few measurements count: the host is as before.
    """
    count = len(measurer.boots.settings)
    try:
        return tune_over_boots(count, measurer.measure, asked.stop, _CONFIRMING, _SEED)
    except NotSeparable as error:
        end_boots(measurer.boots, keep=False)
        measurer.boots.remove()
        raise WirespeedError(
            f"run {measurer.boots.run}: {error}",
            "Its report says why measurements have no value; a quieter host has more of them.",
        ) from error


def _report(
    opened: Store, asked: RebootRequest, boots: Boots, measurer: _Measurer, outcome: OverBoots
) -> TunedReport | None:
    """Return the report of the settings; None without any."""
    if outcome.settings is None:
        return None
    found = Found(outcome.settings, tuple(measurer.steps))
    return report_of(
        read_run(opened, boots.run), asked.base.label, asked.aim, asked.worth, boots.settings,
        excluded=boots.excluded, found=found,
    )  # fmt: skip
