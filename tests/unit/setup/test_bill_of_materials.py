# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
import tomllib
from pathlib import Path

from setup.bill_of_materials import bill, cargo_components, pip_components

ROOT = Path(__file__).parents[3]


def test_bill_has_every_requirement_of_the_lock_with_hashes() -> None:
    lock = (ROOT / "setup/locks/run.txt").read_text()
    found = {f"{each['name']}=={each['version']}": each for each in pip_components(lock)}
    wanted = re.findall(r"^[A-Za-z0-9_.-]+==[^ \\]+", lock, re.MULTILINE)
    assert {each.lower().replace("_", "-") for each in wanted} == found.keys()
    assert all(each["properties"] for each in found.values())
    assert sum(len(each["properties"]) for each in found.values()) == lock.count("sha256:")


def test_bill_has_every_crate_of_the_registry_with_its_checksum() -> None:
    text = (ROOT / "speedtest/Cargo.lock").read_text()
    sums = {each["hashes"][0]["content"] for each in cargo_components(text)}
    assert sums == {p["checksum"] for p in tomllib.loads(text)["package"] if "checksum" in p}


def test_bill_names_the_project_and_its_version() -> None:
    document = bill(ROOT)
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.5")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert document["metadata"]["component"]["version"] == project["version"]
