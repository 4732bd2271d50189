# SPDX-License-Identifier: Apache-2.0
"""Write the disk that a node boots from: GRUB, and the /boot of its own update-grub.

The layout is that of grub-install for a BIOS. boot.img is the first sector; the core image follows,
before the one partition (GRUB's manual, "BIOS installation"). No file of wirespeed's takes part in
a boot.
"""

from __future__ import annotations

import re
import shutil
import struct
from dataclasses import dataclass
from pathlib import Path

from wirespeed.lab.errors import LabError
from wirespeed.remote.interface import ProgramMissing, RemoteError, Runner

_GRUB = Path("/usr/lib/grub/i386-pc")
_SECTOR = 512
_PARTITION_AT = 1 << 20
# Room for a second kernel.
_PARTITION_SIZE = 95 << 20
_TABLE = slice(446, 510)
_LINUX_PARTITION = 0x83
_MODULES = (
    "biosdisk", "part_msdos", "ext2", "normal", "configfile", "linux", "gzio", "search",
    "search_fs_uuid", "test", "echo", "loadenv", "serial", "terminal", "minicmd",
)  # fmt: skip
# GRUB runs this before it reads grub.cfg: its messages go to the kernel's console.
_EARLY = "serial --unit=0\nterminal_input serial\nterminal_output serial\n"
_ARGUMENTS = re.compile(r'^GRUB_CMDLINE_LINUX(|_DEFAULT)="([^"$`\\]*)"$', re.MULTILINE)
_KERNEL_RELEASE_AT = 0x20E


@dataclass(frozen=True, slots=True)
class Kernel:
    """Kernel of a node."""

    kernel: Path
    initramfs: Path
    release: str
    """Release as in `uname -r`."""
    root_uuid: str
    arguments: str
    """Kernel arguments in the node's GRUB defaults."""


def kernel_release(image: bytes) -> str:
    """Return the release of a bzImage. Raises LabError.

    Source: Documentation/arch/x86/boot.rst, kernel_version.
    """
    if image[0x202:0x206] != b"HdrS":
        raise LabError("the image's kernel is no bzImage", "Run `make host-image`.")
    start = struct.unpack_from("<H", image, _KERNEL_RELEASE_AT)[0] + 0x200
    return image[start : image.index(b"\0", start)].decode().split()[0]


def default_arguments(defaults: str) -> str:
    """Return the kernel arguments of a file for /etc/default/grub.d, joined like grub-mkconfig.

    Reads only the two kinds of lines, without variables, of the image's file. Raises LabError.
    """
    found = dict(_ARGUMENTS.findall(defaults))
    if found.keys() != {"", "_DEFAULT"}:
        raise LabError("the image's GRUB defaults lack GRUB_CMDLINE_LINUX or ..._DEFAULT")
    return f"{found['']} {found['_DEFAULT']}"


def first_config(kernel: Kernel) -> str:
    """Return the first grub.cfg of a node, with the same command line as update-grub's."""
    release = kernel.release
    return (
        f"linux /vmlinuz-{release} root=UUID={kernel.root_uuid} ro {kernel.arguments}\n"
        f"initrd /initrd.img-{release}\n"
        "boot\n"
    )


def first_sector(boot_image: bytes) -> bytes:
    """Return boot.img with a partition table of one active Linux partition, from 1 MiB on."""
    sector = bytearray(boot_image[:_SECTOR])
    entry = struct.pack(
        "<B3sB3sII", 0x80, b"\xfe\xff\xff", _LINUX_PARTITION, b"\xfe\xff\xff",
        _PARTITION_AT // _SECTOR, _PARTITION_SIZE // _SECTOR,
    )  # fmt: skip
    sector[_TABLE] = entry.ljust(_TABLE.stop - _TABLE.start, b"\0")
    return bytes(sector)


def write_disk(runner: Runner, kernel: Kernel, folder: Path) -> Path:
    """Make folder/boot.img. Raises LabError."""
    tree = folder / "boot.d"
    (tree / "grub" / "i386-pc").mkdir(parents=True)
    for module in [*_GRUB.glob("*.mod"), *_GRUB.glob("*.lst")]:
        shutil.copy(module, tree / "grub" / "i386-pc")
    shutil.copy(kernel.kernel, tree / f"vmlinuz-{kernel.release}")
    shutil.copy(kernel.initramfs, tree / f"initrd.img-{kernel.release}")
    (tree / "grub" / "grub.cfg").write_text(first_config(kernel))
    disk = folder / "boot.img"
    with open(disk, "wb") as file:
        file.truncate(_PARTITION_AT + _PARTITION_SIZE)
    core = _core(runner, folder)
    _run(runner, [
        "mke2fs", "-q", "-F", "-t", "ext4", "-m", "0", "-L", "boot", "-O", "^metadata_csum_seed",
        "-E", f"offset={_PARTITION_AT}", "-d", str(tree), str(disk), f"{_PARTITION_SIZE >> 10}k",
    ])  # fmt: skip
    with open(disk, "r+b") as file:
        file.write(first_sector((_GRUB / "boot.img").read_bytes()))
        file.write(core)
    shutil.rmtree(tree)
    return disk


def _core(runner: Runner, folder: Path) -> bytes:
    early, core = folder / "early.cfg", folder / "core.img"
    early.write_text(_EARLY)
    _run(runner, [
        "grub-mkimage", "-O", "i386-pc", "-d", str(_GRUB), "-p", "(hd0,msdos1)/grub",
        "-c", str(early), "-o", str(core), *_MODULES,
    ])  # fmt: skip
    made = core.read_bytes()
    early.unlink()
    core.unlink()
    if len(made) > _PARTITION_AT - _SECTOR:
        raise LabError(f"GRUB's core image has {len(made)} octets: too many for its place")
    return made


def _run(runner: Runner, argv: list[str]) -> None:
    try:
        runner.run(argv, timeout_s=120.0)
    except ProgramMissing:
        raise LabError(f"{argv[0]} is not installed", "Run `make lab`.") from None
    except RemoteError as fault:
        raise LabError(f"the boot disk cannot be made: {fault.what}", fault.next_step) from fault
