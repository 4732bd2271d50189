# SPDX-License-Identifier: Apache-2.0
"""Check by booting a guest whether KVM works on a host: some hosts' /dev/kvm hangs.

The guest boots the kernel and initramfs of an image, without a disk. The initramfs reports that it
has no disk and switches the machine off.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from wirespeed.image.errors import ImageError
from wirespeed.image.machine import KERNEL_ARGUMENTS, PROGRAM
from wirespeed.model.input.bounded import load_json
from wirespeed.remote.interface import ProgramMissing, Runner

_DEVICE = "/dev/kvm"
# In seconds. With KVM a kernel starts within two seconds, even where all CPUs are polled.
_LIMIT_S = 15
# Exit codes of timeout(1): it ended the command, or had to kill it.
_TIMED_OUT = (124, 137)
_ALIVE = "wirespeed-initramfs:"
_REMEMBERED = "accelerators.json"


@dataclass(frozen=True, slots=True)
class Accelerator:
    """An accelerator of QEMU."""

    name: str
    """"kvm" or "tcg"."""
    because: str
    """Evidence."""

    @property
    def emulated(self) -> bool:
        """True if its times and rates differ from those of real hardware."""
        return self.name == "tcg"


def accelerator(runner: Runner, kernel: str, initramfs: str, state: Path) -> Accelerator:
    """Return KVM where a guest of that image boots with it, else TCG.

    kernel, initramfs: paths on the runner's host. state: local directory that keeps each host's
    result while its kernel and QEMU stay the same, since the check takes 15 s where KVM hangs.
    Raises ImageError without QEMU.
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
    said = done.stderr.strip().splitlines()[-1:] or ["QEMU ended without a message"]
    return Accelerator("tcg", f"a guest did not boot with KVM: {said[0]}")


def _remembered(state: Path) -> dict[str, Accelerator]:
    """Return the kept results; empty where the file is missing or invalid."""
    with suppress(OSError, ValueError, TypeError, AttributeError):
        words = load_json((state / _REMEMBERED).read_text())
        return {about: Accelerator(**answer) for about, answer in words.items()}
    return {}
