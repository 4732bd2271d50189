# SPDX-License-Identifier: Apache-2.0
"""Build hosts around a router that follows a kernel: namespaces, cables, raw sockets.

Hosts `a` and `b` are on one cable each. The cables end in the namespace `wire`, where wsdp runs.
The router's interfaces `east` (towards `a`) and `west` (towards `b`) are in the namespace `router`.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from scapy.layers.inet import IP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.packet import Packet

from tests.dataplane.program import DEADLINE_S, Running, eal_section, running

_CLONE_NEWNET = 0x40000000
_ETH_P_ALL = 3
_SOL_PACKET, _PACKET_IGNORE_OUTGOING = 263, 23
_NUMBERS = itertools.count()
# Which namespace has which address on its cable.
ADDRESSES = {"a": "10.1.0.2/24", "b": "10.2.0.2/24"}
ADDRESSES_V6 = {"a": "2001:db8:1::2/64", "b": "2001:db8:2::2/64"}
ROUTER = {"east": ("10.1.0.1/24", "2001:db8:1::1/64"), "west": ("10.2.0.1/24", "2001:db8:2::1/64")}


def run(*words: str, stdin: str | None = None) -> str:
    done = subprocess.run(words, input=stdin, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout


def entered(namespace: str, make: Callable[[], socket.socket]) -> socket.socket:
    """Return a socket of another namespace. A thread of its own goes there to make it."""
    made: list[socket.socket] = []

    def go() -> None:
        with open(f"/run/netns/{namespace}", "rb") as there:
            libc = ctypes.CDLL(None, use_errno=True)
            assert libc.setns(there.fileno(), _CLONE_NEWNET) == 0, os.strerror(ctypes.get_errno())
        made.append(make())

    thread = threading.Thread(target=go)
    thread.start()
    thread.join()
    return made[0]


def raw_socket(namespace: str, interface: str) -> socket.socket:
    """Return a packet socket of another namespace. It gets what comes, not what is sent."""
    one = entered(
        namespace,
        lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ETH_P_ALL)),
    )
    one.setsockopt(_SOL_PACKET, _PACKET_IGNORE_OUTGOING, 1)
    one.bind((interface, _ETH_P_ALL))
    return one


@dataclass(frozen=True, slots=True)
class Host:
    """A host on a cable, and its cable as a raw socket."""

    namespace: str
    mac: str
    socket: socket.socket

    def send(self, *frames: Packet | bytes) -> None:
        for frame in frames:
            self.socket.send(bytes(frame))

    def receive(self, wanted: Callable[[Packet], bool]) -> Packet:
        """Return the next frame that is wanted."""
        deadline = time.monotonic() + DEADLINE_S
        while time.monotonic() < deadline:
            self.socket.settimeout(max(0.01, deadline - time.monotonic()))
            if wanted(frame := Ether(self.socket.recv(65536))):
                return frame
        raise AssertionError("no such frame")

    def drop(self) -> None:
        """Forget the frames that have come."""
        self.socket.setblocking(False)
        try:
            while True:
                self.socket.recv(65536)
        except BlockingIOError:
            pass


@dataclass(frozen=True, slots=True)
class LinuxRouter:
    """A router between two hosts: its kernel."""

    a: Host
    b: Host
    router: str  # namespace
    macs: dict[str, str]  # of its interfaces

    def ip(self, *words: str) -> str:
        """Run iproute2 in the router's namespace."""
        return run("ip", "-n", self.router, *words)


@dataclass(frozen=True, slots=True)
class KernelRouter(LinuxRouter):
    """A router whose kernel wsdp follows."""

    wsdp: Running

    def differences(self) -> int:
        """Compare the kernel's routes with the tables."""
        counts = self.wsdp.control.ask("check", "r", str(self.wsdp.directory / "differences"))
        names = ("missing", "different", "extra", "wrong_lookups", "wrong_samples")
        return sum(counts[name] for name in names)

    def settle(self) -> None:
        """Wait until the tables are the kernel's."""
        deadline = time.monotonic() + DEADLINE_S
        while self.differences() > 0:
            assert time.monotonic() < deadline, self.log()
            time.sleep(0.02)  # a build takes longer

    def log(self) -> str:
        text = (self.wsdp.directory / "differences").read_text()
        return text + (self.wsdp.directory / "log").read_text()

    def figures(self) -> dict[str, int]:
        return self.wsdp.control.ask("task", "r")


