# SPDX-License-Identifier: Apache-2.0
"""Ports of a switch that the kernel is: veth pairs, and taps to virtual machines, in a network
namespace of their own.

The kernel forwards, in softirqs: no process, nothing that polls. Receive packet steering (RPS)
makes it do so on the CPUs that the plan chose, not on the one that sends.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from wirespeed.bench.host.directories import Directories
from wirespeed.bench.host.network import Network, VethEnd, VethPair, inside
from wirespeed.bench.interface import Poller, UnstartedPart
from wirespeed.bench.noise.scheduler import kernel_threads
from wirespeed.bench.switch.interface import SwitchSetup
from wirespeed.bench.switch.linux.counters import InterfaceCount, parse_links
from wirespeed.bench.topology.addresses import mac_of
from wirespeed.bench.topology.wiring import SWITCH, End, Wiring
from wirespeed.model.cpuset import format_mask

_NAMESPACE = "switch"
# What the forwarding CPU has no room for is to be dropped, as a NIC would. AF_PACKET keeps a frame
# that it cannot send, and tries again with the next one: where there is no queueing discipline,
# where that is full, or where the socket has more octets on their way than the usual 200 KiB.
_QUEUE_FRAMES, _SOCKET_BYTES = 16_384, 64 << 20
# DPDK's AF_PACKET driver takes process number ^ interface number for the group that its sockets
# join, and two groups of one namespace with one number are an error. So interfaces of different
# programs differ in a part of their numbers in which neighbouring processes' numbers do not.
_OWNER_SHIFT = 12


def namespace_of(dirs: Directories) -> str:
    """The name of the ports' namespace where the bench makes it for them."""
    return f"ws{dirs.tag}-{_NAMESPACE}"


def program_ends(wiring: Wiring) -> Mapping[str, str]:
    """The interface that the program at the other end of each port uses. A port to a virtual
    machine is a tap, which has no other end but QEMU."""
    return {
        port: f"{port}-p"
        for port in wiring.ports_of(SWITCH)
        if wiring.peer(End(SWITCH, port)).owner not in wiring.machines
    }


class KernelForwarding(UnstartedPart):
    """What bridge and router have in common; each adds up, read and describe."""

    unwatched = "the kernel forwards in softirqs: what stops or slows these is not seen"

    def __init__(self, setup: SwitchSetup, namespace: str) -> None:
        self._setup, self._namespace = setup, namespace

    def make_ports(self, ends: Mapping[str, str], taps: Iterable[str], macs: Mapping[str, str],
                   *sysctls: str) -> None:  # fmt: skip
        """Make the namespace with all ports. macs: addresses of ports that must have a certain
        one."""
        self._setup.host.set_sysctl("net.core.wmem_default", str(_SOCKET_BYTES))
        network = Network(self._setup.host, self._setup.dirs.tag)
        made = network.host(_NAMESPACE)
        assert made == self._namespace
        self.run(*inside(self._namespace), "sysctl", "-q", "-w", *sysctls)
        wiring = self._setup.wiring
        owners: dict[str, int] = {}
        for number, (port, end) in enumerate(ends.items()):
            peer = wiring.peer(End(SWITCH, port))
            owner = owners.setdefault(peer.owner, len(owners) + 1)
            mac = macs.get(port, f"02:02:{number:02x}:00:00:00")
            own = VethEnd(self._namespace, port, mac)
            index = owner << _OWNER_SHIFT | number + 1
            far = VethEnd(self._namespace, end, mac_of(peer), index=index)
            network.connect(VethPair(far, own), self._setup.plan.mtu.value)
            self.run("tc", "-n", self._namespace, "qdisc", "replace", "dev", end, "root",
                     "pfifo", "limit", str(_QUEUE_FRAMES))  # fmt: skip
        for tap in taps:
            self.ip("tuntap", "add", "dev", tap, "mode", "tap", "vnet_hdr")
            self.ip("link", "set", tap, "mtu", str(self._setup.plan.mtu.value),
                    "txqueuelen", str(self._setup.plan.descriptors.value), "up")  # fmt: skip

    def steer(self, ports: Iterable[str]) -> None:
        """The ports' frames are processed on the plan's CPUs (Documentation/networking/scaling)."""
        cpus = self._setup.plan.pmd_cpus.value
        if not cpus:
            return
        for port in ports:
            # Only `ip netns exec` has the namespace's own /sys.
            path = f"/sys/class/net/{port}/queues/rx-0/rps_cpus"
            words = ["ip", "netns", "exec", self._namespace, "tee", path]
            self._setup.host.runner.run(words, stdin=format_mask(cpus).removeprefix("0x"))

    def begin(self) -> None:
        """All its counts add up."""

    def pollers(self) -> tuple[Poller, ...]:
        """ksoftirqd, which forwards on behalf of softirqs where there is too much for them."""
        cpus = {f"ksoftirqd/{cpu}" for cpu in self._setup.plan.pmd_cpus.value}
        return tuple(
            Poller(thread.tid, thread.name, "sut", timed=False)
            for thread in kernel_threads(self._setup.host.runner, cpus)
        )

    def links(self) -> Mapping[str, InterfaceCount]:
        """What the namespace's interfaces count."""
        return parse_links(self.run("ip", "-n", self._namespace, "-json", "-stats", "link", "show"))

    def down(self) -> None:
        """The namespace takes everything with it."""

    def ip(self, *words: str) -> None:
        self.run("ip", "-n", self._namespace, *words)

    def run(self, *words: str) -> str:
        return self._setup.host.runner.run(list(words)).stdout

    def common(self) -> dict[str, object]:
        """Of the record of the run."""
        return {
            "kernel": self.run("uname", "-r").strip(),
            "rps_cpus": list(self._setup.plan.pmd_cpus.value),
        }
