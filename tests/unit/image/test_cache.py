# SPDX-License-Identifier: Apache-2.0
"""Test that an incomplete image is never taken for a complete one, and each is built once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from wirespeed.image import cache as under_test
from wirespeed.image.cache import ImageCache, images_directory
from wirespeed.image.errors import ImageError
from wirespeed.image.recipe import Recipe
from wirespeed.remote.interface import Runner
from wirespeed.remote.local import LocalRunner

RECIPE = Recipe("guest", "bookworm", ("iproute2",), "linux", (), configured=False, disk="squashfs")
Build = Callable[[Runner, Recipe, Path, Path, Callable[[str], None]], None]


@pytest.fixture
def cache(tmp_path: Path) -> ImageCache:
    return ImageCache(tmp_path / "images", LocalRunner())


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Provide the list of builds; each image's root has the number of builds before it."""
    built: list[str] = []

    def build(_r: Runner, recipe: Recipe, folder: Path, _l: Path, _s: Callable[..., None]) -> None:
        for name in ("kernel", "initramfs", "root"):
            (folder / name).write_text(str(len(built)))
        built.append(recipe.name)

    monkeypatch.setattr(under_test, "build", build)
    return built


def test_an_image_is_built_once_and_found_again(cache: ImageCache, builds: list[str]) -> None:
    assert cache.find(RECIPE) is None
    built = cache.get(RECIPE)
    assert cache.get(RECIPE) == cache.find(RECIPE) == built
    assert cache.images() == (built,)
    assert built.root.read_text() == "0"
    assert builds == ["guest"]


def test_rebuild_makes_it_anew_and_remove_takes_it_away(
    cache: ImageCache, builds: list[str]
) -> None:
    cache.get(RECIPE)
    anew = cache.get(RECIPE, rebuild=True)
    assert anew.root.read_text() == "1"
    cache.remove(anew)
    assert cache.images() == ()
    assert list(cache.folder.iterdir()) == []
    assert len(builds) == 2


@pytest.mark.parametrize("end", [ImageError("mmdebstrap failed"), KeyboardInterrupt()])
def test_a_build_that_ends_early_leaves_no_image_and_no_files(
    cache: ImageCache, monkeypatch: pytest.MonkeyPatch, end: BaseException
) -> None:
    def build(_r: Runner, _n: Recipe, folder: Path, log: Path, _s: Callable[[str], None]) -> None:
        (folder / "root").write_text("half")
        log.write_text("why")
        raise end

    monkeypatch.setattr(under_test, "build", build)
    with pytest.raises(type(end)):
        cache.get(RECIPE)
    assert cache.images() == ()
    assert {path.suffix for path in cache.folder.iterdir()} == {".log", ".lock"}


def test_cache_leftovers_of_a_killed_build_are_removed_by_the_next(
    cache: ImageCache, builds: list[str]
) -> None:
    left = cache.folder / f"guest-{RECIPE.digest}.partial"
    left.mkdir(parents=True)
    (left / "image.json").write_text('{"name": "guest"}')
    assert cache.images() == ()
    built = cache.get(RECIPE)
    assert not left.exists()
    assert cache.images() == (built,)
    assert len(builds) == 1


@pytest.mark.parametrize("rebuild", [False, True])
def test_two_at_once_build_one_image(
    cache: ImageCache, monkeypatch: pytest.MonkeyPatch, rebuild: bool
) -> None:
    first_builds, second_waits = threading.Event(), threading.Event()
    built: list[str] = []

    def build(_r: Runner, recipe: Recipe, folder: Path, _l: Path, _s: Callable[..., None]) -> None:
        first_builds.set()
        assert second_waits.wait(60)
        (folder / "root").write_text("")
        built.append(recipe.name)

    class Waiting(LocalRunner):
        def lock(self, path: str):  # type: ignore[no-untyped-def]
            second_waits.set()
            return super().lock(path)

    monkeypatch.setattr(under_test, "build", build)
    with ThreadPoolExecutor() as threads:
        one = threads.submit(cache.get, RECIPE, rebuild=rebuild)
        assert first_builds.wait(60)
        other = threads.submit(ImageCache(cache.folder, Waiting()).get, RECIPE, rebuild=rebuild)
        assert one.result(60) == other.result(60)
    assert built == ["guest"]


@pytest.mark.parametrize(
    ("environ", "folder"),
    [
        ({"WIRESPEED_IMAGES": "/images", "XDG_CACHE_HOME": "/cache"}, "/images"),
        ({"XDG_CACHE_HOME": "/cache", "HOME": "/home/me"}, "/cache/wirespeed/images"),
        # The specification says to ignore relative paths.
        ({"XDG_CACHE_HOME": "cache", "HOME": "/home/me"}, "/home/me/.cache/wirespeed/images"),
        ({"HOME": "/home/me"}, "/home/me/.cache/wirespeed/images"),
    ],
)
def test_images_stand_where_the_user_says(environ: dict[str, str], folder: str) -> None:
    assert images_directory(environ) == Path(folder)


def test_a_directory_that_cannot_be_made_is_named(tmp_path: Path, builds: list[str]) -> None:
    (tmp_path / "file").write_text("")
    folder = tmp_path / "file" / "images"
    with pytest.raises(ImageError, match=f"{folder} cannot be made: Not a directory"):
        ImageCache(folder, LocalRunner()).get(RECIPE)
    assert builds == []
