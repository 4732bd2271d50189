# SPDX-License-Identifier: Apache-2.0
"""A program that freezes, traces or interrupts: run by path, with nothing of ours.

freeze FILE SECONDS    freeze the cgroup of that freezer.state, and thaw it, for as long each
trace TID SECONDS      stop the thread as a debugger does, and let it run, for as long each
interrupt CPU RATE     let a timer interrupt the CPU so often a second (perf_event_open)
"""

import ctypes
import os
import signal
import struct
import sys
import time

_SEIZE, _INTERRUPT, _CONT = 0x4206, 0x4207, 7
_PERF_EVENT_OPEN = 298
_SOFTWARE, _CPU_CLOCK, _ATTR_BYTES = 1, 0, 112

libc = ctypes.CDLL(None, use_errno=True)


def _checked(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def freeze(path: str, for_s: str) -> None:
    for state in ("FROZEN", "THAWED") * 1_000_000:
        with open(path, "w") as file:
            file.write(state)
        time.sleep(float(for_s))


def trace(tid: str, for_s: str) -> None:
    libc.ptrace.argtypes = [ctypes.c_long] * 4
    libc.ptrace.restype = ctypes.c_long
    _checked(libc.ptrace(_SEIZE, int(tid), 0, 0))
    while True:
        _checked(libc.ptrace(_INTERRUPT, int(tid), 0, 0))
        os.waitpid(int(tid), 0x40000000)
        time.sleep(float(for_s))
        _checked(libc.ptrace(_CONT, int(tid), 0, 0))
        time.sleep(float(for_s))


def interrupt(cpu: str, per_s: str) -> None:
    period_ns = 1_000_000_000 // int(per_s)
    attributes = struct.pack("IIQQQ", _SOFTWARE, _ATTR_BYTES, _CPU_CLOCK, period_ns, 0)
    buffer = ctypes.create_string_buffer(attributes, _ATTR_BYTES)
    _checked(libc.syscall(_PERF_EVENT_OPEN, buffer, -1, int(cpu), -1, 0))
    signal.pause()


if __name__ == "__main__":
    libc.prctl(1, signal.SIGKILL)
    kind, *words = sys.argv[1:]
    print("ready", flush=True)
    {"freeze": freeze, "trace": trace, "interrupt": interrupt}[kind](*words)
