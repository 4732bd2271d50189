# SPDX-License-Identifier: Apache-2.0
"""wirespeed image: build, list and remove the images of guests and testbed hosts."""

from __future__ import annotations

import os
import time
from typing import Annotated

import typer
from rich.table import Table

from wirespeed.cli.command_kinds import VerbGroup
from wirespeed.cli.console import plain_console, print_line
from wirespeed.image.cache import Image, ImageCache, images_directory
from wirespeed.image.recipes import RECIPES
from wirespeed.model.errors import BadInput
from wirespeed.remote.local import LocalRunner

app = VerbGroup(help="Images that guests and lab hosts boot from: build, list, remove.")
_NAMES = f"One of {', '.join(RECIPES)}."


@app.callback()
def image() -> None:
    """Images that guests and lab hosts boot from: build, list, remove."""


@app.command()
def build(
    name: Annotated[str, typer.Argument(metavar="NAME", help=_NAMES)],
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Also when it is there: with today's packages.")
    ] = False,
) -> None:
    """Build an image from Debian packages, unless it is there. Needs root and a Debian mirror."""
    if name not in RECIPES:
        raise BadInput(f"there is no image {name!r}", _NAMES)
    runner = LocalRunner()
    started = time.monotonic()
    built = _cache().get(
        RECIPES[name](runner), rebuild=rebuild, say=lambda step: print_line(f"{name}: {step}")
    )
    print_line(f"{_line(built)} in {time.monotonic() - started:.0f} s")


@app.command("list")
def list_images() -> None:
    """List the images that are built, with their size on disk."""
    cache = _cache()
    found = cache.images()
    if not found:
        print_line(f"No images in {cache.folder}. `wirespeed image build guest` makes one.")
        return
    table = Table(box=None, pad_edge=False)
    for column in ("image", "recipe", "Debian", "MB", "directory"):
        table.add_column(column)
    for each in found:
        megabytes = f"{each.size_bytes / 1e6:.0f}"
        table.add_row(each.name, each.digest, each.suite, megabytes, str(each.folder))
    plain_console().print(table)


@app.command()
def remove(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Its name: all of that name; or NAME-RECIPE.")
    ],
) -> None:
    """Remove images. A machine that runs keeps what it has open."""
    cache = _cache()
    found = [each for each in cache.images() if name in (each.name, each.folder.name)]
    if not found:
        raise BadInput(f"no image {name!r} in {cache.folder}", "See `wirespeed image list`.")
    for each in found:
        line = _line(each)
        cache.remove(each)
        print_line(f"removed {line}")


def _cache() -> ImageCache:
    return ImageCache(images_directory(os.environ), LocalRunner())


def _line(image: Image) -> str:
    return f"{image.folder} ({image.size_bytes / 1e6:.0f} MB)"
