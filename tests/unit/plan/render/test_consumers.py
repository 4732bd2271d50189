# SPDX-License-Identifier: Apache-2.0
"""Check that the programs that carry out a plan accept its renderings."""

from __future__ import annotations

import configparser
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import yaml

from tests.support.examples import plans
from wirespeed.plan.render.targets import render

NAMES = ("lab", "s0-speedtest", "s1-bng", "s2-chains", "s3-jumbo")


@cache
def files(name: str) -> dict[str, str]:
    return render(plans()[name])


def of_kind(name: str, suffix: str) -> Iterator[tuple[str, str]]:
    found = [(path, text) for path, text in files(name).items() if path.endswith(suffix)]
    assert found
    yield from found


def accept(command: list[str], cwd: Path | None = None) -> None:
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"


@pytest.fixture(params=NAMES)
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Path]:
    """Return a plan's name, and a folder with all its files."""
    for path, text in files(request.param).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    return request.param, tmp_path


def test_libvirts_schema(folder: tuple[str, Path]) -> None:
    name, root = folder
    for path, _ in of_kind(name, ".xml"):
        kind = "network" if Path(path).name.startswith("net-") else "domain"
        accept(["virt-xml-validate", str(root / path), kind])


def test_shell(folder: tuple[str, Path]) -> None:
    name, root = folder
    for path, _ in of_kind(name, ".sh"):
        accept(["bash", "-n", str(root / path)])
        accept(["shellcheck", str(root / path)])
    for path, _ in of_kind(name, ".cfg"):
        accept(["shellcheck", "--shell=sh", str(root / path)])


def test_ansible_reads_the_playbook(folder: tuple[str, Path]) -> None:
    _, root = folder
    program = Path(sys.executable).with_name("ansible-playbook")
    accept([str(program), "--syntax-check", "-i", "inventory.yml", "site.yml"], root / "ansible")


@pytest.mark.parametrize("name", NAMES)
def test_yaml(name: str) -> None:
    for suffix in (".yaml", ".yml"):
        for path, text in of_kind(name, suffix):
            assert yaml.safe_load(text) is not None, path


@pytest.mark.parametrize("name", NAMES)
def test_heat_template_closes(name: str) -> None:
    """Check that get_resource and depends_on name resources of the template."""
    template = yaml.safe_load(files(name)["openstack/stack.yaml"])
    resources = template["resources"]

    def referred(value: object) -> Iterator[str]:
        if isinstance(value, dict):
            for key, inner in value.items():
                if key in ("get_resource", "depends_on"):
                    yield from inner if isinstance(inner, list) else [str(inner)]
                else:
                    yield from referred(inner)
        elif isinstance(value, list):
            for inner in value:
                yield from referred(inner)

    assert set(referred(resources)) <= set(resources)
    for resource in resources.values():
        assert set(resource) <= {"type", "properties", "depends_on"}


@pytest.mark.parametrize("name", NAMES)
def test_heat_names_each_guests_host_by_a_flavor_that_demands_its_aggregate(name: str) -> None:
    """Check that no server names a zone, for which Nova would ask no filter.

    The cloud may have more hosts than the plan, so that of a single one is named, too.
    """
    resources = yaml.safe_load(files(name)["openstack/stack.yaml"])["resources"]
    plan = plans()[name]
    for host in plan.hosts:
        for guest in host.guests:
            server = resources[f"server-{guest.name}"]["properties"]
            assert "availability_zone" not in server
            flavor = resources[server["flavor"]["get_resource"]]["properties"]
            wanted = flavor["extra_specs"]["aggregate_instance_extra_specs:wirespeed_host"]
            [aggregate] = [
                each["properties"]
                for each in resources.values()
                if each["type"] == "OS::Nova::HostAggregate"
                and each["properties"].get("metadata", {}).get("wirespeed_host") == wanted
            ]
            assert aggregate["hosts"] == [host.host]


@pytest.mark.parametrize("name", ["lab", "s1-bng"])
def test_heats_first_server_waits_for_all_aggregates(name: str) -> None:
    resources = yaml.safe_load(files(name)["openstack/stack.yaml"])["resources"]
    first = resources[f"server-{plans()[name].order[0]}"]
    aggregates = {key for key, r in resources.items() if r["type"] == "OS::Nova::HostAggregate"}
    assert aggregates == set(first["depends_on"])


@pytest.mark.parametrize("name", NAMES)
def test_service_files_are_ini(name: str) -> None:
    for suffix in (".conf", ".ini"):
        for path, text in of_kind(name, suffix):
            parser = configparser.ConfigParser(strict=False, interpolation=None)
            parser.read_string(text, path)
            assert parser.sections() or parser.defaults(), path


def test_names_that_shells_and_yaml_would_misread() -> None:
    """Check the lab's metadata key with a space and its value with a quote."""
    script = files("lab")["openstack/create.sh"]
    assert "'tier name=gold'\"'\"'s'" in script
    template = yaml.safe_load(files("lab")["openstack/stack.yaml"])
    aggregate = template["resources"]["aggregate-nfv"]["properties"]
    assert aggregate["metadata"] == {"nfv": "true", "tier name": "gold's"}
    vlan = template["resources"]["network-access"]["properties"]["value_specs"]
    assert vlan["provider:segmentation_id"] == 100
    assert vlan["provider:physical_network"] == "physnet1"
