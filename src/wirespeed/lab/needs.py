# SPDX-License-Identifier: Apache-2.0
"""Check this machine for everything that a virtual testbed needs, before anything is made."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from shutil import disk_usage

from wirespeed.image.cache import Image, ImageCache
from wirespeed.image.errors import ImageError
from wirespeed.image.machine import PROGRAM
from wirespeed.image.recipe import Recipe
from wirespeed.lab.errors import LabError
from wirespeed.lab.machine import MachineSpec
from wirespeed.remote.interface import ProgramMissing, Runner

# A node's disks and logs grow to this size in a day's use.
_DISK_BYTES = 512 << 20
_NEXT = "Run `make lab`, which installs and builds what is missing."


def check(runner: Runner, specs: Sequence[MachineSpec], folder: Path) -> None:
    """Raise LabError that names everything that is lacking."""
    lacking = [*_programs(runner), *_memory(runner, specs), *_disk(specs, folder)]
    if lacking:
        raise LabError("\n".join(lacking), _NEXT if len(lacking) > 1 else _next(lacking[0]))


def built_image(runner: Runner, cache: ImageCache, recipe: Callable[[Runner], Recipe]) -> Image:
    """Return the image that nodes boot from. Raises LabError where it is not built."""
    try:
        found = cache.find(recipe(runner))
    except ImageError as fault:
        raise LabError(f"the hosts' image is not built: {fault.what}", _NEXT) from fault
    if found is None:
        raise LabError(
            f"the hosts' image is not built of these programs: {cache.folder} has none of them",
            _NEXT,
        )
    return found


def _next(lack: str) -> str:
    if "memory" in lack:
        return "Give fewer --nodes or less --memory, or end what uses it."
    return "Free some space." if "free in" in lack else _NEXT


def _programs(runner: Runner) -> Iterator[str]:
    for program in ("qemu-img", "mke2fs", "grub-mkimage", "ssh-keygen", "setsid"):
        if runner.run(["which", program], check=False).exit_code != 0:
            yield f"{program} is not installed"
    try:
        known = runner.run([PROGRAM, "-device", "igb,help"], check=False)
        said = runner.run([PROGRAM, "--version"], check=False).stdout
    except ProgramMissing:
        yield f"{PROGRAM} is not installed"
        return
    if known.exit_code != 0:
        version = re.search(r"version (\S+)", said)
        yield (
            f"QEMU {version[1] if version else 'of unknown version'} emulates no SR-IOV NIC (igb): "
            "8.0 or newer does; Debian 12 has it in bookworm-backports"
        )


def _memory(runner: Runner, specs: Sequence[MachineSpec]) -> Iterator[str]:
    wanted = sum(spec.memory_bytes for spec in specs)
    found = re.search(r"MemAvailable:\s+(\d+) kB", runner.read("/proc/meminfo"))
    available = int(found[1]) << 10 if found else 0
    if available < wanted:
        yield (
            f"{len(specs)} nodes take {wanted >> 30} GiB of memory, "
            f"and {available / 2**30:.1f} GiB are available"
        )


def _disk(specs: Sequence[MachineSpec], folder: Path) -> Iterator[str]:
    there = next(each for each in (folder, *folder.parents) if each.exists())
    wanted, free = len(specs) * _DISK_BYTES, disk_usage(there).free
    if free < wanted:
        yield (
            f"{len(specs)} nodes take {wanted >> 20} MiB of disk, "
            f"and {free >> 20} MiB are free in {folder}"
        )