@contextmanager
def _namespace(name: str) -> Iterator[str]:
    run("ip", "netns", "add", name)
    try:
        run("ip", "-n", name, "link", "set", "lo", "up")
        yield name
    finally:
        run("ip", "netns", "delete", name)


def _sysctl(namespace: str, **values: int) -> None:
    for name, value in values.items():
        path = "/proc/sys/net/" + name.replace("__", "/")
        run("ip", "netns", "exec", namespace, "sh", "-c", f"echo {value} > {path}")


def _mac(namespace: str, interface: str) -> str:
    path = f"/sys/class/net/{interface}/address"
    return run("ip", "netns", "exec", namespace, "cat", path).strip()


def _cable(wire: str, end: str, host: str, name: str) -> None:
    # The same addresses in each test, so that a router's frames can be compared with another's.
    run("ip", "-n", wire, "link", "add", end, "address", f"02:00:00:00:0{name}:01", "type", "veth",
        "peer", "name", "eth0", "address", f"02:00:00:00:0{name}:02", "netns", host)  # fmt: skip
    for namespace, interface in ((wire, end), (host, "eth0")):
        # Checksums and segments as on a real cable: nobody else would complete them.
        run("ip", "netns", "exec", namespace, "ethtool", "-K", interface,
            "tx", "off", "tso", "off", "gso", "off", "gro", "off")  # fmt: skip
        run("ip", "-n", namespace, "link", "set", interface, "up")
    run("ip", "-n", host, "address", "add", ADDRESSES[name], "dev", "eth0")
    run("ip", "-n", host, "address", "add", ADDRESSES_V6[name], "dev", "eth0", "nodad")
    gateway = ROUTER["east" if name == "a" else "west"]
    for address in gateway:
        run("ip", "-n", host, "route", "add", "default", "via", address.split("/")[0])


@contextmanager
def _namespaces(names: Sequence[str]) -> Iterator[dict[str, str]]:
    """Yield namespaces of hosts a and b, a router, and others."""
    tag = f"t{os.getpid()}n{next(_NUMBERS)}"
    with ExitStack() as stack:
        made = {name: stack.enter_context(_namespace(f"{tag}{name}")) for name in names}
        _sysctl(made["router"], ipv4__ip_forward=1, ipv6__conf__all__forwarding=1,
                ipv6__conf__default__accept_dad=0, ipv4__icmp_ratelimit=0,
                ipv6__icmp__ratelimit=0)  # fmt: skip
        # New namespaces inherit ip_forward of the test's host: hosts would send frames back.
        for name in ("a", "b"):
            _sysctl(made[name], ipv4__ip_forward=0, ipv6__conf__default__accept_dad=0)
        yield made


@contextmanager
def _hosts(names: Mapping[str, str], ends: Mapping[str, tuple[str, str]]) -> Iterator[list[Host]]:
    """Yield hosts a and b on cables, whose other ends are interfaces of namespaces."""
    with ExitStack() as stack:
        hosts = []
        for name, (namespace, end) in ends.items():
            _cable(namespace, end, names[name], name)
            host = Host(names[name], _mac(names[name], "eth0"), raw_socket(names[name], "eth0"))
            stack.callback(host.socket.close)
            hosts.append(host)
        yield hosts


def set_up(router: str) -> dict[str, str]:
    """Give a router's interfaces their addresses. Return their MAC addresses."""
    for interface, (address, address_v6) in ROUTER.items():
        run("ip", "-n", router, "address", "add", address, "dev", interface)
        run("ip", "-n", router, "address", "add", address_v6, "dev", interface, "nodad")
        run("ip", "-n", router, "link", "set", interface, "up")
    return {interface: _mac(router, interface) for interface in ROUTER}


@contextmanager
def linux_router() -> Iterator[LinuxRouter]:
    """Yield the same router, which forwards by its kernel alone."""
    with ExitStack() as stack:
        names = stack.enter_context(_namespaces(("a", "b", "router")))
        ends = {"a": (names["router"], "east"), "b": (names["router"], "west")}
        a, b = stack.enter_context(_hosts(names, ends))
        yield LinuxRouter(a, b, names["router"], set_up(names["router"]))


