# SPDX-License-Identifier: Apache-2.0
"""Cause a fault in the middle of a trial, and name the settings that a trial saw change."""

from __future__ import annotations

from contextlib import ExitStack

from benchmarks.faults.causes import CAUSES
from benchmarks.faults.causing import Causing, Live

from tests.support.real_bench import in_traffic
from wirespeed.bench.session import RealBench
from wirespeed.model.result.observation import Observation, PollingThread

LOAD_FPS, TRIAL_S = 40_000.0, 0.5


def kind(name: str) -> Causing:
    return next(causing for causing in CAUSES if causing.kind == name)


def caused(bench: RealBench, name: str) -> Observation:
    """Return a trial in which that fault begins; it lasts until something undoes it."""
    with ExitStack() as stack:
        live = Live.of(bench)
        with in_traffic(lambda: stack.enter_context(kind(name).act(live))):
            found = bench.measure(LOAD_FPS, TRIAL_S)
        stack.pop_all()
    return found


def changed(found: Observation) -> set[str]:
    """Return the names of changed settings, without the host's, which others may change."""
    return {change.what for change in found.changes if not change.what.startswith("/")}


def pmd(found: Observation) -> PollingThread:
    return next(thread for thread in found.threads if thread.name.startswith("pmd-"))
