# SPDX-License-Identifier: Apache-2.0
"""Run the bench's own Open vSwitch with DPDK: own database, sockets, logs, run directory.

The system's Open vSwitch, if one runs, is neither used nor changed.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence

from wirespeed.bench.host.process import last_words
from wirespeed.bench.interface import BenchError, Busy, GapLog, HopCount, Poller
from wirespeed.bench.switch.interface import SwitchSetup
from wirespeed.bench.switch.ovs_dpdk import counters, factors, settings
from wirespeed.bench.switch.ovs_dpdk.bonds import Bond, not_ready
from wirespeed.bench.switch.ovs_dpdk.bridges import add_bridges_command
from wirespeed.bench.switch.ovs_dpdk.control import Control
from wirespeed.bench.switch.ovs_dpdk.instance import Instance
from wirespeed.bench.switch.ovs_dpdk.ports import SwitchPort, add_ports_command, veth_interfaces
from wirespeed.bench.switch.ovs_dpdk.programs import Programs
from wirespeed.bench.switch.ovs_dpdk.reading import CounterReader
from wirespeed.bench.switch.veth.polled import veth_counts
from wirespeed.remote.interface import Process
from wirespeed.sources.pmd_rxq import parse_pmd_rxq_show
from wirespeed.sources.scheduler import Thread, on_cpu_ns, pollers_of


class OvsDpdk:
    """The vSwitch of a bench, or the partner of its bonds."""

    unwatched = None

    def __init__(self, setup: SwitchSetup, instance: Instance) -> None:
        self._host, self._plan, self._instance = setup.host, instance.plan, instance
        self._ports, self._factors = instance.ports, setup.wanted.ovs
        self.name, self.hop = instance.name, instance.hop
        self.bridges, self.bonds = instance.bridges, instance.bonds
        self._unplugged = [port for port in self._ports if port.peer_serves]
        dirs = setup.dirs
        self.control = Control(setup.host.runner, instance.run_dir(dirs.run), f"ws{dirs.tag}")
        self._pollers: tuple[Poller, ...] = ()
        counts = veth_counts(setup, veth_interfaces(self._ports))
        self._counters = CounterReader(self.control, instance, counts)
        self._programs = Programs(setup, instance, self.control)

    def up(self) -> None:
        self._programs.start()
        if self.bridges:
            self.control.vsctl(*add_bridges_command(self.bridges))
        for bond in self.bonds:
            self.control.vsctl(*bond.add_command(self._plan.mtu.value, self._pinned()))
            self.control.ofctl("add-flows", "-", stdin=bond.rules, bridge=bond.bridge)
        self._add_ports([port for port in self._ports if not port.peer_serves])
        for bond in self.bonds:
            self._check_made([bond.inner, *bond.port.members])
        for bridge, lines in zip(self.bridges, self._instance.rules, strict=True):
            self.control.ofctl("add-flows", "-", stdin=lines, bridge=bridge.name)

    def waits_for(self) -> str | None:
        """Return what is missing until functions are connected and all queues are polled.

        Open vSwitch checks the link of a DPDK port only every 5 s. The generator finds out whether
        frames pass by sending some.
        """
        self._plug_in()
        if self._unplugged:
            return f"the sockets of {sorted(port.name for port in self._unplugged)}"
        # The main thread, not a PMD thread, serves kernel interfaces.
        polled = [p for port in self._ports for p in port.links if p.polled]
        queues = {(p.name, q) for p in polled for q in range(self._plan.rx_queues.value)}
        if unpolled := queues - self._polled():
            return f"PMD threads to poll {sorted(unpolled)}"
        names = {port.name for port in self._ports if port.peer_serves}
        if names and (unlinked := names - self._linked()):
            return f"links on {sorted(unlinked)}"
        return next(filter(None, map(self._bond_waits_for, self.bonds)), None)

    def _bond_waits_for(self, bond: Bond) -> str | None:
        """Return what the bond waits for: link state within 5 s, then LACP within 5 s more."""
        lacp = self.control.ask("lacp/show", bond.name) if bond.uses_lacp else ""
        return not_ready(bond, self.control.ask("bond/show", bond.name), lacp)

    def _plug_in(self) -> None:
        """Add the ports whose sockets others serve, as these sockets appear.

        DPDK's vhost library retries an early connection only once a second. A program with several
        such sockets makes the next only when the previous is connected.
        """
        there = self._host.runner.glob(*(port.socket for port in self._unplugged))
        appeared = [port for port in self._unplugged if port.socket in there]
        if appeared:
            self._unplugged = [port for port in self._unplugged if port not in appeared]
            self._add_ports(appeared)

    def alive(self) -> str | None:
        return self._programs.alive()

    @property
    def processes(self) -> tuple[Process, ...]:
        return self._programs.processes

    @property
    def programs(self) -> tuple[int, ...]:
        return tuple(process.pid for process in self.processes)

    def begin(self) -> None:
        """Do nothing: all counts are cumulative."""

    def read(self) -> tuple[HopCount, ...]:
        return (self._counters.read(),)

    def pollers(self) -> tuple[Poller, ...]:
        """Return the forwarding threads. Open vSwitch does not record the times of their polls.

        It starts other threads when its CPUs are changed.
        """
        lasting = self._host.runner.glob(*(f"/proc/{poller.tid}" for poller in self._pollers))
        if not self._pollers or len(lasting) < len(self._pollers):
            pid = self._programs.daemon.pid
            found = pollers_of(self._host.runner, pid)
            if any(not port.polled for port in self._ports):
                found = (*found, Thread(pid, _MAIN_THREAD))
            self._pollers = tuple(
                Poller(t.tid, t.name, self._instance.role, timed=False, sleeps=self._sleeps(t))
                for t in found
            )
        return self._pollers

    def _sleeps(self, thread: Thread) -> bool:
        """Return whether the thread sleeps without frames, as the main thread always does."""
        set_to = factors.sleeps(1).keys() & self._instance.settings.keys()
        return thread.name == _MAIN_THREAD or bool(self._factors.pmd_max_sleep_us or set_to)

    def gap_logs(self) -> tuple[GapLog, ...]:
        return ()

    def busy(self) -> Mapping[int, Busy]:
        """Return processing and total cycles of PMD threads.

        A main thread that forwards sleeps without frames: its value is CPU time in ns.
        """
        by_core = counters.busy_by_core(self.control.ask("dpif-netdev/pmd-stats-show"))
        pollers = self.pollers()
        found = {
            poller.tid: by_core[int(core[1])]
            for poller in pollers
            if (core := _PMD_NAME.match(poller.name)) and int(core[1]) in by_core
        }
        mains = [poller.tid for poller in pollers if poller.name == _MAIN_THREAD]
        ran = {tid: on_cpu_ns(self._host.runner, tid) for tid in mains}
        return found | {tid: Busy(ns, time.monotonic_ns()) for tid, ns in ran.items()}

    def settings(self) -> Mapping[str, str]:
        """Return its settings; see noise.settings.Configured."""
        return settings.settings(self.control, self._counters.bridges, self.name)

    def down(self) -> None:
        self._programs.stop()

    def describe(self) -> dict[str, object]:
        [row] = self.control.rows(
            "Open_vSwitch", "ovs_version", "dpdk_version", "other_config", "db_version"
        )
        return {
            "version": self.control.ask("version").strip(),
            "dpdk_version": row["dpdk_version"],
            "other_config": dict(row["other_config"][1]),
            "ports": [f"{p.name}: {p.kind} {dict(p.options)}" for p in self._ports],
            "flows": [line for lines in self._instance.rules for line in lines.splitlines()],
            "bonds": [self.control.ask("bond/show", bond.name) for bond in self.bonds],
            "pmd_rxq": self.control.ask("dpif-netdev/pmd-rxq-show").splitlines(),
        }

    def _add_ports(self, ports: Sequence[SwitchPort]) -> None:
        words: list[str] = []
        added: list[SwitchPort] = []
        for bridge in self.bridges:
            if here := [port for port in ports if port in bridge.ports]:
                mtu = self._plan.mtu.value
                words += ["--", *add_ports_command(bridge.name, here, mtu, self._pinned())]
                added += here
        if added:
            self.control.vsctl(*words[1:])
            self._check_made(added)

    def _pinned(self) -> Mapping[str, str]:
        return factors.affinities(
            self._factors, self._ports, self._plan.pmd_cpus.value, self._plan.rx_queues.value
        )

    def _check_made(self, ports: Sequence[SwitchPort]) -> None:
        wanted = {port.name: port.number for port in ports}
        made = {
            row["name"]: row["error"] if row["error"] != ["set", []] else row["ofport"]
            for row in self.control.rows("Interface", "name", "ofport", "error")
        }
        failed = {name: made.get(name) for name, n in wanted.items() if made.get(name) != n}
        if failed:
            raise BenchError(
                f"Open vSwitch could not make the ports {failed}: "
                + last_words(self._host.runner, self._programs.log)
            )

    def _polled(self) -> set[tuple[str, int]]:
        """Return the queues that PMD threads poll, from pmd-rxq-show."""
        shown = self.control.ask("dpif-netdev/pmd-rxq-show")
        queues = (rxq for pmd in parse_pmd_rxq_show(shown) for rxq in pmd.rxqs if rxq.enabled)
        return {(rxq.port, rxq.queue) for rxq in queues}

    def _linked(self) -> set[str]:
        rows = self.control.rows("Interface", "name", "link_state")
        return {row["name"] for row in rows if row["link_state"] == "up"}


_MAIN_THREAD = "main thread"
# lib/dpif-netdev.c names PMD threads by their CPU: "pmd-c01/id:8".
_PMD_NAME = re.compile(r"pmd-c(\d+)/")
