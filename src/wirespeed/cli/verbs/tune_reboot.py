# SPDX-License-Identifier: Apache-2.0
"""Compare a host with and without kernel words, each boot in turn (`wirespeed tune --reboot`)."""

from __future__ import annotations

import json as json_text
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from wirespeed.apply.boot_words import end_words, look_at_boot, reboot_host, set_next_boot
from wirespeed.apply.keep import check_can_keep
from wirespeed.cli.console import print_json, print_line, print_paragraph, results_console
from wirespeed.cli.input.tuned_host import TunedHost
from wirespeed.cli.output_file import write_output
from wirespeed.cli.show.turn_words import answer_words
from wirespeed.cli.verbs.trials_run import Paused, Request, trials_of
from wirespeed.experiment.turns import Answer, Compared, Rates, Stop, compare_in_turns
from wirespeed.model.errors import BadInput
from wirespeed.model.study.study import Point, Study
from wirespeed.model.words import counted
from wirespeed.remote.interface import LOCALHOST
from wirespeed.remote.reach import reach
from wirespeed.report.compare.tuned import interval_words
from wirespeed.report.json.tune_document import compared_document
from wirespeed.session.lab_rig import rig_for
from wirespeed.store.store import Store
from wirespeed.study.interface import Rig
from wirespeed.tune.boots import Boots, RebootDue, boots_of
from wirespeed.tune.choose import Wanted
from wirespeed.tune.factor import Factor, NotTried
from wirespeed.tune.goal import Goal
from wirespeed.tune.kernel_factors import isolated, isolation, kernel_factors
from wirespeed.tune.offer import polling_of
from wirespeed.tune.trials import Setting, Trials

# Most pairs of boots. A server takes minutes to boot.
_PAIRS = 5
_START, _WITH = "the host as it was", "the host with these words"


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


@dataclass(frozen=True, slots=True)
class _Found:
    run: str
    words: tuple[str, ...]
    names: tuple[str, ...]
    left: tuple[NotTried, ...]
    compared: Compared
    kept: bool


class _Rebooting(Paused):
    """Raised when the host has to boot before the next measurement."""

    def __init__(self, boots: Boots, *, with_words: bool) -> None:
        super().__init__()
        self.boots, self.with_words = boots, with_words


def tune_with_reboots(asked: RebootRequest) -> None:
    """Compare boots of the host until the answer is sure; leave it as it was, or keep the words.

    A host over ssh is rebooted and awaited. This machine reboots, and the command goes on with
    --resume.
    """
    check_can_keep(reach, asked.sut.address)
    stop, resume = Stop(asked.worth, _PAIRS), asked.resume
    while True:
        try:
            found = _searched(asked, stop, resume=resume)
            break
        except _Rebooting as due:
            if not _rebooted(due, asked):
                return
            resume = True
    _write(found, asked)
    _print(found, stop, asked)


def _searched(asked: RebootRequest, stop: Stop, *, resume: bool) -> _Found:
    """Measure in this boot what belongs to it. Raises _Rebooting where another boot is due."""
    base = asked.base
    with (
        Store(asked.store, exists=resume) as opened,
        rig_for(Study(asked.study, asked.study, "", (base,), {}), asked.lab) as rig,
        reach(asked.sut.address, asked.sut.name) as runner,
    ):
        begun = _begun(asked, resume=resume)
        tried, left = _factors(asked, rig, begun)
        words = tuple(word for factor in tried for word in factor.kernel)
        names = tuple(factor.name for factor in tried)
        settings = {"words": words, "worth": stop.worth, "pairs": stop.pairs, "goal": asked.aim}
        request = Request(
            f"tune-reboot-{asked.study}", f"Do these kernel words bring more {asked.aim}?", base,
            asked.aim, settings, stop.most, asked.store, resume, asked.json,
        )  # fmt: skip
        if not resume:
            print_line(
                f"{' '.join(words)}: at most {counted(stop.most, 'measurement')}, each after a "
                f"reboot of {asked.sut.name}.",
                stderr=True,
            )
        with trials_of(opened, request, rig, runner) as trials:
            boots = begun or _new(trials.writer.run_id, asked, words)
            _check_same(boots, trials.writer.run_id, words)
            compared = compare_in_turns(_measurer(trials, boots, base, names), stop)
            keep = asked.keep and compared.answer is Answer.MORE
            _end(boots, keep=keep)
        return _Found(trials.writer.run_id, words, names, left, compared, keep)


def _begun(asked: RebootRequest, *, resume: bool) -> Boots | None:
    """Return the boots of the search that goes on. Raises BadInput in the middle of another one."""
    boots = boots_of(asked.sut.address)
    if boots is None or resume:
        return boots
    now = look_at_boot(reach, boots.address)
    if now.added == boots.before and boots.is_as_before(now.cmdline):
        end_words(reach, boots.address, boots.before)
        boots.remove()  # somebody has undone it
        return None
    raise BadInput(
        f"{boots.address} is in the middle of a search with --reboot (run {boots.run})",
        f"Go on with --resume, or undo it: `wirespeed rollback --host {boots.address}`.",
    )


