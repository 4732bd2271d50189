# SPDX-License-Identifier: Apache-2.0
"""Start a sampler on the CPUs that do not poll, and read its frames."""

from __future__ import annotations

import fcntl
import json
import os
import select
import subprocess
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO

from wirespeed.kpi.frames import Frame, parsed
from wirespeed.kpi.sampler import REST, TRAFFIC
from wirespeed.model.cpuset import parse_list
from wirespeed.model.host.installed import own_module
from wirespeed.remote.agent import in_child
from wirespeed.remote.interface import Runner
from wirespeed.sources.scheduler import all_pollers, allowed_cpus

_ISOLATED = "/sys/devices/system/cpu/isolated"
_ONLINE = "/sys/devices/system/cpu/online"
# About the octets of a layout of 100,000 series.
_LINE_MAX = 16 << 20
_END_S = 5.0
_PIPE = 1 << 20


@dataclass(frozen=True, slots=True)
class Seat:
    """CPUs on which a sampler runs."""

    cpus: tuple[int, ...]
    """CPUs of this machine; none means any."""
    sparse: bool
    """Every CPU of the host that is read polls, so that a read stops a polling thread."""
    polled: bool
    """Threads poll there now."""


def seat_on(runner: Runner, polled: Collection[int] = (), *, local: bool = True) -> Seat:
    """Return the CPUs of a host that neither poll nor are isolated.

    polled: CPUs that are going to poll; those that poll now are added. local: the sampler runs
    there itself.
    """
    files = runner.read_many([_ONLINE, _ISOLATED])
    online, isolated = (
        set(parse_list(text.strip())) if isinstance(text := files[path], str) else set()
        for path in (_ONLINE, _ISOLATED)
    )
    busy = _polling_now(runner)
    free = online - isolated - busy - set(polled)
    usable = free & os.sched_getaffinity(0) if local else set()
    return Seat(tuple(sorted(usable)), sparse=not free, polled=bool(busy))


def _polling_now(runner: Runner) -> set[int]:
    """Return the CPUs that polling threads are pinned to."""
    paths = [f"/proc/{t.tid}/task/{t.tid}/status" for _, t in all_pollers(runner)]
    pinned = (
        allowed_cpus(text) for text in runner.read_many(paths).values() if isinstance(text, str)
    )
    return {cpu for cpus in pinned for cpu in cpus if len(cpus) == 1}


class Sampler:
    """A running sampler. It ends with this process, for any reason."""

    def __init__(self, address: str, names: Sequence[str], rate_hz: float, seat: Seat) -> None:
        words = {
            "address": address, "names": list(names), "rate_hz": rate_hz,
            "sparse": seat.sparse, "polled": seat.polled,
        }  # fmt: skip
        self._popen = subprocess.Popen(
            [*own_module("wirespeed.kpi.sampler"), json.dumps(words)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            preexec_fn=in_child(os.getpid(), frozenset(seat.cpus)),  # noqa: PLW1509
        )
        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        self._stdin: IO[bytes] = self._popen.stdin
        self._stdout: IO[bytes] = self._popen.stdout
        os.set_blocking(self._stdout.fileno(), False)
        # A second of 2,000 series at 50 Hz.
        fcntl.fcntl(self._stdout.fileno(), fcntl.F_SETPIPE_SZ, _PIPE)
        self._received = b""

    @property
    def pid(self) -> int:
        return self._popen.pid

    @property
    def ended(self) -> int | None:
        """Exit code of a sampler that ended; None while it runs."""
        return self._popen.poll()

    def frames(self) -> Iterator[Frame]:
        """Yield the frames that have come; does not wait. Raises KpiError for another text."""
        while piece := self._read():
            *lines, self._received = (self._received + piece).split(b"\n")
            for line in lines:
                yield parsed(line)
            if len(self._received) > _LINE_MAX:
                self._received = b""
                yield parsed(b"")

    def _read(self) -> bytes:
        return self._stdout.read(1 << 16) or b""

    def tell(self, *, traffic: bool) -> None:
        """Tell that frames flow from now on, or no more."""
        with suppress(OSError):  # it has ended, which the caller sees by `ended`
            self._stdin.write(f"{TRAFFIC if traffic else REST}\n".encode())
            self._stdin.flush()

    def end(self) -> Iterator[Frame]:
        """End it; yield the frames that it had still to say."""
        with suppress(OSError):
            self._stdin.close()
        while select.select([self._stdout], [], [], _END_S)[0]:
            before = self.ended is not None
            yield from self.frames()
            if before:
                break
        if self.ended is None:
            self._popen.kill()
        self._popen.wait()
        self._stdout.close()
