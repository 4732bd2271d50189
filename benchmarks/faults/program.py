# SPDX-License-Identifier: Apache-2.0
"""Disturb a host until killed: run by path, with nothing of ours.

write FILE A SECONDS B SECONDS    write A and B to a file in turns, each holds for as long
trace TID SECONDS                 stop the thread as a debugger does, and let it run, for as long
pause PID SECONDS SECONDS         stop the process by a signal, and let it run
interrupt CPU RATE                let a timer interrupt the CPU so often a second
read CPU RATE                     read a counter of the CPU from another one so often a second
refresh RATE                      let the kernel bring its memory counters up to date
mergeable MBYTES                  hold memory in which KSM looks for equal pages
flood CPU PER_MS                  send UDP packets over the loopback interface, from that CPU
pageout PID SECONDS               take program text out of a process's page tables
probe TID LIBRARY FUNCTION        trap each call of the function (uprobe)
tell SOCKET SECONDS COMMAND...    give a daemon of Open vSwitch a command
"""

import ctypes
import json
import mmap
import os
import signal
import socket
import struct
import sys
import time

_SEIZE, _INTERRUPT, _CONT = 0x4206, 0x4207, 7
_PERF_EVENT_OPEN, _PIDFD_OPEN, _PROCESS_MADVISE = 298, 434, 440
_MADV_MERGEABLE, _MADV_PAGEOUT = 12, 21
_SOFTWARE, _CPU_CLOCK, _ATTR_BYTES = 1, 0, 112

libc = ctypes.CDLL(None, use_errno=True)


def ready() -> None:
    """Tell whoever started us that the act begins."""
    print("ready", flush=True)


def _checked(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def write(path: str, *turns: str) -> None:
    ready()
    while True:
        for text, for_s in zip(turns[::2], turns[1::2], strict=True):
            with open(path, "w") as file:
                file.write(text)
            time.sleep(float(for_s))


def trace(tid: str, for_s: str) -> None:
    libc.ptrace.argtypes = [ctypes.c_long] * 4
    libc.ptrace.restype = ctypes.c_long
    _checked(libc.ptrace(_SEIZE, int(tid), 0, 0))
    ready()
    while True:
        _checked(libc.ptrace(_INTERRUPT, int(tid), 0, 0))
        os.waitpid(int(tid), 0x40000000)
        time.sleep(float(for_s))
        _checked(libc.ptrace(_CONT, int(tid), 0, 0))
        time.sleep(float(for_s))


def pause(pid: str, stopped_s: str, runs_s: str) -> None:
    ready()
    while True:
        os.kill(int(pid), signal.SIGSTOP)
        time.sleep(float(stopped_s))
        os.kill(int(pid), signal.SIGCONT)
        time.sleep(float(runs_s))


def _event(kind: int, config: int, *, pid: int, cpu: int, words: bytes = b"") -> int:
    """Return a descriptor of perf_event_open(2). words: sample_period and later attributes."""
    attributes = struct.pack("IIQ", kind, _ATTR_BYTES, config) + words
    buffer = ctypes.create_string_buffer(attributes, _ATTR_BYTES)
    return _checked(libc.syscall(_PERF_EVENT_OPEN, buffer, pid, cpu, -1, 0))


def interrupt(cpu: str, per_s: str) -> None:
    period_ns = 1_000_000_000 // int(per_s)
    _event(_SOFTWARE, _CPU_CLOCK, pid=-1, cpu=int(cpu), words=struct.pack("Q", period_ns))
    ready()
    signal.pause()


def read(cpu: str, per_s: str) -> None:
    event = _event(_SOFTWARE, _CPU_CLOCK, pid=-1, cpu=int(cpu))
    os.sched_setaffinity(0, os.sched_getaffinity(0) - {int(cpu)})
    ready()
    while True:
        for _ in range(int(per_s) // 1_000):
            os.read(event, 8)
        time.sleep(0.001)


def refresh(per_s: str) -> None:
    ready()
    while True:
        with open("/proc/sys/vm/stat_refresh") as file:
            file.read()
        time.sleep(1 / int(per_s))


def mergeable(mbytes: str) -> None:
    private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    with mmap.mmap(-1, int(mbytes) << 20, private) as memory:
        memory.madvise(_MADV_MERGEABLE)
        for _ in range(0, int(mbytes)):
            memory.write(os.urandom(1 << 20))
        ready()
        signal.pause()


def flood(cpu: str, per_ms: str) -> None:
    os.sched_setaffinity(0, {int(cpu)})
    to, source = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
    to.bind(("127.0.0.1", 0))
    source.connect(to.getsockname())
    ready()
    while True:
        for _ in range(int(per_ms)):
            source.send(b"")
        time.sleep(0.001)


def pageout(pid: str, each_s: str) -> None:
    handle = _checked(libc.syscall(_PIDFD_OPEN, int(pid), 0))
    with open(f"/proc/{pid}/maps") as file:
        texts = [line.split()[0].split("-") for line in file if " r-xp " in line and ".so" in line]
    ranges = b"".join(struct.pack("QQ", int(a, 16), int(b, 16) - int(a, 16)) for a, b in texts)
    vector = ctypes.create_string_buffer(ranges, len(ranges))
    ready()
    while True:
        _checked(libc.syscall(_PROCESS_MADVISE, handle, vector, len(texts), _MADV_PAGEOUT, 0))
        time.sleep(float(each_s))


def probe(tid: str, library: str, function: str) -> None:
    loaded = ctypes.CDLL(library)
    address = ctypes.cast(getattr(loaded, function), ctypes.c_void_p).value or 0
    path = ctypes.create_string_buffer(library.encode())
    with open("/sys/bus/event_source/devices/uprobe/type") as file:
        kind = int(file.read())
    # sample_period, sample_type, read_format, flags, wakeup_events, bp_type, config1, config2
    words = struct.pack("QQQQIIQQ", 0, 0, 0, 0, 0, 0, ctypes.addressof(path), _offset(address))
    _event(kind, 0, pid=int(tid), cpu=-1, words=words)
    ready()
    signal.pause()


def _offset(address: int) -> int:
    """Return the offset of an own address in its file."""
    with open("/proc/self/maps") as file:
        for line in file:
            within, _, offset, *_ = line.split()
            begin, end = (int(word, 16) for word in within.split("-"))
            if begin <= address < end:
                return address - begin + int(offset, 16)
    raise LookupError(f"no mapping has {address:#x}")


def tell(path: str, each_s: str, method: str, *params: str) -> None:
    question = json.dumps({"id": 0, "method": method, "params": params}).encode()
    with socket.socket(socket.AF_UNIX) as daemon:
        daemon.connect(path)
        ready()
        while True:
            daemon.sendall(question)
            answer = b""
            while not answer.endswith(b"}"):
                answer += daemon.recv(1 << 16)
            time.sleep(float(each_s))


ACTS = (write, trace, pause, interrupt, read, refresh, mergeable, flood, pageout, probe, tell)

if __name__ == "__main__":
    libc.prctl(1, signal.SIGKILL)
    kind, *words = sys.argv[1:]
    {act.__name__: act for act in ACTS}[kind](*words)
