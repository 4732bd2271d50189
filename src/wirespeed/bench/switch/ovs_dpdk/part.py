# SPDX-License-Identifier: Apache-2.0
"""An Open vSwitch of our own, with DPDK: its own database, sockets, logs and run directory.

The system's Open vSwitch, if one runs, is neither used nor touched.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from wirespeed.bench.host.network import inside
from wirespeed.bench.host.network_changes import InterfaceMade
from wirespeed.bench.host.process import Daemon, await_true, last_words
from wirespeed.bench.interface import BenchError, Busy, GapLog, HopCount, Poller
from wirespeed.bench.noise.scheduler import pollers_of
from wirespeed.bench.program import dpdk
from wirespeed.bench.switch.interface import SwitchSetup
from wirespeed.bench.switch.ovs_dpdk import counters, factors
from wirespeed.bench.switch.ovs_dpdk.bonds import Bond, not_ready
from wirespeed.bench.switch.ovs_dpdk.bridges import Bridge, add_bridges_command
from wirespeed.bench.switch.ovs_dpdk.control import Control
from wirespeed.bench.switch.ovs_dpdk.ports import SwitchPort, add_ports_command
from wirespeed.bench.switch.ovs_dpdk.reading import CounterReader
from wirespeed.bench.topology.plugs import Interface
from wirespeed.bench.topology.wiring import PARTNER, SWITCH
from wirespeed.model.cpuset import format_mask
from wirespeed.model.lab import is_pci
from wirespeed.model.plan import VswitchPlan
from wirespeed.remote.interface import Process

_SCHEMA = "/usr/share/openvswitch/vswitch.ovsschema"
# Debian keeps the DPDK build beside the plain one; other systems have one that does both.
_DAEMONS = ("/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk", "/usr/sbin/ovs-vswitchd")
_START_S = 60.0
_DATAPATH = "ovs-netdev"
# Datapath flows that are idle this long are removed; they should outlast a pause between trials.
_MAX_IDLE_MS = 600_000


@dataclass(frozen=True, slots=True)
class Instance:
    """One of the Open vSwitches of a bench. hop, role: which it is to frames and to its watchers.
    bridges, rules: see bridges.py. plan: its CPUs and memory."""

    plan: VswitchPlan
    ports: tuple[SwitchPort, ...]
    bridges: tuple[Bridge, ...] = ()
    rules: tuple[str, ...] = ()
    bonds: tuple[Bond, ...] = ()
    name: str = "Open vSwitch"
    hop: str = SWITCH
    role: str = "sut"


class OvsDpdk:
    """The vSwitch part of a bench, or the partner of its bonds."""

    unwatched = None

    def __init__(
        self,
        setup: SwitchSetup,
        instance: Instance,
        *,
        namespace: str | None = None,
        tso: bool = False,
    ) -> None:
        """namespace: the network namespace whose interfaces are its ports of type system."""
        host, dirs = setup.host, setup.dirs
        self._namespace, self._tso = namespace, tso
        # Interfaces of the kernel can be used where they are.
        self._on_host = any(isinstance(plug, Interface) for plug in setup.uplinks.values())
        self._host, self._dirs, self._plan = host, dirs, instance.plan
        self._ports, self._instance = instance.ports, instance
        self.name, self.hop = instance.name, instance.hop
        self.bridges, self.bonds = instance.bridges, instance.bonds
        self._factors = setup.wanted.ovs
        self._unplugged = [port for port in self._ports if port.peer_serves]
        # Sockets and logs of two instances lie side by side.
        second = "" if instance.hop == SWITCH else f"-{instance.hop}"
        self._prefix = f"ovs{dirs.tag}{second[:2]}"
        self.control = Control(host.runner, run_dir_of(dirs.run, instance.hop), f"ws{dirs.tag}")
        self._pollers: tuple[Poller, ...] = ()
        self._counters = CounterReader(
            instance.hop, self.control, self._ports, [b.name for b in self.bridges], self.bonds
        )
        self._database = Daemon(f"ovsdb-server{second}", host, dirs)
        self._daemon = Daemon(f"ovs-vswitchd{second}", host, dirs)

    def up(self) -> None:
        self._start_database()
        self._start_daemon()
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
        """Every network function is connected, and every queue is polled.

        Of a DPDK port Open vSwitch looks at the link only every 5 s; whether it passes frames, the
        generator finds out by sending some.
        """
        self._plug_in()
        if self._unplugged:
            return f"the sockets of {sorted(port.name for port in self._unplugged)}"
        # Its main thread, not a PMD thread, serves the interfaces of the kernel.
        polled = [p for port in self._ports for p in port.links if p.kind != "system"]
        queues = {(p.name, q) for p in polled for q in range(self._plan.rx_queues.value)}
        if unpolled := queues - self._polled():
            return f"PMD threads to poll {sorted(unpolled)}"
        names = {port.name for port in self._ports if port.peer_serves}
        if names and (unlinked := names - self._linked()):
            return f"links on {sorted(unlinked)}"
        return next(filter(None, map(self._bond_waits_for, self.bonds)), None)

    def _bond_waits_for(self, bond: Bond) -> str | None:
        """Of a link that has come up Open vSwitch knows within 5 s; LACP agrees in another one."""
        lacp = self.control.ask("lacp/show", bond.name) if bond.uses_lacp else ""
        return not_ready(bond, self.control.ask("bond/show", bond.name), lacp)

    def _plug_in(self) -> None:
        """Make the ports whose sockets others serve, as these appear.

        Asked to connect before that, DPDK's vhost library tries again only once a second, and a
        program with several such sockets makes one only when the one before is connected.
        """
        there = self._host.runner.glob(*(port.socket for port in self._unplugged))
        appeared = [port for port in self._unplugged if port.socket in there]
        if appeared:
            self._unplugged = [port for port in self._unplugged if port not in appeared]
            self._add_ports(appeared)

    def alive(self) -> str | None:
        return self._daemon.ended() or self._database.ended()

    @property
    def processes(self) -> tuple[Process, ...]:
        return (*self._daemon.processes, *self._database.processes)

    def begin(self) -> None:
        """All its counts add up."""

    def read(self) -> tuple[HopCount, ...]:
        return (self._counters.read(),)

    def pollers(self) -> tuple[Poller, ...]:
        """The PMD threads, which stay. Open vSwitch does not time their polls."""
        if not self._pollers:
            [daemon] = self._daemon.processes
            found = pollers_of(self._host.runner, daemon.pid)
            self._pollers = tuple(
                Poller(t.tid, t.name, self._instance.role, timed=False) for t in found
            )
        return self._pollers

    def gap_logs(self) -> tuple[GapLog, ...]:
        return ()

    def busy(self) -> Mapping[int, Busy]:
        """Of its PMD threads: cycles of processing, and all that they count."""
        by_core = counters.busy_by_core(self.control.ask("dpif-netdev/pmd-stats-show"))
        return {
            poller.tid: by_core[int(core[1])]
            for poller in self.pollers()
            if (core := _PMD_NAME.match(poller.name)) and int(core[1]) in by_core
        }

    def down(self) -> None:
        self._daemon.stop()
        self._database.stop()

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

    # --- the steps of `up`

    def _start_database(self) -> None:
        runner, path = self._host.runner, str(self.control.run_dir / "conf.db")
        if self.control.run_dir != self._dirs.run:
            self._host.make_directory(str(self.control.run_dir))
        if not runner.glob(_SCHEMA):
            raise BenchError(
                f"Open vSwitch is not installed on this host: {_SCHEMA} does not exist",
                "Run `apt-get install openvswitch-switch-dpdk` or `make setup`.",
            )
        runner.run(["ovsdb-tool", "create", path, _SCHEMA], env=self.control.environment)
        self._database.start(
            ["ovsdb-server", path, f"--remote=p{self.control.database}",
             f"--unixctl={self.control.run_dir / 'ovsdb.ctl'}", "--no-chdir", "-vfile:off",
             "-vsyslog:off"],
            env=self.control.environment,
            cpus=self._plan.main_cpus.value,
        )  # fmt: skip
        self._database.await_socket(self.control.database.removeprefix("unix:"), _START_S)
        self.control.vsctl("init", wait=False)
        self.control.vsctl("set", "Open_vSwitch", ".", *self._other_config(), wait=False)

    def _other_config(self) -> list[str]:
        memory = ",".join(str(mib) for mib in self._plan.socket_memory_mib.value)
        wanted = {
            "dpdk-init": "true",
            "dpdk-socket-mem": memory,
            "dpdk-socket-limit": memory,
            "dpdk-lcore-mask": format_mask(self._plan.main_cpus.value),
            "pmd-cpu-mask": format_mask(self._plan.pmd_cpus.value),
            # In-memory is Open vSwitch's default: huge pages go with the process.
            "dpdk-extra": " ".join(
                (*self._devices(), *self._shared_memory(), f"--file-prefix={self._prefix}")
            ),
            "n-handler-threads": "1",
            "n-revalidator-threads": "1",
            "max-idle": str(_MAX_IDLE_MS),
            "userspace-tso-enable": str(self._tso).lower(),
            **factors.other_config(self._factors),
        }
        return [f'other_config:{key}="{value}"' for key, value in wanted.items()]

    def _devices(self) -> tuple[str, ...]:
        """Open vSwitch makes virtual devices by itself, as ports."""
        named = [port.options.get("dpdk-devargs", "") for port in self._ports]
        return dpdk.device_options(device for device in named if is_pci(device))

    def _shared_memory(self) -> tuple[str, ...]:
        """The virtio side of a link shows its memory to the other: in few enough regions."""
        return ("--single-file-segments",) if self._instance.hop == PARTNER else ()

    def _start_daemon(self) -> None:
        found = self._host.runner.glob(*_DAEMONS)
        if not found:
            raise BenchError(
                f"no Open vSwitch with DPDK on this host: looked for {' and '.join(_DAEMONS)}",
                "Run `apt-get install openvswitch-switch-dpdk` or `make setup`.",
            )
        self._daemon.start(
            [*self._where(),
             found[0], self.control.database, f"--unixctl={self.control.daemon}",
             "--no-chdir", "-vfile:off", "-vsyslog:off"],
            env={**self.control.environment, **dpdk.environment(self._dirs.run)},
            cpus=self._plan.main_cpus.value,
        )  # fmt: skip
        self._daemon.await_socket(self.control.daemon, _START_S)
        await_true(
            lambda: self.control.rows("Open_vSwitch", "dpdk_initialized")[0]["dpdk_initialized"],
            within_s=_START_S,
            every_s=0.05,
            alive=self.alive,
            otherwise=lambda: (
                "Open vSwitch could not start DPDK: "
                + last_words(self._host.runner, self._daemon.log)
            ),
        )
        if (lacks := factors.lacking(self._factors, self.control.ask("version"))) is not None:
            raise BenchError(lacks, "Leave the factor out, or install a newer Open vSwitch.")

    def _where(self) -> Sequence[str]:
        """The words that start it in the network namespace of its ports.

        A userspace datapath makes tap devices, `ovs-netdev` among them: in the host's network
        namespace they collide with another Open vSwitch's and outlive a killed one. Where its ports
        are no interfaces, a namespace of its own costs nothing and ends with it.
        """
        if self._namespace is not None:
            return inside(self._namespace)
        if not self._on_host:
            return ("unshare", "--net", "--")
        if self._host.runner.glob(f"/sys/class/net/{_DATAPATH}"):
            raise BenchError(
                f"another Open vSwitch with a userspace datapath runs on {self._host.name}: it has "
                f"the interface {_DATAPATH}",
                "Stop it, or name the ports by PCI address in the lab file.",
            )
        for tap in (_DATAPATH, *(bridge.name for bridge in self.bridges)):
            self._host.note(InterfaceMade(tap))
        return ()

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
                + last_words(self._host.runner, self._daemon.log)
            )

    # --- conditions that are awaited

    def _polled(self) -> set[tuple[str, int]]:
        """The queues that PMD threads poll, from pmd-rxq-show."""
        shown = self.control.ask("dpif-netdev/pmd-rxq-show")
        return {(m[1], int(m[2])) for m in _POLLED.finditer(shown)}

    def _linked(self) -> set[str]:
        rows = self.control.rows("Interface", "name", "link_state")
        return {row["name"] for row in rows if row["link_state"] == "up"}


def run_dir_of(run: PurePosixPath, hop: str) -> PurePosixPath:
    """Where the sockets of this instance are."""
    return run if hop == SWITCH else run / hop


# lib/dpif-netdev.c names PMD threads by their CPU: "pmd-c01/id:8".
_PMD_NAME = re.compile(r"pmd-c(\d+)/")
_POLLED = re.compile(r"port:\s+(\S+)\s+queue-id:\s+(\d+)\s+\(enabled\)")
