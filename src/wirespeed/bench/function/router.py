# SPDX-License-Identifier: Apache-2.0
"""Run this project's router whose tables can change, with the routes of the streams."""

from __future__ import annotations

from collections.abc import Mapping

from wirespeed.bench.function.l3fwd import StaticRouter
from wirespeed.model.result.hop_counts import DropCause

_CAUSES: Mapping[str, DropCause] = {
    **StaticRouter.causes,
    "too_big": DropCause.MTU,
    "fragment": DropCause.MTU,
    "unknown_vlan": DropCause.UNKNOWN_VLAN,
}


class Router(StaticRouter):
    """The task `router`. It has no host for exceptions, so all of them are drops."""

    name = "router"
    summary = (
        "this project's router whose tables can change while it runs, with groups of next hops, "
        "MTUs and exceptions by cause"
    )
    causes = _CAUSES
    multipath = True
    settings = ("generation", "routes_ipv4", "routes_ipv6", "hops", "groups")
