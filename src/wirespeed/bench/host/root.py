# SPDX-License-Identifier: Apache-2.0
"""Check whether a bench needs root."""

from __future__ import annotations

from wirespeed.bench.interface import BenchError
from wirespeed.model.plan.plan import HostPlan
from wirespeed.model.study.spec import Frames
from wirespeed.remote.interface import Runner


def effective_user(runner: Runner) -> str:
    """Return the user ID with which commands run on this host."""
    return runner.run(["id", "-u"]).stdout.strip()


def check_namespaces(user: str, what: str) -> None:
    """Raise BenchError where this user cannot make network namespaces. what: e.g. "[tcp]"."""
    if user != "0":
        raise BenchError(
            f"{what} needs root, for network namespaces; this is user {user}",
            'Run as root, or measure frames with topology.kind = "wire", which needs none.',
        )


def check_root(user: str, frames: Frames, plan: HostPlan) -> None:
    """Raise BenchError where this user cannot bring the point's bench up."""
    if user != "0" and plan.huge_pages.value:
        raise BenchError(
            f"topology.kind = {frames.topology.kind} needs root, for huge pages; this is user "
            f"{user}",
            'Run as root, or use topology.kind = "wire", which needs none.',
        )
