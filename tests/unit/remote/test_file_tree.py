# SPDX-License-Identifier: Apache-2.0
"""Check how links of an archive are followed in memory."""

from __future__ import annotations

import pytest

from wirespeed.model.errors import BadInput
from wirespeed.remote import file_tree
from wirespeed.remote.file_tree import FileTree, Link


def _tree(files: dict[str, str], links: dict[str, str]) -> FileTree:
    tree = FileTree("a.tar")
    for path, text in files.items():
        tree.add(path, text)
    for path, target in links.items():
        tree.add(path, Link(target))
    return tree


REAL = "/sys/devices/pci0000:16/0000:17:00.0"


def test_tree_link_to_a_folder_is_globbed_through() -> None:
    link = "/sys/bus/pci/devices/0000:17:00.0"
    tree = _tree({f"{REAL}/class": "0x020000\n"}, {link: f"../../..{REAL.removeprefix('/sys')}"})
    (found,) = tree.glob("/sys/bus/pci/devices/*/class")
    assert found == "/sys/bus/pci/devices/0000:17:00.0/class"
    assert tree.find(found) == "0x020000\n"
    assert tree.real_path(found) == f"{REAL}/class"


@pytest.mark.parametrize(
    "target", ["../../../../etc/shadow", "/etc/shadow", "nowhere", "a", "../sys/a", "b", "", "."]
)
def test_tree_link_that_leads_to_no_file_is_ignored(target: str) -> None:
    tree = _tree({"/proc/cmdline": "x"}, {"/sys/a": target, "/sys/b": "a"})
    assert not isinstance(tree.find("/sys/a"), str)
    assert tree.has("/sys/a")


def test_tree_absolute_link_stays_in_the_tree() -> None:
    tree = _tree({"/usr/lib/os-release": "ID=rhel"}, {"/etc/os-release": "/usr/lib/os-release"})
    assert tree.find("/etc/os-release") == "ID=rhel"


@pytest.mark.parametrize(("length", "reached"), [(40, True), (41, False)])
def test_tree_chain_of_links_has_the_kernels_limit(length: int, reached: bool) -> None:
    links = {f"/sys/l{n}": f"l{n + 1}" for n in range(length)}
    tree = _tree({f"/sys/l{length}": "end"}, links)
    assert (tree.find("/sys/l0") == "end") is reached


def test_tree_links_that_multiply_end_in_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_tree, "_FOUND", 1000)
    links = {f"/sys/{name}": "." for name in "abcdefghijklmnop"}
    with pytest.raises(BadInput, match="more than 1000 paths are"):
        _tree({"/sys/file": "x"}, links).glob("/sys/*/*/*/*/*/*/*/*")


def test_tree_endless_lookups_end_in_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_tree, "_STEPS", 10_000)
    target = "./" * 2000 + "b"
    tree = _tree({}, {"/sys/a": target, "/sys/b": "./" * 2000 + "a"})
    with pytest.raises(BadInput, match="its links name each other endlessly"):
        tree.find("/sys/a")


def test_tree_last_of_two_members_stays() -> None:
    tree = _tree({"/proc/cmdline": "first"}, {})
    tree.add("/proc/cmdline", "second")
    assert tree.find("/proc/cmdline") == "second"


def test_tree_path_through_a_link_is_skipped() -> None:
    tree = _tree({}, {"/sys/class": "/proc"})
    tree.add("/sys/class/cmdline", "x")
    assert tree.find("/proc/cmdline") is None
