# SPDX-License-Identifier: Apache-2.0
"""Test that a host keeps its servers' resources, and that facts unknown to the API are missing."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import fields, replace

import pytest
from hypothesis import HealthCheck, given, settings

from tests.support.carried_out import replies, with_vfs
from tests.support.examples import empty, lab_hosts, lab_plan
from tests.unit.plan.test_invariants import workloads
from wirespeed.audit.engine import audit
from wirespeed.audit.registry import all_rules
from wirespeed.audit.rule import Subject
from wirespeed.cloud.collect import collect
from wirespeed.cloud.host_facts import completed, host_facts
from wirespeed.host.file import HOST_FILE
from wirespeed.model.cloud import Cloud
from wirespeed.model.errors import BadInput
from wirespeed.model.host.facts import HostFacts, Missing
from wirespeed.model.host.finding import Status
from wirespeed.model.host.guest_facts import Guest
from wirespeed.model.plan.plan import GuestPlan, Plan
from wirespeed.model.plan.workload import Workload
from wirespeed.plan.errors import PlanError
from wirespeed.plan.planner import plan_workload
from wirespeed.plan.workload.rules import broken_rules

HOSTS = tuple(with_vfs(empty("s3-r740xd", name), "0000:af:00.0", 6) for name in ("a", "b"))


def lab() -> Cloud:
    return collect(replies(lab_plan(), lab_hosts()))


def facts_from(cloud: Cloud, name: str) -> HostFacts:
    host = cloud.host(name)
    assert host
    return host_facts(cloud, host)


def test_the_api_alone_tells_servers_and_flavors_but_no_cpus() -> None:
    facts = facts_from(lab(), "compute-1")
    assert facts.cpus == facts.nodes == ()
    assert "which of its 2 NUMA nodes (1 socket a node, 18 cores a socket" in str(
        facts.why_missing("cpus")
    )
    planned = {guest.name: guest for guest in lab_plan().hosts[0].guests}
    assert {guest.name for guest in facts.guests or ()} == {f"instance-{n}" for n in planned}
    gateway = guest_of(facts, "instance-gateway-1")
    want = planned["gateway-1"]
    assert [(p.vcpu, p.cpus[0]) for p in gateway.pins] == sorted(
        pin for node in want.nodes for pin in node.pins
    )
    assert gateway.memory_nodes == (0, 1)
    assert gateway.node_memory_kib == (4096 * 1024, 4096 * 1024)
    assert gateway.huge_page_kib == 1048576
    assert {flavor.name for flavor in facts.flavors or ()} >= {"gateway", "cache"}
    text = json.dumps(HOST_FILE.document(facts))
    assert HOST_FILE.parse(text, "it") == facts


def test_every_fact_is_known_or_listed_as_missing() -> None:
    facts = facts_from(lab(), "compute-1")
    names = {field.name for field in fields(HostFacts)}
    by_the_api = {"host", "cpu_model", "guests", "flavors", "missing"}
    assert {name for name in names if facts.why_missing(name) is None} <= by_the_api


def test_the_audit_checks_flavors_and_says_of_the_rest_that_it_is_not_known() -> None:
    report = audit(Subject(facts_from(lab(), "compute-1")), all_rules())
    by_rule = {finding.name: finding for finding in report.findings}
    assert by_rule["unknown-extra-spec"].status in (Status.PASSED, Status.FAILED)
    for name in ("irqs-on-isolated", "pmd-guest-overlap", "governor", "two-guests-one-cpu"):
        assert by_rule[name].status is Status.NOT_CHECKED, name
        assert "does not tell" in by_rule[name].found or "needs" in by_rule[name].found
    failed = {f.name for f in report.findings if f.status is Status.FAILED}
    assert failed <= {"unknown-extra-spec", "isolate-on-smt", "numa-cpus-without-nodes"}
    assert report.faults == ()


def test_a_plan_is_refused_where_only_the_api_was_asked() -> None:
    facts = facts_from(lab(), "compute-1")
    with pytest.raises(PlanError, match="CPUs and NUMA nodes are not known") as failure:
        plan_workload(Workload("w", ()), [facts])
    assert "wirespeed inspect" in failure.value.next_step


def test_a_host_that_the_cloud_does_not_have_is_refused() -> None:
    stranger = replace(lab_hosts()[0], host="elsewhere")
    with pytest.raises(BadInput, match="no compute host elsewhere; it has compute-1, compute-2"):
        completed(stranger, lab())


def test_libvirt_knows_more_than_the_api_and_servers_that_are_off_keep_their_place() -> None:
    cloud = lab()
    running = Guest("instance-gateway-1", 6, 1, emulator_cpus=(9,))
    other = Guest("not-of-nova", 1, 1)
    host = replace(lab_hosts()[0], guests=(running, other))
    facts = completed(host, cloud)
    assert guest_of(facts, "instance-gateway-1") == running
    assert guest_of(facts, "not-of-nova") == other
    assert guest_of(facts, "instance-ids").pins
    assert "OpenStack's API tells CPUs" in str(facts.why_missing("guests"))


def test_with_every_server_known_to_libvirt_nothing_of_guests_is_missing() -> None:
    cloud = lab()
    alone = facts_from(cloud, "compute-1")
    facts = completed(replace(lab_hosts()[0], guests=alone.guests), cloud)
    assert facts.why_missing("guests") is None
    assert facts.why_missing("guests.devices") is None


def test_guests_missing_from_virsh_come_from_the_cloud() -> None:
    missing = (Missing("guests", "needs virsh"), Missing("irqs", "needs root"))
    host = replace(lab_hosts()[0], guests=None, missing=missing)
    facts = completed(host, lab())
    assert facts.guests
    assert facts.why_missing("irqs") == "needs root"
    assert "not" not in str(facts.why_missing("cpus") or "")


def test_a_device_without_address_is_warned_about() -> None:
    # The API reports that vpn has a QAT unit, but not which one.
    cloud, plan = lab(), lab_plan()
    host = next(host for host in plan.hosts if any(g.name == "vpn" for g in host.guests))
    facts = [completed(h, cloud) for h in lab_hosts() if h.host == host.host]
    assert "pci_passthrough:alias=qat:1" in str(facts[0].why_missing("guests.devices"))
    warnings = plan_workload(Workload("w", ()), facts).warnings
    assert any("server vpn: the API does not say which devices" in text for text in warnings)


def test_a_shelved_server_has_given_its_place_back() -> None:
    given = replies(lab_plan(), lab_hosts())
    for server in given.replies["compute /servers/detail"]:
        server["status"] = "SHELVED_OFFLOADED"
    assert facts_from(collect(given), "compute-1").guests == ()


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(workload=workloads())
def test_cpus_pages_and_vfs_of_servers_are_not_given_twice(workload: Workload) -> None:
    """Plan the same guests again, on a cloud that has them: no CPU, page or VF is given twice."""
    if broken_rules(workload):
        return
    first = plan_workload(workload, HOSTS)
    cloud = collect(replies(first, HOSTS))
    again = plan_workload(workload, [completed(facts, cloud) for facts in HOSTS])
    for index in range(len(HOSTS)):
        one, other = first.hosts[index], again.hosts[index]
        guests = (*one.guests, *other.guests)
        assert once(cpus_of(guests)), "a CPU is given twice"
        assert once(port.device.value for g in guests for port in g.ports if port.device)
        enough_pages(again, index, guests)


def cpus_of(guests: Iterable[GuestPlan]) -> Iterable[int]:
    return (cpu for guest in guests for node in guest.nodes for _, cpu in node.pins)


def enough_pages(plan: Plan, index: int, guests: Iterable[GuestPlan]) -> None:
    planned = {(p.node, p.size_kib): p.count for p in plan.hosts[index].huge_pages.value}
    used: Counter[tuple[int, int]] = Counter()
    for guest in guests:
        for node in guest.nodes:
            if node.page_kib > 4:
                used[node.node, node.page_kib] += node.memory_mib * 1024 // node.page_kib
    for key, count in used.items():
        assert count <= planned.get(key, 0), key


def once(values: Iterable[object]) -> bool:
    return all(count == 1 for count in Counter(values).values())


def guest_of(facts: HostFacts, name: str) -> Guest:
    return next(guest for guest in facts.guests or () if guest.name == name)
