# SPDX-License-Identifier: Apache-2.0
"""Does KVM work on a host? Only a guest that booted tells: there are hosts whose /dev/kvm hangs.

Booted are the kernel and initramfs of an image, without a disk: the initramfs then says that it
has none and switches the machine off.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from wirespeed.image.errors import ImageError
from wirespeed.image.machine import KERNEL_ARGUMENTS, PROGRAM
from wirespeed.model.bounded import load_json
from wirespeed.remote.interface import ProgramMissing, Runner

_DEVICE = "/dev/kvm"
# With KVM a kernel is there within two seconds, also where all CPUs are polled.
_LIMIT_S = 15
# Of timeout(1): it ended what was late, or had to kill it.
_TIMED_OUT = (124, 137)
_ALIVE = "wirespeed-initramfs:"
_REMEMBERED = "accelerators.json"


@dataclass(frozen=True, slots=True)
class Accelerator:
    """name: "kvm" or "tcg", as QEMU calls them. because: how that is known."""

    name: str
    because: str

    @property
    def emulated(self) -> bool:
        """Whether times and rates say nothing about the real thing."""
        return self.name == "tcg"


def accelerator(runner: Runner, kernel: str, initramfs: str, state: Path) -> Accelerator:
    """KVM where a guest of that image (paths on the runner's host) boots with it, else TCG.

    state: the directory here that keeps each host's answer, for as long as its kernel and QEMU stay
    the same: where KVM hangs, the question takes 15 s. Raises ImageError without QEMU.
    """
    try:
        qemu = runner.run([PROGRAM, "--version"]).stdout.partition("\n")[0]
    except ProgramMissing:
        what = f"QEMU is not installed on {runner.name}"
        raise ImageError(what, "Run `make guest-image` there.") from None
    if not runner.glob(_DEVICE):
        return Accelerator("tcg", f"{runner.name} has no {_DEVICE}")
    about = f"{runner.address}: {runner.run(['uname', '-rv']).stdout.strip()}, {qemu}"
    remembered = _remembered(state)
    if about in remembered:
        return remembered[about]
    found = _booted(runner, kernel, initramfs)
    words = {key: asdict(answer) for key, answer in {**remembered, about: found}.items()}
    state.mkdir(parents=True, exist_ok=True)
    (state / _REMEMBERED).write_text(json.dumps(words, indent=1) + "\n")
    return found


def _booted(runner: Runner, kernel: str, initramfs: str) -> Accelerator:
    done = runner.run(
        [
            "timeout", "--kill-after=1", str(_LIMIT_S),
            PROGRAM, "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
            "-machine", "q35,accel=kvm", "-cpu", "host", "-m", "512", "-serial", "stdio",
            "-kernel", kernel, "-initrd", initramfs, "-append", KERNEL_ARGUMENTS,
        ],
        timeout_s=2.0 * _LIMIT_S,
        check=False,
    )  # fmt: skip
    if _ALIVE in done.stdout:
        return Accelerator("kvm", "a guest booted with it")
    if done.exit_code in _TIMED_OUT:
        return Accelerator("tcg", f"a guest did not boot with KVM within {_LIMIT_S} s")
    said = done.stderr.strip().splitlines()[-1:] or ["QEMU ended without a word"]
    return Accelerator("tcg", f"a guest did not boot with KVM: {said[0]}")


def _remembered(state: Path) -> dict[str, Accelerator]:
    """Nothing where the file is not there or not of our making."""
    with suppress(OSError, ValueError, TypeError, AttributeError):
        words = load_json((state / _REMEMBERED).read_text())
        return {about: Accelerator(**answer) for about, answer in words.items()}
    return {}
