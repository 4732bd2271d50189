# SPDX-License-Identifier: Apache-2.0
"""Run a guest with a network function as a component of a bench.

The function is a component of its own, which runs in the guest as on any host. From outside, only
the guest's vCPU threads are visible.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TypeVar

from wirespeed.bench.guest import inside, monitor, pins
from wirespeed.bench.guest.interface import Guests
from wirespeed.bench.guest.overlay import Boot, DomainChange, GuestPort, Offer, overlaid
from wirespeed.bench.guest.process import GuestProcess
from wirespeed.bench.host.directories import Directories, run_directories
from wirespeed.bench.host.host import Host
from wirespeed.bench.interface import BenchError, Busy, GapLog, HopCount, Part, Poller
from wirespeed.bench.noise.settings import Configured
from wirespeed.image.access import over_socket
from wirespeed.image.machine import KERNEL_ARGUMENTS, ROOT_SERIAL
from wirespeed.model.cpuset import parse_list
from wirespeed.model.errors import WirespeedError
from wirespeed.model.plan.plan import GuestPlan
from wirespeed.remote.interface import HostUnreachable, Process, Runner
from wirespeed.remote.ssh import SshRunner

# Time from start to first answer, by emulation. An emulated guest takes 10 s on idle CPUs; here the
# CPUs are shared with polling threads.
BOOT_S = {True: 300.0, False: 60.0}
_PATIENCE = {True: 8.0, False: 1.0}
_READY = "wirespeed-guest: ready"

Answer = TypeVar("Answer")
# Builds the function's component in the guest, from its host, its directories and its NICs' PCI
# addresses by MAC address.
Inner = Callable[[Host, Directories, Mapping[str, str]], Part]


@dataclass(frozen=True, slots=True)
class GuestSetup:
    """One guest."""

    plan: GuestPlan
    guests: Guests
    ports: Mapping[str, GuestPort]
    """Attachments of its NICs, by MAC address."""
    namespace: str | None = None
    """Network namespace of its taps."""


class Guest:
    """A guest as a component of a bench, built by placement/guest.py."""

    unwatched = (
        "what stops a function's threads inside a guest is not seen, except that the guest's vCPU "
        "threads are stopped"
    )

    def __init__(self, host: Host, dirs: Directories, setup: GuestSetup, inner: Inner) -> None:
        self._host, self._dirs, self._setup, self._make = host, dirs, setup, inner
        self._process = GuestProcess(self.name, host, dirs, setup.namespace)
        self._domain = ""
        self._changes: tuple[DomainChange, ...] = ()
        self._runner: SshRunner | None = None
        self._inner: Part | None = None
        self._inside: tuple[Runner, PurePosixPath] | None = None
        self._pollers: tuple[Poller, ...] = ()
        self._within = ExitStack()
        self._started_s = 0.0

    @property
    def name(self) -> str:
        return self._setup.plan.name

    @property
    def emulated(self) -> bool:
        return self._setup.guests.no_kvm is not None

    @property
    def pid(self) -> int:
        """PID of its QEMU. Raises BenchError where none runs."""
        pid = self._process.pid()
        if pid is None:
            raise BenchError(f"guest {self.name} has no QEMU yet")
        return pid

    @property
    def inside(self) -> tuple[Runner, PurePosixPath]:
        """Return access to the guest; see placement.RunsInside.

        Raises BenchError before it has booted.
        """
        if self._inside is None:
            raise BenchError(f"guest {self.name} has not booted")
        return self._inside

    def up(self) -> None:
        guests, run = self._setup.guests, self._dirs.run
        socket = run / f"{self.name}.control"
        keys = Path(self._process.root) / "keys"
        self._process.prepare()
        access = over_socket(self._host.runner, keys, self.name, Path(socket))
        given = {name: str(path) for name, path in access.fw_cfg.items()}
        image = guests.image
        boot = Boot(image.kernel, image.initrd, image.root, KERNEL_ARGUMENTS, ROOT_SERIAL, given)
        offer = Offer(guests.no_kvm, _cpus(self._host), boot, self._setup.ports, str(socket),
                      self._monitor, self._process.console)  # fmt: skip
        self._domain, self._changes = overlaid(guests.domains[self.name], offer)
        self._runner = SshRunner(access.target, name=self.name, patience=_PATIENCE[self.emulated])
        self._within.callback(self._runner.close)
        self._started_s = time.monotonic()
        self._process.start(self._domain)

    def waits_for(self) -> str | None:
        if self._inner is None:
            if self._process.pid() is None:
                return self._late("libvirt to start its QEMU")
            if _READY not in self._host.runner.read(self._process.console):
                return self._late("its guest to boot")
            self._inner = self._furnished()
            self._inner.up()
        return self._inner.waits_for()

    def _late(self, what: str) -> str:
        """Report what is awaited. Raises BenchError when the wait is too long."""
        limit_s = BOOT_S[self.emulated]
        if time.monotonic() - self._started_s > limit_s:
            raise BenchError(
                f"guest {self.name} has not booted within {limit_s:g} s; its console's last lines: "
                f"{self._process.last_lines()}",
                "Emulated guests are slow on busy CPUs; a guest that hangs says here where.",
            )
        return what

    def _furnished(self) -> Part:
        """Build the function in the guest, which has just booted."""
        runner, memory = self._runner, self._setup.plan.process
        assert runner is not None
        threads = pins.threads_of(self._host.runner, self.pid)
        pins.check_pins(self.name, pins.pins_of(self._domain), threads)
        polling = set(range(self._setup.plan.vcpus)) - {0} or {0}
        self._pollers = tuple(
            Poller(each.tid, f"{self.name}/vcpu{each.vcpu}", "sut", timed=False)
            for each in threads
            if each.vcpu in polling
        )
        host = inside.guest_host(runner, self._host.state_dir)
        found = inside.nics(runner, self._setup.ports)
        if memory is not None:
            inside.give_to_dpdk(runner, found.values())
            inside.reserve(host, memory.value)
        logs = Path(self._dirs.log) / self.name
        dirs = self._within.enter_context(run_directories(host, logs))
        self._inside = runner, dirs.run
        return self._make(host, dirs, found)

    def alive(self) -> str | None:
        if (ended := self._process.ended()) is not None:
            return ended
        try:
            return None if self._inner is None else self._inner.alive()
        except HostUnreachable as fault:
            return self._silent(fault)

    def _silent(self, fault: WirespeedError) -> str:
        lines = self._process.last_lines()
        return (
            self._process.ended()
            or f"guest {self.name} does not answer: {fault.what}; its console's last lines: {lines}"
        )

    @property
    def processes(self) -> tuple[Process, ...]:
        within = () if self._inner is None else self._inner.processes
        return (*self._process.processes, *within)

    @property
    def programs(self) -> tuple[int, ...]:
        """QEMU, of which nothing here is the parent, and what started and watches it."""
        pid = self._process.pid()
        own = tuple(process.pid for process in self._process.processes)
        return own if pid is None else (pid, *own)

    def begin(self) -> None:
        self._asked(lambda inner: inner.begin())

    def read(self) -> tuple[HopCount, ...]:
        return self._asked(lambda inner: inner.read())

    def _asked(self, question: Callable[[Part], Answer]) -> Answer:
        """Query the function. Raises BenchError that names the guest if there is no answer."""
        assert self._inner is not None
        try:
            return question(self._inner)
        except (OSError, WirespeedError) as fault:
            ended = self._process.ended()
            if ended is None and not isinstance(fault, HostUnreachable):
                raise
            what = fault if isinstance(fault, WirespeedError) else BenchError(str(fault))
            raise BenchError(ended or self._silent(what)) from fault

    def pollers(self) -> tuple[Poller, ...]:
        """Return the vCPU threads that the function polls on."""
        return self._pollers

    def gap_logs(self) -> tuple[GapLog, ...]:
        """Return nothing: the guest's clock is not the host's."""
        return ()

    def busy(self) -> Mapping[int, Busy]:
        """Return nothing: a polling guest keeps its vCPU threads busy with or without frames."""
        return {}

    @property
    def _monitor(self) -> str:
        return str(self._dirs.run / f"{self.name}.monitor")

    def settings(self) -> Mapping[str, str]:
        """Return what QEMU and the function in the guest tell; see noise.settings.Configured.

        An emulated guest answers too slowly to be asked after each trial.
        """
        told = monitor.settings(self._host.runner, self._monitor)
        found = {f"{self.name}/QEMU: {what}": value for what, value in told.items()}
        if not self.emulated and isinstance(self._inner, Configured):
            inside = self._inner.settings
            found |= self._asked(lambda _: inside())
        return found

    def down(self) -> None:
        with suppress(WirespeedError, OSError):
            if self._inner is not None and self._process.ended() is None:
                self._inner.down()
        with suppress(WirespeedError, OSError):
            self._within.close()
        self._process.stop()

    def describe(self) -> Mapping[str, object]:
        no_kvm = self._setup.guests.no_kvm
        return {
            **(self._inner.describe() if self._inner is not None else {}),
            "accelerator": "kvm" if no_kvm is None else f"tcg ({no_kvm})",
            "domain_changes": [str(change) for change in self._changes],
        }


def _cpus(host: Host) -> tuple[int, ...]:
    """Return the CPUs that are online."""
    return parse_list(host.runner.read("/sys/devices/system/cpu/online"))
