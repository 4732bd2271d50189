# SPDX-License-Identifier: Apache-2.0
"""Which paper does a run's study name, and how does the run stand beside it?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from wirespeed.report.charts.svg import line_svg
from wirespeed.report.papers import s1, s2, s3, s4
from wirespeed.report.papers.interface import Agreement, Beside
from wirespeed.store.records import RunRecord

# A panel of small multiples.
PANEL = (330, 220)
PAPERS: Mapping[str, Callable[[RunRecord], Beside]] = {
    "s1": s1.beside,
    "s2": s2.beside,
    "s3": s3.beside,
    "s4": s4.beside,
}


def beside_published(run: RunRecord) -> Beside | None:
    """None where the study names no published table."""
    if run.form.published is None:
        return None
    found = PAPERS[run.form.published.table](run)
    return replace(found, without=run.form.published.without)


def panels(found: Beside, standalone: bool = False) -> Iterator[tuple[str, str, str]]:
    """(key, title, SVG) of each small multiple."""
    for chart in found.panels:
        if chart.curves:
            yield chart.key, chart.title, line_svg(chart, PANEL, standalone)


def counts(found: Beside) -> str:
    """E.g. "agrees 12, differs 3, open 4"."""
    return ", ".join(
        f"{agreement} {sum(one.agreement is agreement for one in found.said)}"
        for agreement in Agreement
    )
