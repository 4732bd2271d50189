# SPDX-License-Identifier: Apache-2.0
"""Make a guest's disk: one sector that the BIOS starts. It prints a line and halts.

The line goes to the serial port. A kernel would take minutes under nested emulation, and would show
nothing more about the placement of threads, memory and ports.
"""

SAYS = "wirespeed: the guest runs"
_LOADED_AT, _SIZE = 0x7C00, 512
# 16-bit: character by character to the first serial port by BIOS call 14h, then hlt for ever.
_BEFORE_TEXT = "31c0 8ed8 be{text} fc ac 84c0 7408 31d2 b401 cd14 ebf3 f4 ebfd"
_MARK = b"\x55\xaa"


def boot_sector() -> bytes:
    size = len(bytes.fromhex(_BEFORE_TEXT.format(text="0000")))
    address = (_LOADED_AT + size).to_bytes(2, "little").hex()
    program = bytes.fromhex(_BEFORE_TEXT.format(text=address)) + f"{SAYS}\r\n\0".encode()
    return program.ljust(_SIZE - len(_MARK), b"\0") + _MARK
