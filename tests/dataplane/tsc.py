# SPDX-License-Identifier: Apache-2.0
"""Read the TSC in Python, to compare wsdp's times with what happened.

As a program, it keeps a CPU to itself for a while, before every ordinary thread there. It prints
the TSC at the begin and the end of that: python -m tests.dataplane.tsc CPU SECONDS
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
import time

# rdtsc; shl rdx, 32; or rax, rdx; ret
_CODE = bytes.fromhex("0f31 48c1e220 4809d0 c3")
_PAGE = mmap.mmap(-1, len(_CODE), prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
_PAGE.write(_CODE)
read_tsc = ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(ctypes.c_char.from_buffer(_PAGE)))


def occupy(cpu: int, seconds: float) -> None:
    os.sched_setaffinity(0, {cpu})
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
    begin, end_s = read_tsc(), time.monotonic() + seconds
    while time.monotonic() < end_s:
        pass
    print(begin, read_tsc())


if __name__ == "__main__":
    occupy(int(sys.argv[1]), float(sys.argv[2]))
