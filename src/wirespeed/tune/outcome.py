# SPDX-License-Identifier: Apache-2.0
"""Make the report of a search, and the file of settings that it found. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from wirespeed.experiment.screening import Term
from wirespeed.experiment.tuned import Verdict
from wirespeed.model.input.fault import show
from wirespeed.report.compare.tuned import FactorRow, Measurement, TunedReport, signed
from wirespeed.report.text.explained import explained
from wirespeed.store.records import RunRecord
from wirespeed.tune.factor import Factor, NotTried
from wirespeed.tune.goal import Goal
from wirespeed.tune.search import Found

_NOT_TRIED = "not tried"


def report_of(
    run: RunRecord, point: str, goal: Goal, worth: float, factors: Sequence[Factor], *,
    excluded: Sequence[NotTried], found: Found,
) -> TunedReport:  # fmt: skip
    """Return the report of a search. run: as it is stored; point: its label in the study."""
    tuned = found.tuned
    claimed = [factors[at] for at in sorted(tuned.claimed)]
    confirmation = tuned.confirmation
    limit, next_change = _limit(run, tuple(factor.name for factor in claimed))
    return TunedReport(
        run.id, run.study, point, run.host.host, str(goal), goal.unit, worth,
        rows=(
            *(_row(one, tuned.mains[at], tuned.verdict(at)) for at, one in enumerate(factors)),
            *(FactorRow(each.name, _NOT_TRIED, why=each.why) for each in excluded),
        ),
        possible=tuned.possible,
        interactions=tuple(_interactions(tuned.interactions, factors)),
        answer=None if confirmation is None else confirmation.answer,
        ratio=None if confirmation is None else confirmation.ratio,
        matched="" if confirmation is None else confirmation.matching.words,
        void=tuned.void,
        overrides={key: value for factor in claimed for key, value in factor.sets.items()},
        host_files={path: value for factor in claimed for path, value in factor.host.items()},
        limit=limit, next_change=next_change,
        measurements=tuple(
            Measurement(
                str(step.asked.stage), tuple(factors[at].name for at in sorted(step.asked.on)),
                step.value, step.placement,
            )
            for step in found.steps
        ),
    )  # fmt: skip


def _row(factor: Factor, main: Term, verdict: Verdict) -> FactorRow:
    low, high = main.interval
    return FactorRow(factor.name, str(verdict), factor.change, factor.cost, main.gain, low, high)


def _interactions(terms: Sequence[Term], factors: Sequence[Factor]) -> Iterator[str]:
    for term in terms:
        names = " and ".join(factors[at].name for at in sorted(term.of))
        said = f"{names} interact: {signed(term.gain)}"
        others = "; ".join(
            " with ".join(factors[at].name for at in sorted(pair)) for pair in term.or_else
        )
        yield f"{said}. It may instead be {others}." if others else f"{said}."


def _limit(run: RunRecord, claimed: tuple[str, ...]) -> tuple[str, str]:
    """Return what limits the newest measurement of the claimed settings, and what to change."""
    points = [point for point in run.points if point.result and point.factors == claimed]
    if not points:
        return "", ""
    found = explained(run, points[-1])
    limit = found.limits[0].sentence if found.limits else ""
    proposals = [each.proposal for each in found.changes if each.proposal is not None]
    return limit, proposals[0].change if proposals else ""


def tuned_toml(found: TunedReport) -> str:
    """Return the claimed settings as a table of overrides of the study, with their proof."""
    lines = [
        f"# {found.headline}",
        f"# Study {found.study}, {found.point}, on {found.host}; run {found.run_id}.",
        "# Each line is an override of the study: wirespeed run STUDY --set KEY=VALUE.",
    ]
    lines += [f"{key} = {show(value)}" for key, value in found.overrides.items()]
    if found.host_files:
        lines += ["", "# Files of the host, as `host` of a factor."]
        lines += [f"[host]\n{_table(found.host_files)}"]
    return "\n".join(lines) + "\n"


def _table(values: Any) -> str:
    return "\n".join(f"{show(path)} = {show(value)}" for path, value in values.items())
