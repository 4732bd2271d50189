# SPDX-License-Identifier: Apache-2.0
"""Provide a study with this machine's facts, plan and bench."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from importlib.metadata import version

from wirespeed.audit.engine import audit
from wirespeed.audit.registry import all_rules
from wirespeed.audit.rule import Subject
from wirespeed.bench.assembly.hosts import BenchHost, BenchHosts
from wirespeed.bench.assembly.kinds import needs_of, tcp_needs_of
from wirespeed.bench.fault.inject import as_built, as_planned
from wirespeed.bench.host.root import check_root, effective_user
from wirespeed.bench.interface import Bench, TcpBench
from wirespeed.bench.session import open_bench
from wirespeed.bench.tcp_session import open_tcp_bench
from wirespeed.host.collect import collect
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.host.neighbours import Neighbours
from wirespeed.model.plan.plan import Plan
from wirespeed.model.study.spec import Frames, TcpStreams, Workload
from wirespeed.plan.testbed.bench import plan_bench
from wirespeed.plan.testbed.tcp import plan_tcp
from wirespeed.remote.local import LocalRunner
from wirespeed.remote.state import state_directory
from wirespeed.session.guests import GuestSource
from wirespeed.store.run_writer import Origin
from wirespeed.study.interface import Rig


def local_rig() -> Rig:
    """Return the rig of this machine.

    Its facts are read once; nothing changes before a bench is opened.
    """
    runner = LocalRunner()
    facts, user = collect(runner), effective_user(runner)
    source = GuestSource(runner)

    def planned(workload: Workload) -> Plan:
        plan = plan_of(facts, workload)
        check_root(user, workload, plan.sut_host)
        return plan

    def opened(frames: Frames, plan: Plan, name: str) -> AbstractContextManager[Bench]:
        logs = state_directory(os.environ) / "logs" / name
        hosts, guests = BenchHosts(BenchHost(runner)), source.guests_of(plan)
        return open_bench(frames, plan, hosts, logs, guests)

    def opened_tcp(streams: TcpStreams, plan: Plan, name: str) -> AbstractContextManager[TcpBench]:
        logs = state_directory(os.environ) / "logs" / name
        return open_tcp_bench(streams, plan, runner, logs, source.guests_of(plan))

    return Rig(facts, planned, opened, opened_tcp)


def origin_of(rig: Rig, command: Sequence[str], neighbours: Neighbours | None = None) -> Origin:
    """Return the origin of a run on it, with an audit of its hosts as they are now.

    neighbours: what an earlier run on the rig's own host shows.
    """
    own = replace(rig.facts, neighbours=neighbours)
    audits = tuple(audit(Subject(facts), all_rules()) for facts in (own, *rig.others))
    return Origin(command, own_versions(), rig.facts, audits)


def plan_of(facts: HostFacts, workload: Workload) -> Plan:
    """Return the plan of a point on a host with these facts. Raises BadInput."""
    if isinstance(workload, TcpStreams):
        return plan_tcp(facts, workload, tcp_needs_of(workload))
    built = as_built(workload)
    return as_planned(plan_bench(facts, built, needs_of(built)), facts, built)


def own_versions() -> dict[str, str]:
    """Return the versions of wirespeed and its libraries; the bench adds those of the SUT."""
    return {
        "wirespeed": version("wirespeed"),
        "python": platform.python_version(),
        "kernel": platform.release(),
    }
