# SPDX-License-Identifier: Apache-2.0
"""Which tasks make up a network function, and what do their counters mean?

Pure. A function has one task for each direction and queue of its two ports.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from wirespeed.bench.gateway import Gateway
from wirespeed.bench.interface import HopCount
from wirespeed.bench.plugs import Plug
from wirespeed.bench.topology.wiring import IMPAIR, SIDES, VSWITCH, End, Forward, Wiring
from wirespeed.bench.wsdp.config import WsdpTask
from wirespeed.model.spec import Impair, PointSpec
from wirespeed.model.trial import DropCause


@dataclass(frozen=True, slots=True)
class Role:
    """One task of a network function, and which of its ports it forwards between."""

    task: str
    from_port: str
    to_port: str


@dataclass(frozen=True, slots=True)
class Function:
    """A network function in wsdp.

    discards: why it drops on purpose. blocked_by: whose slowness a full output of it shows.
    """

    name: str
    roles: tuple[Role, ...]
    discards: DropCause
    blocked_by: DropCause

    def read(self, stats: Mapping[str, Mapping[str, int]]) -> HopCount:
        """Its books, from wsdp's counters by task."""
        entered: dict[str, int] = {}
        left: dict[str, int] = {}
        drops: dict[tuple[str, DropCause], int] = {}
        for role in self.roles:
            seen = stats[role.task]
            entered[role.from_port] = entered.get(role.from_port, 0) + seen["rx"]
            left[role.to_port] = left.get(role.to_port, 0) + seen["tx"]
            for cause, key in (
                (self.blocked_by, "tx_fail"),
                (self.discards, "discard"),
                (DropCause.VNF_HANDLED, "handled"),
            ):
                place = (self.name, cause)
                drops[place] = drops.get(place, 0) + seen[key]
        return HopCount(self.name, entered, left, drops)


def function(wiring: Wiring, name: str, queues: int) -> Function:
    """The function of this name."""
    return Function(
        name,
        tuple(
            Role(_task_name(f, queue), f.from_port, f.to_port)
            for f in _forwards(wiring, name)
            for queue in range(queues)
        ),
        DropCause.IMPAIRED if name == IMPAIR else DropCause.VNF_DISCARD,
        blocked_by(wiring, name),
    )


def blocked_by(wiring: Wiring, name: str) -> DropCause:
    """A full output ring: towards the vSwitch it is the vSwitch, else the generator, that lags."""
    peers = {wiring.peer(End(name, f.to_port)).owner for f in _forwards(wiring, name)}
    return DropCause.VNF_TX_RING_FULL if VSWITCH in peers else DropCause.TG_RX_RING_FULL


def function_tasks(
    spec: PointSpec,
    wiring: Wiring,
    name: str,
    plugs: Mapping[End, Plug],
    lcore: int,
    *,
    gateway: Gateway | None = None,
) -> tuple[WsdpTask, ...]:
    """The tasks of the function, all on one lcore."""
    if gateway is not None and gateway.translates and name != IMPAIR:
        return tuple(
            _gateway_task(gateway, forward, plugs, lcore) for forward in _forwards(wiring, name)
        )
    return tuple(
        WsdpTask(
            _task_name(forward, queue),
            "impair" if name == IMPAIR else str(spec.sut.vnf.mode),
            lcore,
            rx=(receive,),
            tx=(transmit,),
            keys=_impair_keys(spec.sut.impair) if name == IMPAIR else _keys(forward),
        )
        for forward in _forwards(wiring, name)
        for queue, (receive, transmit) in enumerate(
            zip(
                plugs[End(name, forward.from_port)].receive,
                plugs[End(name, forward.to_port)].transmit,
                strict=True,
            )
        )
    )


def _gateway_task(
    gateway: Gateway, forward: Forward, plugs: Mapping[End, Plug], lcore: int
) -> WsdpTask:
    """One direction of a gateway: from all queues of one port to the first of the other."""
    upstream = forward.from_port == SIDES[0]
    return WsdpTask(
        _task_name(forward, 0),
        "bng_up" if upstream else "bng_down",
        lcore,
        rx=plugs[End(forward.vnf, forward.from_port)].receive,
        tx=plugs[End(forward.vnf, forward.to_port)].transmit[:1],
        keys=gateway.function_keys(upstream=upstream),
    )


def _forwards(wiring: Wiring, name: str) -> tuple[Forward, ...]:
    return tuple(f for f in wiring.forwards if f.vnf == name)


def _task_name(forward: Forward, queue: int) -> str:
    return f"{forward.vnf}_{forward.from_port}{queue}"


def _keys(forward: Forward) -> Mapping[str, str]:
    return {} if forward.dst_mac is None else {"dst_mac": forward.dst_mac}


def _impair_keys(impair: Impair) -> Mapping[str, str]:
    return {
        "rate_fps": str(round(impair.rate_fps)),
        "delay_ns": str(impair.delay_ns),
        "loss_every": str(impair.loss_every),
        "queue_frames": str(impair.queue_frames),
    }
