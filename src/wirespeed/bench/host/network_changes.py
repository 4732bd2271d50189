# SPDX-License-Identifier: Apache-2.0
"""Define the changes of a bench to interfaces and namespaces, and undo each of them."""

from __future__ import annotations

from dataclasses import dataclass

from wirespeed.bench.host.change import Change
from wirespeed.remote.interface import Runner

_ON_OFF = {True: "on", False: "off"}


@dataclass(frozen=True, slots=True)
class InterfaceMade(Change):
    """Network interface made by the bench, or by a program that leaves it behind if killed."""

    name: str

    def __str__(self) -> str:
        return f"network interface {self.name}"

    def undo(self, runner: Runner) -> str | None:
        if not runner.glob(f"/sys/class/net/{self.name}"):
            return None
        runner.run(["ip", "link", "delete", self.name])
        return f"removed the network interface {self.name}"


@dataclass(frozen=True, slots=True)
class InterfaceSet(Change):
    """Network interface that was brought up with another MTU.

    DPDK also makes it promiscuous and leaves it so.
    """

    name: str
    was_up: bool
    was_mtu: int
    was_promiscuous: bool

    def __str__(self) -> str:
        return f"settings of network interface {self.name}"

    def undo(self, runner: Runner) -> str | None:
        if not runner.glob(f"/sys/class/net/{self.name}"):
            return None  # unplugged
        state, all_frames = ("up" if self.was_up else "down"), _ON_OFF[self.was_promiscuous]
        runner.run(["ip", "link", "set", self.name, "mtu", str(self.was_mtu), "promisc", all_frames,
                    state])  # fmt: skip
        return f"set {self.name} {state} with MTU {self.was_mtu}, promisc {all_frames} again"


@dataclass(frozen=True, slots=True)
class InterfaceMoved(Change):
    """Network interface of the host that was moved to a namespace under another name."""

    name: str
    namespace: str
    name_there: str

    def __str__(self) -> str:
        return f"network interface {self.name} in network namespace {self.namespace}"

    def undo(self, runner: Runner) -> str | None:
        there = ["ip", "-n", self.namespace, "link"]
        if runner.run([*there, "show", "dev", self.name_there], check=False).exit_code != 0:
            return None  # never moved, unplugged, or its namespace is gone
        runner.run([*there, "set", "dev", self.name_there, "down"])
        runner.run([*there, "set", "dev", self.name_there, "netns", "1", "name", self.name])
        return f"took {self.name} back from the network namespace {self.namespace}"


@dataclass(frozen=True, slots=True)
class NamespaceMade(Change):
    """Network namespace that was made (ip-netns(8)); its content ends with it."""

    name: str

    def __str__(self) -> str:
        return f"network namespace {self.name}"

    def undo(self, runner: Runner) -> str | None:
        if not runner.glob(f"/run/netns/{self.name}"):
            return None
        runner.run(["ip", "netns", "delete", self.name])
        return f"removed the network namespace {self.name}"
