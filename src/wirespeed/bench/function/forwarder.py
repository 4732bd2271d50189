# SPDX-License-Identifier: Apache-2.0
"""Run wsdp's forwarder: one task for each direction and queue of its two ports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from wirespeed.bench.function.addresses import rewritten
from wirespeed.bench.function.counts import TaskCounts, TaskRole
from wirespeed.bench.function.interface import Setup
from wirespeed.bench.function.wsdp_tasks import WsdpFunctionKind
from wirespeed.bench.program.config import WsdpTask
from wirespeed.bench.topology.addresses import Header
from wirespeed.bench.topology.wiring import Forward
from wirespeed.model.result.hop_counts import DropCause
from wirespeed.model.study.spec import Frames


class Forwarder(WsdpFunctionKind):
    name = "wsdp"
    summary = "this project's own data plane"

    def rewritten(
        self, frames: Frames, header: Header, own: str, target: str, _side: str
    ) -> tuple[Header, str | None]:
        return rewritten(frames.sut.vnf.mode, header, own, target)

    def tasks(self, setup: Setup) -> tuple[WsdpTask, ...]:
        mode = str(setup.frames.sut.vnf.mode)
        return tuple(
            task_between(setup, forward, queue, mode, _target(forward))
            for forward, queue in lanes(setup)
        )

    def counts(self, setup: Setup) -> TaskCounts:
        return counts_of_lanes(setup, DropCause.VNF_DISCARD)


def lanes(setup: Setup) -> Iterator[tuple[Forward, int]]:
    """Yield each direction with each queue; every pair is one task."""
    for forward in setup.forwards:
        for queue in range(len(setup.attachments[forward.from_port].receive)):
            yield forward, queue


def task_between(
    setup: Setup, forward: Forward, queue: int, kind: str, keys: Mapping[str, str]
) -> WsdpTask:
    """Build a task from a queue of one port to the same queue of the other; lcores take turns."""
    receive = setup.attachments[forward.from_port].receive
    transmit = setup.attachments[forward.to_port].transmit
    turn = setup.forwards.index(forward) * len(receive) + queue
    lcore = setup.lcores[turn % len(setup.lcores)]
    return WsdpTask(
        task_name(forward, queue), kind, lcore, (receive[queue],), (transmit[queue],), keys
    )


def counts_of_lanes(setup: Setup, discards: DropCause) -> TaskCounts:
    """Return how to read the counters of these tasks.

    discards: why the tasks drop on purpose.
    """
    roles = tuple(
        TaskRole(task_name(forward, queue), forward.from_port, forward.to_port)
        for forward, queue in lanes(setup)
    )
    return TaskCounts(setup.name, roles, discards, setup.blocked_by)


def task_name(forward: Forward, queue: int) -> str:
    return f"{forward.vnf}_{forward.from_port}{queue}"


def _target(forward: Forward) -> Mapping[str, str]:
    return {} if forward.dst_mac is None else {"dst_mac": forward.dst_mac}
