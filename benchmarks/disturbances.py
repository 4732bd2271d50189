# SPDX-License-Identifier: Apache-2.0
"""Disturbances on purpose, of known kind, place and length. Each ends with its context.

A program takes the CPU at a real-time priority above that of pollers and below that of the probes:
for the measurement that is like a hypervisor or an interrupt storm.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
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


@contextmanager
def taking_cpu(cpu: int, every_s: float, length_s: float, priority: int = 1) -> Iterator[None]:
    """Something takes this CPU for length_s, then leaves it alone for every_s, again and again.

    priority: of SCHED_FIFO; 0: an ordinary program, which pollers have to share the CPU with.
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
