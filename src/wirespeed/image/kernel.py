# SPDX-License-Identifier: Apache-2.0
"""Convert a kernel to the form that an emulated CPU starts fastest: not compressed with xz.

A bzImage contains the kernel as a compressed ELF file and a program that unpacks it. An emulated
CPU takes many seconds to unpack xz. QEMU starts the ELF file itself (x86/HVM direct boot,
CONFIG_PVH). Offsets: Documentation/arch/x86/boot.rst, "The Real-Mode Kernel Header".
"""

from __future__ import annotations

import lzma
import struct

from wirespeed.image.errors import ImageError

_SETUP_SECTORS, _MAGIC_AT, _PAYLOAD_AT = 0x1F1, 0x202, 0x248
_SECTOR = 512
_XZ, _ELF = b"\xfd7zXZ\0", b"\x7fELF"


def unpacked(image: bytes) -> bytes:
    """Return the ELF file of a bzImage compressed with xz; any other bzImage unchanged.

    Raises ImageError.
    """
    if image[_MAGIC_AT : _MAGIC_AT + 4] != b"HdrS":
        raise ImageError("the kernel package has no bzImage")
    protected = ((image[_SETUP_SECTORS] or 4) + 1) * _SECTOR
    offset, length = struct.unpack_from("<II", image, _PAYLOAD_AT)
    payload = image[protected + offset :][:length]
    if not payload.startswith(_XZ):
        return image
    elf = lzma.LZMADecompressor().decompress(payload)
    if not elf.startswith(_ELF):
        raise ImageError("the kernel package has a bzImage without an ELF file")
    return elf
