# SPDX-License-Identifier: Apache-2.0
"""An Open vSwitch of our own, with DPDK: its own database, sockets, logs and run directory.

The system's Open vSwitch, if one runs, is neither used nor touched.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from wirespeed.bench import dpdk
from wirespeed.bench.host_state import HostState
from wirespeed.bench.interface import BenchError, GapLog, HopCount, Poller
from wirespeed.bench.network import inside
from wirespeed.bench.process import Daemon, await_true
from wirespeed.bench.threads import pollers_of
from wirespeed.bench.topology.wiring import Wiring
from wirespeed.bench.vswitch import flows
from wirespeed.bench.vswitch.books import Books
from wirespeed.bench.vswitch.control import Control
from wirespeed.bench.vswitch.ports import SwitchPort, add_ports_command
from wirespeed.model.cpuset import format_mask
from wirespeed.model.plan import VswitchPlan
from wirespeed.remote.interface import Process

_SCHEMA = "/usr/share/openvswitch/vswitch.ovsschema"
# Debian keeps the DPDK build beside the plain one; other systems have one that does both.
_DAEMONS = ("/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk", "/usr/sbin/ovs-vswitchd")
_START_S = 60.0
# Datapath flows that are idle this long are removed; they should outlast a pause between trials.
_MAX_IDLE_MS = 600_000


class OvsDpdk:
    """The vSwitch part of a bench."""

    name = "Open vSwitch"

    def __init__(
        self,
        state: HostState,
        dirs: dpdk.Directories,
        plan: VswitchPlan,
        wiring: Wiring,
        ports: Sequence[SwitchPort],
        *,
        namespace: str | None = None,
        tso: bool = False,
    ) -> None:
        """namespace: the network namespace whose interfaces are its ports of type system."""
        self._namespace, self._tso = namespace, tso
        self._state, self._dirs, self._plan = state, dirs, plan
        self._wiring, self._ports = wiring, tuple(ports)
        self._unplugged = [port for port in self._ports if port.peer_serves]
        self.control = Control(state.runner, dirs.run, f"ws{dirs.tag}")
        self._books = Books(self.control, ports)
        self._database = Daemon("ovsdb-server", state, dirs)
        self._daemon = Daemon("ovs-vswitchd", state, dirs)

    def up(self) -> None:
        self._start_database()
        self._start_daemon()
        bridge = self.control.bridge
        self.control.vsctl("add-br", bridge, "--", "set", "Bridge", bridge,
                            "datapath_type=netdev", "fail_mode=secure")  # fmt: skip
        self._add_ports([port for port in self._ports if not port.peer_serves])
        rules = flows.rules(self._wiring.flows, self._ports)
        self.control.ofctl("add-flows", "-", stdin=rules)

    def waits_for(self) -> str | None:
        """Every network function is connected, and every queue is polled.

        Of a DPDK port Open vSwitch looks at the link only every 5 s; whether it passes frames, the
        generator finds out by sending some.
        """
        self._plug_in()
        if self._unplugged:
            return f"the sockets of {sorted(port.name for port in self._unplugged)}"
        # Its main thread, not a PMD thread, serves the interfaces of the kernel.
        polled = [port for port in self._ports if port.kind != "system"]
        queues = {(p.name, q) for p in polled for q in range(self._plan.rx_queues.value)}
        if unpolled := queues - self._polled():
            return f"PMD threads to poll {sorted(unpolled)}"
        names = {port.name for port in self._ports if port.peer_serves}
        if names and (unlinked := names - self._linked()):
            return f"links on {sorted(unlinked)}"
        return None

    def _plug_in(self) -> None:
        """Make the ports whose sockets others serve, as these appear.

        Asked to connect before that, DPDK's vhost library tries again only once a second, and a
        program with several such sockets makes one only when the one before is connected.
        """
        there = self._state.runner.glob(*(port.socket for port in self._unplugged))
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
        return (self._books.read(),)

    def pollers(self) -> tuple[Poller, ...]:
        """The PMD threads. Open vSwitch does not time their polls."""
        [daemon] = self._daemon.processes
        found = pollers_of(self._state.runner, daemon.pid)
        return tuple(Poller(t.tid, t.name, "sut", timed=False) for t in found)

    def gap_logs(self) -> tuple[GapLog, ...]:
        return ()

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
            "flows": flows.rules(self._wiring.flows, self._ports).splitlines(),
            "pmd_rxq": self.control.ask("dpif-netdev/pmd-rxq-show").splitlines(),
        }

    # --- the steps of `up`

    def _start_database(self) -> None:
        runner, path = self._state.runner, str(self._dirs.run / "conf.db")
        if not runner.glob(_SCHEMA):
            raise BenchError(
                f"Open vSwitch is not installed on this host: {_SCHEMA} does not exist",
                "Run `apt-get install openvswitch-switch-dpdk` or `make setup`.",
            )
        runner.run(["ovsdb-tool", "create", path, _SCHEMA], env=self.control.environment)
        self._database.start(
            ["ovsdb-server", path, f"--remote=p{self.control.database}",
             f"--unixctl={self._dirs.run / 'ovsdb.ctl'}", "--no-chdir", "-vfile:off",
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
            "dpdk-extra": f"--no-pci --file-prefix=ovs{self._dirs.tag}",
            "n-handler-threads": "1",
            "n-revalidator-threads": "1",
            "max-idle": str(_MAX_IDLE_MS),
            "userspace-tso-enable": str(self._tso).lower(),
        }
        return [f'other_config:{key}="{value}"' for key, value in wanted.items()]

    def _start_daemon(self) -> None:
        found = self._state.runner.glob(*_DAEMONS)
        if not found:
            raise BenchError(
                f"no Open vSwitch with DPDK on this host: looked for {' and '.join(_DAEMONS)}",
                "Run `apt-get install openvswitch-switch-dpdk` or `make setup`.",
            )
        # A userspace datapath makes tap devices, `ovs-netdev` among them: in the host's network
        # namespace they would collide with another Open vSwitch's and outlive a killed one. Its
        # ports are unix sockets, so a namespace of its own costs nothing and ends with it.
        apart = ["unshare", "--net", "--"] if self._namespace is None else inside(self._namespace)
        self._daemon.start(
            [*apart,
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
                + dpdk.last_words(self._state.runner, self._daemon.log)
            ),
        )

    def _add_ports(self, ports: Sequence[SwitchPort]) -> None:
        words = add_ports_command(self.control.bridge, ports, self._plan.mtu.value)
        self.control.vsctl(*words)
        wanted = {port.name: port.number for port in ports}
        made = {
            row["name"]: row["error"] if row["error"] != ["set", []] else row["ofport"]
            for row in self.control.rows("Interface", "name", "ofport", "error")
        }
        failed = {name: made.get(name) for name, n in wanted.items() if made.get(name) != n}
        if failed:
            raise BenchError(
                f"Open vSwitch could not make the ports {failed}: "
                + dpdk.last_words(self._state.runner, self._daemon.log)
            )

    # --- conditions that are awaited

    def _polled(self) -> set[tuple[str, int]]:
        """The queues that PMD threads poll, from pmd-rxq-show."""
        shown = self.control.ask("dpif-netdev/pmd-rxq-show")
        return {(m[1], int(m[2])) for m in _POLLED.finditer(shown)}

    def _linked(self) -> set[str]:
        rows = self.control.rows("Interface", "name", "link_state")
        return {row["name"] for row in rows if row["link_state"] == "up"}


_POLLED = re.compile(r"port:\s+(\S+)\s+queue-id:\s+(\d+)\s+\(enabled\)")
