# SPDX-License-Identifier: Apache-2.0
"""What does TCP reach at one point? Run after run until enough of them can be believed.

There is no load to search for: TCP finds its own.
"""

from __future__ import annotations

from wirespeed.bench.interface import BenchError, TcpBench
from wirespeed.measure.tcp import invalid, summarise
from wirespeed.model.result import TCP, SearchResult
from wirespeed.model.tcp import Tcp, TcpRun
from wirespeed.study.interface import TcpListener

# For each run that is asked for, so many are made at most: a restless minute passes, and a host
# that is always busy is told so after a bounded time.
ATTEMPTS = 4
# So many in a row that end with an error say that the bench is broken.
FAILURES = 4


def measure_tcp(bench: TcpBench, tcp: Tcp, listener: TcpListener) -> SearchResult:
    """tcp.repeats valid runs, together; fewer, with a note, where the host is too restless.

    Raises BenchError where runs fail again and again.
    """
    runs: list[TcpRun] = []
    discarded: list[str] = []
    failures = 0
    while len(runs) < tcp.repeats and len(runs) + len(discarded) < ATTEMPTS * tcp.repeats:
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
    return _result(runs, discarded, tcp.repeats)


def _run(bench: TcpBench, tcp: Tcp) -> tuple[TcpRun | None, str | None]:
    """A run, unless it failed, and why it does not count, if so."""
    try:
        run = bench.run()
    except BenchError as failed:
        return None, failed.what
    return run, invalid(run, tcp)


def _result(runs: list[TcpRun], discarded: list[str], wanted: int) -> SearchResult:
    if not runs:
        why = f"none of {len(discarded)} runs counts; the last: {discarded[-1]}"
        told = tuple(f"run {number}: {each}" for number, each in enumerate(discarded, start=1))
        return SearchResult(TCP, conformant=False, trials=(), not_measurable=why, notes=told)
    notes: tuple[str, ...] = ()
    if len(runs) < wanted:
        notes = (f"{len(runs)} of the {wanted} runs asked for, as the host was too restless",)
    return SearchResult(
        TCP, conformant=False, trials=(), tcp=summarise(runs, discarded), notes=notes
    )