def _factors(
    asked: RebootRequest, rig: Rig, begun: Boots | None
) -> tuple[tuple[Factor, ...], tuple[NotTried, ...]]:
    """Return the factors to try. A boot with the words does not change what they are."""
    cmdline = look_at_boot(reach, asked.sut.address).cmdline if begun is None else begun.cmdline
    offered: Sequence[Factor | NotTried]
    if asked.own is not None:
        offered = asked.own
    elif begun is not None:
        offered = (isolated(begun.words),)
    else:
        plan = rig.plan(asked.base.workload)
        online = [cpu.id for cpu in rig.facts.cpus if cpu.online]
        offered = (isolation(online, polling_of(plan.sut_host)),)
    return kernel_factors(offered, asked.wanted, cmdline)


def _new(run: str, asked: RebootRequest, words: tuple[str, ...]) -> Boots:
    now = look_at_boot(reach, asked.sut.address)
    boots = Boots(run, asked.sut.address, words, now.added, now.cmdline)
    boots.save()
    return boots


def _check_same(boots: Boots, run: str, words: tuple[str, ...]) -> None:
    if (boots.run, boots.words) != (run, words):
        raise BadInput(
            f"{boots.address} is in the middle of another search with --reboot (run {boots.run}: "
            f"{' '.join(boots.words)})",
            f"Go on with that one, or undo it: `wirespeed rollback --host {boots.address}`.",
        )


def _measurer(
    trials: Trials, boots: Boots, base: Point, names: tuple[str, ...]
) -> Callable[[bool], Rates]:
    def measure(with_words: bool) -> Rates:
        setting = Setting(
            _WITH if with_words else _START, base.workload, names if with_words else ()
        )
        if not trials.next_is_known:
            number = trials.next_number
            boots.begin(number, _checked_boot(boots, with_words=with_words, number=number))
        return trials.measure(setting)

    return measure


def _checked_boot(boots: Boots, *, with_words: bool, number: int | None) -> str:
    """Return the ID of the running boot. Raises _Rebooting where another one is due."""
    now = look_at_boot(reach, boots.address)
    try:
        boots.check(now.id, now.cmdline, with_words=with_words, number=number)
    except RebootDue as due:
        raise _Rebooting(boots, with_words=due.with_words) from due
    return now.id


def _end(boots: Boots, *, keep: bool) -> None:
    """Leave the host with the words or as before. Raises _Rebooting where that takes a boot."""
    set_next_boot(reach, boots.address, boots.before, boots.words if keep else ())
    _checked_boot(boots, with_words=keep, number=None)
    if not keep:
        end_words(reach, boots.address, boots.before)
    boots.remove()


def _rebooted(due: _Rebooting, asked: RebootRequest) -> bool:
    """Reboot the host to what is due; return False for this machine, where the command ends."""
    boots = due.boots
    words = boots.words if due.with_words else ()
    set_next_boot(reach, boots.address, boots.before, words)
    boots.ask(look_at_boot(reach, boots.address).id, with_words=due.with_words)
    what = f"with {' '.join(words)}" if words else "as before"
    print_line(f"{asked.sut.name} reboots {what}.", stderr=True)
    if boots.address == LOCALHOST:
        again = [word for word in sys.argv[1:] if word != "--resume"]
        command = shlex.join(["wirespeed", *again, "--resume"])
        print_line(f"After the reboot: {command}", stderr=True)
    return reboot_host(reach, boots.address)


def _write(found: _Found, asked: RebootRequest) -> None:
    if found.compared.answer is Answer.MORE:
        lines = [
            f"# Proven by run {found.run}: more {asked.aim} at {asked.base.label}.",
            "# Words of the kernel command line, as `kernel` of a factor.",
            f"kernel = {json_text.dumps(found.words)}",
        ]
        write_output(asked.output, "\n".join([*lines, ""]))


def _answer(found: Compared, stop: Stop, aim: Goal) -> str:
    if found.answer is Answer.UNDECIDED:
        pairs = counted(found.ratio.pairs, "pair")
        return f"Cannot tell whether they change {aim}: {interval_words(found.ratio)}, {pairs}."
    said = answer_words(_START, _WITH, aim, stop, found)
    return f"{said[0].upper()}{said[1:]}"


def _print(found: _Found, stop: Stop, asked: RebootRequest) -> None:
    if asked.json:
        document = {
            "run": found.run, "goal": str(asked.aim), "factors": list(found.names),
            "kernel": list(found.words), "kept": found.kept,
            "not_tried": [{"factor": each.name, "why": each.why} for each in found.left],
            **compared_document(found.compared),
        }  # fmt: skip
        print_json(json_text.dumps(document, indent=2, allow_nan=False))
        return
    console = results_console()
    print_paragraph(f"Kernel words: {' '.join(found.words)}", console)
    print_paragraph(_answer(found.compared, stop, asked.aim), console)
    for each in found.left:
        print_paragraph(f"Not tried: {each.name}: {each.why}", console)
    state = "has the words" if found.kept else "is as before"
    print_paragraph(f"{asked.sut.name} {state}. Run {found.run}.", console)
