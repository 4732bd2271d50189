# SPDX-License-Identifier: Apache-2.0
"""Write a run next to its paper as a small page of Markdown with charts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from wirespeed.model.study.form_words import design_words, quick_words
from wirespeed.report.charts.effects import effect_drawings
from wirespeed.report.compare.effects import effect_words, factor_groups
from wirespeed.report.papers.beside import beside_published, counts, panels, with_predicted
from wirespeed.report.papers.interface import Beside, Table
from wirespeed.report.papers.reading import PREDICTED
from wirespeed.store.records import RunRecord

_MADE = "<!-- Made by `make papers`; measure again instead of changing it. -->"


def write_page(run: RunRecord, directory: Path, there: RunRecord | None = None) -> Path:
    """Write STUDY.md and its charts into `directory`; return the page's path.

    there: the same study as predicted for the paper's server, where that is known.
    """
    directory.mkdir(parents=True, exist_ok=True)
    for old in directory.glob(f"{run.study}-*.svg"):
        old.unlink()
    paper = beside_published(run)
    predicted = None if there is None else beside_published(_predicted(run, there), PREDICTED)
    if paper is not None and predicted is not None:
        paper = with_predicted(paper, predicted)
    drawings = _drawings(run, paper)
    for name, (_, svg) in drawings.items():
        (directory / name).write_text(svg, encoding="utf-8")
    path = directory / f"{run.study}.md"
    charts = {name: title for name, (title, _) in drawings.items()}
    sections = [] if paper is None else [(f"Next to {paper.source.cite}", paper)]
    if there is not None and predicted is not None:
        heading = f"Predicted for {_host(there)}, next to {predicted.source.short}"
        sections.append((heading, predicted))
    tables = () if paper is None else paper.tables
    path.write_text("\n".join(_lines(run, sections, charts, tables)) + "\n", encoding="utf-8")
    return path


def _predicted(run: RunRecord, there: RunRecord) -> RunRecord:
    """Return the points of the run, each as predicted for the other server."""
    found = {point.id: point for point in there.points}
    return replace(run, points=tuple(found.get(point.id, point) for point in run.points))


def _drawings(run: RunRecord, paper: Beside | None) -> dict[str, tuple[str, str]]:
    """Return title and SVG by file name."""
    found = list(effect_drawings(factor_groups(run), standalone=True))
    if paper is not None:
        found += panels(paper, standalone=True)
    return {f"{run.study}-{key}.svg": (title, svg) for key, title, svg in found}


def _lines(
    run: RunRecord,
    sections: Sequence[tuple[str, Beside]],
    charts: dict[str, str],
    tables: Sequence[Table],
) -> Iterator[str]:
    yield from (f"# {run.title}\n", f"{_MADE}\n", f"{run.description}\n")
    yield f"`wirespeed run {run.study}{' --quick' if run.form.quick.on else ''}`, on {_host(run)}."
    yield " ".join([*design_words(run.form), *quick_words(run.form)]) + "\n"
    for heading, paper in sections:
        yield from _paper(paper, heading)
    groups = factor_groups(run)
    if groups:
        yield "## What each factor changes\n"
    for group in groups:
        yield f"{group.name}, {group.quantity}:\n"
        yield from (f"- {effect_words(effect)}." for effect in group.named)
        yield ""
    yield from (f"![{title}]({name})" for name, title in charts.items())
    for table in tables:
        if table.rows:
            yield from _table(table)


def _host(run: RunRecord) -> str:
    """Describe the host without its name, which means nothing to other readers."""
    host = run.host
    cpus = f"{len(host.online_cpus)} CPUs ({host.cpu_model or 'unknown'})"
    return f"{cpus} on {len(host.nodes)} NUMA node{'s' if len(host.nodes) > 1 else ''}"


def _paper(paper: Beside, heading: str) -> Iterator[str]:
    yield f"## {heading}\n"
    yield f"Its rate is {paper.source.rate}. {counts(paper).capitalize()}.\n"
    yield from (f"- **{one.agreement}**: {one.text}" for one in paper.said)
    yield from (f"- **no point**: {row}: {why}." for row, why in paper.without.items())
    yield ""


def _table(table: Table) -> Iterator[str]:
    yield f"\n## {table.title}\n"
    yield f"| {' | '.join(table.headings)} |"
    yield f"|---|{'---:|' * (len(table.headings) - 1)}"
    yield from (f"| {' | '.join(row)} |" for row in table.rows)
