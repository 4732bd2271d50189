# SPDX-License-Identifier: Apache-2.0
"""What does a wsdp process run? As data, and as the INI file that wsdp reads.

docs/reference/wsdp.md describes the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from wirespeed.bench.program.dpdk import memory_options
from wirespeed.model.plan import ProcessMemory

# The main lcore runs no task; pollers are numbered from 1.
MAIN_LCORE = 0
CACHE_MBUFS = 512
# Devices whose rings are memory that both ends share: a full transmit ring is the SUT's own ingress
# queue, and the receiver's ring drops nothing.
RING_DEVICES = ("net_virtio_user", "virtio_user", "net_vhost", "net_memif", "net_ring")


@dataclass(frozen=True, slots=True)
class WsdpPort:
    """A port; connects_to: the socket that another program must have made before. serves_at: the
    socket that it makes itself.

    posted: how many receive descriptors hold a buffer at a time, at most `descriptors`.
    peer_spreads: whether it has no RSS: whoever puts frames into it chooses their queue.
    """

    name: str
    device: str
    queues: int
    descriptors: int
    posted: int
    mtu: int
    connects_to: str | None = None
    peer_spreads: bool = False
    serves_at: str | None = None


@dataclass(frozen=True, slots=True)
class WsdpRing:
    name: str
    size: int


@dataclass(frozen=True, slots=True)
class WsdpTask:
    """rx and tx: "PORT:QUEUE" or "ring:NAME". keys: the type's own arguments."""

    name: str
    type: str
    lcore: int
    rx: tuple[str, ...] = ()
    tx: tuple[str, ...] = ()
    keys: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WsdpConfig:
    """One process. cpus: of lcores 1, 2, ...; control_cpu: of the main lcore, which sleeps.

    floats_over: where given, the CPUs that the scheduler moves the polling lcores over instead.
    namespace: the network namespace that it runs in; None: the host's own.
    """

    file_prefix: str
    control_cpu: int
    cpus: tuple[int, ...]
    memory: ProcessMemory
    ports: tuple[WsdpPort, ...]
    tasks: tuple[WsdpTask, ...]
    rings: tuple[WsdpRing, ...] = ()
    floats_over: tuple[int, ...] = ()
    namespace: str | None = None

    def render(self) -> str:
        """The INI file."""
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
        for port in self.ports:
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
