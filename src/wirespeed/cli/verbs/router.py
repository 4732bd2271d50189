# SPDX-License-Identifier: Apache-2.0
"""wirespeed router: write routing tables of any size, check those of a router."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from wirespeed.cli.console import print_line, print_text
from wirespeed.cli.output_file import writing
from wirespeed.model.errors import BadInput
from wirespeed.published.prefixes import prefix_lengths, published_table
from wirespeed.routing.formats import Format, Table, lines
from wirespeed.routing.generate import Route, Shape, generate
from wirespeed.routing.statistics import statistics

# Above them the address space that is used has no room, or not with this share of short prefixes.
_MOST = {4: 1_100_000, 6: 500_000}
_MOST_HOPS = 4096  # of wsdp's route files
_MOST_OUTPUTS = 16  # of a wsdp task
_HELP = "`wirespeed router table --help` lists the options."
# Lines that are written at once.
_CHUNK = 10_000


def table(
    *,
    ipv4: Annotated[int, typer.Option(help="IPv4 prefixes.")] = 1_000_000,
    ipv6: Annotated[int, typer.Option(help="IPv6 prefixes.")] = 200_000,
    next_hops: Annotated[
        int, typer.Option(help="Next hops: 198.18.0.2 and up, 2001:2::2 and up.")
    ] = 2,
    outputs: Annotated[
        int, typer.Option(help="Outputs of the wsdp task; next hops take turns. For wsdp only.")
    ] = 1,
    seed: Annotated[int, typer.Option(help="The same seed gives the same table.")] = 1,
    to: Annotated[Format, typer.Option(help="Program that reads the table.")] = Format.WSDP,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Default: stdout.")] = None,
) -> None:
    """Write a routing table with the prefix lengths of the Internet's tables."""
    _check("--ipv4", ipv4, 0, _MOST[4])
    _check("--ipv6", ipv6, 0, _MOST[6])
    _check("--next-hops", next_hops, 1, _MOST_HOPS)
    _check("--outputs", outputs, 1, _MOST_OUTPUTS)
    made = Table(
        generate(_shape(4), ipv4, next_hops, seed),
        generate(_shape(6), ipv6, next_hops, seed),
        next_hops,
        outputs,
    )
    texts = _chunks(lines(made, to))
    if output is None:
        for text in texts:
            print_text(text)
        return
    with writing(output) as file:
        for text in texts:
            file.write(text)
    for version, routes in ((4, made.ipv4), (6, made.ipv6)):
        if routes:
            _summarize(version, list(routes))


def _check(option: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise BadInput(f"{option} {value}: must be from {least} to {most}", _HELP)


def _shape(version: int) -> Shape:
    return Shape(version, prefix_lengths(version), published_table(version).more_specific)


def _chunks(each: Iterator[str]) -> Iterator[str]:
    while some := list(islice(each, _CHUNK)):
        yield "".join(f"{line}\n" for line in some)


def _summarize(version: int, routes: list[Route]) -> None:
    """Print what the table has next to what is published."""
    ours, theirs = statistics(routes), published_table(version)
    print_line(
        f"IPv{version}: {ours.prefixes} prefixes, mean length {ours.mean_length:.2f}, "
        f"{ours.more_specific:.1%} more specific. Published ({theirs.source}, {theirs.date}): "
        f"{theirs.prefixes} prefixes, {theirs.mean_length:.2f}, {theirs.more_specific:.1%}."
    )
    shares = ", ".join(
        f"/{length} {count / ours.prefixes:.2%}" for length, count in ours.lengths.items()
    )
    print_line(f"Shares of lengths: {shares}.")
