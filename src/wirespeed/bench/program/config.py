# SPDX-License-Identifier: Apache-2.0
"""Describe what a wsdp process runs, as data and as wsdp's INI file.

docs/reference/wsdp.md describes the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from wirespeed.bench.program.dpdk import memory_options
from wirespeed.model.plan.plan import ProcessMemory

# The main lcore runs no task; pollers are numbered from 1.
MAIN_LCORE = 0
CACHE_MBUFS = 512
# Devices with rings in memory that both sides share. A full transmit ring is the SUT's ingress
# queue, and the receiver's ring drops nothing.
RING_DEVICES = ("net_virtio_user", "virtio_user", "net_vhost", "net_memif", "net_ring")


@dataclass(frozen=True, slots=True)
class WsdpPort:
    """A port of a wsdp process."""

    name: str
    device: str
    queues: int
    descriptors: int
    posted: int
    """Receive descriptors that hold a buffer at a time, at most `descriptors`."""
    mtu: int
    connects_to: str | None = None
    """Path of a socket that another program must make first."""
    peer_spreads: bool = False
    """True if the sender chooses the receive queue, because the port has no RSS."""
    serves_at: str | None = None
    """Path of the socket that it makes itself."""


@dataclass(frozen=True, slots=True)
class WsdpRing:
    name: str
    size: int


@dataclass(frozen=True, slots=True)
class WsdpTask:
    """A task of a wsdp process."""

    name: str
    type: str
    lcore: int
    rx: tuple[str, ...] = ()
    """Sources: "PORT:QUEUE" or "ring:NAME"."""
    tx: tuple[str, ...] = ()
    """Destinations: "PORT:QUEUE" or "ring:NAME"."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """Arguments of the task's type."""


@dataclass(frozen=True, slots=True)
class WsdpConfig:
    """One wsdp process."""

    file_prefix: str
    control_cpu: int
    """CPU of the main lcore, which sleeps."""
    cpus: tuple[int, ...]
    """CPUs of lcores 1, 2, ..."""
    memory: ProcessMemory
    ports: tuple[WsdpPort, ...]
    tasks: tuple[WsdpTask, ...]
    rings: tuple[WsdpRing, ...] = ()
    floats_over: tuple[int, ...] = ()
    """CPUs over which the scheduler moves the polling lcores, instead of `cpus`; empty: none."""
    namespace: str | None = None
    """Network namespace of the process; None for the host's own."""

    def render(self) -> str:
        """Return the INI file."""
        return "".join(
            f"[{name}]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items()) + "\n"
            for name, keys in self._sections()
        )

    def _sections(self) -> Iterator[tuple[str, Mapping[str, object]]]:
        lcores = [f"{MAIN_LCORE}@{self.control_cpu}"]
        anywhere = f"({','.join(map(str, self.floats_over))})"
        lcores += [
            f"{lcore}@{anywhere if self.floats_over else cpu}"
            for lcore, cpu in enumerate(self.cpus, start=1)
        ]
        yield (
            "eal",
            {
                "main_lcore": MAIN_LCORE,
                "lcores": ",".join(lcores),
                "file_prefix": self.file_prefix,
                "options": " ".join(memory_options(self.memory)),
            },
        )
        yield (
            "pool",
            {
                "mbufs": self.memory.mbufs,
                "cache": CACHE_MBUFS,
                "data_bytes": self.memory.data_bytes,
            },
        )
        # A client waits for a vSwitch that looks at its new sockets once a second (DPDK's
        # lib/vhost/fd_man.c), unless a connection to a socket served here wakes the vSwitch first.
        for port in sorted(self.ports, key=lambda each: each.serves_at is None):
            yield (
                f"port.{port.name}",
                {
                    "device": port.device,
                    "rx_queues": port.queues,
                    "tx_queues": port.queues,
                    **_spread(port),
                    "rx_descriptors": port.posted,
                    "tx_descriptors": port.descriptors,
                    "mtu": port.mtu,
                },
            )
        for ring in self.rings:
            yield f"ring.{ring.name}", {"size": ring.size}
        for task in self.tasks:
            yield f"task.{task.name}", {"type": task.type, "lcore": task.lcore, **_ends(task),
                                        **task.keys}  # fmt: skip


def _spread(port: WsdpPort) -> Mapping[str, str]:
    return {"spread": "peer"} if port.queues > 1 and port.peer_spreads else {}


def _ends(task: WsdpTask) -> Mapping[str, str]:
    ends = {"rx": ",".join(task.rx), "tx": ",".join(task.tx)}
    return {key: value for key, value in ends.items() if value}
