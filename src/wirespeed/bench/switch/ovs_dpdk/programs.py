# SPDX-License-Identifier: Apache-2.0
"""Start the database and the daemon of a bench's Open vSwitch."""

from __future__ import annotations

from collections.abc import Sequence

from wirespeed.bench.host.network import inside
from wirespeed.bench.host.network_changes import InterfaceMade
from wirespeed.bench.host.process import Daemon, await_true, last_words
from wirespeed.bench.interface import BenchError
from wirespeed.bench.program import dpdk
from wirespeed.bench.switch.interface import SwitchSetup
from wirespeed.bench.switch.ovs_dpdk import factors, namespace
from wirespeed.bench.switch.ovs_dpdk.control import Control
from wirespeed.bench.switch.ovs_dpdk.instance import Instance
from wirespeed.bench.topology.plugs import Interface
from wirespeed.bench.topology.wiring import PARTNER
from wirespeed.model.cpuset import format_mask
from wirespeed.model.host.lab import is_pci
from wirespeed.remote.interface import Process, Runner

_SCHEMA = "/usr/share/openvswitch/vswitch.ovsschema"
# Debian installs the DPDK build next to the plain one; other systems have a combined build.
_DAEMONS = ("/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk", "/usr/sbin/ovs-vswitchd")
_START_S = 60.0
_DATAPATH = "ovs-netdev"
# Datapath flows are removed when idle this long; they should outlast a pause between trials.
_MAX_IDLE_MS = 600_000
_NEXT = "Run `apt-get install openvswitch-switch-dpdk` or `make setup`."


def find_daemon(runner: Runner) -> str:
    """Return the path of the daemon on that host. Raises BenchError where it cannot start."""
    if not runner.glob(_SCHEMA):
        raise BenchError(
            f"Open vSwitch is not installed on {runner.name}: {_SCHEMA} does not exist", _NEXT
        )
    found = runner.glob(*_DAEMONS)
    if not found:
        raise BenchError(
            f"no Open vSwitch with DPDK on {runner.name}: looked for {' and '.join(_DAEMONS)}",
            _NEXT,
        )
    return next(path for path in _DAEMONS if path in found)


