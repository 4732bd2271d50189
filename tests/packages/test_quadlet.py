# SPDX-License-Identifier: Apache-2.0
"""Check the quadlet of the speed-test server by the Podman and systemd of Debian 13."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from tests.packages.commands import ROOT, Log
from tests.packages.fresh_root import FreshRoot

pytestmark = pytest.mark.packages(whole=True)
_UNITS = "/etc/containers/systemd"
_GENERATE = f"QUADLET_UNIT_DIRS={_UNITS} /usr/lib/systemd/system-generators/podman-system-generator"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FreshRoot]:
    """Provide a root with Podman, which Debian 12 has without quadlets."""
    folder = tmp_path_factory.mktemp("quadlet")
    made = FreshRoot.make(folder / "root", Log("quadlet"), "trixie")
    made.run("apt-get", "install", "-qq", "-y", "--no-install-recommends", "podman", "systemd")
    (made.path / _UNITS[1:]).mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / "speedtest/dist/wirespeed-speedtest.container", made.path / _UNITS[1:])
    yield made
    shutil.rmtree(folder)


def test_quadlet_becomes_a_service_without_rights(root: FreshRoot) -> None:
    shown = root.shell(f"{_GENERATE} --dryrun 2>&1")
    [start] = (line for line in shown.splitlines() if line.startswith("ExecStart="))
    for word in (
        "--cap-drop all", "--read-only", "--security-opt no-new-privileges", "--network host",
        "--user wirespeed-speedtest", "localhost/wirespeed:0.1.0 wirespeed-speedtest serve",
    ):  # fmt: skip
        assert word in start.replace("=", " ")
    assert "unsupported key" not in shown


def test_quadlet_makes_a_unit_that_systemd_accepts(root: FreshRoot) -> None:
    root.shell(f"mkdir /tmp/units; {_GENERATE} /tmp/units /tmp/units /tmp/units")
    said = root.shell("systemd-analyze verify /tmp/units/wirespeed-speedtest.service 2>&1")
    assert "wirespeed-speedtest" not in said
