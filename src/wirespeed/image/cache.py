# SPDX-License-Identifier: Apache-2.0
"""Store built images so that an incomplete image is never taken for a complete one.

Each is a directory NAME-DIGEST in $WIRESPEED_IMAGES or the XDG cache directory. The one builder
that holds its lock makes it under another name and renames it at the end.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from wirespeed.image.build import build
from wirespeed.image.errors import ImageError
from wirespeed.image.recipe import Recipe
from wirespeed.model.input.bounded import load_json
from wirespeed.remote.interface import Runner

_PARTIAL = ".partial"
_SAYS = "image.json"


def images_directory(environ: Mapping[str, str]) -> Path:
    """Return $WIRESPEED_IMAGES, else wirespeed/images in $XDG_CACHE_HOME or ~/.cache."""
    if told := environ.get("WIRESPEED_IMAGES"):
        return Path(told).absolute()
    home = Path(environ.get("HOME") or os.path.expanduser("~"))
    cache = environ.get("XDG_CACHE_HOME", "")
    base = Path(cache) if cache.startswith("/") else home / ".cache"
    return base / "wirespeed" / "images"


@dataclass(frozen=True, slots=True)
class Image:
    """A built image."""

    name: str
    digest: str
    suite: str
    disk: str
    """Format of `root`: "squashfs" or "ext4"."""
    folder: Path

    @property
    def kernel(self) -> Path:
        return self.folder / "kernel"

    @property
    def bzimage(self) -> Path:
        """The same kernel, compressed as Debian ships it, for a boot loader."""
        return self.folder / "bzimage"

    @property
    def initramfs(self) -> Path:
        return self.folder / "initramfs"

    @property
    def root(self) -> Path:
        return self.folder / "root"

    @property
    def size_bytes(self) -> int:
        """Size on disk in octets: an ext4 is sparse."""
        return sum(path.stat().st_blocks * 512 for path in self.folder.iterdir())


class ImageCache:
    """Images in one directory of this machine."""

    def __init__(self, folder: Path, runner: Runner) -> None:
        self.folder, self._runner = folder, runner

    def find(self, recipe: Recipe) -> Image | None:
        """Return the image of that recipe; None where it is not built."""
        return _image(self.folder / _named(recipe))

    def images(self) -> tuple[Image, ...]:
        """Return all images, by name and digest."""
        found = (_image(path) for path in sorted(self.folder.glob("*-*")))
        return tuple(image for image in found if image is not None)

    def get(
        self,
        recipe: Recipe,
        *,
        rebuild: bool = False,
        say: Callable[[str], None] = lambda _: None,
    ) -> Image:
        """Return the image; build it where it is missing, or with `rebuild`.

        say: called with a line for each step. Waits for another builder of the same image. Raises
        ImageError.
        """
        if not rebuild and (found := self.find(recipe)):
            return found
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as fault:
            raise ImageError(f"{self.folder} cannot be made: {fault.strerror}") from fault
        started = time.time_ns()
        with self._runner.lock(str(self.folder / f"{_named(recipe)}.lock")):
            found = self.find(recipe)
            # The holder of the lock may have built it in the meantime.
            if found and (not rebuild or _built_ns(found) > started):
                return found
            return self._built(recipe, say)

    def remove(self, image: Image) -> None:
        with self._runner.lock(str(self.folder / f"{image.folder.name}.lock")):
            _remove(image.folder)
        with suppress(FileNotFoundError):
            (self.folder / f"{image.folder.name}.lock").unlink()

    def _built(self, recipe: Recipe, say: Callable[[str], None]) -> Image:
        final = self.folder / _named(recipe)
        partial = final.with_name(final.name + _PARTIAL)
        log = final.with_name(final.name + ".log")
        _remove(partial)
        partial.mkdir()
        try:
            build(self._runner, recipe, partial, log, say)
            says = {
                "name": recipe.name,
                "digest": recipe.digest,
                "suite": recipe.suite,
                "disk": recipe.disk,
            }
            (partial / _SAYS).write_text(json.dumps(says) + "\n")
            _remove(final)
            partial.rename(final)
        finally:
            _remove(partial)
        image = _image(final)
        assert image is not None
        return image


def _named(recipe: Recipe) -> str:
    return f"{recipe.name}-{recipe.digest}"


def _image(folder: Path) -> Image | None:
    try:
        says = load_json((folder / _SAYS).read_text())
    except (FileNotFoundError, NotADirectoryError):
        return None
    if folder.name.endswith(_PARTIAL):
        return None
    return Image(says["name"], says["digest"], says["suite"], says["disk"], folder)


def _built_ns(image: Image) -> int:
    return (image.folder / _SAYS).stat().st_mtime_ns


def _remove(folder: Path) -> None:
    with suppress(FileNotFoundError):
        shutil.rmtree(folder)
