# SPDX-License-Identifier: Apache-2.0
"""A program that takes a CPU, or the bandwidth of memory: run by path, with nothing of ours.

Arguments: CPU, share of the time, period in seconds, MiB that it copies back and forth (0: none).
It is stopped until it gets SIGCONT, and ends with the program that started it.
"""

import ctypes
import os
import signal
import sys
import time


def main() -> None:
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    cpu, share, period_s, mib = int(sys.argv[1]), *map(float, sys.argv[2:5])
    os.sched_setaffinity(0, {cpu})
    # Above pollers, which are ordinary programs of whatever nice value.
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    size = int(mib) << 20
    block, other = bytearray(size), bytearray(size)
    print("ready", flush=True)
    os.kill(os.getpid(), signal.SIGSTOP)
    while True:
        begin = time.monotonic()
        while time.monotonic() - begin < share * period_s:
            if size:
                other[:] = block
        time.sleep((1 - share) * period_s)


main()
