# SPDX-License-Identifier: Apache-2.0
"""Test that an image is built again exactly when it would differ."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from wirespeed.image.recipe import OwnFile, Recipe


@pytest.fixture
def recipe(tmp_path: Path) -> Recipe:
    program = tmp_path / "program"
    program.write_text("one")
    return Recipe(
        name="guest",
        suite="bookworm",
        packages=("iproute2", "ethtool"),
        kernel="linux-image-cloud-amd64",
        files=(OwnFile(program, "/usr/bin/program", 0o755),),
        configured=False,
        disk="squashfs",
    )


def test_the_order_of_packages_and_the_place_of_a_file_here_do_not_count(
    recipe: Recipe, tmp_path: Path
) -> None:
    moved = tmp_path / "elsewhere"
    moved.write_text("one")
    same = replace(
        recipe,
        packages=("ethtool", "iproute2"),
        files=(replace(recipe.files[0], source=moved),),
    )
    assert same.digest == recipe.digest


def test_everything_else_does(recipe: Recipe, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("two")
    own = recipe.files[0]
    recipes = [
        recipe,
        replace(recipe, packages=("ethtool",)),
        replace(recipe, suite="trixie"),
        replace(recipe, kernel="linux-image-amd64"),
        replace(recipe, configured=True),
        replace(recipe, disk="ext4"),
        replace(recipe, left_out=("/usr/share/doc/*",)),
        replace(recipe, files=(replace(own, source=other),)),
        replace(recipe, files=(replace(own, mode=0o644),)),
        replace(recipe, files=(replace(own, target="/usr/bin/other"),)),
    ]
    assert len({each.digest for each in recipes}) == len(recipes)


def test_a_program_that_is_built_again_is_another_image(recipe: Recipe) -> None:
    before = recipe.digest
    recipe.files[0].source.write_text("built again")
    assert recipe.digest != before
