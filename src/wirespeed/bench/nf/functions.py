# SPDX-License-Identifier: Apache-2.0
"""Which tasks make up a network function, and what do their counters mean?

Pure. A function has one task for each direction and queue of its two ports; a gateway of several
workers has more (workers.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wirespeed.bench.gateway import Gateway
from wirespeed.bench.nf.roles import Function, Role
from wirespeed.bench.nf.workers import worker_rings, worker_roles, worker_tasks
from wirespeed.bench.plugs import Plug
from wirespeed.bench.topology.wiring import IMPAIR, SIDES, VSWITCH, End, Forward, Wiring
from wirespeed.bench.wsdp.config import WsdpRing, WsdpTask
from wirespeed.model.spec import Impair, PointSpec
from wirespeed.model.trial import DropCause


def function(wiring: Wiring, name: str, queues: int, workers: int = 1) -> Function:
    """The function of this name."""
    forwards = _forwards(wiring, name)
    roles = (
        Role(_task_name(f, queue), f.from_port, f.to_port)
        for f in forwards
        for queue in range(queues)
    )
    return Function(
        name,
        tuple(roles if workers == 1 else worker_roles(forwards, workers)),
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
    lcores: Sequence[int],
    *,
    gateway: Gateway | None = None,
) -> tuple[WsdpTask, ...]:
    """The tasks of the function, all on the first lcore unless it is a gateway of many workers."""
    lcore, forwards = lcores[0], _forwards(wiring, name)
    if gateway is not None and gateway.translates and name != IMPAIR:
        if gateway.workers > 1:
            return tuple(worker_tasks(gateway, forwards, plugs, lcores))
        return tuple(_gateway_task(gateway, forward, plugs, lcore) for forward in forwards)
    return tuple(
        WsdpTask(
            _task_name(forward, queue),
            "impair" if name == IMPAIR else str(spec.sut.vnf.mode),
            lcore,
            rx=(receive,),
            tx=(transmit,),
            keys=_impair_keys(spec.sut.impair) if name == IMPAIR else _keys(forward),
        )
        for forward in forwards
        for queue, (receive, transmit) in enumerate(
            zip(
                plugs[End(name, forward.from_port)].receive,
                plugs[End(name, forward.to_port)].transmit,
                strict=True,
            )
        )
    )


def function_rings(spec: PointSpec, wiring: Wiring, name: str) -> tuple[WsdpRing, ...]:
    """The rings between the tasks of the function."""
    workers = spec.sut.vnf.workers
    return tuple(worker_rings(_forwards(wiring, name), workers)) if workers > 1 else ()


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
        "stall_every_ns": str(impair.stall_every_ns),
        "stall_ns": str(impair.stall_ns),
    }
