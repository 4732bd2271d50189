# SPDX-License-Identifier: Apache-2.0
"""Build the tasks of a gateway with several workers, and place them on lcores.

Pure. The layout is that of S1, figure 2: a load balancer for each side, workers, and aggregation
towards each port, with rings between them. A worker owns the subscribers whose key modulo the
number of workers is its number. docs/reference/bng.md describes the tasks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from wirespeed.bench.function.bng.gateway import Gateway
from wirespeed.bench.function.counts import TaskRole
from wirespeed.bench.program.attachment import Attachment
from wirespeed.bench.program.config import WsdpRing, WsdpTask
from wirespeed.bench.topology.wiring import SIDES, Forward

# Depth of the ring to a worker, and of the ring from all workers to a port.
_WORKER_RING, _PORT_RING = 1024, 4096


def frames_between(workers: int) -> int:
    """Return how many frames the rings between the tasks of one direction hold."""
    return workers * _WORKER_RING + _PORT_RING if workers > 1 else 0


@dataclass(frozen=True, slots=True)
class Lcores:
    """Lcores of the tasks. With fewer than three lcores, workers share them with other tasks."""

    balance: int
    aggregate: int
    workers: tuple[int, ...]

    @classmethod
    def of(cls, lcores: Sequence[int]) -> Lcores:
        return cls(lcores[0], lcores[1 % len(lcores)], tuple(lcores[2:] or lcores))

    def worker(self, number: int) -> int:
        return self.workers[number % len(self.workers)]


def worker_tasks(
    gateway: Gateway,
    forwards: Sequence[Forward],
    attachments: Mapping[str, Attachment],
    lcores: Sequence[int],
) -> Iterator[WsdpTask]:
    """Yield the tasks in the order in which frames pass them, for lcores with several tasks."""
    place = Lcores.of(lcores)
    for forward in forwards:
        yield _balancer(gateway, forward, attachments, place.balance)
    for number in range(gateway.workers):
        for forward in forwards:
            upstream = is_upstream(forward)
            yield WsdpTask(
                _worker(forward, number),
                "bng_up" if upstream else "bng_down",
                place.worker(number),
                rx=(f"ring:{_worker(forward, number)}",),
                tx=(f"ring:{_port(forward)}",),
                keys={
                    **gateway.function_keys(upstream=upstream),
                    "workers": str(gateway.workers),
                    "worker": str(number),
                },
            )
    for forward in forwards:
        transmit = attachments[forward.to_port].transmit[:1]
        yield WsdpTask(
            _port(forward), "aggregate", place.aggregate, (f"ring:{_port(forward)}",), transmit
        )


def worker_rings(forwards: Sequence[Forward], workers: int) -> Iterator[WsdpRing]:
    for forward in forwards:
        for number in range(workers):
            yield WsdpRing(_worker(forward, number), _WORKER_RING)
        yield WsdpRing(_port(forward), _PORT_RING)


def worker_roles(forwards: Sequence[Forward], workers: int) -> Iterator[TaskRole]:
    for forward in forwards:
        yield TaskRole(_balance(forward), enters=forward.from_port)
        for number in range(workers):
            yield TaskRole(_worker(forward, number), worker=(number, forward.from_port))
        yield TaskRole(_port(forward), leaves=forward.to_port)


def _balancer(
    gateway: Gateway, forward: Forward, attachments: Mapping[str, Attachment], lcore: int
) -> WsdpTask:
    upstream = is_upstream(forward)
    return WsdpTask(
        _balance(forward),
        "bng_lb_cpe" if upstream else "bng_lb_inet",
        lcore,
        rx=attachments[forward.from_port].receive,
        tx=tuple(f"ring:{_worker(forward, number)}" for number in range(gateway.workers)),
        keys={"tables": gateway.tables} if upstream else {},
    )


def is_upstream(forward: Forward) -> bool:
    return forward.from_port == SIDES[0]


def _balance(forward: Forward) -> str:
    return f"{forward.vnf}_{forward.from_port}_lb"


def _worker(forward: Forward, number: int) -> str:
    return f"{forward.vnf}_{forward.from_port}_w{number}"


def _port(forward: Forward) -> str:
    return f"{forward.vnf}_to_{forward.to_port}"