@dataclass(frozen=True, slots=True)
class Wsdp:
    """Settings of a wsdp process.

    keys: further lines of its task. variables: of its environment. driver: of its ports. third: the
    device of a third port, whose interface is `third`.
    """

    keys: str = ""
    memory_mib: int = 512
    variables: Mapping[str, str] = field(default_factory=dict)
    driver: str = "net_af_packet"
    third: str = ""

    def ini(self, namespace: str) -> str:
        """Return its input file, without [eal], where it follows the kernel of a namespace."""
        # net_pcap has an address of its own unless asked for the interface's.
        options = ",phy_mac=1" if self.driver == "net_pcap" else ""
        inputs, interfaces, port = "a:0, b:0", "east, west", ""
        if self.third:
            inputs, interfaces = f"{inputs}, c:0", f"{interfaces}, third"
            port = f"[port.c]\ndevice = {self.third}\n"
        return (
            "[pool]\nmbufs = 8192\n"
            f"[port.a]\ndevice = {self.driver}0,iface=wa{options}\n"
            f"[port.b]\ndevice = {self.driver}1,iface=wb{options}\n{port}"
            f"[task.r]\ntype = router\nlcore = 1\nrx = {inputs}\ntx = {inputs}\n"
            f"kernel = {interfaces}\nkernel_netns = /run/netns/{namespace}\n{self.keys}"
        )


@dataclass(frozen=True, slots=True)
class Cables:
    """Hosts on cables that end in a namespace `wire`, and one for the router's kernel."""

    a: Host
    b: Host
    wire: str
    router: str

    @contextmanager
    def running(self, wsdp: Wsdp) -> Iterator[Running]:
        """Yield wsdp at the end of the cables."""
        begin = ["ip", "netns", "exec", self.wire, "env"]
        begin += [f"{name}={value}" for name, value in wsdp.variables.items()]
        with running(wsdp.ini(self.router), eal_section(wsdp.memory_mib), begin) as made:
            yield made


@contextmanager
def cables() -> Iterator[Cables]:
    with ExitStack() as stack:
        names = stack.enter_context(_namespaces(("a", "b", "wire", "router")))
        # The kernel at the end of the cables is no host.
        _sysctl(names["wire"], ipv6__conf__all__disable_ipv6=1, ipv6__conf__default__disable_ipv6=1)
        ends = {"a": (names["wire"], "wa"), "b": (names["wire"], "wb")}
        a, b = stack.enter_context(_hosts(names, ends))
        yield Cables(a, b, names["wire"], names["router"])


def persist(made: Cables) -> None:
    """Make the router's interfaces before wsdp does: they stay without it, with their routes."""
    for interface, side in (("east", "a"), ("west", "b")):
        run("ip", "-n", made.router, "tuntap", "add", interface, "mode", "tap")
        run("ip", "-n", made.router, "link", "set", interface, "address",
            f"02:00:00:00:0{side}:01")  # fmt: skip


@contextmanager
def kernel_router(keys: str = "", wsdp: Wsdp | None = None) -> Iterator[KernelRouter]:
    """Yield a router between two hosts, whose kernel has addresses on both cables."""
    with cables() as made, made.running(wsdp or Wsdp(keys)) as running:
        macs = set_up(made.router)
        router = KernelRouter(made.a, made.b, made.router, macs, running)
        router.settle()
        yield router


def forget_routes(router: KernelRouter) -> None:
    """Delete all routes but those of the links, and next-hop objects with theirs."""
    router.ip("nexthop", "flush")  # with its routes, which `ip route flush` cannot delete
    for version in ("-4", "-6"):
        for protocol in ("static", "boot"):
            router.ip(version, "route", "flush", "proto", protocol)


def know_neighbours(router: KernelRouter) -> None:
    """Have the router know both hosts, as after an answer to ARP and neighbour discovery."""
    for host, interface in ((router.a, "east"), (router.b, "west")):
        name = "a" if interface == "east" else "b"
        for address in (ADDRESSES[name], ADDRESSES_V6[name]):
            router.ip("neighbour", "replace", address.split("/")[0], "lladdr", host.mac,
                      "dev", interface, "nud", "permanent")  # fmt: skip
    router.settle()


def frame_to(router: LinuxRouter, destination: str, *, ttl: int = 64, flow: int = 1) -> Packet:
    """Return a frame of host a to this address, without what follows the IP header."""
    header = (
        IPv6(src=ADDRESSES_V6["a"].split("/")[0], dst=destination, hlim=ttl)
        if ":" in destination
        else IP(src=ADDRESSES["a"].split("/")[0], dst=destination, ttl=ttl, id=flow)
    )
    return Ether(src=router.a.mac, dst=router.macs["east"]) / header


def is_to(destination: str) -> Callable[[Packet], bool]:
    """Return whether a frame is of IP and to this address."""
    kind = IPv6 if ":" in destination else IP
    return lambda frame: kind in frame and frame[kind].dst == destination
