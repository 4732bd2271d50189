# SPDX-License-Identifier: Apache-2.0
"""Test failures of a real OpenStack: one clear message each, and a rerun completes."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest

from tests.cloud import cases, rabbit
from tests.cloud.cloud import CREATE, DELETE, STACK, Cloud
from tests.cloud.clouds import Clouds
from tests.cloud.computes import simulated

HOST, FIRST = "s1-dppd", "bng"


@pytest.fixture(scope="module")
def running(clouds: Clouds) -> Iterator[Cloud]:
    plan, facts = next(case for case in cases.examples() if case.name == "s1-bng").make()
    with clouds.cloud(plan, simulated(facts)) as made:
        yield made


@pytest.fixture
def empty(running: Cloud) -> Iterator[Cloud]:
    """Provide the cloud without any object of the plan, before and after."""
    yield running
    done = running.script(DELETE)
    assert done.returncode == 0, done.stderr
    assert not running.names()


def _refused(done: subprocess.CompletedProcess[str], *words: str) -> None:
    """Check that the command failed with an error of one line."""
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    last = done.stderr.strip().splitlines()[-1]
    for word in words:
        assert word in last, done.stderr


def _complete(made: Cloud) -> None:
    done = made.script(CREATE)
    assert done.returncode == 0, done.stderr
    assert all(row.cells[0] for row in made.compare())


def _quota(made: Cloud, cores: int) -> None:
    made.api.put("nova", f"/os-quota-sets/{made.api.project}", {"quota_set": {"cores": cores}})


def _maintenance(made: Cloud, status: str) -> None:
    services = made.api.get("nova", "/os-services?binary=nova-compute")["services"]
    identity = next(each["id"] for each in services if each["host"] == HOST)
    made.api.put("nova", f"/os-services/{identity}", {"status": status})


def test_wrong_credentials_are_an_error(empty: Cloud) -> None:
    path = empty.control.site.write(CREATE, empty.rendered[CREATE])
    done = empty.client("bash", str(path), OS_PASSWORD="not this one")  # noqa: S106
    _refused(done, "did not accept the credentials", "OS_*")
    assert not empty.names()


def test_an_aggregate_with_another_property_is_not_changed(empty: Cloud) -> None:
    made = empty.api.post("nova", "/os-aggregates", {"aggregate": {"name": "nfv-aggregate"}})
    path = f"/os-aggregates/{made['aggregate']['id']}"
    empty.api.post("nova", f"{path}/action", {"set_metadata": {"metadata": {"nfv": "false"}}})
    _refused(empty.script(CREATE), "nfv-aggregate exists with", '"nfv": "false"', '"true"')
    shown = empty.api.get("nova", path)["aggregate"]["metadata"]
    assert shown == {"nfv": "false"}
    empty.api.post("nova", f"{path}/action", {"set_metadata": {"metadata": {"nfv": "true"}}})
    _complete(empty)


def test_a_flavor_of_another_size_is_refused(empty: Cloud) -> None:
    flavor = {"name": FIRST, "vcpus": 2, "ram": 512, "disk": 1}
    empty.api.post("nova", "/flavors", {"flavor": flavor})
    _refused(empty.script(CREATE), f"flavor {FIRST} exists with", 'vcpus="2"', 'vcpus="16"')


def test_create_sh_completes_after_a_quota_stopped_it(empty: Cloud) -> None:
    _quota(empty, 20)
    try:
        _refused(empty.script(CREATE), "Quota exceeded for cores")
        servers = {each["name"] for each in empty.api.get("nova", "/servers")["servers"]}
        assert servers == {FIRST}
    finally:
        _quota(empty, -1)
    _complete(empty)
    again = empty.compare()
    _complete(empty)
    assert empty.compare() == again


def test_a_host_in_maintenance_is_an_error(empty: Cloud) -> None:
    _maintenance(empty, "disabled")
    try:
        _refused(empty.script(CREATE), HOST, "disabled", "No valid host was found")
    finally:
        _maintenance(empty, "enabled")
    _complete(empty)


def test_a_half_created_stack_is_completed_by_an_update(empty: Cloud) -> None:
    path = str(empty.control.site.write(STACK, empty.rendered[STACK]))
    _quota(empty, 20)
    try:
        made = empty.client("openstack", "stack", "create", "--wait", "-t", path, "plan")
        assert made.returncode != 0
        assert "Quota exceeded for cores" in made.stdout + made.stderr
    finally:
        _quota(empty, -1)
    made = empty.client("openstack", "stack", "update", "--wait", "-t", path, "plan")
    assert made.returncode == 0, made.stdout + made.stderr
    assert all(row.cells[0] for row in empty.compare())
    made = empty.client("openstack", "stack", "delete", "--yes", "--wait", "plan")
    assert made.returncode == 0, made.stdout + made.stderr
    assert not empty.names()


def test_create_sh_completes_after_a_restart_of_rabbitmq(empty: Cloud) -> None:
    """A rerun of create.sh completes even if messages were lost."""
    processes, site = empty.control.processes, empty.control.site
    _quota(empty, 20)
    try:
        _refused(empty.script(CREATE), "Quota exceeded for cores")
    finally:
        _quota(empty, -1)
    processes.stop("rabbitmq")
    rabbit.start(site, processes)
    rabbit.wait(site, processes)
    first = empty.script(CREATE)
    if first.returncode:
        assert "Traceback" not in first.stderr
        _complete(empty)
    assert all(row.cells[0] for row in empty.compare())


def test_secrets_are_in_no_log_and_no_argument(running: Cloud) -> None:
    site, processes = running.control.site, running.control.processes
    for path in processes.logs.iterdir():
        text = path.read_text(errors="replace")
        assert site.password not in text, path
        assert site.cookie not in text, path
    for pid in processes.members():
        arguments = processes.arguments(pid)
        assert site.password not in arguments
        assert site.cookie not in arguments
