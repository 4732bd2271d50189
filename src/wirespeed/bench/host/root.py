# SPDX-License-Identifier: Apache-2.0
"""Check whether a bench needs root."""

from __future__ import annotations

from wirespeed.bench.interface import BenchError
from wirespeed.model.plan.plan import HostPlan
from wirespeed.model.study.spec import TcpStreams, Workload
from wirespeed.remote.interface import Runner


def effective_user(runner: Runner) -> str:
    """Return the user ID with which commands run on this host."""
    return runner.run(["id", "-u"]).stdout.strip()


def check_root(user: str, workload: Workload, plan: HostPlan) -> None:
    """Raise BenchError where this user cannot bring the point's bench up."""
    if user == "0":
        return
    if isinstance(workload, TcpStreams):
        raise BenchError(
            f"[tcp] needs root, for network namespaces; this is user {user}",
            'Run as root, or measure frames with topology.kind = "wire", which needs none.',
        )
    if plan.huge_pages.value:
        raise BenchError(
            f"topology.kind = {workload.topology.kind} needs root, for huge pages; this is user "
            f"{user}",
            'Run as root, or use topology.kind = "wire", which needs none.',
        )
