# SPDX-License-Identifier: Apache-2.0
"""How does a run look beside its paper as a small page of Markdown with charts?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from wirespeed.model.form_words import design_words, quick_words
from wirespeed.report.charts.effects import effect_drawings
from wirespeed.report.effects import effect_words, factor_groups
from wirespeed.report.papers.beside import beside_published, counts, panels
from wirespeed.report.papers.interface import Beside, Table
from wirespeed.store.records import RunRecord

_MADE = "<!-- Made by `make papers`; measure again instead of changing it. -->"


def write_page(run: RunRecord, directory: Path) -> Path:
    """STUDY.md and its charts, in `directory`; the page's path."""
    directory.mkdir(parents=True, exist_ok=True)
    for old in directory.glob(f"{run.study}-*.svg"):
        old.unlink()
    drawings = _drawings(run)
    for name, (_, svg) in drawings.items():
        (directory / name).write_text(svg, encoding="utf-8")
    path = directory / f"{run.study}.md"
    charts = {name: title for name, (title, _) in drawings.items()}
    path.write_text("\n".join(_lines(run, charts)) + "\n", encoding="utf-8")
    return path


def _drawings(run: RunRecord) -> dict[str, tuple[str, str]]:
    """Title and SVG by file name."""
    found = list(effect_drawings(factor_groups(run), standalone=True))
    if (paper := beside_published(run)) is not None:
        found += panels(paper, standalone=True)
    return {f"{run.study}-{key}.svg": (title, svg) for key, title, svg in found}


def _lines(run: RunRecord, charts: dict[str, str]) -> Iterator[str]:
    yield from (f"# {run.title}\n", f"{_MADE}\n", f"{run.description}\n")
    yield f"`wirespeed run {run.study}{' --quick' if run.form.quick.on else ''}`, on {_host(run)}."
    yield " ".join([*design_words(run.form), *quick_words(run.form)]) + "\n"
    paper = beside_published(run)
    if paper is not None:
        yield from _paper(paper)
    groups = factor_groups(run)
    if groups:
        yield "## What each factor changes\n"
    for group in groups:
        yield f"{group.name}, {group.quantity}:\n"
        yield from (f"- {effect_words(told)}." for told in group.told)
        yield ""
    yield from (f"![{title}]({name})" for name, title in charts.items())
    for table in paper.tables if paper is not None else ():
        if table.rows:
            yield from _table(table)


def _host(run: RunRecord) -> str:
    """Without its name: whoever reads the page has another."""
    host = run.host
    cpus = f"{len(host.online_cpus)} CPUs ({host.cpu_model or 'unknown'})"
    return f"{cpus} on {len(host.nodes)} NUMA node{'s' if len(host.nodes) > 1 else ''}"


def _paper(paper: Beside) -> Iterator[str]:
    yield f"## Beside {paper.source.cite}\n"
    yield f"Its rate is {paper.source.rate}. {counts(paper).capitalize()}.\n"
    yield from (f"- **{one.agreement}**: {one.text}" for one in paper.said)
    yield from (f"- **no point**: {row}: {why}." for row, why in paper.without.items())
    yield ""


def _table(table: Table) -> Iterator[str]:
    yield f"\n## {table.title}\n"
    yield f"| {' | '.join(table.headings)} |"
    yield f"|---|{'---:|' * (len(table.headings) - 1)}"
    yield from (f"| {' | '.join(row)} |" for row in table.rows)
