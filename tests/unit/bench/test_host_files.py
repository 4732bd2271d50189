# SPDX-License-Identifier: Apache-2.0
"""Files of the kernel that a bench sets and puts back."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from tests.unit.bench.fake_host import FakeHost
from wirespeed.bench.host.changes import SysctlSet
from wirespeed.bench.host.host import changing_host, tidy_up
from wirespeed.bench.host.journal import Journal, Undone
from wirespeed.remote.local import LocalRunner
from wirespeed.sources.kernel_value import selected

THP = "/sys/kernel/mm/transparent_hugepage/enabled"
MASK = "/sys/devices/virtual/workqueue/cpumask"
IRQ = "/proc/irq/9/smp_affinity_list"


class Kernel(LocalRunner):
    """Kernel files as the kernel shows them: a choice in brackets, a mask with zeros."""

    def __init__(self) -> None:
        super().__init__()
        self.values = {THP: "madvise", MASK: "3", IRQ: "0-1"}

    def read(self, path: str) -> str:
        value = self.values[path]
        if path == THP:
            return " ".join(f"[{v}]" if v == value else v for v in ("always", "madvise", "never"))
        return f"00000000,{int(value.replace(',', ''), 16):08x}\n" if path == MASK else value

    def write(self, path: str, text: str) -> None:
        if path == IRQ:
            raise OSError(errno.EIO, "Input/output error")
        self.values[path] = text


@pytest.fixture
def kernel() -> Kernel:
    return Kernel()


def test_selected_choice_is_the_one_in_brackets() -> None:
    assert selected("always [madvise] never\n") == "madvise"
    assert selected("120\n") == "120"


@pytest.mark.parametrize(("path", "to"), [(THP, "never"), (MASK, "1")])
def test_set_sysctl_file_is_put_back_at_the_end(
    kernel: Kernel, tmp_path: Path, path: str, to: str
) -> None:
    before = selected(kernel.read(path))
    with changing_host(kernel, tmp_path) as host:
        assert host.set_sysctl_file(path, to) is None
        assert kernel.values[path] == to
    assert selected(kernel.read(path)) == before


def test_set_sysctl_file_after_a_kill_is_put_back_by_the_next_run(
    kernel: Kernel, tmp_path: Path
) -> None:
    journal = Journal.create(tmp_path, kernel.address)
    journal.note(SysctlSet(THP, "madvise", "never"))
    kernel.write(THP, "never")
    journal._file.close()  # as the kernel does when the process is killed
    assert tidy_up(kernel, tmp_path).done
    assert kernel.values[THP] == "madvise"


def test_set_sysctl_file_that_the_kernel_refuses_is_a_reason_and_leaves_no_record(
    kernel: Kernel, tmp_path: Path
) -> None:
    with changing_host(kernel, tmp_path) as host:
        why = host.set_sysctl_file(IRQ, "0")
    assert why is not None
    assert "cannot be set to 0: Input/output error" in why


RMEM = "/proc/sys/net/ipv4/tcp_rmem"
FREE = "/proc/sys/vm/min_free_kbytes"


def _formatting(files: dict[str, str], path: str, text: str) -> None:
    """Answer as the kernel does: tabs between words, and whole pages only."""
    if path == FREE:
        text = str(int(text) // 4 * 4)
    files[path] = "\t".join(text.split()) + "\n"


@pytest.mark.parametrize(
    ("path", "was", "to"),
    [(RMEM, "4096\t131072\t6291456\n", "4096 1000 2000"), (FREE, "64\n", "83")],
)
def test_set_sysctl_file_that_the_kernel_formats_is_put_back(
    tmp_path: Path, path: str, was: str, to: str
) -> None:
    machine = FakeHost({path: was}, _formatting)
    with changing_host(machine, tmp_path) as host:
        assert host.set_sysctl_file(path, to) is None
        assert machine.files[path] != was
    assert machine.files[path] == was
    assert not list((tmp_path / "journal").glob("*"))


def test_tidy_up_value_of_somebody_else_is_reported_once_and_stays(tmp_path: Path) -> None:
    journal = Journal.create(tmp_path, "localhost")
    journal.note(SysctlSet(FREE, "64", "80"))
    journal._file.close()
    machine = FakeHost({FREE: "100"})
    [said] = tidy_up(machine, tmp_path).failed
    assert said.startswith(f"left {FREE} at 100: it was 64, the run set it to 80")
    assert machine.files[FREE] == "100"
    assert tidy_up(machine, tmp_path) == Undone()


def test_tidy_up_value_that_a_run_only_relied_on_is_no_failure(tmp_path: Path) -> None:
    journal = Journal.create(tmp_path, "localhost")
    journal.note(SysctlSet(FREE, "64", "64"))
    journal._file.close()
    machine = FakeHost({FREE: "100"})
    assert tidy_up(machine, tmp_path) == Undone()
    assert machine.files[FREE] == "100"


def test_tidy_up_value_that_was_never_set_is_no_failure(tmp_path: Path) -> None:
    journal = Journal.create(tmp_path, "localhost")
    journal.note(SysctlSet(FREE, "64", "80"))
    journal._file.close()
    assert tidy_up(FakeHost({FREE: "64\n"}), tmp_path) == Undone()
