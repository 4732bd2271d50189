# SPDX-License-Identifier: Apache-2.0
"""Compare the gains of S1's tuning steps with its figure 5.

The figure has no numbers: each step is above the one before. The text gives the last one: line rate
of 10 GbE with 256-octet packets and no loss.
"""

from __future__ import annotations

from collections.abc import Iterator

from wirespeed.experiment.effects import Verdict
from wirespeed.model.words import mpps
from wirespeed.published.tables import TABLES
from wirespeed.report.compare.effects import FactorGroup, effect_words, factor_groups
from wirespeed.report.papers.interface import Agreement, Beside, Said, Table
from wirespeed.report.papers.reading import FULL, MEASURED, Reading, figure_or_why
from wirespeed.report.views.published import published
from wirespeed.store.records import PointRecord, RunRecord

_AGREEMENT = {
    Verdict.GAIN: Agreement.AGREES,
    Verdict.LOSS: Agreement.DIFFERS,
    Verdict.UNSURE: Agreement.OPEN,
}


def beside(run: RunRecord, reading: Reading) -> Beside:
    said: list[Said] = []
    # The model has no demands for S1's steps: pinning, huge pages and NUMA are not among them.
    for group in factor_groups(run) if reading is MEASURED else ():
        said += _steps(group, run)
        said += _order(group)
    tuned = [point for point in run.points if published(point.frames) is not None]
    said += _line_rate(tuned, reading)
    rows = tuple(
        (point.label, figure_or_why(
             point, share.words if (share := reading.lossless(point)) else None, reading),
         "100%" if point in tuned else "a picture")
        for point in run.points
    )  # fmt: skip
    headings = ("point", f"share of 10 GbE without loss, {reading.where}", "S1")
    return Beside(TABLES["s1"], tuple(said), (Table("Share of line rate", headings, rows),))


def _steps(group: FactorGroup, run: RunRecord) -> Iterator[Said]:
    """Compare each step: in S1 every one gains."""
    for told in group.cumulative:
        words = effect_words(told)
        yield Said(
            _AGREEMENT[told.effect.verdict],
            f"In S1 it gains; here, of the {group.quantity}: {words}",
            _why(told.what, run),
        )


def _why(what: str, run: RunRecord) -> str:
    """Return what of this host keeps a step from its gain on S1's host."""
    if what.startswith("NUMA") and len(run.host.nodes) == 1:
        return "This host has one NUMA node: its CPUs are all CPUs, and the step changes nothing"
    if what.startswith("pinned") and not run.host.kernel.isolated:
        return "No CPU of this host is isolated: others use a pinned thread's CPU, and it cannot go"
    return ""


def _order(group: FactorGroup) -> Iterator[Said]:
    """Compare the order of the cumulative configurations with S1's."""
    cells = [frozenset(range(at)) for at in range(len(group.factors) + 1)]
    rates = [rate for cell in cells if (rate := group.mean_fps(cell)) is not None]
    if len(rates) != len(cells):
        yield Said(Agreement.OPEN, "S1's order is unknown: a step has no rate")
        return
    verdicts = [told.effect.verdict for told in group.cumulative]
    listed = ", ".join(mpps(rate) for rate in rates)
    if Verdict.LOSS in verdicts:
        yield Said(Agreement.DIFFERS, f"S1's steps are not in its order here: {listed} Mpps")
    elif Verdict.UNSURE in verdicts:
        unsure = verdicts.count(Verdict.UNSURE)
        yield Said(
            Agreement.OPEN,
            f"No step loses here, and {unsure} of {len(verdicts)} change nothing that is sure: "
            f"{listed} Mpps",
        )
    else:
        yield Said(Agreement.AGREES, f"S1's steps are in its order here: {listed} Mpps")


def _line_rate(points: list[PointRecord], reading: Reading) -> Iterator[Said]:
    shares = [share for point in points if (share := reading.lossless(point)) is not None]
    if not shares:
        yield Said(Agreement.OPEN, f"Fully tuned S1 reaches line rate; {reading.where} no rate")
        return
    full = [share for share in shares if share.low >= FULL]
    sentence = (
        f"Fully tuned S1 forwards 100% of 10 GbE with 256 octets without loss; {reading.where} "
        f"{len(full)} of {len(shares)} do ({', '.join(share.words for share in shares)})"
    )
    if 2 * len(full) > len(shares):
        yield Said(Agreement.AGREES, sentence)
    elif not full and all(share.high is not None and share.high < FULL for share in shares):
        yield Said(Agreement.DIFFERS, sentence)
    else:
        yield Said(Agreement.OPEN, sentence)
