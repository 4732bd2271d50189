# SPDX-License-Identifier: Apache-2.0
"""Check that a testbed file gives its hosts, and that all its errors are reported at once."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from wirespeed.model.errors import BadInput
from wirespeed.model.host.lab import Lab, LabHost
from wirespeed.model.input.fault import Fault
from wirespeed.study.errors import StudyError
from wirespeed.study.lab import check_hosts, load_lab, parse_lab
from wirespeed.study.load import resolve_study
from wirespeed.study.validate import validate_point

LAB = """
[hosts.tester]
ssh = "ssh://root@192.0.2.10"
ports = { east = "0000:3b:00.0", west = "0000:3b:00.1" }
[hosts.dut]
ssh = "ssh://root@192.0.2.11"
ports = { east = "ens1f0", west = "ens1f1" }
wsdp = "/opt/wirespeed/wsdp"
[hosts.here]
"""
SPREAD = {"hosts": {"generator": "tester", "sut": "dut"}}


def lab_of(text: str) -> Lab:
    return parse_lab(tomllib.loads(text), "lab.toml")


def test_a_testbed_file_names_hosts_and_ports(tmp_path: Path) -> None:
    path = tmp_path / "lab.toml"
    path.write_text(LAB)
    lab = load_lab(path)
    assert lab.source == str(path)
    assert lab.hosts["dut"] == LabHost(
        "ssh://root@192.0.2.11", {"east": "ens1f0", "west": "ens1f1"}, "/opt/wirespeed/wsdp"
    )
    assert lab.hosts["here"] == LabHost()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "hosts = {}: must have at least one table [hosts.NAME]"),
        ("[hosts]", "hosts = {}: must have at least one table [hosts.NAME]"),
        ("host = 1\n[hosts.a]", "host = 1: unknown key; there are [hosts.NAME] tables"),
        ("[hosts.a]\nport = 1", "hosts.a.port = 1: unknown key; there are ssh, ports and wsdp"),
        ("[hosts]\na = 1", "hosts.a = 1: must be a table, written [hosts.a]"),
        ("[hosts.a]\nssh = 22", "hosts.a.ssh = 22: must be one line"),
        ("[hosts.a]\nports = ['x']", 'hosts.a.ports = ["x"]: must be a table'),
        ('[hosts.a]\nports.east = "0000:3b:00"', 'hosts.a.ports.east = "0000:3b:00": must be a PCI '
         "address (0000:3b:00.0) or the name of an interface"),
        ('[hosts.a]\nports.east = "eth0,x=1"', 'hosts.a.ports.east = "eth0,x=1": must be a PCI'),
        ('[hosts.a]\nports = {east="0000:AB:00.0", west="0000:ab:00.0"}',
         'hosts.a.ports.west = "0000:ab:00.0": is the port east, too'),
        ('[hosts.a]\nwsdp = "wsdp"', 'hosts.a.wsdp = "wsdp": must be an absolute path'),
        ("[hosts.a]\n[hosts.b]", 'hosts.b.ssh = "(omitted)": hosts.a has no ssh: both would be'),
        ('[hosts.a]\nssh="ssh://x"\n[hosts.b]\nssh="ssh://x"',
         'hosts.b.ssh = "ssh://x": hosts.a has the same address'),
        ('[hosts."a b"]', '"a b": must be a host name'),
    ],
)  # fmt: skip
def test_faults_say_where_what_and_what_would_be_right(text: str, told: str) -> None:
    with pytest.raises(BadInput) as caught:
        lab_of(text)
    assert told in caught.value.what
    assert "docs/howto/two-hosts.md" in caught.value.next_step


def test_all_faults_are_reported_at_once() -> None:
    with pytest.raises(BadInput, match=r"lab\.toml: 2 errors"):
        lab_of('[hosts.a]\nport = 1\nwspd = "x"')


@pytest.mark.parametrize(("content", "told"), [(None, "cannot be read"), ("[", "not TOML")])
def test_a_file_that_is_none_is_reported(tmp_path: Path, content: str | None, told: str) -> None:
    path = tmp_path / "lab.toml"
    if content is not None:
        path.write_text(content)
    with pytest.raises(BadInput, match=told):
        load_lab(path)


def study(**tables: object) -> dict[str, object]:
    return {"topology": {"kind": "p2p"}, **tables}


def workloads(raw: dict[str, object]) -> list[object]:
    return [point.workload for point in resolve_study("s", "s.toml", raw).points]


def test_the_hosts_that_a_study_wants_are_found() -> None:
    assert check_hosts(workloads(study(**SPREAD)), lab_of(LAB), "s") == ("tester", "dut")
    assert check_hosts(workloads(study()), None, "s") == ()


def test_a_host_that_the_lab_lacks_is_reported_with_those_it_has() -> None:
    wanted = workloads(study(hosts={"generator": "tester", "sut": "dot"}))
    with pytest.raises(StudyError) as caught:
        check_hosts(wanted, lab_of(LAB), "s.toml")
    assert caught.value.faults == (
        Fault("hosts.sut", "dot", "is no host of lab.toml, which has tester, dut, here"),
    )


def test_a_study_that_wants_hosts_needs_a_testbed_file() -> None:
    with pytest.raises(StudyError, match=r"there is no testbed file; give one with --lab FILE"):
        check_hosts(workloads(study(**SPREAD)), None, "s.toml")


@pytest.mark.parametrize(
    ("tables", "key"),
    [({"traffic": {"encapsulation": "qinq"}}, "traffic.encapsulation"),
     ({"traffic": {"frame": 9000}}, "traffic.frame"),
     ({"topology": {"kind": "host"}, "sut": {"vnf": {"kind": "bng"}}, "bng": {}}, "bng")],
)  # fmt: skip
def test_frames_that_kernel_interfaces_cannot_pass_are_refused(
    tables: dict[str, object], key: str
) -> None:
    wanted = workloads(study(**SPREAD, **tables))
    with pytest.raises(StudyError) as caught:
        check_hosts(wanted, lab_of(LAB), "s.toml")
    [fault] = caught.value.faults
    assert fault.key == key
    assert "ens1f0, ens1f1 of dut, interfaces of the kernel; name" in fault.allowed
    both = LAB.replace("ens1f0", "0000:5e:00.0").replace("ens1f1", "0000:5e:00.1")
    assert check_hosts(wanted, lab_of(both), "s.toml") == ("tester", "dut")


def test_a_host_without_the_generators_ports_is_reported() -> None:
    wanted = workloads(study(hosts={"generator": "tester", "sut": "here"}))
    with pytest.raises(BadInput, match=r"hosts\.here\.ports = {}: lacks the port east"):
        check_hosts(wanted, lab_of(LAB), "s.toml")


@pytest.mark.parametrize(
    ("raw", "key", "told"),
    [
        ({"hosts": {"generator": "a", "sut": "a"}}, "hosts.sut", "is hosts.generator, too"),
        ({"hosts": {"generator": "a"}}, "hosts.sut", "must be named as well"),
        ({"hosts": {"sut": "a"}}, "hosts.generator", "must be named as well"),
        ({"hosts": {"dut": "a"}}, "hosts.dut", "[hosts] has: generator, sut"),
        ({**SPREAD, "topology": {"kind": "wire"}}, "hosts", "one process on one host"),
        ({**SPREAD, "topology": {"kind": "external"}, "sut": {"ports": ["0000:3b:00.0", "x"]}},
         "hosts.sut", "none of our hosts"),
        ({**SPREAD, "topology": {"kind": "pvp"}, "sut": {"vnf": {"placement": "shared"}}},
         "sut.vnf.placement", "on another host"),
        ({**SPREAD, "topology": {}, "tcp": {}}, "hosts", "does not apply to [tcp]"),
    ],
)  # fmt: skip
def test_roles_that_exclude_each_other_are_refused(
    raw: dict[str, object], key: str, told: str
) -> None:
    _, faults = validate_point(study(**raw))
    assert any(fault.key == key and told in fault.allowed for fault in faults), faults


def test_the_generator_alone_may_be_elsewhere_where_the_sut_is_nobodys() -> None:
    ports = ["0000:3b:00.0", "0000:3b:00.1"]
    raw = {"topology": {"kind": "external"}, "sut": {"ports": ports},
           "hosts": {"generator": "tester"}}  # fmt: skip
    [point] = resolve_study("s", "s.toml", raw).points
    assert check_hosts([point.workload], lab_of(LAB), "s") == ("tester",)
    assert point.parameters["hosts"] == {"generator": "tester", "sut": None}
