# SPDX-License-Identifier: Apache-2.0
"""Test `inspect --openstack` on a real control plane, and plans around its servers."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from tests.cloud.cloud import CREATE, DELETE, Cloud
from tests.cloud.clouds import Clouds
from tests.cloud.computes import simulated
from tests.support.examples import example_host, example_plan, example_text
from wirespeed.cloud.api import CloudUnreadable
from wirespeed.cloud.collect import collect
from wirespeed.cloud.host_facts import completed
from wirespeed.cloud.live import open_cloud
from wirespeed.cloud.recording import RecordedApi, RecordingApi
from wirespeed.model.cloud import Cloud as Collected
from wirespeed.plan.cloud.diff import diff_cloud
from wirespeed.plan.diff import Effort
from wirespeed.plan.plan_file import write_plan
from wirespeed.plan.planner import plan_workload
from wirespeed.plan.workload.file import parse_workload

EXAMPLE = "s1-bng"


@pytest.fixture(scope="module")
def made(clouds: Clouds) -> Iterator[Cloud]:
    """Provide the example's cloud before anything is created."""
    with clouds.cloud(example_plan(EXAMPLE), simulated([example_host(EXAMPLE)])) as found:
        yield found
        found.script(DELETE)


@contextmanager
def credentials(made: Cloud, **instead: str) -> Iterator[None]:
    """Set OS_* of the administrator while the block runs; `instead` replaces some of them."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**made.control.site.environ(), **instead}.items():
            patch.setenv(name, value)
        yield


@pytest.fixture(scope="module")
def collected(made: Cloud) -> Collected:
    """Return what the API reports after create.sh; check the differences before it."""
    with credentials(made):
        before = collect(open_cloud("envvars"))
        lacking = {(d.where, d.new) for d in diff_cloud(before, made.plan)}
        assert ("flavor bng", "defined") in lacking
        assert ("guest bng", made.plan.hosts[0].host) in lacking
        made.script(CREATE)
        recording = RecordingApi(open_cloud("envvars"))
        found = collect(recording)
    assert made.control.site.password not in recording.text()
    assert collect(RecordedApi(recording.text(), "it")) == found
    return found


def test_a_created_cloud_differs_from_its_plan_by_equal_vfs_alone(
    made: Cloud, collected: Collected
) -> None:
    found = diff_cloud(collected, made.plan)
    assert {d.where for d in found} <= {"guest bng"}, found
    assert {d.what for d in found} <= {"port cpe VF", "port inet VF"}, found
    assert {d.effort for d in found} <= {Effort.LIVE}


def test_a_plan_around_running_servers_takes_none_of_their_cpus(
    made: Cloud, collected: Collected
) -> None:
    facts = completed(replace(example_host(EXAMPLE), guests=()), collected)
    taken = {cpu for guest in facts.guests or () for pin in guest.pins for cpu in pin.cpus}
    assert taken == {
        cpu for guest in made.plan.hosts[0].guests for node in guest.nodes for _, cpu in node.pins
    }
    text = example_text(EXAMPLE).replace("keep_running = false", "")
    again = plan_workload(parse_workload(text, "w"), [facts])
    mine = {cpu for g in again.hosts[0].guests for node in g.nodes for _, cpu in node.pins}
    assert mine
    assert not mine & taken
    assert any("does not say which devices" in warning for warning in again.warnings)


def test_inspect_and_plan_diff_read_a_real_cloud(made: Cloud, collected: Collected) -> None:
    plan = made.control.site.write("plan.json", write_plan(made.plan))
    shown = _wirespeed(made, "inspect", "--openstack", "envvars")
    assert shown.returncode == 0, shown.stderr
    assert all(server.name in shown.stdout for server in collected.servers)
    found = _wirespeed(made, "plan", "diff", str(plan), "--openstack", "envvars")
    assert found.returncode == 0, found.stderr
    assert "rebuild" not in found.stdout, found.stdout


def test_a_wrong_password_is_an_error_without_the_password(made: Cloud) -> None:
    wrong = "not-" + made.control.site.password
    with (
        credentials(made, OS_PASSWORD=wrong),
        pytest.raises(CloudUnreadable, match="Keystone refuses the credentials") as failure,
    ):
        collect(open_cloud("envvars"))
    assert wrong not in str(failure.value)


def test_credentials_without_the_administrator_role_are_an_error(made: Cloud) -> None:
    name, password = "onlooker", "of-no-consequence"
    for words in (
        ("user", "create", name, "--password", password),
        ("role", "add", "--user", name, "--project", "admin", "reader"),
    ):
        done = made.client("openstack", *words)
        assert done.returncode == 0, done.stderr
    with (
        credentials(made, OS_USERNAME=name, OS_PASSWORD=password),
        pytest.raises(CloudUnreadable) as failure,
    ):
        collect(open_cloud("envvars"))
    assert "administrator" in failure.value.next_step, failure.value


def _wirespeed(made: Cloud, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "wirespeed.cli.main", *words],
        env={**os.environ, **made.control.site.environ(), "COLUMNS": "200"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
