# SPDX-License-Identifier: Apache-2.0
"""Ports of a switch that the kernel is: veth pairs, and taps to virtual machines, in a network
namespace of their own.

The kernel forwards, in softirqs: no process, nothing that polls. Receive packet steering (RPS)
makes it do so on the CPUs that the plan chose, not on the one that sends.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from wirespeed.bench.interface import Poller, UnstartedPart
from wirespeed.bench.noise.scheduler import kernel_threads
from wirespeed.bench.switch.interface import SwitchSetup
from wirespeed.bench.switch.veth.cables import make_cables
from wirespeed.bench.switch.veth.counters import InterfaceCount, read_links
from wirespeed.model.cpuset import format_mask


class KernelForwarding(UnstartedPart):
    """What bridge and router have in common; each adds up, read and describe."""

    unwatched = "the kernel forwards in softirqs: what stops or slows these is not seen"

    def __init__(self, setup: SwitchSetup, namespace: str) -> None:
        self._setup, self._namespace = setup, namespace

    def make_ports(self, ends: Iterable[str], taps: Iterable[str], macs: Mapping[str, str],
                   sysctls: Iterable[str]) -> None:  # fmt: skip
        """Make the namespace with all ports. macs: addresses of ports that must have a certain
        one."""
        make_cables(self._setup, {port: port for port in ends}, macs, sysctls)
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
            Poller(thread.tid, thread.name, "sut", timed=False, sleeps=True)
            for thread in kernel_threads(self._setup.host.runner, cpus)
        )

    def links(self) -> Mapping[str, InterfaceCount]:
        """What the namespace's interfaces count."""
        return read_links(self._setup.host.runner, self._namespace)

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
