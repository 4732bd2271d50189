# SPDX-License-Identifier: Apache-2.0
"""Factors of a host, on files of a kernel that a test made."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from wirespeed.bench.interface import BenchError
from wirespeed.remote.local import LocalRunner
from wirespeed.remote.state import state_directory
from wirespeed.tune.host_factors import host_factors, host_set

FILES = {
    "/sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
    "/proc/sys/vm/stat_interval": "1\n",
    "/proc/sys/kernel/nmi_watchdog": "0\n",
    "/sys/devices/virtual/workqueue/cpumask": "f\n",
    "/proc/irq/7/smp_affinity_list": "0-3\n",
}


class Files(LocalRunner):
    """Kernel files in a folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        for path, text in FILES.items():
            file = folder / path[1:]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

    def glob(self, pattern: str) -> list[str]:
        return [f"/{file.relative_to(self.folder)}" for file in self.folder.glob(pattern[1:])]

    def read(self, path: str) -> str:
        return (self.folder / path[1:]).read_text()

    def write(self, path: str, text: str) -> None:
        (self.folder / path[1:]).write_text(text)


def test_host_factors_set_already_or_absent_are_excluded_with_the_reason(tmp_path: Path) -> None:
    tried, excluded = host_factors(Files(tmp_path), [0, 1])
    why = {each.name: each.why for each in excluded}
    assert why["NMI watchdog"] == "it is 0 already"
    assert why["CPU governor"] == "this host has no such setting"
    found = {factor.name: dict(factor.host) for factor in tried}
    assert found["transparent huge pages"] == {
        "/sys/kernel/mm/transparent_hugepage/enabled": "never"
    }
    assert found["workqueue CPUs"] == {"/sys/devices/virtual/workqueue/cpumask": "3"}
    assert found["IRQ affinity"] == {"/proc/irq/7/smp_affinity_list": "0-1"}


def test_host_factors_without_a_quiet_cpu_leave_interrupts_alone(tmp_path: Path) -> None:
    _, excluded = host_factors(Files(tmp_path), [])
    assert {"workqueue CPUs", "IRQ affinity"} <= {each.name for each in excluded}


def test_host_set_error_in_the_body_puts_every_file_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    runner = Files(tmp_path / "kernel")
    path = "/proc/sys/vm/stat_interval"

    def interrupted() -> None:
        with host_set(runner, {path: "120"}):
            assert runner.read(path) == "120"
            assert list((state_directory(os.environ) / "journal").iterdir())
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert runner.read(path) == "1"
    assert not list((state_directory(os.environ) / "journal").iterdir())


def test_host_set_all_files_refused_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    absent = {"/proc/sys/vm/absent": "1"}
    with pytest.raises(BenchError, match=r"no vm\.absent"), host_set(Files(tmp_path), absent):
        pytest.fail("the body ran")
