# SPDX-License-Identifier: Apache-2.0
"""Write a fleet as one HTML file: outliers, groups, hosts by rules and by results.

The template only arranges. A page of 1,000 hosts has some 25,000 cells. Passed cells are empty, and
rules that no host breaks have no column.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from wirespeed.fleet.comparison import Fleet
from wirespeed.fleet.groups import Group, Host
from wirespeed.fleet.outliers import Compared
from wirespeed.fleet.words import burn_in_words, names_of, worth_a_look
from wirespeed.model.host.finding import Severity, Status
from wirespeed.model.words import counted
from wirespeed.report.charts.fleet import burn_in_svg, strip_svg
from wirespeed.report.page.html import page_style

# More charts of burn-ins add nothing; those that need attention come first.
_BURN_INS = 24
# Sentences shown at the top; the others are collapsed.
_FIRST = 20

_SHOWN = {
    Status.NOT_CHECKED: ("u", "?", "not checked"),
    Status.SUPPRESSED: ("u", "s", "accepted"),
    Status.NOT_APPLICABLE: ("u", "·", "does not apply"),
}


@dataclass(frozen=True, slots=True)
class Column:
    """A rule that some host breaks."""

    rule: str
    title: str
    failed: int
    """Number of hosts that break it."""


@dataclass(frozen=True, slots=True)
class Row:
    """A host of a matrix; its cells are HTML."""

    host: Host
    cells: Markup
    failed: int


def fleet_page(fleet: Fleet, version: str) -> str:
    """Return the page as one file. version: of wirespeed."""
    environment = Environment(
        loader=PackageLoader("wirespeed.report"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    odd = list(worth_a_look(fleet))
    columns = rule_columns(fleet)
    return environment.get_template(
        "fleet.html.j2"
    ).render(
        fleet=fleet,
        version=version,
        style=page_style(),
        figures=_key_figures(fleet),
        odd=odd[:_FIRST],
        more_odd=odd[_FIRST:],
        columns=columns,
        rule_groups=[(group, _rule_rows(group, columns)) for group in fleet.groups],
        figure_groups=[
            (group, compared, _figure_rows(group, compared))
            for group in fleet.groups
            if (compared := [c for c in fleet.figures if c.hardware == group.hardware])
        ],
        strips=[(c, Markup(strip_svg(c))) for c in fleet.figures if len(c.values) > 1],  # noqa: S704
        burn_ins=[
            (burn_in_words(one), Markup(burn_in_svg(one)))  # noqa: S704
            for one in fleet.burn_ins[:_BURN_INS]
        ],
        more_burn_ins=max(0, len(fleet.burn_ins) - _BURN_INS),
        counted=counted,
        names_of=names_of,
        sites=sorted({host.member.site for host in fleet.hosts if host.member.site}),
        latest=max(host.collected_at for host in fleet.hosts)[:16].replace("T", " "),
    )


def rule_columns(fleet: Fleet) -> list[Column]:
    """Return rules that at least one host breaks, by their number."""
    failed: dict[str, int] = {}
    titles: dict[str, str] = {}
    for host in fleet.hosts:
        for rule, verdict in host.verdicts.items():
            if verdict.status is Status.FAILED:
                failed[rule] = failed.get(rule, 0) + 1
                titles[rule] = verdict.title
    return [Column(rule, titles[rule], failed[rule]) for rule in sorted(failed)]


def _rule_rows(group: Group, columns: list[Column]) -> list[Row]:
    """Return hosts with the most severe failures first."""
    rows = [
        Row(host, Markup("".join(_cell(host, column.rule) for column in columns)), _weight(host))  # noqa: S704
        for host in group.hosts
    ]
    return sorted(rows, key=lambda row: (-row.failed, row.host.name))


def _weight(host: Host) -> int:
    """Return a sort key: one more severe failure outweighs any number of milder ones."""
    ranks = [v.severity.rank for v in host.verdicts.values() if v.status is Status.FAILED]
    return sum(100**rank for rank in ranks)


def _cell(host: Host, rule: str) -> str:
    verdict = host.verdicts.get(rule)
    if verdict is None:
        return '<td class="u">'
    if verdict.status is Status.PASSED:
        return "<td>"
    if verdict.status is Status.FAILED:
        kind, letter = str(verdict.severity), str(verdict.severity)[0].upper()
        hover = f"{host.name}, {rule} {verdict.severity}: {verdict.state}"
        return f'<td class="{kind}" title="{escape(hover)}">{letter}'
    kind, letter, _ = _SHOWN[verdict.status]
    return f'<td class="{kind}">{letter}'


def _figure_rows(group: Group, compared: list[Compared]) -> list[Row]:
    """Return hosts with the most outlying results first."""
    rows = []
    for host in group.hosts:
        cells = "".join(_figure(host.name, column) for column in compared)
        odd = sum(host.name in column.outliers for column in compared)
        if any(host.name in column.values for column in compared):
            rows.append(Row(host, Markup(cells), odd))  # noqa: S704
    return sorted(rows, key=lambda row: (-row.failed, row.host.name))


def _figure(host: str, column: Compared) -> str:
    figure = column.values.get(host)
    if figure is None:
        return "<td>"
    if host not in column.outliers:
        return f'<td class="n">{figure.value:.4g}'
    hover = f"{column.outliers[host]:+.1f} deviations from the median"
    return f'<td class="n odd" title="{escape(hover)}">{figure.value:.4g}'


def _key_figures(fleet: Fleet) -> Mapping[str, int]:
    worst = [
        {v.severity for v in host.verdicts.values() if v.status is Status.FAILED}
        for host in fleet.hosts
    ]
    return {
        "hosts": len(fleet.hosts),
        "groups of the same hardware": len(fleet.groups),
        "hosts that break a critical rule": sum(Severity.CRITICAL in found for found in worst),
        "hosts without an audit": sum(not host.verdicts for host in fleet.hosts),
        "results that lie apart": sum(len(c.outliers) for c in fleet.figures),
        "burn-ins worth a look": sum(one.worth_a_look for one in fleet.burn_ins),
    }
