# SPDX-License-Identifier: Apache-2.0
"""Measure TCP at one point: repeat runs until enough of their time was clean.

There is no load to search for: TCP finds its own. A disturbed run stays and is not made again.
"""

from __future__ import annotations

from wirespeed.bench.interface import BenchError, TcpBench
from wirespeed.measure.tcp import MIN_CLEAN_S, fault, grade, is_enough, placebo, summarise
from wirespeed.model.result.result import TCP, SearchResult
from wirespeed.model.result.tcp import TcpRun
from wirespeed.model.study.tcp import Tcp
from wirespeed.study.interface import TcpListener

# Largest number of runs for each requested run.
ATTEMPTS = 2
# After this number of consecutive errors the bench counts as broken.
FAILURES = 4


def measure_tcp(bench: TcpBench, tcp: Tcp, listener: TcpListener) -> SearchResult:
    """Return the result of the point's runs: tcp.repeats, and more only if they can help.

    Raises BenchError if runs fail repeatedly.
    """
    runs: list[TcpRun] = []
    discarded: list[str] = []
    failures = 0
    while _another(runs, len(discarded), tcp):
        run, why = _run(bench, tcp)
        failures = failures + 1 if run is None else 0
        if run is not None and why is None:
            runs.append(run)
            listener.tcp_run(run, len(runs))
            continue
        discarded.append(why or "")
        listener.tcp_discarded(discarded[-1])
        if failures == FAILURES:
            raise BenchError(
                f"{FAILURES} TCP runs in a row failed; the last: {why}",
                "Free the host's CPUs of other work, or use fewer clients; --resume goes on here.",
            )
    return _result(runs, discarded, tcp)


def _another(runs: list[TcpRun], failed: int, tcp: Tcp) -> bool:
    """Return whether to make one more run, at most ATTEMPTS times the requested number."""
    left = ATTEMPTS * tcp.repeats - len(runs) - failed
    if left <= 0 or len(runs) < tcp.repeats:
        return left > 0
    result = summarise(runs, tcp)
    expected_s = result.clean_s * (1 + left / len(runs))
    return not is_enough(result) and expected_s >= MIN_CLEAN_S


def _run(bench: TcpBench, tcp: Tcp) -> tuple[TcpRun | None, str | None]:
    """Return a run, or None if it failed, and the reason if it has no rate."""
    try:
        run = bench.run()
    except BenchError as failed:
        return None, failed.what
    return run, fault(run, tcp)


def _result(runs: list[TcpRun], discarded: list[str], tcp: Tcp) -> SearchResult:
    if not runs:
        why = f"none of {len(discarded)} runs has a rate; the last: {discarded[-1]}"
        told = tuple(f"run {number}: {each}" for number, each in enumerate(discarded, start=1))
        return SearchResult(TCP, conformant=False, trials=(), not_measurable=why, notes=told)
    notes: tuple[str, ...] = ()
    if len(runs) < tcp.repeats:
        notes = (f"{len(runs)} of the {tcp.repeats} runs asked for, as others failed",)
    result = summarise(runs, tcp, discarded)
    found, because = grade(result)
    notes += placebo(result)
    return SearchResult(
        TCP, conformant=False, trials=(), tcp=result, notes=notes, grade=found, because=because
    )
