# SPDX-License-Identifier: Apache-2.0
"""Make noise of known kind, place and length, which ends with its context.

A program takes the CPU at a real-time priority above that of pollers and below that of the probes.
For the measurement that is like a hypervisor or an interrupt storm.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_TAKE_CPU = """
import ctypes, os, signal, sys, time
ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # it ends with the program that started it
cpu, every_s, length_s, priority = int(sys.argv[1]), *map(float, sys.argv[2:5])
os.sched_setaffinity(0, {cpu})
if priority:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(int(priority)))
print("ready", flush=True)
while True:
    end = time.monotonic() + length_s
    while time.monotonic() < end:
        pass
    time.sleep(every_s)
"""


_STALL = """
import ctypes, os, signal, sys, time
ctypes.CDLL(None).prctl(1, signal.SIGKILL)
os.sched_setaffinity(0, {int(sys.argv[1])})
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(int(sys.argv[2])))
print("ready", flush=True)
for line in sys.stdin:
    end = time.monotonic() + float(line)
    while time.monotonic() < end:
        pass
"""


@contextmanager
def stalling(cpu: int, priority: int) -> Iterator[Callable[[float], None]]:
    """Yield a function that takes this CPU once, from now on for that many seconds.

    It returns at once. priority: of SCHED_FIFO.
    """
    with subprocess.Popen(
        [sys.executable, "-c", _STALL, str(cpu), str(priority)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        stdin = process.stdin
        process.stdout.readline()
        try:
            yield lambda length_s: print(length_s, file=stdin, flush=True)
        finally:
            process.kill()


@contextmanager
def taking_cpu(cpu: int, every_s: float, length_s: float, priority: int = 1) -> Iterator[None]:
    """Take this CPU for length_s, then release it for every_s, repeatedly.

    priority: of SCHED_FIFO; 0: an ordinary program, which shares the CPU with pollers.
    """
    words = [str(cpu), str(every_s), str(length_s), str(priority)]
    with subprocess.Popen(
        [sys.executable, "-c", _TAKE_CPU, *words], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield
        finally:
            process.kill()
