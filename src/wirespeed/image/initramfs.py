# SPDX-License-Identifier: Apache-2.0
"""Write the first root of a kernel: busybox, the modules that reach the disk, and an init.

The format is the kernel's cpio "newc" (Documentation/driver-api/early-userspace/
buffer-format.rst), uncompressed, because it is small and an emulated CPU unpacks slowly.
"""

from __future__ import annotations

import lzma
import stat
from collections.abc import Sequence
from pathlib import Path

from wirespeed.image.errors import ImageError

# Modules that are built into a kernel are skipped.
_MODULES = ("virtio_pci", "virtio_blk", "squashfs", "overlay", "ext4")
# ext4 requests it by an alias; newer kernels call the function directly.
_WHERE_THERE = ("crc32c_generic",)
_FOLDERS = ("bin", "dev", "proc", "sys")


def initramfs(root: Path, version: str, init: bytes) -> bytes:
    """Return the archive.

    root: the image's, with busybox and the modules of that kernel version, after depmod.
    """
    modules = _closure(root / "lib" / "modules" / version, (*_WHERE_THERE, *_MODULES))
    archive = _Archive()
    for folder in _FOLDERS:
        archive.add(folder, stat.S_IFDIR | 0o755)
    archive.add("init", stat.S_IFREG | 0o755, init)
    archive.add("bin/busybox", stat.S_IFREG | 0o755, (root / "bin" / "busybox").read_bytes())
    # The kernel opens it for init's messages before devtmpfs is mounted.
    archive.add("dev/console", stat.S_IFCHR | 0o600, device=(5, 1))
    for path in modules:
        archive.add(_name(path), stat.S_IFREG | 0o644, _content(path))
    listed = "".join(f"/{_name(path)}\n" for path in modules)
    archive.add("modules", stat.S_IFREG | 0o644, listed.encode())
    return archive.finished()


def _closure(folder: Path, names: Sequence[str]) -> list[Path]:
    """Return the files of these modules and their dependencies, each after its dependencies."""
    needs: dict[str, list[str]] = {}
    path_of: dict[str, str] = {}
    for line in (folder / "modules.dep").read_text().splitlines():
        path, _, needed = line.partition(":")
        needs[path] = needed.split()
        path_of[_module(path)] = path
    built_in = {_module(p) for p in (folder / "modules.builtin").read_text().splitlines()}
    found: dict[str, None] = {}
    for name in names:
        if name in path_of:
            # modules.dep lists all dependencies; the first to be loaded is last.
            found.update(dict.fromkeys([*reversed(needs[path_of[name]]), path_of[name]]))
        elif name not in built_in and name not in _WHERE_THERE:
            raise ImageError(f"the kernel {folder.name} has no module {name}")
    return [folder / path for path in found]


def _module(path: str) -> str:
    return Path(path).name.partition(".")[0].replace("-", "_")


def _name(path: Path) -> str:
    return f"{_module(path.name)}.ko"


def _content(path: Path) -> bytes:
    """Return the decompressed module, since busybox loads no compressed one."""
    packed = path.read_bytes()
    return lzma.decompress(packed) if path.suffix == ".xz" else packed


class _Archive:
    """A cpio archive in memory. Times are 0, so that the same content gives the same archive."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._count = 0

    def add(
        self, name: str, mode: int, content: bytes = b"", device: tuple[int, int] = (0, 0)
    ) -> None:
        self._count += 1
        encoded = name.encode() + b"\0"
        fields = (
            self._count, mode, 0, 0, 1, 0, len(content), 0, 0, *device, len(encoded), 0,
        )  # fmt: skip
        header = b"070701" + b"".join(b"%08X" % field for field in fields)
        self._parts += [_padded(header + encoded), _padded(content)]

    def finished(self) -> bytes:
        self.add("TRAILER!!!", 0)
        return b"".join(self._parts)


def _padded(part: bytes) -> bytes:
    return part + b"\0" * (-len(part) % 4)