class Programs:
    """Programs of one instance, which `control` reaches."""

    def __init__(self, setup: SwitchSetup, instance: Instance, control: Control) -> None:
        self._host, self._dirs, self._instance = setup.host, setup.dirs, instance
        self._plan, self._factors, self._control = instance.plan, setup.wanted.ovs, control
        # Kernel interfaces can be used where they are.
        self._on_host = any(isinstance(plug, Interface) for plug in setup.uplinks.values())
        self._database = Daemon(f"ovsdb-server{instance.suffix}", setup.host, setup.dirs)
        self._daemon = Daemon(f"ovs-vswitchd{instance.suffix}", setup.host, setup.dirs)

    @property
    def daemon(self) -> Process:
        [process] = self._daemon.processes
        return process

    @property
    def log(self) -> str:
        """Log of the daemon."""
        return self._daemon.log

    @property
    def processes(self) -> tuple[Process, ...]:
        return (*self._daemon.processes, *self._database.processes)

    def start(self) -> None:
        """Start both programs; return once the daemon has its memory."""
        find_daemon(self._host.runner)
        self._start_database()
        self._start_daemon()

    def alive(self) -> str | None:
        return self._daemon.ended() or self._database.ended()

    def stop(self) -> None:
        self._daemon.stop()
        self._database.stop()

    def _start_database(self) -> None:
        runner, path = self._host.runner, str(self._control.run_dir / "conf.db")
        if self._control.run_dir != self._dirs.run:
            self._host.make_directory(str(self._control.run_dir))
        runner.run(["ovsdb-tool", "create", path, _SCHEMA], env=self._control.environment)
        self._database.start(
            ["ovsdb-server", path, f"--remote=p{self._control.database}",
             f"--unixctl={self._control.run_dir / 'ovsdb.ctl'}", "--no-chdir", "-vfile:off",
             "-vsyslog:off"],
            env=self._control.environment,
            cpus=self._plan.main_cpus.value,
        )  # fmt: skip
        self._database.await_socket(self._control.database.removeprefix("unix:"), _START_S)
        self._control.vsctl("init", wait=False)
        self._control.vsctl("set", "Open_vSwitch", ".", *self._other_config(), wait=False)

    def _other_config(self) -> list[str]:
        memory = ",".join(str(mib) for mib in self._plan.socket_memory_mib.value)
        wanted = {
            "dpdk-init": "true",
            "dpdk-socket-mem": memory,
            "dpdk-socket-limit": memory,
            "dpdk-lcore-mask": format_mask(self._plan.main_cpus.value),
            "pmd-cpu-mask": format_mask(self._plan.pmd_cpus.value),
            # Open vSwitch's default is in-memory: huge pages end with the process.
            "dpdk-extra": " ".join(
                (*self._devices(), *self._shared_memory(), f"--file-prefix={self._prefix()}")
            ),
            "n-handler-threads": "1",
            "n-revalidator-threads": "1",
            "max-idle": str(_MAX_IDLE_MS),
            "userspace-tso-enable": str(self._instance.tso).lower(),
            **factors.other_config(self._factors),
            **self._instance.settings,
        }
        return [f'other_config:{key}="{value}"' for key, value in wanted.items()]

    def _devices(self) -> tuple[str, ...]:
        """Return the PCI devices; Open vSwitch makes virtual devices itself, as ports."""
        named = [port.options.get("dpdk-devargs", "") for port in self._instance.ports]
        return dpdk.device_options(device for device in named if is_pci(device))

    def _prefix(self) -> str:
        """DPDK --file-prefix; short, for it is part of a socket's path."""
        return f"ovs{self._dirs.tag}{self._instance.suffix[:2]}"

    def _shared_memory(self) -> tuple[str, ...]:
        """Share memory in few regions: the virtio side of a link exposes it to the other side."""
        return ("--single-file-segments",) if self._instance.hop == PARTNER else ()

    def _start_daemon(self) -> None:
        daemon = find_daemon(self._host.runner)
        self._daemon.start(
            [*self._where(),
             daemon, self._control.database, f"--unixctl={self._control.daemon}",
             "--no-chdir", "-vfile:off", "-vsyslog:off"],
            env={**self._control.environment, **dpdk.environment(self._dirs.run)},
            cpus=self._plan.main_cpus.value,
        )  # fmt: skip
        self._daemon.await_socket(self._control.daemon, _START_S)
        await_true(
            lambda: self._control.rows("Open_vSwitch", "dpdk_initialized")[0]["dpdk_initialized"],
            within_s=_START_S,
            every_s=0.05,
            alive=self.alive,
            otherwise=lambda: (
                "Open vSwitch could not start DPDK: "
                + last_words(self._host.runner, self._daemon.log)
            ),
        )
        [row] = self._control.rows("Open_vSwitch", "iface_types")
        version, types = self._control.ask("version"), row["iface_types"][1]
        if (lacks := factors.lacking(self._factors, version, types)) is not None:
            raise BenchError(lacks, "Leave the factor out, or install a newer Open vSwitch.")

    def _where(self) -> Sequence[str]:
        """Return the command prefix that starts it in the network namespace of its ports.

        A userspace datapath makes tap devices, e.g. `ovs-netdev`. In the host's namespace these
        collide with another Open vSwitch's and outlive a killed one. An instance without interfaces
        gets a namespace of its own, which ends with it; in a container, it has the container's.
        """
        if self._instance.namespace is not None:
            return inside(self._instance.namespace)
        if not self._on_host and namespace.makes_own(self._host.runner):
            return namespace.OWN
        if self._host.runner.glob(f"/sys/class/net/{_DATAPATH}"):
            raise BenchError(
                f"another Open vSwitch with a userspace datapath runs on {self._host.name}: it has "
                f"the interface {_DATAPATH}",
                "Stop it, or name the ports by PCI address in the testbed file.",
            )
        for tap in (_DATAPATH, *(bridge.name for bridge in self._instance.bridges)):
            self._host.note(InterfaceMade(tap))
        return ()
