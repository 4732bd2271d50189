# SPDX-License-Identifier: Apache-2.0
"""Check that Nova reads our nova.conf fragments as intended."""

from __future__ import annotations

import configparser
from pathlib import Path

import nova.conf
import pytest
from nova import exception
from nova.pci import request as pci_request
from nova.pci import whitelist
from nova.virt import hardware

from tests.support.examples import plans
from wirespeed.model.cpuset import parse_list
from wirespeed.plan.render.targets import render

NAMES = ["lab", "s0-speedtest", "s1-bng", "s2-chains", "s3-jumbo"]
CONF = nova.conf.CONF


@pytest.fixture(params=NAMES)
def fragments(request: pytest.FixtureRequest, tmp_path: Path) -> list[Path]:
    files = []
    for name, text in render(plans()[request.param], ["openstack"]).items():
        if name.endswith("nova.conf"):
            path = tmp_path / name.replace("/", "_")
            path.write_text(text, encoding="utf-8")
            files.append(path)
    return files


def test_every_option_is_one_of_novas(fragments: list[Path]) -> None:
    for path in fragments:
        parser = configparser.ConfigParser(
            strict=False, interpolation=None, default_section="none of ours"
        )
        parser.read(path)
        assert parser.sections()
        for section in parser.sections():
            for option in parser[section]:
                if section.startswith("neutron_physnet_"):
                    assert option == "numa_nodes"
                else:
                    known = CONF if section == "DEFAULT" else CONF[section]
                    assert option in known, f"[{section}]{option}"


def test_values_are_read_as_meant(fragments: list[Path]) -> None:
    for path in fragments:
        CONF([], default_config_files=[str(path)])
        try:
            text = path.read_text()
            if "cpu_dedicated_set" in text:
                dedicated = _value(text, "cpu_dedicated_set")
                assert hardware.get_cpu_dedicated_set() == set(parse_list(dedicated))
                assert hardware.get_cpu_shared_set() == set(
                    parse_list(_value(text, "cpu_shared_set"))
                )
                whitelist.Whitelist(CONF.pci.device_spec)
                hardware.numa_get_reserved_huge_pages()
            if "alias = " in text:
                assert pci_request.get_alias_from_config()
        finally:
            CONF([], default_config_files=[])


def test_a_range_backwards_is_noticed(tmp_path: Path) -> None:
    """Show with an invalid range that the check above can fail."""
    path = tmp_path / "nova.conf"
    path.write_text("[compute]\ncpu_dedicated_set = 4-2\n")
    CONF([], default_config_files=[str(path)])
    try:
        with pytest.raises(exception.Invalid):
            hardware.get_cpu_dedicated_set()
    finally:
        CONF([], default_config_files=[])


def _value(text: str, option: str) -> str:
    return next(
        line.partition("=")[2].strip()
        for line in text.splitlines()
        if line.startswith(f"{option} ")
    )
