# SPDX-License-Identifier: Apache-2.0
"""Test that the first root has the modules that reach the disk, in loading order."""

from __future__ import annotations

import lzma
import struct
from pathlib import Path

import pytest

from wirespeed.image.errors import ImageError
from wirespeed.image.initramfs import initramfs
from wirespeed.image.kernel import unpacked

VERSION = "6.1.0-1-amd64"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a root: virtio_blk needs two modules, one of which needs the other; overlay is xz."""
    folder = tmp_path / "lib" / "modules" / VERSION
    (folder / "kernel").mkdir(parents=True)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "busybox").write_bytes(b"busybox")
    for name in ("virtio_pci", "virtio_ring", "virtio", "virtio_blk", "squashfs"):
        (folder / "kernel" / f"{name.replace('_', '-')}.ko").write_text(name)
    (folder / "kernel" / "overlay.ko.xz").write_bytes(lzma.compress(b"overlay"))
    (folder / "modules.dep").write_text(
        "kernel/virtio-pci.ko: kernel/virtio-ring.ko kernel/virtio.ko\n"
        "kernel/virtio-ring.ko:\n"
        "kernel/virtio.ko: kernel/virtio-ring.ko\n"
        "kernel/virtio-blk.ko: kernel/virtio.ko kernel/virtio-ring.ko\n"
        "kernel/squashfs.ko:\n"
        "kernel/overlay.ko.xz:\n"
    )
    (folder / "modules.builtin").write_text("kernel/fs/ext4/ext4.ko\n")
    return tmp_path


def test_each_module_comes_after_what_it_needs_and_unpacked(root: Path) -> None:
    files = entries(initramfs(root, VERSION, b"#!/bin/busybox sh\n"))
    listed = files["modules"].decode().split()
    assert set(listed) == {
        "/virtio.ko", "/virtio_ring.ko", "/virtio_pci.ko", "/virtio_blk.ko", "/squashfs.ko",
        "/overlay.ko",
    }  # fmt: skip
    assert listed.index("/virtio.ko") < listed.index("/virtio_blk.ko")
    assert files["overlay.ko"] == b"overlay"
    assert files["init"] == b"#!/bin/busybox sh\n"
    assert files["bin/busybox"] == b"busybox"


def test_a_kernel_that_cannot_reach_the_disk_is_refused(root: Path) -> None:
    builtin = root / "lib" / "modules" / VERSION / "modules.builtin"
    builtin.write_text("")
    with pytest.raises(ImageError, match=f"the kernel {VERSION} has no module ext4"):
        initramfs(root, VERSION, b"")


def test_a_kernel_packed_with_xz_is_unpacked_and_no_other() -> None:
    elf = b"\x7fELF" + bytes(1000)
    packed = bz_image(lzma.compress(elf) + struct.pack("<I", len(elf)))
    assert unpacked(packed) == elf
    other = bz_image(b"\x02!L\x18 packed with lz4")
    assert unpacked(other) == other
    with pytest.raises(ImageError, match="no bzImage"):
        unpacked(bytes(4096))


def bz_image(payload: bytes) -> bytes:
    header = bytearray(3 * 512)
    header[0x1F1] = 2
    header[0x202:0x206] = b"HdrS"
    struct.pack_into("<II", header, 0x248, 16, len(payload))
    return bytes(header) + bytes(16) + payload + bytes(100)


def entries(archive: bytes) -> dict[str, bytes]:
    """Return the content by name of a newc archive, as the kernel reads it."""
    found: dict[str, bytes] = {}
    at = 0
    while True:
        assert archive[at : at + 6] == b"070701"
        fields = [int(archive[at + 6 + 8 * i :][:8], 16) for i in range(13)]
        size, length = fields[6], fields[11]
        name = archive[at + 110 : at + 110 + length - 1].decode()
        begin = at + 110 + length
        begin += -begin % 4
        if name == "TRAILER!!!":
            return found
        found[name] = archive[begin : begin + size]
        at = begin + size
        at += -at % 4
