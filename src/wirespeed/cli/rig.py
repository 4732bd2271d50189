# SPDX-License-Identifier: Apache-2.0
"""How does a study get the host it runs on? This machine's facts, plan and bench."""

from __future__ import annotations

import os
import platform
from contextlib import AbstractContextManager
from importlib.metadata import version

from wirespeed.bench.interface import Bench, TcpBench
from wirespeed.bench.journal import state_directory
from wirespeed.bench.root import check_root, effective_user
from wirespeed.bench.session import open_bench
from wirespeed.bench.tcp.session import open_tcp_bench
from wirespeed.host.collect import collect
from wirespeed.model.plan import Plan
from wirespeed.model.spec import PointSpec
from wirespeed.plan.bench import plan_bench
from wirespeed.remote.local import LocalRunner
from wirespeed.study.interface import Rig


def local_rig() -> Rig:
    """This machine. Reads its facts once; changes nothing before a bench is opened."""
    runner = LocalRunner()
    facts, user = collect(runner), effective_user(runner)

    def planned(spec: PointSpec) -> Plan:
        plan = plan_bench(facts, spec)
        check_root(user, spec, plan.hosts[0])
        return plan

    def opened(spec: PointSpec, plan: Plan, name: str) -> AbstractContextManager[Bench]:
        return open_bench(spec, plan, runner, state_directory(os.environ) / "logs" / name)

    def opened_tcp(spec: PointSpec, plan: Plan, name: str) -> AbstractContextManager[TcpBench]:
        logs = state_directory(os.environ) / "logs" / name
        return open_tcp_bench(spec, plan, runner, logs)

    return Rig(facts, planned, opened, opened_tcp)


def own_versions() -> dict[str, str]:
    """The versions of what measures; the bench adds those of what is measured."""
    return {
        "wirespeed": version("wirespeed"),
        "python": platform.python_version(),
        "kernel": platform.release(),
    }
