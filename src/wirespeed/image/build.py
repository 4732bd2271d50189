# SPDX-License-Identifier: Apache-2.0
"""Build an image: packages into a root directory, that into a disk, plus kernel and initramfs.

mmdebstrap fetches and checks the packages with this host's apt sources and keys. The host's own
package database is not touched, and no service of the packages is started.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

from wirespeed.image import debian, tree
from wirespeed.image.errors import ImageError
from wirespeed.image.initramfs import initramfs
from wirespeed.image.kernel import unpacked
from wirespeed.image.recipe import Recipe
from wirespeed.remote.ending import end_process
from wirespeed.remote.interface import Process, Runner

_INSTALL_S = 1800.0
_DISK_S = 600.0
_STOP_S = 30.0
# A sparse file; a machine's writes go to its overlay.
_EXT4_SIZE = "4G"
_NO_SUCH_PACKAGE = re.compile(r"E: (?:Unable to locate package (\S+)|Package '(\S+)' has no inst)")
_NO_SPACE = "No space left on device"


def build(
    runner: Runner, recipe: Recipe, folder: Path, log: Path, say: Callable[[str], None]
) -> None:
    """Fill the folder with kernel, initramfs and root.

    say: called with a line for each step. log: output of the programs; an error quotes its
    essential line. Raises ImageError.
    """
    check_builder(runner, recipe.name)
    root = folder / "root.d"
    say(f"installing {len(recipe.packages)} packages of Debian {recipe.suite}")
    _install(runner, recipe, folder, root, log)
    say("adding programs of ours")
    version = tree.finish(runner, root, recipe)
    init = next(f.source for f in recipe.files if f.target.endswith("/initramfs-init"))
    first_root = initramfs(root, version, init.read_bytes())
    (folder / "initramfs").write_bytes(first_root)
    kernel = root / "boot" / f"vmlinuz-{version}"
    (folder / "kernel").write_bytes(unpacked(kernel.read_bytes()))
    shutil.copyfile(kernel, folder / "bzimage")
    # GRUB's own scripts look for kernel and initramfs there.
    (root / "boot" / f"initrd.img-{version}").write_bytes(first_root)
    say(f"writing the disk ({recipe.disk})")
    _DISKS[recipe.disk](runner, root, folder / "root", log)
    shutil.rmtree(root)


def check_builder(runner: Runner, name: str = "guest") -> None:
    """Raise ImageError or ProgramMissing where no image can be built here."""
    if os.geteuid() != 0:
        raise ImageError(
            f"the image {name} can only be built by root: it has files of several owners",
            f"Run as root: sudo wirespeed image build {name}",
        )
    for program in ("mmdebstrap", "mksquashfs", "mke2fs"):
        runner.run([program, "-V" if program == "mke2fs" else "--version"], check=False)


def _install(runner: Runner, recipe: Recipe, folder: Path, root: Path, log: Path) -> None:
    listed = folder / "sources.list"
    listed.write_text(debian.sources(runner, recipe.suite))
    # In a mount namespace of its own: what it mounts in the root goes with it, even after kill -9.
    argv = [
        "unshare", "--mount", "mmdebstrap", "--mode=root", "--format=directory",
        f"--variant={'essential' if recipe.configured else 'extract'}",
        "--aptopt=APT::Sandbox::User \"root\"",
        *(f"--dpkgopt=path-exclude={pattern}" for pattern in recipe.left_out),
        f"--include={','.join([*recipe.packages, recipe.kernel])}",
        recipe.suite, str(root), str(listed),
    ]  # fmt: skip
    # Its temporary files are removed with the image's.
    environment = {"TMPDIR": str(folder), "SOURCE_DATE_EPOCH": "0"}
    process = runner.spawn(argv, log=str(log), env=environment)
    _ended(process, "mmdebstrap", log, _INSTALL_S)
    listed.unlink()


def _squashfs(runner: Runner, root: Path, disk: Path, log: Path) -> None:
    argv = [
        "mksquashfs", str(root), str(disk), "-noappend", "-comp", "zstd", "-Xcompression-level",
        "3", "-no-progress", "-quiet",
    ]  # fmt: skip
    _ended(runner.spawn(argv, log=str(log)), "mksquashfs", log, _DISK_S)


def _ext4(runner: Runner, root: Path, disk: Path, log: Path) -> None:
    argv = ["mke2fs", "-q", "-t", "ext4", "-m", "0", "-d", str(root), str(disk), _EXT4_SIZE]
    _ended(runner.spawn(argv, log=str(log)), "mke2fs", log, _DISK_S)


_DISKS = {"squashfs": _squashfs, "ext4": _ext4}


def _ended(process: Process, program: str, log: Path, within_s: float) -> None:
    """Wait for the end. Raises ImageError with the line of the log that gives the reason.

    Whatever ends the waiting ends the program: the caller removes the folder that it writes to.
    On SIGTERM mmdebstrap ends its children.
    """
    try:
        code = process.wait(within_s)
    except TimeoutError:
        end_process(process, _STOP_S)
        raise ImageError(f"{program} did not end within {within_s:g} s", f"See {log}.") from None
    except BaseException:
        end_process(process, _STOP_S)
        raise
    if code == 0:
        return
    said = log.read_text(errors="replace")
    if _NO_SPACE in said:
        raise ImageError(
            f"no space left in {log.parent} for the image",
            "Free some space there, or name another directory with WIRESPEED_IMAGES.",
        )
    if missing := _NO_SUCH_PACKAGE.search(said):
        raise ImageError(f"Debian has no package {missing[1] or missing[2]}", f"See {log}.")
    errors = [line for line in said.splitlines() if line.startswith("E: ")]
    last = errors[0] if errors else f"it ended with {code}"
    raise ImageError(f"{program} failed: {last.removeprefix('E: ')}", f"See {log}.")
