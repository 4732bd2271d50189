# SPDX-License-Identifier: Apache-2.0
"""wirespeed bng: write tables for a Broadband Network Gateway, and draw its cycles."""

from __future__ import annotations

from ipaddress import AddressValueError, IPv4Address
from pathlib import Path
from typing import Annotated

import typer

from wirespeed.cli.console import print_line, print_text
from wirespeed.cli.output_file import write_output
from wirespeed.document.text_file import read_text_file
from wirespeed.model.errors import BadInput
from wirespeed.model.study.bng import TableSpec, check, table_lines
from wirespeed.report.charts.svg import line_svg
from wirespeed.report.charts.users import cycles_chart

_TABLES = "`wirespeed bng tables --help` lists the options."


def tables(
    *,
    users: Annotated[int, typer.Option(help="Subscribers.")] = 32768,
    routes: Annotated[int, typer.Option(help="Number of distinct random /24 routes.")] = 8192,
    hops: Annotated[int, typer.Option(help="Next hops.")] = 64,
    ports: Annotated[int, typer.Option(help="Ports on each side.")] = 1,
    mpls: Annotated[bool, typer.Option(help="Give every next hop a label.")] = True,
    sparse: Annotated[
        bool, typer.Option(help="Use random tags and keys instead of consecutive ones.")
    ] = False,
    subscriber: Annotated[
        str | None,
        typer.Option(metavar="IPV4", help="Give each subscriber one static host: this address."),
    ] = None,
    host: Annotated[
        str | None,
        typer.Option(metavar="IPV4", hidden=True, help="The older name of --subscriber."),
    ] = None,
    pppoe: Annotated[
        bool, typer.Option(help="Give every subscriber a PPPoE session; needs --subscriber.")
    ] = False,
    seed: Annotated[int, typer.Option(help="The same seed gives the same tables.")] = 1,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the tables there. Default: stdout.")
    ] = None,
) -> None:
    """Write a table file of any size: subscribers, routes and next hops."""
    spec = TableSpec(
        users, routes, hops, ports, mpls, sparse, address(subscriber or host), seed, pppoe
    )
    try:
        check(spec)
    except BadInput as error:
        raise BadInput(f"bng tables: {error.what}", _TABLES) from error
    text = "".join(f"{line}\n" for line in table_lines(spec))
    if output is None:
        print_text(text)
    else:
        write_output(output, text)


_FIGURES = "FILE: output of `python -m benchmarks bng_cycles`; --output: the SVG file to write."


def curve(
    figures: Annotated[
        Path, typer.Argument(metavar="FILE", help="Output of `python -m benchmarks bng_cycles`.")
    ],
    *,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The drawing, an SVG file.")
    ] = Path("bng-cycles.svg"),
) -> None:
    """Draw the cycles of a frame over the number of subscribers, from a benchmark's output."""
    try:
        chart = cycles_chart(read_text_file(figures).splitlines())
    except BadInput as error:
        raise BadInput(f"{figures}: {error.what}", error.next_step) from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{figures}: not text: {error}", _FIGURES) from error
    except OSError as error:
        raise BadInput(f"{error.filename}: {error.strerror}", _FIGURES) from error
    write_output(output, line_svg(chart, standalone=True))
    print_line(str(output))


def address(text: str | None) -> IPv4Address | None:
    if text is None:
        return None
    try:
        return IPv4Address(text)
    except AddressValueError as error:
        raise BadInput(
            f'--subscriber "{text}": must be an IPv4 address as in 10.0.0.1', _TABLES
        ) from error
