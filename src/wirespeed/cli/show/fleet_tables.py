# SPDX-License-Identifier: Apache-2.0
"""Print a fleet on a terminal: groups, outliers in each, rules by the hosts that break them."""

from __future__ import annotations

from collections import Counter

from rich.console import Console
from rich.table import Table

from wirespeed.cli.console import Text
from wirespeed.fleet.comparison import Fleet
from wirespeed.fleet.groups import Group
from wirespeed.fleet.words import burn_in_words, difference_words, names_of, outlier_words
from wirespeed.model.host.finding import Status
from wirespeed.model.words import counted

# More differences are in the HTML page and the JSON.
_DIFFERENCES = 12


def print_fleet(fleet: Fleet, console: Console) -> None:
    """Print everything, the largest group first."""
    for group in fleet.groups:
        _print_group(group, console)
    _print_results(fleet, console)
    _print_rules(fleet, console)
    hosts, groups = len(fleet.hosts), len(fleet.groups)
    console.print(f"{counted(hosts, 'host')} in {counted(groups, 'group')} of the same hardware")


def _print_group(group: Group, console: Console) -> None:
    console.print(
        Text.assemble((f"{group.hardware}  ", "bold"), f"{counted(len(group.hosts), 'host')}: "
                      f"{', '.join(group.lines)}"), soft_wrap=True,
    )  # fmt: skip
    console.print(f"  {names_of([host.name for host in group.hosts])}", soft_wrap=True)
    if group.apart:
        console.print(f"  apart: {group.apart}", soft_wrap=True)
    for difference in group.differences[:_DIFFERENCES]:
        console.print(f"  {difference_words(difference)}", soft_wrap=True)
    if (more := len(group.differences) - _DIFFERENCES) > 0:
        console.print(f"  and {counted(more, 'further difference')} (--html, --json)")
    console.print()


def _print_results(fleet: Fleet, console: Console) -> None:
    told = list(outlier_words(fleet))
    told += [burn_in_words(one) for one in fleet.burn_ins if one.worth_a_look]
    for sentence in told:
        console.print(sentence, soft_wrap=True)
    if told:
        console.print()


def _print_rules(fleet: Fleet, console: Console) -> None:
    failed: Counter[str] = Counter()
    titles: dict[str, tuple[str, str]] = {}
    for host in fleet.hosts:
        for rule, found in host.verdicts.items():
            if found.status is Status.FAILED:
                failed[rule] += 1
                titles[rule] = (str(found.severity), found.title)
    if not failed:
        return
    table = Table(box=None, pad_edge=False)
    for column in ("rule", "hosts", "severity", "title"):
        table.add_column(column)
    for rule, count in failed.most_common():
        table.add_row(rule, str(count), *titles[rule])
    console.print(table)
    console.print()
