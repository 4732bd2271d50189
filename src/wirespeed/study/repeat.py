# SPDX-License-Identifier: Apache-2.0
"""Repeat the runs of a workload that has no search; a noisy run stays and is not repeated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

from wirespeed.bench.interface import BenchError
from wirespeed.study.interface import RunListener

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)

# Largest number of runs for each requested run.
ATTEMPTS = 2
# After this number of consecutive errors the bench counts as broken.
FAILURES = 4


class Runs(Protocol[R_co]):
    """A bench that runs a test."""

    def run(self) -> R_co: ...


class Judge(Generic[R]):
    """Judge of runs. The base accepts each run, and asks for no more than requested."""

    def fault(self, run: R) -> str | None:  # noqa: ARG002
        """Return why the run has no rate at all, or None."""
        return None

    def more(self, runs: Sequence[R], left: int) -> bool:  # noqa: ARG002
        """Return whether up to `left` runs beyond the requested ones could help."""
        return False

    def words(self, run: R) -> str:
        """Return the rates of the run in words."""
        raise NotImplementedError


def repeat(
    bench: Runs[R], wanted: int, judge: Judge[R], listener: RunListener
) -> tuple[list[R], list[str]]:
    """Return the runs that have a rate, and the reasons of those without.

    wanted: number of runs to make; more are made only if they can help. Raises BenchError if runs
    fail repeatedly.
    """
    runs: list[R] = []
    discarded: list[str] = []
    failures = 0
    while _another(runs, len(discarded), wanted, judge):
        run, why = _try(bench, judge)
        failures = failures + 1 if run is None else 0
        if run is not None and why is None:
            runs.append(run)
            listener.run_ended(judge.words(run), len(runs))
            continue
        discarded.append(why or "")
        listener.run_failed(discarded[-1])
        if failures == FAILURES:
            raise BenchError(
                f"{FAILURES} TCP runs in a row failed; the last: {why}",
                "Free the host's CPUs of other work, or use fewer clients; --resume goes on here.",
            )
    return runs, discarded


def _another(runs: Sequence[R], failed: int, wanted: int, judge: Judge[R]) -> bool:
    """Return whether to make one more run, at most ATTEMPTS times the requested number."""
    left = ATTEMPTS * wanted - len(runs) - failed
    if left <= 0 or len(runs) < wanted:
        return left > 0
    return judge.more(runs, left)


def _try(bench: Runs[R], judge: Judge[R]) -> tuple[R, str | None] | tuple[None, str]:
    """Return a run, or None if it failed, and the reason if it has no rate."""
    try:
        run = bench.run()
    except BenchError as failed:
        return None, failed.what
    return run, judge.fault(run)


def none_counts(discarded: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Return why no run has a rate, and a note for each run."""
    why = f"none of {len(discarded)} runs has a rate; the last: {discarded[-1]}"
    notes = (f"run {number}: {each}" for number, each in enumerate(discarded, start=1))
    return why, tuple(notes)


def fewer(runs: int, wanted: int) -> tuple[str, ...]:
    """Return a note where fewer runs count than were asked for."""
    if runs >= wanted:
        return ()
    return (f"{runs} of the {wanted} runs asked for, as others failed",)
