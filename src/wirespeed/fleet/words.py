# SPDX-License-Identifier: Apache-2.0
"""Describe the results of a fleet in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wirespeed.fleet.burn_in import BurnIn, Trend
from wirespeed.fleet.comparison import Fleet
from wirespeed.fleet.groups import Difference
from wirespeed.fleet.outliers import Compared
from wirespeed.model.words import counted

# Longer lists of names are cut to this length and counted.
_NAMES = 6
# Share of a group's hosts; an attribute of more hosts is a choice, not an error.
_ODD_SHARE = 0.1


def names_of(names: Sequence[str]) -> str:
    """Return the names, or the first names and the number of the others."""
    shown = ", ".join(names[:_NAMES])
    return f"{shown} and {len(names) - _NAMES} more" if len(names) > _NAMES else shown


def difference_words(one: Difference) -> str:
    """Describe the usual value, and the other values with their hosts."""
    others = "; ".join(f"{value}: {names_of(names)}" for value, names in one.others)
    if one.usual is None:
        return f"{one.trait}: {others}"
    return f"{one.trait}: {others} (usual: {one.usual})"


def outlier_words(fleet: Fleet) -> Iterator[str]:
    """Yield a sentence for each host with outliers, with the largest of them."""
    found: dict[str, list[Compared]] = {}
    for compared in fleet.figures:
        for host in compared.outliers:
            found.setdefault(host, []).append(compared)
    for host in sorted(found, key=lambda name: (-len(found[name]), name)):
        columns = sorted(found[host], key=lambda one: -abs(one.outliers[host]))
        more = f"; and {counted(len(columns) - 1, 'further result')}" if columns[1:] else ""
        yield f"{host}: {_outlier(columns[0], host)}{more}"


def _outlier(compared: Compared, host: str) -> str:
    spread, figure = compared.spread, compared.values[host]
    assert spread is not None
    side = "below" if compared.outliers[host] < 0 else "above"
    return (
        f"{figure.value:.4g} {compared.unit} ({compared.title}), {side} the interval "
        f"{spread.low:.4g} to {spread.high:.4g} of {spread.count} hosts, "
        f"median {spread.median:.4g}"
    )


def burn_in_words(one: BurnIn) -> str:
    """Describe the changes while the same trial was repeated."""
    said = [f"{counted(len(one.trials), 'trial')} in {one.hours:.1f} h"]
    if one.first_failure_s is not None:
        said.append(
            f"{counted(one.failures, 'trial')} with loss, the first after "
            f"{one.first_failure_s / 60:.0f} min"
        )
    for name, trend in (
        ("rate", one.rate), ("p99 latency", one.p99), ("temperature", one.temperature),
        ("clock speed", one.frequency),
    ):  # fmt: skip
        if trend is not None and trend.certain:
            said.append(f"{name} {_change(trend)}")
    return f"{one.host}, {one.study}, {one.point}: {'; '.join(said)}"


def _change(trend: Trend) -> str:
    if abs(trend.per_hour) < 0.0005:
        return "drifts by less than 0.05% an hour"
    word = "rises" if trend.per_hour > 0 else "falls"
    return f"{word} by {abs(trend.per_hour):.1%} an hour"


def worth_a_look(fleet: Fleet) -> Iterator[str]:
    """Yield outliers, burn-ins that failed or drifted, then settings of few hosts."""
    yield from outlier_words(fleet)
    for one in fleet.burn_ins:
        if one.worth_a_look:
            yield burn_in_words(one)
    for group in fleet.groups:
        few = max(1, int(_ODD_SHARE * len(group.hosts)))
        for difference in group.differences:
            odd = sum(len(names) for _, names in difference.others)
            if difference.usual is not None and odd <= few:
                yield difference_words(difference)
