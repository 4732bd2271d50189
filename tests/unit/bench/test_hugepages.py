# SPDX-License-Identifier: Apache-2.0
"""Check that a run takes only the huge pages that are short, and reports what is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.bench.fake_host import FakeHost
from wirespeed.bench.host.changes import POOLS_LOCK
from wirespeed.bench.host.host import changing_host
from wirespeed.bench.host.hugepages import reserved
from wirespeed.bench.interface import BenchError
from wirespeed.model.plan.plan import HugePages

POOL = "/sys/devices/system/node/node0/hugepages/hugepages-2048kB"


def host_with(total: int, free: int, obtainable: int = 10_000) -> FakeHost:
    """Return a kernel with huge pages in sysfs and memory for `obtainable` pages in all."""

    def kernel(files: dict[str, str], path: str, text: str) -> None:
        granted = min(int(text), obtainable)
        files[f"{POOL}/free_hugepages"] = str(
            int(files[f"{POOL}/free_hugepages"]) + granted - int(files[path])
        )
        files[path] = str(granted)

    return FakeHost(
        {f"{POOL}/nr_hugepages": str(total), f"{POOL}/free_hugepages": str(free)}, kernel
    )


def test_only_the_shortfall_is_added_and_given_back(tmp_path: Path) -> None:
    host = host_with(total=100, free=40)
    with changing_host(host, tmp_path) as state:
        with reserved(state, [HugePages(0, 2048, 64)]):
            pass
        assert host.files[f"{POOL}/nr_hugepages"] == "124"
        assert host.files[f"{POOL}/free_hugepages"] == "64"
    assert host.files[f"{POOL}/nr_hugepages"] == "100"


def test_pages_are_neither_added_nor_given_back_while_another_run_relies_on_free_ones(
    tmp_path: Path,
) -> None:
    host = host_with(total=100, free=40)
    kernel, written = host.on_write, []

    def watched(files: dict[str, str], path: str, text: str) -> None:
        assert POOLS_LOCK in host.locked
        written.append(text)
        assert kernel is not None
        kernel(files, path, text)

    host.on_write = watched
    with changing_host(host, tmp_path) as state, reserved(state, [HugePages(0, 2048, 64)]):
        pass
    assert written == ["124", "100"]


def test_nothing_is_changed_when_enough_are_free(tmp_path: Path) -> None:
    host = host_with(total=100, free=64)
    with changing_host(host, tmp_path) as state:
        with reserved(state, [HugePages(0, 2048, 64)]):
            pass
        assert host.files[f"{POOL}/nr_hugepages"] == "100"
    assert host.files[f"{POOL}/nr_hugepages"] == "100"


def test_free_pages_that_another_program_was_promised_do_not_count(tmp_path: Path) -> None:
    host = host_with(total=100, free=64)
    host.files["/sys/kernel/mm/hugepages/hugepages-2048kB/resv_hugepages"] = "60"
    with changing_host(host, tmp_path) as state, reserved(state, [HugePages(0, 2048, 64)]):
        assert host.files[f"{POOL}/nr_hugepages"] == "160"


def test_too_little_memory_says_node_have_and_need(tmp_path: Path) -> None:
    host = host_with(total=100, free=40, obtainable=110)
    with (
        pytest.raises(BenchError, match=r"node 0 has 40 free .* make only 10 more; .* needs 64"),
        changing_host(host, tmp_path) as state,
        reserved(state, [HugePages(0, 2048, 64)]),
    ):
        pass
    assert host.files[f"{POOL}/nr_hugepages"] == "100"


def test_without_root_it_says_so(tmp_path: Path) -> None:
    host = host_with(total=0, free=0)

    def refuse(_files: dict[str, str], path: str, _text: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    host.on_write = refuse
    with (
        pytest.raises(BenchError, match="only root may reserve more"),
        changing_host(host, tmp_path) as state,
        reserved(state, [HugePages(0, 2048, 64)]),
    ):
        pass


def test_a_page_size_the_kernel_does_not_have_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(BenchError, match="no huge pages of 16384 KiB"),
        changing_host(host_with(0, 0), tmp_path) as state,
        reserved(state, [HugePages(0, 16384, 1)]),
    ):
        pass
