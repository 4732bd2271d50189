# SPDX-License-Identifier: Apache-2.0
"""Print what a search with reboots found, as text, JSON and settings to keep."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console

from wirespeed.cli.console import print_paragraph
from wirespeed.cli.show.tune_tables import print_kept, print_tuned
from wirespeed.cli.show.turn_words import answer_words
from wirespeed.experiment.turns import Answer, Compared, Stop
from wirespeed.model.words import counted
from wirespeed.report.compare.tuned import TunedReport, interval_words
from wirespeed.report.json.tune_document import compared_document, tune_document
from wirespeed.tune.boots import Boots
from wirespeed.tune.goal import Goal
from wirespeed.tune.outcome import tuned_toml

_START, WITH_WORDS = "the host as it was", "the host with these words"


@dataclass(frozen=True, slots=True)
class BootsFound:
    """Outcome of a search with reboots."""

    boots: Boots
    goal: Goal
    stop: Stop
    compared: Compared
    """Boots with the words next to those without."""
    settings: TunedReport | None
    """Settings that were tried within each boot; None without any."""
    kept: bool
    """The host keeps the words."""


def level_words(*, words: bool) -> str:
    """Name a level of the words."""
    return WITH_WORDS if words else _START


def boots_document(found: BootsFound) -> dict[str, Any]:
    """Return the document; every value is a JSON type."""
    return {
        "run": found.boots.run, "goal": str(found.goal), "factors": list(found.boots.names),
        "kernel": list(found.boots.words), "kept": found.kept,
        "not_tried": [{"factor": each.name, "why": each.why} for each in found.boots.excluded],
        **compared_document(found.compared),
        "settings": None if found.settings is None else tune_document(found.settings),
    }  # fmt: skip


def boots_toml(found: BootsFound, label: str) -> str:
    """Return what is proven, the words first; empty where nothing is. label: of the point."""
    lines: list[str] = []
    if found.compared.answer is Answer.MORE:
        lines += [
            f"# Proven by run {found.boots.run}: more {found.goal} at {label}.",
            "# Words of the kernel command line, as `kernel` of a factor.",
            f"kernel = {json.dumps(found.boots.words)}",
        ]
    text = "".join(f"{line}\n" for line in lines)
    if found.settings is not None and found.settings.claimed:
        text += tuned_toml(found.settings)
    return text


def print_boots(found: BootsFound, name: str, console: Console) -> None:
    """Print the answers. name: of the host."""
    print_paragraph(f"Kernel words: {' '.join(found.boots.words)}", console)
    print_paragraph(_answer(found), console)
    if found.settings is not None:
        print_tuned(found.settings, console)
        if found.settings.kept is not None:
            print_kept(found.settings, found.boots.address, console)
    else:
        for sentence in _not_tried(found.boots):
            print_paragraph(sentence, console)
    state = "has the words" if found.kept else "is as before"
    print_paragraph(f"{name} {state}. Run {found.boots.run}.", console)


def _not_tried(boots: Boots) -> Sequence[str]:
    return [f"Not tried: {each.name}: {each.why}" for each in boots.excluded]


def _answer(found: BootsFound) -> str:
    ratio = found.compared.ratio
    if found.compared.answer is Answer.UNDECIDED:
        pairs = counted(ratio.pairs, "pair")
        return f"Cannot tell whether they change {found.goal}: {interval_words(ratio)}, {pairs}."
    start, with_words = level_words(words=False), level_words(words=True)
    said = answer_words(start, with_words, found.goal, found.stop, found.compared)
    return f"{said[0].upper()}{said[1:]}"
