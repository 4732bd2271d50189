# SPDX-License-Identifier: Apache-2.0
"""Create a node's directory before its start: disks, keys, and QEMU's command line."""

from __future__ import annotations

import uuid
from pathlib import Path

from wirespeed.image import access
from wirespeed.image.cache import Image
from wirespeed.image.recipes import HOST_GRUB
from wirespeed.lab import grub
from wirespeed.lab.errors import LabError
from wirespeed.lab.grub import Kernel
from wirespeed.lab.machine import CABLES, MachineFiles, MachineSpec, command
from wirespeed.lab.node import Node
from wirespeed.remote.interface import ProgramMissing, RemoteError, Runner

# Offset of s_uuid in ext4's superblock (Documentation/filesystems/ext4/super.rst).
_UUID_AT = 1024 + 0x68


def make(runner: Runner, spec: MachineSpec, image: Image, folder: Path, peer: str) -> Node:
    """Fill a new directory. peer: the node at the other ends of the cables."""
    folder.mkdir(mode=0o700)
    way = access.over_port(runner, folder / "access", spec.name, spec.port)
    hostname = folder / "hostname"
    hostname.write_text(f"{spec.name}\n")
    given = {**way.fw_cfg, "opt/wirespeed/hostname": hostname}
    grub.write_disk(runner, kernel_of(image), folder)
    _overlay(runner, image.root, folder / "root.qcow2")
    files = MachineFiles(
        boot=Path("boot.img"),
        root=Path("root.qcow2"),
        console=Path("console.log"),
        pid=Path("qemu.pid"),
        given={name: path.relative_to(folder) for name, path in given.items()},
        sockets={cable: (_end(cable, spec.name), _end(cable, peer)) for cable in CABLES},
    )
    node = Node(spec, folder)
    node.save(command(spec, files))
    return node


def kernel_of(image: Image) -> Kernel:
    with open(image.root, "rb") as disk:
        disk.seek(_UUID_AT)
        root = uuid.UUID(bytes=disk.read(16))
    release = grub.kernel_release(image.bzimage.read_bytes())
    arguments = grub.default_arguments(HOST_GRUB.read_text())
    return Kernel(image.bzimage, image.initramfs, release, str(root), arguments)


def _end(cable: str, name: str) -> Path:
    return Path("..") / f"{cable}-{name}"


def _overlay(runner: Runner, base: Path, overlay: Path) -> None:
    argv = ["qemu-img", "create", "-q", "-f", "qcow2", "-b", str(base), "-F", "raw", str(overlay)]
    try:
        runner.run(argv)
    except ProgramMissing:
        raise LabError("qemu-img is not installed", "Run `make lab`.") from None
    except RemoteError as fault:
        raise LabError(f"the disk {overlay} cannot be made: {fault.what}") from fault
