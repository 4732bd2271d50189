# SPDX-License-Identifier: Apache-2.0
"""Run this project's router whose tables can change, with the routes of the streams."""

from __future__ import annotations

from collections.abc import Mapping

from wirespeed.bench.function.interface import Demand, Setup
from wirespeed.bench.function.kernel_router import kernel_demand, kernel_router
from wirespeed.bench.function.l3fwd import StaticRouter
from wirespeed.bench.host.directories import Directories
from wirespeed.bench.host.host import Host
from wirespeed.bench.interface import Part
from wirespeed.bench.program.config import WsdpConfig
from wirespeed.model.result.hop_counts import DropCause
from wirespeed.model.study.spec import Frames

_CAUSES: Mapping[str, DropCause] = {
    **StaticRouter.causes,
    "too_big": DropCause.MTU,
    "fragment": DropCause.MTU,
    "unknown_vlan": DropCause.UNKNOWN_VLAN,
}


class Router(StaticRouter):
    """The task `router`.

    With [routing] it follows the kernel of a namespace. Otherwise it has the routes of a file and
    no host for exceptions, so all of them are drops.
    """

    name = "router"
    summary = (
        "this project's router whose tables can change while it runs, with groups of next hops, "
        "MTUs and exceptions by cause"
    )
    causes = _CAUSES
    multipath = True
    settings = ("generation", "routes_ipv4", "routes_ipv6", "hops", "groups")

    def demand(self, frames: Frames) -> Demand:
        if frames.routing is None:
            return super().demand(frames)
        return kernel_demand(frames, frames.routing)

    def part(self, host: Host, dirs: Directories, process: WsdpConfig, setup: Setup) -> Part:
        if setup.frames.routing is None:
            return super().part(host, dirs, process, setup)
        return kernel_router(host, dirs, process, setup, self.counts(setup))
