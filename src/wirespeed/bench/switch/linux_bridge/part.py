# SPDX-License-Identifier: Apache-2.0
"""Linux bridges in a network namespace of their own, as a part of a bench.

The kernel forwards, in softirqs: no process, nothing that polls. Receive packet steering (RPS)
makes it do so on the CPUs that the plan chose, not on the one that sends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wirespeed.bench.host.directories import Directories
from wirespeed.bench.host.network import Network, VethEnd, VethPair, inside
from wirespeed.bench.interface import HopCount, Poller, UnstartedPart
from wirespeed.bench.noise.scheduler import kernel_threads
from wirespeed.bench.switch.interface import SwitchSetup
from wirespeed.bench.switch.linux_bridge.counters import hop, parse_links
from wirespeed.bench.switch.linux_bridge.segments import Segment
from wirespeed.bench.topology.addresses import mac_of
from wirespeed.bench.topology.wiring import SWITCH, End, Wiring
from wirespeed.model.cpuset import format_mask

_NAMESPACE = "switch"
# What the bridge's CPU has no room for is to be dropped, as a NIC would. AF_PACKET keeps a frame
# that it cannot send, and tries again with the next one: where there is no queueing discipline,
# where that is full, or where the socket has more octets on their way than the usual 200 KiB.
_QUEUE_FRAMES, _SOCKET_BYTES = 16_384, 64 << 20
# Frames of a bench are not for the host's own firewall, and nothing else may be sent here.
_SYSCTLS = (
    "net.ipv6.conf.all.disable_ipv6=1",
    "net.ipv6.conf.default.disable_ipv6=1",
)
# DPDK's AF_PACKET driver takes process number ^ interface number for the group that its sockets
# join, and two groups of one namespace with one number are an error. So interfaces of different
# programs differ in a part of their numbers in which neighbouring processes' numbers do not.
_OWNER_SHIFT = 12
_BRIDGE = ("stp_state", "0", "mcast_snooping", "0", "nf_call_iptables", "0",
           "nf_call_ip6tables", "0", "nf_call_arptables", "0")  # fmt: skip


def namespace_of(dirs: Directories) -> str:
    """The name of the bridges' namespace where the bench makes it for them."""
    return f"ws{dirs.tag}-{_NAMESPACE}"


def program_ends(wiring: Wiring) -> Mapping[str, str]:
    """The interface that the program at the other end of each port uses. A port to a virtual
    machine is a tap, which has no other end but QEMU."""
    return {
        port: f"{port}-p"
        for port in wiring.ports_of(SWITCH)
        if wiring.peer(End(SWITCH, port)).owner not in wiring.machines
    }


class LinuxBridge(UnstartedPart):
    """makes_ports: whether this part makes its ports; else they are in the namespace already."""

    name = "Linux bridge"
    unwatched = "the kernel forwards in softirqs: what stops or slows these is not seen"

    def __init__(
        self,
        setup: SwitchSetup,
        segments: Sequence[Segment],
        namespace: str,
        *,
        makes_ports: bool,
    ) -> None:
        self._setup, self._segments, self._namespace = setup, tuple(segments), namespace
        self._makes_ports = makes_ports
        self._ends = program_ends(setup.wiring) if makes_ports else {}
        ports = setup.wiring.ports_of(SWITCH) if makes_ports else ()
        self._taps = tuple(port for port in ports if port not in self._ends)

    def up(self) -> None:
        if self._makes_ports:
            self._make_ports()
        for number, segment in enumerate(self._segments):
            self._make_bridge(f"br{number}", segment)
        if cpus := self._setup.plan.pmd_cpus.value:
            for segment in self._segments:
                for port in segment.ports:
                    self._steer(port, format_mask(cpus))

    def _make_ports(self) -> None:
        self._setup.host.set_sysctl("net.core.wmem_default", str(_SOCKET_BYTES))
        network = Network(self._setup.host, self._setup.dirs.tag)
        made = network.host(_NAMESPACE)
        assert made == self._namespace
        self._run(*inside(self._namespace), "sysctl", "-q", "-w", *_SYSCTLS)
        wiring = self._setup.wiring
        owners: dict[str, int] = {}
        for number, (port, end) in enumerate(self._ends.items()):
            peer = wiring.peer(End(SWITCH, port))
            owner = owners.setdefault(peer.owner, len(owners) + 1)
            own = VethEnd(self._namespace, port, f"02:02:{number:02x}:00:00:00")
            index = owner << _OWNER_SHIFT | number + 1
            far = VethEnd(self._namespace, end, mac_of(peer), index=index)
            network.connect(VethPair(far, own), self._setup.plan.mtu.value)
            self._run("tc", "-n", self._namespace, "qdisc", "replace", "dev", end, "root",
                      "pfifo", "limit", str(_QUEUE_FRAMES))  # fmt: skip
        for tap in self._taps:
            self._ip("tuntap", "add", "dev", tap, "mode", "tap", "vnet_hdr")
            self._ip("link", "set", tap, "mtu", str(self._setup.plan.mtu.value),
                     "txqueuelen", str(self._setup.plan.descriptors.value), "up")  # fmt: skip

    def _make_bridge(self, name: str, segment: Segment) -> None:
        self._ip("link", "add", name, "type", "bridge", *_BRIDGE)
        flood = "off" if segment.addresses is not None else "on"
        for port in segment.ports:
            self._ip("link", "set", port, "master", name)
            self._ip("link", "set", port, "type", "bridge_slave", "learning", "off",
                     "flood", flood, "mcast_flood", flood, "bcast_flood", flood)  # fmt: skip
        for address, port in (segment.addresses or {}).items():
            self._run("bridge", "-n", self._namespace, "fdb", "add", address, "dev", port,
                      "master", "static")  # fmt: skip
        self._ip("link", "set", name, "mtu", str(self._setup.plan.mtu.value), "up")

    def _steer(self, port: str, mask: str) -> None:
        """The interface's frames are processed on these CPUs (Documentation/networking/scaling)."""
        # Only `ip netns exec` has the namespace's own /sys.
        path = f"/sys/class/net/{port}/queues/rx-0/rps_cpus"
        words = ["ip", "netns", "exec", self._namespace, "tee", path]
        self._setup.host.runner.run(words, stdin=mask.removeprefix("0x"))

    def begin(self) -> None:
        """All its counts add up."""

    def pollers(self) -> tuple[Poller, ...]:
        """ksoftirqd, which forwards on behalf of softirqs where there is too much for them."""
        cpus = {f"ksoftirqd/{cpu}" for cpu in self._setup.plan.pmd_cpus.value}
        return tuple(
            Poller(thread.tid, thread.name, "sut", timed=False)
            for thread in kernel_threads(self._setup.host.runner, cpus)
        )

    def read(self) -> tuple[HopCount, ...]:
        words = ["ip", "-n", self._namespace, "-json", "-stats", "link", "show"]
        counts = parse_links(self._setup.host.runner.run(words).stdout)
        return (hop(self._ends, self._taps, counts),)

    def down(self) -> None:
        """The namespace takes everything with it."""

    def describe(self) -> Mapping[str, object]:
        return {
            "kernel": self._setup.host.runner.run(["uname", "-r"]).stdout.strip(),
            "bridges": [list(segment.ports) for segment in self._segments],
            "rps_cpus": list(self._setup.plan.pmd_cpus.value),
        }

    def _ip(self, *words: str) -> None:
        self._run("ip", "-n", self._namespace, *words)

    def _run(self, *words: str) -> None:
        self._setup.host.runner.run(list(words))
