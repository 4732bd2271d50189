# SPDX-License-Identifier: Apache-2.0
"""Make the ports of a kernel switch: veth pairs and taps in a network namespace.

The kernel forwards in softirqs, without a process and without polling. Receive packet steering
(RPS) moves that to the CPUs of the plan, away from the sending CPU.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from wirespeed.bench.interface import Poller, UnstartedPart
from wirespeed.bench.switch.interface import SwitchSetup
from wirespeed.bench.switch.linux import packet_filter
from wirespeed.bench.switch.linux.settings import settings
from wirespeed.bench.switch.veth.cables import make_cables
from wirespeed.bench.switch.veth.counters import InterfaceCount, read_links
from wirespeed.model.cpuset import format_mask
from wirespeed.sources.scheduler import kernel_threads

_SOFTIRQS = "the kernel forwards in softirqs: what stops or slows these is not seen"
_NO_NFT = "changes of its packet filter are not seen either: nft is not installed"


class KernelForwarding(UnstartedPart):
    """Base of bridge and router, which add up, read and describe."""

    name = ""
    bridged = False
    """True if its bridges forward by address."""

    unwatched: str | None = _SOFTIRQS

    def __init__(self, setup: SwitchSetup, namespace: str) -> None:
        self._setup, self._namespace = setup, namespace

    def make_ports(self, ends: Iterable[str], taps: Iterable[str], macs: Mapping[str, str],
                   sysctls: Iterable[str]) -> None:  # fmt: skip
        """Make the namespace with all ports.

        macs: addresses of ports that need a certain one.
        """
        make_cables(self._setup, {port: port for port in ends}, macs, sysctls)
        for tap in taps:
            self.ip("tuntap", "add", "dev", tap, "mode", "tap", "vnet_hdr")
            self.ip("link", "set", tap, "mtu", str(self._setup.plan.mtu.value),
                    "txqueuelen", str(self._setup.plan.descriptors.value), "up")  # fmt: skip

    def steer(self, ports: Iterable[str]) -> None:
        """Process the ports' frames on the plan's CPUs (Documentation/networking/scaling)."""
        cpus = self._setup.plan.pmd_cpus.value
        if not cpus:
            return
        for port in ports:
            # Only `ip netns exec` has the namespace's own /sys.
            path = f"/sys/class/net/{port}/queues/rx-0/rps_cpus"
            words = ["ip", "netns", "exec", self._namespace, "tee", path]
            self._setup.host.runner.run(words, stdin=format_mask(cpus).removeprefix("0x"))

    def begin(self) -> None:
        """Do nothing: all counts are cumulative."""

    def pollers(self) -> tuple[Poller, ...]:
        """Return the ksoftirqd threads, which forward when softirqs are overloaded."""
        cpus = {f"ksoftirqd/{cpu}" for cpu in self._setup.plan.pmd_cpus.value}
        return tuple(
            Poller(thread.tid, thread.name, "sut", timed=False, sleeps=True)
            for thread in kernel_threads(self._setup.host.runner, cpus)
        )

    def links(self) -> Mapping[str, InterfaceCount]:
        """Return the counters of the namespace's interfaces."""
        return read_links(self._setup.host.runner, self._namespace)

    def settings(self) -> Mapping[str, str]:
        """See noise.settings.Configured."""
        runner = self._setup.host.runner
        routing = self._setup.routing
        generated = routing is not None and bool(routing.versions)
        found = settings(runner, self._namespace, bridged=self.bridged, generated=generated)
        filters = packet_filter.rules(runner, self._namespace)
        self.unwatched = _SOFTIRQS if filters is not None else f"{_SOFTIRQS}; {_NO_NFT}"
        found |= filters or {}
        return {f"{self.name}: {what}": value for what, value in found.items()}

    def down(self) -> None:
        """Remove the namespace, and with it everything else."""

    def ip(self, *words: str) -> None:
        self.run("ip", "-n", self._namespace, *words)

    def run(self, *words: str) -> str:
        return self._setup.host.runner.run(list(words)).stdout

    def common(self) -> dict[str, object]:
        """Return what both types add to the run record."""
        return {
            "kernel": self.run("uname", "-r").strip(),
            "rps_cpus": list(self._setup.plan.pmd_cpus.value),
        }
