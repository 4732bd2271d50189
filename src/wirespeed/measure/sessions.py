# SPDX-License-Identifier: Apache-2.0
"""Compute the result of several runs of counted TCP connections, and judge what limited them.

Clean time is decided as for TCP streams (measure/tcp_gate.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from wirespeed.measure.tcp import grade as grade_of_rate
from wirespeed.measure.tcp import is_enough
from wirespeed.measure.tcp_intervals import pool, pooled_rate
from wirespeed.model.result.result import Grade
from wirespeed.model.result.sessions import (
    ACCEPTED,
    UNITS,
    SessionsFigure,
    SessionsResult,
    SessionsRun,
)
from wirespeed.model.study.sessions import Sessions, SessionsMode
from wirespeed.model.study.tcp import Tcp

# CPU use above which a program counts as busy.
_BUSY = 0.9
# Share of failed connections above which they count as the limit.
_FAILING = 0.01
# Largest difference of runs that agree on a number of concurrent connections.
_AGREE = 0.01


def fault(run: SessionsRun) -> str | None:
    """Return why the run has no result at all, or None."""
    if run.answered:
        return None
    causes = ", ".join(f"{each.cause} ({each.count})" for each in run.failures)
    return f"no connection was answered: {causes or 'none was opened in the time that counts'}"


def summarise(
    runs: Sequence[SessionsRun], sessions: Sessions, tcp: Tcp, discarded: Sequence[str] = ()
) -> SessionsResult:
    """Return the result of a point from its runs (at least one)."""
    values = [run.connections for run in runs]
    limited_by, because = _limit(runs, sessions)
    figure = SessionsFigure(
        UNITS[sessions.mode], median(values), min(values), max(values), limited_by, because
    )
    if sessions.mode is SessionsMode.CONCURRENT:
        return SessionsResult((figure,), tuple(runs), tuple(discarded))
    pooled = pool(runs, tcp)
    result = SessionsResult(
        (figure,), tuple(runs), tuple(discarded), pooled.watched_s, pooled.clean_s, pooled.pieces,
        pooled.left_out,
    )  # fmt: skip
    if not is_enough(result):
        return result
    rate, error = pooled_rate(pooled, ACCEPTED) or (None, None)
    clean = replace(figure, undisturbed=rate, undisturbed_error=error)
    return replace(result, figures=(clean,))


def grade(result: SessionsResult, sessions: Sessions) -> tuple[Grade, tuple[str, ...]]:
    """Return how sure the result is, and what keeps it from a better grade, a sentence each."""
    if sessions.mode is SessionsMode.RATE:
        return grade_of_rate(result)
    figure = result.figure
    if figure.highest - figure.lowest <= _AGREE * figure.highest:
        return Grade.A, ()
    return Grade.C, (f"the runs held {figure.lowest:,.0f} to {figure.highest:,.0f} connections",)


def _limit(runs: Sequence[SessionsRun], sessions: Sessions) -> tuple[str, str]:
    """Return the name of the limit and a sentence on it."""
    failed, answered = sum(run.failed for run in runs), sum(run.answered for run in runs)
    if failed > _FAILING * (failed + answered):
        causes: dict[str, int] = {}
        for each in (each for run in runs for each in run.failures):
            causes[each.cause] = causes.get(each.cause, 0) + each.count
        cause = max(causes, key=lambda name: causes[name])
        said = f"{causes[cause]:,} of {failed + answered:,} connections failed: {cause}"
        return cause.replace(" ", "_"), f"Connections failed: {said}."
    if sessions.mode is SessionsMode.CONCURRENT:
        tried = f"all {sessions.connections:,} connections of sessions.connections were open"
        return "connections", f"The limit was not reached: {tried}."
    server = median(run.server_cpu_share for run in runs)
    clients = median(run.clients_cpu_share for run in runs)
    used = f"the server used {server:.0%} of its CPUs, the clients {clients:.0%} of theirs"
    if server >= _BUSY and server >= clients:
        return "server_busy", f"The server had no CPU time left: {used}."
    if clients >= _BUSY:
        return (
            "clients_busy",
            f"The clients had no CPU time left, the server may take more: {used}.",
        )
    return "unknown", f"Not known what limits: {used}, and {failed:,} connections failed."
