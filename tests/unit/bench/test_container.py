# SPDX-License-Identifier: Apache-2.0
"""Make the cgroup and the command of a function in a container, on emulated hosts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.unit.bench.fake_host import FakeHost
from wirespeed.bench.host.cgroup import make_cgroup
from wirespeed.bench.host.cgroup_changes import CgroupMade, ControllerEnabled
from wirespeed.bench.host.changes import change_from_json
from wirespeed.bench.host.host import Host
from wirespeed.bench.host.journal import Journal
from wirespeed.bench.interface import BenchError
from wirespeed.bench.placement.container import prefix
from wirespeed.bench.topology.plugs import Interface, VirtioUser
from wirespeed.remote.interface import Completed

V1 = {
    "/proc/self/mounts": "cgroup /cg/cpu cgroup rw,cpu 0 0\ncgroup /cg/set cgroup rw,cpuset 0 0\n"
    "cgroup2 /cg/unified cgroup2 rw 0 0\n",
    "/cg/set/cpuset.mems": "0-1\n",
}
V2 = {
    "/proc/self/mounts": "cgroup2 /cg cgroup2 rw,nsdelegate 0 0\n",
    "/cg/cgroup.controllers": "cpuset cpu io memory\n",
    "/cg/cgroup.subtree_control": "cpu memory\n",
}


class _Machine(FakeHost):
    """A host whose directories need not be made before their files."""

    def run(self, argv: Sequence[str], **_keys: Any) -> Completed:
        if argv[0] == "rmdir":
            self.files = {p: t for p, t in self.files.items() if not p.startswith(argv[-1])}
        return Completed(tuple(argv), 0, "", "")


def _host(files: dict[str, str], state_dir: Path) -> tuple[_Machine, Journal, Host]:
    machine = _Machine(dict(files))
    journal = Journal.create(state_dir, machine.address)
    return machine, journal, Host(machine, state_dir, journal)


def test_cgroup_of_the_first_version_has_cpus_and_nodes(tmp_path: Path) -> None:
    machine, journal, host = _host(V1, tmp_path)
    path = make_cgroup(host, "w", {3, 5, 4}, {1})
    assert path == "/cg/set/w"
    assert machine.files[f"{path}/cpuset.cpus"] == "3-5"
    assert machine.files[f"{path}/cpuset.mems"] == "1"
    machine.files[path] = ""
    journal.undo_all(machine)
    assert not [p for p in machine.files if p.startswith(path)]


def test_cgroup_without_chosen_nodes_has_those_of_its_parent(tmp_path: Path) -> None:
    """Without nodes a cgroup of the first version takes no process."""
    machine, _, host = _host(V1, tmp_path)
    path = make_cgroup(host, "w", {3}, ())
    assert machine.files[f"{path}/cpuset.mems"].strip() == "0-1"


def test_cgroup_of_the_second_version_enables_its_controller_and_takes_it_back(
    tmp_path: Path,
) -> None:
    machine, journal, host = _host(V2, tmp_path)
    path = make_cgroup(host, "w", {3}, ())
    assert path == "/cg/w"
    assert machine.files["/cg/cgroup.subtree_control"] == "+cpuset"
    assert f"{path}/cpuset.mems" not in machine.files
    machine.files[path] = ""
    journal.undo_all(machine)
    assert machine.files["/cg/cgroup.subtree_control"] == "-cpuset"


@pytest.mark.parametrize("file", ["cpuset.cpus", "cpuset.mems"])
def test_controller_that_a_cgroup_of_somebody_else_uses_stays(tmp_path: Path, file: str) -> None:
    machine, journal, host = _host(V2, tmp_path)
    path = make_cgroup(host, "w", {3}, ())
    machine.files |= {path: "", f"/cg/theirs/{file}": "1\n"}
    journal.undo_all(machine)
    assert machine.files["/cg/cgroup.subtree_control"] == "+cpuset"


def test_controller_of_two_runs_is_taken_back_by_the_last(tmp_path: Path) -> None:
    machine, first_log, first = _host(V2, tmp_path)
    second_log = Journal.create(tmp_path, machine.address)
    second = Host(machine, tmp_path, second_log)
    make_cgroup(first, "one", {3}, ())
    machine.files["/cg/cgroup.subtree_control"] = "cpuset cpu memory\n"
    # The second run has not yet set the CPUs of its cgroup when the first one ends.
    two = make_cgroup(second, "two", {4}, ())
    machine.files |= {"/cg/one": "", two: "", f"{two}/cpuset.cpus": "\n"}
    first_log.undo_all(machine)
    assert machine.files["/cg/cgroup.subtree_control"] == "cpuset cpu memory\n"
    first_log.close()
    second_log.undo_all(machine)
    assert machine.files["/cg/cgroup.subtree_control"] == "-cpuset"


def test_cgroup_whose_parent_has_the_controller_changes_no_more(tmp_path: Path) -> None:
    has = V2 | {"/cg/cgroup.subtree_control": "cpuset cpu\n"}
    machine, journal, host = _host(has, tmp_path)
    make_cgroup(host, "w", {3}, ())
    journal.undo_all(machine)
    assert machine.files["/cg/cgroup.subtree_control"] == "cpuset cpu\n"


def test_host_without_cpusets_is_an_error_with_a_next_step(tmp_path: Path) -> None:
    _, _, host = _host({"/proc/self/mounts": "tmpfs /run tmpfs rw 0 0\n"}, tmp_path)
    with pytest.raises(BenchError) as error:
        make_cgroup(host, "w", {3}, ())
    assert "no mounted cgroup hierarchy has the controller cpuset" in str(error.value)
    assert 'sut.vnf.placement = "process"' in str(error.value.next_step)


def test_cgroup_that_the_kernel_refuses_is_an_error(tmp_path: Path) -> None:
    machine, _, host = _host(V1, tmp_path)

    def refuse(_files: dict[str, str], path: str, _text: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    machine.on_write = refuse
    with pytest.raises(BenchError) as error:
        make_cgroup(host, "w", {3}, ())
    assert "cgroup /cg/set/w cannot be made" in str(error.value)


@pytest.mark.parametrize("change", [CgroupMade("/cg/w"), ControllerEnabled("/cg/control")])
def test_changes_of_cgroups_are_read_back_from_a_journal(change: Any) -> None:
    record = {"kind": type(change).__name__, "path": change.path}
    assert change_from_json(json.loads(json.dumps(record))) == change


def test_program_of_a_container_has_rights_of_a_pod_and_a_network_of_its_own() -> None:
    found = prefix("/cg/w", {"east": VirtioUser("/run/s"), "west": VirtioUser("/run/t")})
    assert "--net" in found
    assert "--bounding-set=-all,+ipc_lock" in found


def test_program_on_a_kernel_interface_stays_where_the_interface_is() -> None:
    found = prefix("/cg/w", {"east": Interface("veth0"), "west": VirtioUser("/run/t")}, "ns0")
    assert "--net" not in found
    # Before it has lost the right to.
    assert found.index("nsenter") < found.index("setpriv")
    assert "--bounding-set=-all,+ipc_lock,+net_raw,+net_admin" in found
