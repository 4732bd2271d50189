# SPDX-License-Identifier: Apache-2.0
"""Which tasks make up a gateway of several workers, and on which lcores do they run?

Pure. S1's layout (its figure 2): a load balancer for each side, workers that each own the
subscribers whose key modulo their number is theirs, aggregation towards each port. Rings lie
between them. docs/reference/bng.md describes the tasks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from wirespeed.bench.gateway import Gateway
from wirespeed.bench.nf.roles import Role
from wirespeed.bench.plugs import Plug
from wirespeed.bench.topology.wiring import SIDES, End, Forward
from wirespeed.bench.wsdp.config import WsdpRing, WsdpTask

# To a worker, and from all of them to a port.
_WORKER_RING, _PORT_RING = 1024, 4096


@dataclass(frozen=True, slots=True)
class Lcores:
    """Who runs where. With fewer than three lcores workers share them with the rest."""

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
    plugs: Mapping[End, Plug],
    lcores: Sequence[int],
) -> Iterator[WsdpTask]:
    """In the order in which frames meet them, for where they share an lcore."""
    place = Lcores.of(lcores)
    for forward in forwards:
        yield _balancer(gateway, forward, plugs, place.balance)
    for number in range(gateway.workers):
        for forward in forwards:
            upstream = _is_upstream(forward)
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
        transmit = plugs[End(forward.vnf, forward.to_port)].transmit[:1]
        yield WsdpTask(
            _port(forward), "aggregate", place.aggregate, (f"ring:{_port(forward)}",), transmit
        )


def worker_rings(forwards: Sequence[Forward], workers: int) -> Iterator[WsdpRing]:
    for forward in forwards:
        for number in range(workers):
            yield WsdpRing(_worker(forward, number), _WORKER_RING)
        yield WsdpRing(_port(forward), _PORT_RING)


def worker_roles(forwards: Sequence[Forward], workers: int) -> Iterator[Role]:
    for forward in forwards:
        yield Role(_balance(forward), enters=forward.from_port)
        for number in range(workers):
            yield Role(_worker(forward, number), worker=(number, forward.from_port))
        yield Role(_port(forward), leaves=forward.to_port)


def _balancer(
    gateway: Gateway, forward: Forward, plugs: Mapping[End, Plug], lcore: int
) -> WsdpTask:
    upstream = _is_upstream(forward)
    return WsdpTask(
        _balance(forward),
        "bng_lb_cpe" if upstream else "bng_lb_inet",
        lcore,
        rx=plugs[End(forward.vnf, forward.from_port)].receive,
        tx=tuple(f"ring:{_worker(forward, number)}" for number in range(gateway.workers)),
        keys={"tables": gateway.tables} if upstream else {},
    )


def _is_upstream(forward: Forward) -> bool:
    return forward.from_port == SIDES[0]


def _balance(forward: Forward) -> str:
    return f"{forward.vnf}_{forward.from_port}_lb"


def _worker(forward: Forward, number: int) -> str:
    return f"{forward.vnf}_{forward.from_port}_w{number}"


def _port(forward: Forward) -> str:
    return f"{forward.vnf}_to_{forward.to_port}"
