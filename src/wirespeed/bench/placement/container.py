# SPDX-License-Identifier: Apache-2.0
"""Place a function in a container: namespaces, a cgroup and capabilities as a pod has them.

The container is made with util-linux, so that no container runtime and no image is needed. It has
mount, IPC, UTS and network namespaces of its own. Process IDs stay the host's, as evidence names
threads by them. Its cpuset has the function's CPUs, its memory is on the function's NUMA nodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from wirespeed.bench.function.interface import FunctionKind, Setup
from wirespeed.bench.host.cgroup import make_cgroup
from wirespeed.bench.host.directories import Directories
from wirespeed.bench.host.host import Host
from wirespeed.bench.host.network import inside
from wirespeed.bench.interface import Part
from wirespeed.bench.placement.interface import (
    READY_S,
    OnHost,
    Own,
    Placed,
    Seat,
    faults_of_namespace,
)
from wirespeed.bench.placement.process import OwnProcess, faults_in_one_process
from wirespeed.bench.program.config import WsdpConfig
from wirespeed.bench.topology.interface import TopologyKind
from wirespeed.bench.topology.plugs import Interface, Plug
from wirespeed.model.input.fault import Fault
from wirespeed.model.plan.needs import PlacementNeeds
from wirespeed.model.study.spec import Frames

_AS_A_PROCESS = OwnProcess()
# What a rendered polling pod has; sockets on kernel interfaces need two more.
_CAPABILITIES = ("ipc_lock",)
_FOR_INTERFACES = ("net_raw", "net_admin")


@dataclass(frozen=True, slots=True)
class ContainerLaunch:
    """A function and its own container."""

    function: FunctionKind
    process: WsdpConfig
    setup: Setup
    plugs: Mapping[str, Plug]
    ready_s: float = READY_S

    def part(self, host: Host, dirs: Directories) -> Part:
        process = self.process
        cpus = {process.control_cpu, *process.cpus, *process.floats_over}
        name = f"wirespeed-{self.setup.name}-{dirs.tag}"
        cgroup = make_cgroup(host, name, cpus, process.memory.nodes)
        contained = host.running_by(prefix(cgroup, self.plugs, process.namespace))
        # It has no right to enter a namespace itself.
        return self.function.part(contained, dirs, replace(process, namespace=None), self.setup)


def prefix(cgroup: str, plugs: Mapping[str, Plug], namespace: str | None = None) -> tuple[str, ...]:
    """Return the command prefix that runs a program in a container.

    namespace: network namespace of its kernel interfaces; None for the host's own. Each command
    execs the next, so that all share one PID.
    """
    interfaces = any(isinstance(plug, Interface) for plug in plugs.values())
    # A kernel interface stays where it is, and the program goes there.
    network = () if interfaces else ("--net",)
    kept = (*_CAPABILITIES, *(_FOR_INTERFACES if interfaces else ()))
    bounding = ",".join(("-all", *(f"+{name}" for name in kept)))
    return (
        "sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', cgroup,
        "unshare", "--mount", "--ipc", "--uts", *network, "--",
        *inside(namespace),
        "setpriv", "--no-new-privs", f"--bounding-set={bounding}", "--",
    )  # fmt: skip


class InContainer:
    name = "container"
    summary = "each VNF in a container of its own, with the namespaces, cpuset and rights of a pod"
    chosen_by_plan = False
    needs = PlacementNeeds(name, shares_generator=False)

    def faults(
        self, function: FunctionKind, topology: TopologyKind, frames: Frames
    ) -> Iterator[Fault]:
        yield from faults_in_one_process(self.name, topology)
        yield from faults_of_namespace(self.name, function, frames)

    def seat(self, on_host: OnHost) -> Seat:
        return _AS_A_PROCESS.seat(on_host)

    def place(self, function: FunctionKind, setup: Setup, own: Own | None) -> Placed:
        if own is None:
            raise ValueError(f"the plan gives {setup.name} no process of its own")
        return Placed(launch=ContainerLaunch(function, own.process, setup, own.on_host.plugs))
