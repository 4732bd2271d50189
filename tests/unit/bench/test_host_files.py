# SPDX-License-Identifier: Apache-2.0
"""Files of the kernel that a bench sets and puts back."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from wirespeed.bench.host.changes import SysctlSet
from wirespeed.bench.host.host import changing_host, tidy_up
from wirespeed.bench.host.journal import Journal
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
