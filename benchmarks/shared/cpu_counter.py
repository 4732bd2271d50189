# SPDX-License-Identifier: Apache-2.0
"""Count a process's CPU use: in cycles where the machine counts them, else in nanoseconds.

Uses perf_event_open(2) on every thread that the process has now, and on those that they start. A
virtual machine often has no cycle counter; then the kernel's task clock is read in the same way.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ATTRIBUTES_BYTES = 128
NUMBER = {"x86_64": 298, "aarch64": 241}
INHERIT = 1 << 1
# (type, config) of linux/perf_event.h.
HARDWARE_CYCLES = (0, 0)
TASK_CLOCK = (1, 1)


def _open(kind: tuple[int, int], thread: int) -> int:
    """Return a counter's descriptor. Raises OSError where the machine does not have it."""
    attributes = bytearray(ATTRIBUTES_BYTES)
    struct.pack_into("=IIQ", attributes, 0, kind[0], ATTRIBUTES_BYTES, kind[1])
    struct.pack_into("=Q", attributes, 40, INHERIT)
    buffer = (ctypes.c_char * ATTRIBUTES_BYTES).from_buffer(attributes)
    libc = ctypes.CDLL(None, use_errno=True)
    number = NUMBER[platform.machine()]
    found: int = libc.syscall(number, buffer, thread, -1, ctypes.c_int(-1), ctypes.c_ulong(0))
    if found < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"perf_event_open of thread {thread}: {os.strerror(code)}")
    return found


def has_cycles() -> bool:
    """Return whether the kernel provides a cycle counter of the CPU."""
    try:
        os.close(_open(HARDWARE_CYCLES, 0))
    except OSError:
        return False
    return True


@contextmanager
def counting(pid: int, *, time: bool = False) -> Iterator[Callable[[], int]]:
    """Yield a function that returns cycles, or ns of CPU time, since the start; user and kernel.

    time: count ns also where the machine counts cycles.
    """
    kind = HARDWARE_CYCLES if has_cycles() and not time else TASK_CLOCK
    threads = [int(path.name) for path in Path(f"/proc/{pid}/task").iterdir()]
    counters = [_open(kind, thread) for thread in threads]
    try:
        yield lambda: sum(int.from_bytes(os.read(counter, 8), "little") for counter in counters)
    finally:
        for counter in counters:
            os.close(counter)
