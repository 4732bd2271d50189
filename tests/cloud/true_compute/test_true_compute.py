# SPDX-License-Identifier: Apache-2.0
"""Test that a guest started by a real nova-compute runs as planned."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from xml.etree import ElementTree

import pytest

from tests.cloud import reasons
from tests.cloud.cloud import CREATE, DELETE, Cloud
from tests.cloud.clouds import Clouds
from tests.cloud.comparison import Row
from tests.cloud.true_compute import real_compute
from tests.cloud.true_compute.boot_sector import SAYS, boot_sector
from tests.cloud.true_compute.host import PlannedHost, planned_host
from tests.cloud.true_compute.running import RunningGuest, domains, running_guest
from tests.cloud.true_compute.running_comparison import compared, table
from wirespeed.model.plan.policy import NicUse
from wirespeed.plan.render.ovs import bridge_name

pytestmark = pytest.mark.openstack(compute=True)
_GUEST_S = 900.0


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlannedHost]:
    with planned_host(tmp_path_factory.mktemp("plan")) as found:
        print(f"host: answers after {found.up_s:.0f} s, as planned after {found.applied_s:.0f} s")
        yield found


@pytest.fixture(scope="module")
def made(host: PlannedHost, clouds: Clouds) -> Iterator[Cloud]:
    """Run the host's cloud, in which nothing was created yet."""
    start = partial(real_compute.start, host=host)
    with clouds.cloud(host.plan, start, boot_sector()) as found:
        print(f"compute and agents known after {found.ready_s:.0f} s")
        yield found


@dataclass(frozen=True, slots=True)
class Guest:
    """The plan's guest."""

    row: Row
    """The guest as OpenStack reports it, next to the plan."""
    running: RunningGuest
    """The guest as the host runs it."""
    created_s: float
    """Run time of create.sh."""


@pytest.fixture(scope="module")
def guest(host: PlannedHost, made: Cloud) -> Iterator[Guest]:
    """Provide the plan's one guest, created by the rendered create.sh; delete.sh removes it."""
    began = time.monotonic()
    done = made.script(CREATE)
    created_s = time.monotonic() - began
    assert done.returncode == 0, done.stderr
    switched = [nic for nic in made.plan.hosts[0].nics if nic.use is NicUse.DPDK]
    [bridge] = {bridge_name(made.plan.network(nic.network).physical_network) for nic in switched}
    with host.node.runner() as runner:
        [(uuid, document)] = domains(runner).items()
        (made.computes.domains / f"{uuid}.xml").write_text(document)
        [row] = made.compare()
        name = ElementTree.fromstring(document).findtext("name")  # noqa: S314  # libvirt wrote it
        assert name
        running = running_guest(runner, name, bridge)
    memory_mib = made.control.processes.memory_mib()
    print(f"guest ACTIVE after {created_s:.0f} s; the control plane has {memory_mib} MiB")
    yield Guest(row, running, created_s)
    done = made.script(DELETE)
    assert done.returncode == 0, done.stderr
    with host.node.runner() as runner:
        assert not domains(runner)


def test_placement_inventory_is_what_the_plan_leaves_to_guests(made: Cloud) -> None:
    [planned] = made.plan.hosts
    [provider] = made.api.get("placement", "/resource_providers")["resource_providers"]
    path = f"/resource_providers/{provider['uuid']}/inventories"
    found = made.api.get("placement", path)["inventories"]
    assert found["PCPU"]["total"] == len(planned.cores.dedicated.value)
    assert found["VCPU"]["total"] == len(planned.cores.shared.value)
    assert planned.reserved_memory_mib
    assert found["MEMORY_MB"]["reserved"] == planned.reserved_memory_mib.value


def test_the_created_guest_has_no_unexplained_difference(guest: Guest) -> None:
    assert not list(reasons.unexplained({CREATE: [guest.row]}, ""))


def test_the_guest_runs_as_planned(made: Cloud, guest: Guest) -> None:
    [planned] = made.plan.hosts[0].guests
    lines = compared(made.plan, planned, guest.running)
    print(table(lines))
    assert all(line.same for line in lines)


@pytest.mark.usefixtures("guest")
def test_the_guests_vcpu_runs_the_program_on_its_disk(made: Cloud) -> None:
    [server] = made.api.get("nova", "/servers")["servers"]

    def printed() -> bool:
        path, asked = f"/servers/{server['id']}/action", {"os-getConsoleOutput": {}}
        return SAYS in str(made.api.post("nova", path, asked)["output"])

    made.control.processes.wait(f"{SAYS!r} on the guest's console", printed, _GUEST_S)
