# SPDX-License-Identifier: Apache-2.0
"""wirespeed image: build, list and remove the images of guests and testbed hosts."""

from __future__ import annotations

import json as json_text
import os
import time
from typing import Annotated

import typer
from rich.table import Table

from wirespeed.cli.console import plain_console, print_json, print_line
from wirespeed.cli.input.options import JsonOption
from wirespeed.image.cache import Image, ImageCache, images_directory
from wirespeed.image.recipes import RECIPES
from wirespeed.model.errors import BadInput
from wirespeed.remote.local import LocalRunner

_NAMES = f"One of {', '.join(RECIPES)}."


def build(
    name: Annotated[str, typer.Argument(metavar="NAME", help=_NAMES)],
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Build it again with today's packages.")
    ] = False,
) -> None:
    """Build an image from Debian packages, unless it exists. Needs root and a Debian mirror."""
    if name not in RECIPES:
        raise BadInput(f"image {name!r}: there is no such recipe", _NAMES)
    runner = LocalRunner()
    started = time.monotonic()
    built = _cache().get(
        RECIPES[name](runner), rebuild=rebuild, say=lambda step: print_line(f"{name}: {step}")
    )
    print_line(f"{_line(built)} in {time.monotonic() - started:.0f} s")


def list_images(*, json: JsonOption = False) -> None:
    """List the images that are built, with their size on disk."""
    cache = _cache()
    found = cache.images()
    if json:
        print_json(json_text.dumps([_as_json(each) for each in found], indent=2))
        return
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


def remove(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="NAME for all images of that name, or NAME-RECIPE for one."
        ),
    ],
) -> None:
    """Remove images. Running machines keep the files that they have open."""
    cache = _cache()
    found = [each for each in cache.images() if name in (each.name, each.folder.name)]
    if not found:
        raise BadInput(f"image {name!r}: not in {cache.folder}", "See `wirespeed image list`.")
    for each in found:
        line = _line(each)
        cache.remove(each)
        print_line(f"removed {line}")


def _cache() -> ImageCache:
    return ImageCache(images_directory(os.environ), LocalRunner())


def _as_json(image: Image) -> dict[str, object]:
    return {
        "image": image.name, "recipe": image.digest, "debian": image.suite,
        "size_bytes": image.size_bytes, "directory": str(image.folder),
    }  # fmt: skip


def _line(image: Image) -> str:
    return f"{image.folder} ({image.size_bytes / 1e6:.0f} MB)"
