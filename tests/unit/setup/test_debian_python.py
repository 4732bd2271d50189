# SPDX-License-Identifier: Apache-2.0
"""Test which Python libraries the Debian package takes from Debian."""

from __future__ import annotations

from email.message import Message
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from setup.debian_python import Library, candidates, choose, depends


def library(version: str, *requires: str) -> Library:
    metadata = Message()
    metadata["Version"] = version
    for each in requires:
        metadata["Requires-Dist"] = each
    return Library(Path("x.whl"), metadata)


def taken(own: str, debian: dict[str, str], **known: Library) -> tuple[set[str], set[str]]:
    """Return names of wheels, and of Debian's libraries."""
    requirements = [Requirement(each) for each in own.split()]
    wheels, met = choose(requirements, known, debian)
    return wheels, set(met)


def test_choose_library_that_is_new_enough_is_debians() -> None:
    assert taken("a>=2", {"a": "2.1"}, a=library("3")) == (set(), {"a"})


def test_choose_library_that_is_too_old_or_absent_is_a_wheel() -> None:
    found = taken("a>=2 b", {"a": "1.9"}, a=library("3"), b=library("1"))
    assert found == ({"a", "b"}, set())


def test_choose_wheel_whose_own_needs_debian_does_not_meet_takes_them_too() -> None:
    debian = {"a": "1", "b": "1.5", "c": "4"}
    known = {"a": library("3", "b>=2", "c"), "b": library("2"), "c": library("5")}
    assert taken("a>=2 b>=1", debian, **known) == ({"a", "b"}, {"c"})


def test_choose_needs_of_other_systems_and_extras_are_ignored() -> None:
    a = library("3", 'b; sys_platform == "win32"', 'c; extra == "more"')
    assert taken("a", {}, a=a) == ({"a"}, set())


def test_depends_names_packages_and_the_one_python() -> None:
    text = depends({"markdown-it-py": Requirement("markdown-it-py")}, {"markdown-it-py": "3.0"})
    assert text.endswith(", python3-markdown-it (>= 3.0)")
    assert text.count("python3 (") == 2


def test_candidates_without_package_lists_is_an_error() -> None:
    with pytest.raises(SystemExit, match="run apt-get update"):
        candidates(["no-library-of-this-name"])
