# SPDX-License-Identifier: Apache-2.0
"""Provide a study with this machine's facts, plan and bench."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

from wirespeed.audit.engine import audit
from wirespeed.audit.registry import all_rules
from wirespeed.audit.rule import Subject
from wirespeed.bench.assembly.hosts import BenchHost, BenchHosts
from wirespeed.bench.host.root import effective_user
from wirespeed.bench.interface import Bench
from wirespeed.bench.session import open_bench
from wirespeed.bench.site import Site
from wirespeed.host.collect import collect
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.host.neighbours import Neighbours
from wirespeed.model.plan.plan import Plan
from wirespeed.model.study.spec import Frames, Workload
from wirespeed.remote.local import LocalRunner
from wirespeed.remote.state import state_directory
from wirespeed.session.guests import GuestSource
from wirespeed.session.versions import own_versions
from wirespeed.store.run_writer import Origin
from wirespeed.study.interface import PointBench, Rig
from wirespeed.study.kinds.registry import kind_of


def local_rig() -> Rig:
    """Return the rig of this machine.

    Its facts are read once; nothing changes before a bench is opened.
    """
    runner = LocalRunner()
    facts, user = collect(runner), effective_user(runner)
    source = GuestSource(runner)

    def planned(workload: Workload) -> Plan:
        plan = plan_of(facts, workload)
        kind_of(workload).check_user(user, plan.sut_host)
        return plan

    def opened(frames: Frames, plan: Plan, name: str) -> AbstractContextManager[Bench]:
        logs = state_directory(os.environ) / "logs" / name
        hosts, guests = BenchHosts(BenchHost(runner)), source.guests_of(plan)
        return open_bench(frames, plan, hosts, logs, guests)

    def opened_own(workload: Workload, plan: Plan, name: str) -> AbstractContextManager[PointBench]:
        logs = state_directory(os.environ) / "logs" / name
        return kind_of(workload).open_on(plan, Site(runner, logs, source.guests_of(plan)))

    return Rig(facts, planned, opened, opened_own)


def origin_of(rig: Rig, command: Sequence[str], neighbours: Neighbours | None = None) -> Origin:
    """Return the origin of a run on it, with an audit of its hosts as they are now.

    neighbours: what an earlier run on the rig's own host shows.
    """
    own = replace(rig.facts, neighbours=neighbours)
    audits = tuple(audit(Subject(facts), all_rules()) for facts in (own, *rig.others))
    return Origin(command, own_versions(), rig.facts, audits)


def plan_of(facts: HostFacts, workload: Workload) -> Plan:
    """Return the plan of a point on a host with these facts. Raises BadInput."""
    return kind_of(workload).plan(facts)
