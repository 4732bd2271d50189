# SPDX-License-Identifier: Apache-2.0
"""Test that KVM is used only where a guest booted with it, and that this is checked once."""

from __future__ import annotations

from pathlib import Path

import pytest

from wirespeed.image.accelerator import Accelerator, accelerator
from wirespeed.image.errors import ImageError
from wirespeed.remote.interface import Completed, ProgramMissing
from wirespeed.remote.local import LocalRunner


class Host(LocalRunner):
    """A host whose QEMU ends with this result. booted: number of its starts."""

    def __init__(self, code: int = 0, stdout: str = "", stderr: str = "", kvm: bool = True) -> None:
        super().__init__("box")
        self._ends, self._kvm = (code, stdout, stderr), kvm
        self.version, self.booted = "QEMU emulator version 10.0.2", 0

    def glob(self, *_: str) -> tuple[str, ...]:
        return ("/dev/kvm",) if self._kvm else ()

    def run(self, argv, **_):  # type: ignore[no-untyped-def]
        if argv[0] == "uname":
            return Completed(tuple(argv), 0, "6.1.0 #1\n", "")
        if "--version" in argv:
            return Completed(tuple(argv), 0, f"{self.version}\n", "")
        self.booted += 1
        return Completed(tuple(argv), *self._ends)


def asked(host: Host, state: Path) -> Accelerator:
    return accelerator(host, "/image/kernel", "/image/initramfs", state)


def test_a_guest_that_reached_its_first_program_means_kvm(tmp_path: Path) -> None:
    host = Host(stdout="[    0.9] ...\nwirespeed-initramfs: no disk\n")
    assert asked(host, tmp_path).name == "kvm"
    assert not asked(host, tmp_path).emulated


@pytest.mark.parametrize(
    ("host", "because"),
    [
        (Host(124), "a guest did not boot with KVM within 15 s"),
        (Host(137), "a guest did not boot with KVM within 15 s"),
        (Host(1, "", "qemu: Permission denied\n"), "qemu: Permission denied"),
        (Host(0, "Kernel panic\n"), "QEMU ended without a message"),
        (Host(kvm=False), "box has no /dev/kvm"),
    ],
)
def test_anything_else_means_emulation_and_says_why(
    tmp_path: Path, host: Host, because: str
) -> None:
    found = asked(host, tmp_path)
    assert found.emulated
    assert because in found.because


def test_the_answer_is_kept_until_kernel_or_qemu_change(tmp_path: Path) -> None:
    host = Host(124)
    state = tmp_path / "state"
    first = asked(host, state)
    assert asked(host, state) == first
    assert host.booted == 1
    host.version = "QEMU emulator version 11.0.0"
    asked(host, state)
    assert host.booted == 2
    (state / "accelerators.json").write_text("not ours")
    assert asked(host, state) == first
    assert host.booted == 3


def test_without_qemu_it_says_what_to_run(tmp_path: Path) -> None:
    class Bare(Host):
        def run(self, argv, **_):  # type: ignore[no-untyped-def]
            raise ProgramMissing(f"{argv[0]} is not installed on box")

    with pytest.raises(ImageError, match="QEMU is not installed on box"):
        asked(Bare(), tmp_path)
